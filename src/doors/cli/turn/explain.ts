import type { Command } from "commander";
import type { Thread, TurnRecord } from "../../../app.ts";
import { threadLines } from "../../../features/threads/index.ts";
import { endOf, turnView } from "../../../features/turns/index.ts";
import { count, number, type Style, setIn, table } from "../../../print/index.ts";
import { isoSecond, StrataError, type ThreadId, type TurnId, threadId, turnId } from "../../../protocol/index.ts";
import type { Context } from "../shell/context.ts";
import { cuts } from "../shell/sent-line.ts";
import { inRecord, type Session, shortVersion } from "../shell/session.ts";

/** The list shows so many threads. */
const NEWEST = 20;

/** `strata explain [ID]`: what was sent and why; without an id, the newest threads. */
export function declareExplain(program: Command, context: Context): void {
  program
    .command("explain")
    .description(
      "explain a thread or a turn: each piece, its cost, and whether it was sent; without an id, list the newest threads",
    )
    .argument("[id]", "a thread (thr_…) or a turn (trn_…)")
    .addHelpText("after", "\nExamples:\n  $ strata explain\n  $ strata explain thr_01jd8k3v5x9m2q7r4t6w8y0zab")
    .action((id: string | undefined, _options: unknown, command: Command) => {
      const look = looking(id);
      return inRecord(context, command, (session) => look(context, session));
    });
}

/** What an id asks to see. */
function looking(id: string | undefined): (context: Context, session: Session) => Promise<void> {
  if (id === undefined) return list;
  if (id.startsWith("thr_")) return explainThread.bind(undefined, threadId(id));
  if (id.startsWith("trn_")) return explainTurn.bind(undefined, turnId(id));
  throw neither(id);
}

function neither(id: string): StrataError {
  const next = "it must begin with thr_ or trn_; `strata explain` lists the threads";
  return new StrataError("invalid_id", `${JSON.stringify(id)} is neither a thread nor a turn: ${next}`, { id });
}

async function list(context: Context, session: Session): Promise<void> {
  const { runtime, operator } = session.app;
  const newest = await runtime.newestThreads(operator, { limit: NEWEST });
  if (session.json) context.json(newest);
  else context.say(...threadLines(newest, session.app.clock.real(), context.style));
}

async function explainThread(id: ThreadId, context: Context, { app, json }: Session): Promise<void> {
  const { runtime, operator } = app;
  const thread = await runtime.thread(operator, id);
  const turns = await runtime.turns(operator, thread.id);
  if (json) context.json({ thread, turns });
  else context.say(...threadView(thread, turns, context.style));
}

async function explainTurn(id: TurnId, context: Context, { app, json }: Session): Promise<void> {
  const turn = await app.runtime.turn(app.operator, id);
  if (json) context.json(turn);
  else context.say(...(await turnView({ ...app, actor: app.operator }, turn, context.style)));
}

const COLUMNS = [
  { head: "turn", right: true },
  { head: "id" },
  { head: "end" },
  { head: "requests", right: true },
  { head: "tokens sent", right: true },
  { head: "cut", least: 8, wraps: true },
  { head: "epoch", least: 8, wraps: true },
] as const;

/** A thread as lines for a person: whose it is, then a row per turn. Tokens are those of all the turn's requests together. */
function threadView(thread: Thread, turns: readonly TurnRecord[], style: Style): readonly string[] {
  const { scope, channel, createdAt, lastActivity, forkedFrom } = thread;
  const pinned = `pinned to version ${shortVersion(thread.version)} · begun ${isoSecond(createdAt)} · last activity ${isoSecond(lastActivity)}`;
  return [
    ...setIn(
      `${scope.agent} with ${scope.contact} · channel ${channel}`,
      { first: `${style.bold(thread.id)} · `, more: "  " },
      style,
    ),
    ...setIn(pinned, { first: "", more: "  " }, style),
    ...(forkedFrom === undefined ? [] : [`forked from ${forkedFrom.thread}`]),
    "",
    ...(turns.length === 0 ? ["No turn yet."] : table(COLUMNS, turns.map(row), style)),
    "",
    `${count(turns.length, "turn")}; \`strata explain TURN\` shows each piece of its requests.`,
  ];
}

function row(turn: TurnRecord): readonly string[] {
  const ledgers = turn.requests.map((request) => request.ledger);
  const last = ledgers.at(-1);
  const opened = ledgers
    .filter((ledger) => ledger.epoch.opened)
    .map(({ epoch }) => `${epoch.n} begins (${epoch.reason})`);
  const cut = last === undefined ? "" : cuts(last);
  return [
    number(turn.seq),
    turn.id,
    endOf(turn),
    turn.batch === undefined ? number(ledgers.length) : "in a batch",
    number(ledgers.reduce((sum, ledger) => sum + ledger.tokens, 0)),
    cut === "nothing cut" ? "" : cut.replace(/^cut: /, ""),
    [...new Set(opened)].join(", ") || (last === undefined ? "" : number(last.epoch.n)),
  ];
}
