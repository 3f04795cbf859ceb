import { z } from "zod";
import { count, number, type Style, setIn, shortVersion, table } from "../../print/index.ts";
import { isoSecond, StrataError, threadId, turnId } from "../../protocol/index.ts";
import { COLUMNS as ADDED, withColumns } from "../column.ts";
import { FIELDS, list, NEXT, nextAfter, whole } from "../fields.ts";
import { operation, type Thread, type TurnRecord } from "../operation.ts";
import { THREAD, TURN } from "../shapes.ts";
import { fieldLines, threadLines } from "../threads/index.ts";
import { cuts } from "./ledger.ts";
import { endOf, turnView } from "./view.ts";

/** How many threads or turns are shown by default. */
const MOST = { threads: 20, turns: 1_000 };

/** One of three: the newest threads, a thread with its turns, or a turn. */
interface Explained {
  readonly threads?: readonly Thread[];
  readonly thread?: Thread;
  readonly turns?: readonly TurnRecord[];
  readonly turn?: TurnRecord;
  readonly next?: string;
}

export const EXPLAIN = operation({
  name: "explain",
  does: "Explain a thread or a turn: each section, its cost, and whether it was sent; without an id, list the newest threads.",
  may: "explain",
  at: "GET /v1/explain",
  takes: z.strictObject({
    id: z.string().describe("a thread (thr_…) or a turn (trn_…)").transform(subjectOf).optional(),
    limit: whole(1, 1_000)
      .describe(`how many threads or turns at most (default: ${MOST.threads} threads, ${MOST.turns} turns)`)
      .optional(),
    after: FIELDS.after,
  }),
  gives: z.object({
    threads: list(THREAD).optional().describe("The newest ones, without an id."),
    thread: THREAD.optional(),
    turns: list(TURN).optional().describe("Those of the thread."),
    turn: TURN.optional(),
    ...NEXT,
  }),
  list: "threads",
  columns: "threads",
  command: { words: ["id"], examples: ["explain", "explain thr_01jd8k3v5x9m2q7r4t6w8y0zab"], opens: "record" },
  run: async ({ runtime, clock }, { id = {}, limit, after }, { actor }): Promise<Explained> => {
    const columns = runtime.use(ADDED).threads;
    if (id.turn !== undefined) return { turn: await runtime.turn(actor, id.turn) };
    if (id.thread === undefined) {
      const most = limit ?? MOST.threads;
      const found = await runtime.newestThreads(actor, { limit: most, after });
      const threads = await withColumns(columns, { runtime, actor, clock }, found);
      return { threads, ...nextAfter(threads, most, ({ lastActivity: at, id }) => ({ at, id })) };
    }
    const most = limit ?? MOST.turns;
    const found = await runtime.thread(actor, id.thread);
    const [thread = found] = await withColumns(columns, { runtime, actor, clock }, [found]);
    const turns = await runtime.turns(actor, thread.id, { limit: most, after });
    return { thread, turns, ...nextAfter(turns, most, ({ seq }) => ({ at: seq })) };
  },
  show: async ({ threads = [], thread, turns = [], turn }, { world: { runtime, clock }, call: { actor }, style }) => {
    if (turn !== undefined) {
      const [whole = turn] = await withColumns(runtime.use(ADDED).turns, { runtime, actor, clock }, [turn]);
      return turnView({ runtime, actor }, whole, style);
    }
    const columns = runtime.use(ADDED).threads;
    if (thread === undefined) return threadLines(threads, clock.real(), style, columns);
    return threadView(thread, turns, { style, fields: fieldLines(columns, thread) });
  },
});

/** The kind of thing that an id names. */
function subjectOf(id: string): Partial<Readonly<Record<"thread", Thread["id"]> & Record<"turn", TurnRecord["id"]>>> {
  if (id.startsWith("thr_")) return { thread: threadId(id) };
  if (id.startsWith("trn_")) return { turn: turnId(id) };
  const next = "it must begin with thr_ or trn_; `strata explain` or `GET /v1/explain` lists the threads";
  throw new StrataError("invalid_id", `${JSON.stringify(id)} is neither a thread nor a turn: ${next}`, { id });
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

/** A thread as lines for a person: its contact, then a row per turn. Tokens are those of all the turn's requests together. */
function threadView(
  thread: Thread,
  turns: readonly TurnRecord[],
  { style, fields }: { readonly style: Style; readonly fields: readonly string[] },
): readonly string[] {
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
    ...fields,
    "",
    ...(turns.length === 0 ? ["No turn yet."] : table(COLUMNS, turns.map(turnRow), style)),
    "",
    `${count(turns.length, "turn")}; \`strata explain TURN\` shows each section of its requests.`,
  ];
}

function turnRow(turn: TurnRecord): readonly string[] {
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
