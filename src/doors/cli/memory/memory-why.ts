import type { Command } from "commander";
import { passageOf } from "../../../app/doors/passages.ts";
import { StrataError } from "../../../protocol/index.ts";
import type { Context } from "../shell/context.ts";
import { inRecord } from "../shell/session.ts";
import { setIn } from "../shell/set-in.ts";
import { oneLine, type Style } from "../shell/style.ts";
import { table } from "../shell/table.ts";
import { noteTrouble } from "./memory-embed.ts";
import { memoryHead } from "./memory-lines.ts";
import { about, type Filtered, filterOf, limited, type MemoryHit, scopeOf, searching } from "./memory-options.ts";

/** Of a longer memory the passage that fits is shown, in characters. */
const PASSAGE = 400;

/** How wide the table may get where no terminal says it. */
const WIDTH = 80;

/** `strata memory why`: what a search finds, and what each score is made of. */
export function declareWhy(memory: Command, context: Context): void {
  limited(searching(memory.command("why"), "what is asked, as it would be asked"), 10)
    .description("explain a search: each candidate, its score and what that is made of")
    .addHelpText("after", "\nExample:\n  $ strata memory why 'Which colour is my bicycle?' --as ann")
    .action((words: readonly string[], options: Filtered & { readonly limit: number }, command: Command) =>
      inRecord(context, command, async (session) => {
        const { runtime, operator } = session.app;
        const scope = scopeOf(session, options);
        const query = words.join(" ");
        if (query.trim() === "") throw new StrataError("invalid_input", "the query is empty; say what is asked", {});
        const wish = { query, limit: options.limit, ...filterOf(options) };
        const hits = await runtime.explainMemories(operator, scope, wish);
        noteTrouble(context, session, scope);
        if (session.json) return context.json({ query, hits });
        const none = `Nothing ${about(scope)} shares a word with ${JSON.stringify(query)}.`;
        context.say(...(hits.length === 0 ? [none] : whyLines(hits, query, context.style)));
      }),
    );
}

/** The scores as a table, cut into as many as its width asks for; then what each candidate is. */
export function whyLines(hits: readonly MemoryHit[], query: string, style: Style): readonly string[] {
  const names = [...new Set(hits.flatMap(({ features }) => Object.keys(features)))];
  const room = Number.isFinite(style.width) ? style.width : WIDTH;
  return [
    ...blocks(hits, names, room).flatMap(([head = "", ...rows]) => [style.dim(head), ...rows, ""]),
    ...hits.flatMap((hit, n) => [
      `${style.bold(`${n + 1}`)}  ${style.dim(oneLine(memoryHead(hit), style.width - 4))}`,
      ...setIn(passageOf(hit.content, query, PASSAGE), "   ", style),
    ]),
  ];
}

/** As many features side by side as fit. */
function blocks(hits: readonly MemoryHit[], names: readonly string[], room: number): readonly (readonly string[])[] {
  const wanted = table(
    [
      { head: "#", right: true },
      { head: "score", right: true },
      { head: "evidence", right: true },
      ...names.map(column),
    ],
    hits.map(({ score, evidence, features }, n) => [
      `${n + 1}`,
      figure(score),
      figure(evidence),
      ...names.map((name) => figure(features[name])),
    ]),
    { dim: (head) => head, width: Number.POSITIVE_INFINITY },
  );
  if (Math.max(...wanted.map((line) => line.length)) <= room || names.length < 2) return [wanted];
  const half = Math.ceil(names.length / 2);
  return [...blocks(hits, names.slice(0, half), room), ...blocks(hits, names.slice(half), room)];
}

const column = (head: string) => ({ head, right: true }) as const;

/** Ranks that were fused are small numbers, and differ late. */
const figure = (value: number | undefined): string => value?.toFixed(Math.abs(value) < 0.1 ? 4 : 2) ?? "";
