import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout } from "node:timers/promises";
import type { Command } from "commander";
import { configWith } from "../../../app/entry/agents.ts";
import { rulesOf, type SeenRequest, simulate } from "../../../app/entry/costs.ts";
import { type App, openApp } from "../../../app.ts";
import { number, type Style, table } from "../../../print/index.ts";
import { type Agent, type ModelRef, StrataError, type ThreadId, threadId } from "../../../protocol/index.ts";
import type { Context } from "../shell/context.ts";
import { wholeNumber } from "../shell/options.ts";
import { showProgress } from "../shell/progress.ts";
import { onRecord, type Session } from "../shell/session.ts";
import { seer } from "./seer.ts";

/** A thread's cost with one setting. */
interface CostRow {
  /** Tokens that stay whole at a cut; `null`: as the agent declares it. */
  readonly keep: number | null;
  readonly requests: number;
  /** How often the conversation was cut. */
  readonly cuts: number;
  /** Input tokens, each weighted with its price: 1 is a token of plain input. */
  readonly weighted: number;
  /** US dollars of that input; `null` if the model's price is unknown. */
  readonly dollars: number | null;
}

/** Declares `strata cache compare <thread>`: what the thread would have cost if more or less of it had stayed at a cut. */
export function declareCompare(cache: Command, context: Context): void {
  cache
    .command("compare")
    .description(
      "show what a thread would have cost with another `budgets.keep`: its messages are replayed beside the record, with the replies and tool results that it has",
    )
    .argument("<thread>", "a thread (thr_…); `strata thread list` lists them")
    .requiredOption(
      "--keep <tokens...>",
      "how many tokens stay whole at a cut, one or several",
      (text, all: number[] = []) => [...all, wholeNumber(1, 10_000_000)(text)],
    )
    .addHelpText("after", "\nExample:\n  $ strata cache compare thr_01jd8k3v5x9m2q7r4t6w8y0zab --keep 2000 6000")
    .action((id: string, { keep }: { keep: readonly number[] }, command: Command) => {
      const thread = threadId(id);
      return onRecord(context, command, async (session) => {
        const { model, rows } = await compared(context, session, { thread, keep });
        if (session.json) context.json({ thread, model, rows });
        else context.say(...view({ thread, model, rows }, context.style));
      });
    });
}

/** @throws StrataError `thread_not_found`, `agent_not_found`, `turn_cancelled`; `invalid_input` if nothing was sent */
async function compared(
  context: Context,
  { app, folder }: Session,
  { thread, keep }: { readonly thread: ThreadId; readonly keep: readonly number[] },
): Promise<{ readonly model: ModelRef; readonly rows: readonly CostRow[] }> {
  const found = await app.runtime.thread(app.operator, thread);
  const agent = app.runtime.agent(app.operator, found.scope.agent);
  const model = (await app.runtime.turns(app.operator, thread)).findLast(({ requests }) => requests.length > 0)?.wire;
  if (model === undefined)
    throw new StrataError("invalid_input", `${thread} has sent no request yet, so there is nothing to compare`);
  const project = app.projects.find(({ agents }) => agents.has(agent.name));
  const file = project?.inCode ? undefined : project?.file;
  if (file === undefined)
    throw new StrataError(
      "invalid_input",
      `${agent.name} is declared in code; compare where a strata.yaml declares it`,
    );
  const { recordingOf } = await import("../../../app/entry/recordings.ts");
  const lines: string[] = [];
  for await (const line of recordingOf(app.runtime, app.operator, found)) lines.push(line);
  const progress = showProgress(context, "compare");
  const settings = [null, ...new Set(keep)];
  const rows: CostRow[] = [];
  try {
    for (const [at, one] of settings.entries()) {
      const config = configWith(file, readFileSync(file, "utf8"), agent.name, one === null ? {} : { keep: one });
      const shown = (share: number) =>
        progress.show(one === null ? "as declared" : `keep ${number(one)}`, (at + share) / settings.length);
      rows.push(
        await replayed(context, { folder: project?.folder ?? folder, config, agent, model, lines, keep: one, shown }),
      );
    }
  } finally {
    progress.end();
  }
  return { model, rows };
}

