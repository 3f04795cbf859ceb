/** The log that an agent with `history: log` keeps of each sender. */

import { z } from "zod";
import { ago, count, minute, number, printable, type Style, setIn, table } from "../../print/index.ts";
import {
  type AgentName,
  type Allowed,
  CONVERSATION_LIMITS,
  type ContactId,
  isBatch,
  isReserved,
} from "../../protocol/index.ts";
import type { Paging, Position } from "../../store/index.ts";
import {
  type AgentAccess,
  accessTo,
  checkOutside,
  featureApi,
  isCalled,
  knownScope,
  type Parts,
  type RunningTurn,
  recordAct,
} from "../../turn/index.ts";
import type { LiveSource, LiveSources } from "../../turn/sources/index.ts";
import type { Feature } from "../feature.ts";
import { FIELDS, LIST_OF_AGENT, list, NEXT, nextAfter, TIME } from "../fields.ts";
import { operation } from "../operation.ts";
import { PROOF } from "../shapes.ts";
import { conversation, type Logs } from "./source.ts";
import { LOG_STORE, LOGGED, type LogHead, type SenderLog } from "./store.ts";

/** Conversations with each sender. Each read is recorded. @throws StrataError `not_allowed`, `agent_not_found` */
export interface LogApi {
  /** The last active first. */
  logs(actor: Allowed<"read">, agent: AgentName, limit: number, after?: Position): Promise<readonly LogHead[]>;
  log(actor: Allowed<"read">, agent: AgentName, sender: ContactId): Promise<SenderLog | undefined>;
}

/** The functions of logs, as `runtime.use` gives them. */
export const LOG_API = featureApi<LogApi>("logs");

/** Conversations with each sender, for operators. */
export function logApi(parts: Parts): LogApi {
  return {
    logs: async (actor, name, limit, after) => listLogs(accessTo(parts, actor, name), { limit, after }),
    log: async (actor, name, sender) => readLog(accessTo(parts, actor, name), sender),
  };
}

/** Senders with a log, the last active first. */
async function listLogs(access: AgentAccess, { limit, after }: Paging): Promise<readonly LogHead[]> {
  const heads = await access.parts.store.part(LOG_STORE).logs(access.owner, limit, after);
  await recordAct(access, "read logs", `senders: ${heads.length}`);
  return heads;
}

/**
 * The conversation with one sender. The record names one of their threads, but not the sender.
 * @throws StrataError `not_allowed` for the agent itself, `invalid_id`
 */
async function readLog(access: AgentAccess, sender: ContactId): Promise<SenderLog | undefined> {
  const { parts, owner } = access;
  const scope = await knownScope(parts, { ...owner, contact: sender });
  checkOutside(scope);
  const log = await parts.store.part(LOG_STORE).log(scope);
  const [thread] = await parts.store.threads(scope, 1);
  if (log !== undefined) await recordAct(access, "read log", thread?.id ?? "no thread");
  return log;
}

export { LOG_STORE, LOGGED, type LogHead, type SenderLog } from "./store.ts";

export const HEAD = z.object({ contact: z.string(), entries: z.number(), lastActivity: TIME }).meta({ id: "LogHead" });

const LOG = z
  .object({
    contact: z.string(),
    lastActivity: TIME,
    entries: list(
      z.object({
        event: z.string(),
        proof: PROOF.optional(),
        body: z.string(),
        reply: z.string(),
        turn: z.string(),
        at: TIME,
      }),
    ),
  })
  .meta({ id: "SenderLog", description: "What was said with one sender, shortened, oldest first." });

