import type { Command } from "commander";
import type { TextMove, TextVersion } from "../../protocol/index.ts";
import type { Context } from "../shell/context.ts";
import { type Answer, onAgent } from "../shell/on-agent.ts";
import { wholeNumber } from "../shell/options.ts";
import { count, type Style } from "../shell/style.ts";
import { type Chosen, choosing, keyOf, LAYER, nameOf, type OfText, ofText, why } from "../shell/text-options.ts";
import { moveLines, textDiff, versionLines } from "../shell/text-view.ts";

const version = wholeNumber(0);

export function declareHistory(parent: Command, context: Context): void {
  ofText(parent.command("history").argument(...LAYER))
    .description("show the versions of a layer's text, and what was done with them, the newest first")
    .option("--limit <n>", "at most so many versions, and as many moves", wholeNumber(1, 1_000), 20)
    .option("--before <version>", "only versions before this one, and what was done with them", wholeNumber(1))
    .option("--before-move <number>", "only what was done before this move", wholeNumber(1))
    .addHelpText("after", "\nExample:\n  $ strata layer history 6")
    .action((word: string, named: string | undefined, { limit, before, beforeMove, ...options }: Paged, command) =>
      onAgent(context, { command, named, options }, async ({ app: { runtime, operator }, agent: { name } }) => {
        const key = keyOf(word, options);
        const page = { ...key, limit, ...(before !== undefined && { before }) };
        const versions = await runtime.textVersions(operator, name, page);
        const from = { ...(before !== undefined && { below: before }), ...(beforeMove && { before: beforeMove }) };
        // One more tells whether there are older ones.
        const found = await runtime.textMoves(operator, name, { ...key, ...from, limit: limit + 1 });
        const moves = found.slice(0, limit);
        const lines = historyLines({ versions, moves, hasOlder: found.length > limit }, context.style);
        const isEdited = found.length > 0 || (await runtime.textMoves(operator, name, { ...key, limit: 1 })).length > 0;
        return { json: { versions, moves }, lines: isEdited ? lines : [UNEDITED] };
      }),
    );
}

interface Paged extends OfText {
  readonly limit: number;
  readonly before?: number;
  readonly beforeMove?: number;
}

const UNEDITED = "It is as it was declared; nobody has edited it.";

/** A page of a text's history. */
interface Page {
  readonly versions: readonly TextVersion[];
  readonly moves: readonly TextMove[];
  /** Whether it leaves older moves out. */
  readonly hasOlder: boolean;
}

function historyLines({ versions, moves, hasOlder }: Page, style: Style): readonly string[] {
  return [
    ...versions.flatMap((one) => versionLines(one, style)),
    ...(versions.length === 0 ? [] : [""]),
    ...moveLines(moves, style),
    "",
    style.dim(`${count(versions.length, "version")}; version 0 is the declared text${older(versions)}`),
    ...(hasOlder ? [style.dim(`\`--before-move ${moves.at(-1)?.seq}\` shows older moves`)] : []),
  ];
}

function older(versions: readonly TextVersion[]): string {
  const last = versions.at(-1)?.n ?? 1;
  return last === 1 ? "" : `; \`--before ${last}\` shows older ones`;
}

export function declareDiff(parent: Command, context: Context): void {
  const diff = parent
    .command("diff")
    .argument(...LAYER)
    .argument("<old>", "a version; 0 is the declared text", version)
    .argument("<new>", "another version", version);
  ofText(diff)
    .description("show how two versions of a layer's text differ, line by line")
    .addHelpText("after", "\nExample:\n  $ strata layer diff 6 0 2")
    .action((...[word, from, to, named, options, command]: Comparing) =>
      onAgent(context, { command, named, options }, async ({ app, agent }) => {
        const pair = { ...keyOf(word, options), from, to };
        const { lines: _, ...compared } = await app.runtime.compareTexts(app.operator, agent.name, pair);
        return { json: compared, lines: textDiff(compared.before.text, compared.after.text, context.style) };
      }),
    );
}

type Comparing = [word: string, from: number, to: number, named: string | undefined, OfText, Command];

export function declareActivate(parent: Command, context: Context): void {
  choosing(
    parent
      .command("activate")
      .argument(...LAYER)
      .argument("<version>", "which version", version),
  )
    .description("make a version active that is there already, from the next turn on; 0 is the declared text")
    .addHelpText("after", "\nExample:\n  $ strata layer activate 6 2")
    .action((word: string, n: number, named: string | undefined, options: Chosen, command: Command) =>
      onAgent(context, { command, named, options }, async ({ app, agent }) => {
        const choice = { ...keyOf(word, options), n, reason: why(options) };
        return moved(await app.runtime.activateText(app.operator, agent.name, choice));
      }),
    );
}

export function declareRollback(parent: Command, context: Context): void {
  choosing(parent.command("rollback").argument(...LAYER))
    .description("go back to what stood there before the active version was made active")
    .addHelpText("after", '\nExample:\n  $ strata layer rollback 6 --reason "it forgot to pay"')
    .action((word: string, named: string | undefined, options: Chosen, command: Command) =>
      onAgent(context, { command, named, options }, async ({ app, agent }) => {
        const choice = { ...keyOf(word, options), reason: why(options) };
        return moved(await app.runtime.rollbackText(app.operator, agent.name, choice));
      }),
    );
}

/** What came of a move. */
function moved(move: TextMove): Answer {
  const { kind, from, to } = move;
  const did = kind === "rolled back" ? "was rolled back from" : "goes on from";
  return { json: move, lines: [`${nameOf(move)} ${did} ${pointed(from)} to ${pointed(to)}: the next turn uses it.`] };
}

const pointed = (to: number | null): string =>
  to === null ? "nothing" : to === 0 ? "the declared text" : `version ${to}`;