interface Replay {
  readonly folder: string;
  readonly config: ReturnType<typeof configWith>;
  readonly agent: Agent;
  readonly model: ModelRef;
  readonly lines: readonly string[];
  readonly keep: number | null;
  readonly shown: (share: number) => void;
}

/** Replays the thread in a record that is thrown away. */
async function replayed(
  context: Context,
  { folder, config, agent, model, lines, keep, shown }: Replay,
): Promise<CostRow> {
  const data = mkdtempSync(join(tmpdir(), "strata-compare-"));
  const { readRecording, replay } = await import("../../../app/entry/recordings.ts");
  const exchanges = readRecording(lines.join(""), { file: "the thread", digest: "compare", gap: 0 });
  const { env, signal } = context.terminal;
  const app = await openApp({ folder, config, data, env, wire: model });
  try {
    const speaker = app.speaker.bind(undefined, app.runtime.agent(app.operator, agent.name));
    const plan = { actor: app.operator, agent: agent.name, digest: "compare", exchanges, setClock: app.setClock };
    const seeing = seer(app);
    const seen: SeenRequest[] = [];
    let [cuts, done] = [0, 0];
    for await (const { turn, end } of replay(app.runtime, { ...plan, speaker, wait: setTimeout, signal })) {
      if (signal.aborted) throw new StrataError("turn_cancelled", "stopped before everything was compared");
      if (end?.type === "failed") throw end.error;
      const record = await app.runtime.turn(app.operator, turn);
      for (const request of record.requests) {
        if (request.ledger.epoch.opened && request.ledger.epoch.reason === "cut") cuts++;
        seen.push((await seeing(record, request)).seen);
      }
      shown(++done / exchanges.length);
    }
    return { keep, requests: seen.length, cuts, ...cost(app, model, seen) };
  } finally {
    await app.close();
    rmSync(data, { recursive: true, force: true });
  }
}

function cost(app: App, model: ModelRef, seen: readonly SeenRequest[]): Pick<CostRow, "weighted" | "dollars"> {
  const card = app.cardOf(model);
  const { multipliers, ...rules } = rulesOf(card);
  const weighted = simulate(seen, { multipliers, ...rules }).reduce(
    (sum, { read, write5m, write1h, input }) =>
      sum + read * multipliers.read + write5m * multipliers.write5m + write1h * multipliers.write1h + input,
    0,
  );
  return {
    weighted: Math.round(weighted),
    dollars: card.priced ? Math.round(weighted * card.price.input) / 1_000_000 : null,
  };
}

function view(
  { thread, model, rows }: { readonly thread: ThreadId; readonly model: ModelRef; readonly rows: readonly CostRow[] },
  style: Style,
): readonly string[] {
  const base = rows[0]?.weighted ?? 0;
  const lines = rows.map(({ keep, requests, cuts, weighted, dollars }) => [
    keep === null ? "as declared" : number(keep),
    number(requests),
    number(cuts),
    number(weighted),
    base === 0 ? "" : `${Math.round((100 * weighted) / base)} %`,
    dollars === null ? "not known" : `$${dollars.toFixed(4)}`,
  ]);
  return [
    style.bold(`${thread}, replayed for ${model}`),
    ...table(COLUMNS, lines, style),
    style.dim(
      "Input only, by the rules of the provider's cache. The contact's other conversations are not there, so the rows",
    ),
    style.dim("compare with each other, and not with the bill."),
  ];
}

const COLUMNS = [
  { head: "kept at a cut" },
  { head: "requests", right: true },
  { head: "cuts", right: true },
  { head: "weighted tokens", right: true },
  { head: "", right: true },
  { head: "input", right: true },
] as const;