const senders = operation({
  name: "log.list",
  does: "List the senders in an agent's log, most recently active first. This access is recorded.",
  may: "read",
  at: "GET /v1/agents/{agent}/logs",
  takes: LIST_OF_AGENT,
  gives: z.object({ logs: list(HEAD), ...NEXT }),
  list: "logs",
  command: { examples: ["log list sovereign"], opens: "record" },
  run: async ({ runtime }, { agent, limit, after }, { actor }) => {
    const logs = await runtime.use(LOG_API).logs(actor, agent, limit, after);
    const next = nextAfter(logs, limit, ({ lastActivity: at, contact: id }) => ({ at, id }));
    return { logs, ...next };
  },
  show: ({ logs }, { style, world, given: { agent } }) =>
    logs.length === 0 ? [`${agent} has no log of any sender.`] : listLines(logs, world.clock.real(), style),
});

const log = operation({
  name: "log.show",
  does: "Show what was said with one sender, oldest first, as the agent sees it. This access is recorded.",
  may: "read",
  at: "GET /v1/agents/{agent}/logs/{sender}",
  takes: z.strictObject({
    agent: FIELDS.agent,
    sender: FIELDS.contact.describe("the sender, as `strata log list` shows them"),
  }),
  gives: z.object({ log: LOG.nullable().describe("null if no log is kept") }),
  list: "log",
  command: {
    words: ["sender"],
    examples: ["log show 0x5aaeb6053f3e94c9b9a09f33669435e7ef1beaed"],
    opens: "record",
  },
  run: async ({ runtime }, { agent, sender }, { actor }) => ({
    log: (await runtime.use(LOG_API).log(actor, agent, sender)) ?? null,
  }),
  show: ({ log: found }, { style, given: { agent, sender } }) =>
    found === null ? [`${agent} has no log of ${printable(sender)}.`] : logLines(found, agent, style),
});

/** Fills layers with `source: conversation`. */
export function logSources(logs: Logs): LiveSources {
  const shown: LiveSource = async ({ source }, context) =>
    source.kind === "conversation" ? conversation(source, { ...context, logs }) : NOTHING;
  return { conversation: Object.assign(shown, { readsStore: true } as const) };
}

const NOTHING = { kind: "empty", because: "nothing here fills it" } as const;

export const FEATURE: Feature = {
  name: "logs",
  operations: [senders, log],
  store: LOG_STORE,
  open: () => ({ api: ({ parts }) => LOG_API.open(logApi(parts)) }),
  // The logs are read if a layer shows one.
  steps: {
    onStart: async (turn) => {
      if (isLogged(turn)) LOGGED.put(turn.extras, true);
    },
    sources: ({ store }) => logSources({ log: (of) => store.part(LOG_STORE).log(of) }),
  },
};

/** An agent's own turns have no sender. */
function isLogged(turn: RunningTurn): boolean {
  const { scope } = turn.lease.claim.thread;
  if (isBatch(scope)) return true;
  return turn.setup.agent.history === "log" && !isReserved(scope.contact) && !isCalled(turn);
}

type Head = Awaited<ReturnType<LogApi["logs"]>>[number];
type Log = NonNullable<Awaited<ReturnType<LogApi["log"]>>>;

const COLUMNS = [{ head: "sender" }, { head: "entries", right: true }, { head: "active" }] as const;

function listLines(heads: readonly Head[], now: number, style: Style): readonly string[] {
  const rows = heads.map(({ contact, entries, lastActivity }) => [
    printable(contact),
    number(entries),
    ago(now - lastActivity),
  ]);
  return table(COLUMNS, rows, style);
}

function logLines({ contact, entries }: Log, agent: string, style: Style): readonly string[] {
  return [
    `${style.bold(agent)} with ${printable(contact)}`,
    ...entries.flatMap(({ at, body, reply, turn, proof }) => [
      "",
      style.dim([minute(at), turn, ...(proof === undefined ? [] : [proof])].join(" · ")),
      ...setIn(body, { first: `${style.cyan(printable(contact))}: `, more: "  " }, style),
      ...setIn(reply, { first: `${style.cyan(agent)}: `, more: "  " }, style),
    ]),
    "",
    style.dim(`${count(entries.length, "entry", "entries")} of at most ${CONVERSATION_LIMITS.entries}, times in UTC`),
  ];
}
