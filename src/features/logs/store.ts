import {
  CONVERSATION_LIMITS,
  type ContactId,
  type ContactScope,
  type EventId,
  isBatch,
  isKept,
  type OrgId,
  outcomePart,
  type Proof,
  type Spoken,
  spoken,
  type TurnId,
  type Untrusted,
  untrusted,
} from "../../protocol/index.ts";
import {
  type AgentOwner,
  atMost,
  type EndedTurn,
  eventWords,
  type Finding,
  fixed,
  type Generated,
  KEPT_ENDINGS,
  ONE,
  owner,
  type Position,
  plain,
  problem,
  type Retracting,
  type StorePart,
  type Tx,
  tables,
} from "../../store/index.ts";

/** Which of its sender's messages a turn answered: the text stays with the message and the turn. */
interface ExchangeTable extends ContactScope {
  readonly number: Generated<number>;
  readonly event: EventId;
  readonly turn: TurnId;
  readonly at: number;
}

const { query, insert } = tables<{ exchange: ExchangeTable }>();

/** One message that a sender wrote with the agent's answer, both shortened; the whole texts stay with event and reply. */
export interface Exchange {
  readonly event: EventId;
  /** As with the event. */
  readonly proof?: Proof;
  readonly body: Untrusted;
  readonly reply: Spoken;
  readonly turn: TurnId;
  readonly at: number;
}

/** The conversation with one sender, oldest first. */
export interface SenderLog {
  readonly contact: ContactId;
  readonly entries: readonly Exchange[];
  readonly lastActivity: number;
}

/** A sender with a log. */
export interface LogHead {
  readonly contact: ContactId;
  readonly entries: number;
  readonly lastActivity: number;
}

/** Set if a turn's text goes into its senders' logs. */
export const LOGGED = outcomePart<true>();

/**
 * Logs of what the senders themselves wrote, for agents with `history: log`; messages of operators or the platform on their threads are not
 * entries. A turn's commit keeps it within `CONVERSATION_LIMITS`, if `LOGGED` is set and it has a reply. A sender's oldest entries go
 * first, and of too many senders the one silent for longest.
 */
export const LOG_STORE = {
  name: "logs",
  tables: { exchange: { derived: "org agent contact event turn at", volatile: "number" } },
  functions: ({ reading }) => ({
    /** The last active first. */
    logs: reading(logs),
    log: reading(log),
  }),
  onCommit: logTurn,
  erase: dropLog,
  retract: dropEntries,
  verify: checkEntries,
} satisfies StorePart;

/** Notes which of its sender's messages a turn answered, within the limits. Part of its commit. */
async function logTurn(tx: Tx, { scope, turn, done }: EndedTurn): Promise<void> {
  // The messages of a turn of several senders are in the senders' own turns.
  if (
    done === undefined ||
    isBatch(scope) ||
    LOGGED.of(done.outcome) !== true ||
    !isKept(done.outcome.end) ||
    done.outcome.end.reply === null
  )
    return;
  const { claim, outcome } = done;
  // Others' messages on the thread are not the sender's: a turn on those alone leaves no entry.
  const said = claim.events.filter(({ kind, trust }) => kind === "message" && trust === "contact");
  if (said.length === 0) return;
  const isNew = (await tx.first(anyOf(owner(scope)))) === undefined;
  for (const { id: event } of said) {
    await tx.run(insert("exchange", { ...owner(scope), event, turn, at: outcome.at }));
  }
  await dropOldest(tx, scope);
  if (isNew) await dropSilent(tx, scope);
}

const anyOf = fixed((at: ContactScope) =>
  query
    .selectFrom("exchange")
    .select("number")
    .where((eb) => eb.and(owner(at)))
    .limit(ONE),
);

/** First in, first out. */
async function dropOldest(tx: Tx, scope: ContactScope): Promise<void> {
  const numbers = (await tx.all(numbersOf(owner(scope)))).map(({ number }) => number);
  for (const number of numbers.sort((a, b) => b - a).slice(CONVERSATION_LIMITS.entries)) {
    await tx.run(dropped({ ...owner(scope), number }));
  }
}

const numbersOf = fixed((at: ContactScope) =>
  query
    .selectFrom("exchange")
    .select("number")
    .where((eb) => eb.and(owner(at))),
);

const dropped = fixed((at: ContactScope & { readonly number: number }) =>
  query.deleteFrom("exchange").where((eb) => eb.and({ ...owner(at), number: at.number })),
);

/** Of too many senders, the one silent for longest is dropped; never the one who has just written, whatever its clock says. */
async function dropSilent(tx: Tx, { org, agent, contact }: ContactScope): Promise<void> {
  const others = (await tx.all(heads({ org, agent }))).filter((head) => head.contact !== contact);
  const silent = others.sort((a, b) => b.lastActivity - a.lastActivity || b.newest - a.newest);
  for (const head of silent.slice(CONVERSATION_LIMITS.senders - 1)) {
    await dropLog(tx, { org, agent, contact: head.contact });
  }
}

/** Takes a sender's log away. */
async function dropLog(tx: Tx, scope: ContactScope): Promise<void> {
  await tx.run(query.deleteFrom("exchange").where((eb) => eb.and(owner(scope))));
}

/** Removes the entries of what was retracted. */
async function dropEntries(tx: Tx, retracting: Retracting): Promise<void> {
  const entry = `delete from exchange where org = ? and agent = ? and contact = ? and (event in (select value from json_each(?))
    or turn in (select value from json_each(?)))`;
  for (const { scope, events, whole } of retracting.lineages()) {
    const { org, agent, contact } = scope;
    await tx.run(plain(entry, org, agent, contact, JSON.stringify([...events]), JSON.stringify([...whole])));
  }
}

/** The last active first. */
async function logs(tx: Tx, of: AgentOwner, limit: number, after?: Position): Promise<readonly LogHead[]> {
  const all = await tx.all(heads({ org: of.org, agent: of.agent }));
  const isBeyond = ({ lastActivity: at, contact }: LogHead): boolean =>
    after === undefined || at < after.at || (at === after.at && contact > after.id);
  return all
    .filter(isBeyond)
    .sort((a, b) => b.lastActivity - a.lastActivity || (a.contact < b.contact ? -1 : 1))
    .slice(0, atMost(limit))
    .map(({ contact, entries, lastActivity }) => ({ contact, entries, lastActivity }));
}

const heads = fixed((of: AgentOwner) =>
  query
    .selectFrom("exchange")
    .select((eb) => [
      "contact",
      eb.fn.countAll<number>().as("entries"),
      eb.fn.max<number>("at").as("lastActivity"),
      eb.fn.max<number>("number").as("newest"),
    ])
    .where("org", "=", of.org)
    .where("agent", "=", of.agent)
    .groupBy("contact"),
);

/** One sender's log, the oldest entry first. */
async function log(tx: Tx, scope: ContactScope): Promise<SenderLog | undefined> {
  const rows = (await tx.all(selectExchanges(owner(scope)))).sort((a, b) => a.number - b.number);
  if (rows.length === 0) return undefined;
  const entries = rows.map(toExchange);
  return { contact: scope.contact, entries, lastActivity: Math.max(...rows.map(({ at }) => at)) };
}

interface EntryRow extends Pick<Exchange, "event" | "turn" | "at"> {
  readonly proof: Proof | null;
  /** Null if erased. */
  readonly said: string | null;
  readonly answered: string | null;
}

/** An entry, shortened. The reply's words are the model's, as for the outbox. */
function toExchange({ event, turn, at, proof, said, answered }: EntryRow): Exchange {
  const { body, reply } = CONVERSATION_LIMITS;
  return {
    event,
    ...(proof !== null && { proof }),
    body: untrusted(beginning(said === null ? "" : eventWords(said), body)),
    reply: spoken(beginning(answered === null ? "" : String(JSON.parse(answered)), reply)),
    turn,
    at,
  };
}

/** At most this many characters, including the mark of the cut; never half of a character. */
const beginning = (text: string, most: number): string =>
  text.length <= most ? text : `${text.slice(0, most - 1).replace(/[\ud800-\udbff]$/, "")}…`;

/** Both texts are the contact's own: whatever a row names, another's is not found. */
const selectExchanges = fixed((at: ContactScope) =>
  query
    .selectFrom("exchange")
    .innerJoin("event", (join) => join.onRef("event.org", "=", "exchange.org").onRef("event.id", "=", "exchange.event"))
    .innerJoin("turn", (join) => join.onRef("turn.org", "=", "exchange.org").onRef("turn.id", "=", "exchange.turn"))
    .innerJoin("piece as body", (join) =>
      join
        .onRef("body.org", "=", "exchange.org")
        .onRef("body.agent", "=", "exchange.agent")
        .onRef("body.contact", "=", "exchange.contact")
        .onRef("body.digest", "=", "event.piece"),
    )
    .innerJoin("piece as reply", (join) =>
      join
        .onRef("reply.org", "=", "exchange.org")
        .onRef("reply.agent", "=", "exchange.agent")
        .onRef("reply.contact", "=", "exchange.contact")
        .onRef("reply.digest", "=", "turn.words"),
    )
    .selectAll("exchange")
    .select(["event.proof", "body.text as said", "reply.text as answered"])
    .where("exchange.org", "=", at.org)
    .where("exchange.agent", "=", at.agent)
    .where("exchange.contact", "=", at.contact),
);

const ANSWERED = `select 1 from turn_event
  join turn on turn.org = turn_event.org and turn.id = turn_event.turn
  join event on event.org = turn_event.org and event.id = turn_event.event
  where turn_event.org = exchange.org and turn_event.agent = exchange.agent and turn_event.contact = exchange.contact
  and turn_event.turn = exchange.turn and turn_event.event = exchange.event and turn.ended_at = exchange.at
  and turn.status ${KEPT_ENDINGS} and turn.words is not null and event.kind = 'message'
  and event.trust = 'contact'`;

/** Entries that name what no turn answered then, or what its sender did not write: only the commit of that turn may write one. */
async function checkEntries(tx: Tx, org: OrgId): Promise<readonly Finding[]> {
  const strange = `select turn, event from exchange where org = ? and not exists (${ANSWERED}) order by number limit 100`;
  const found = await tx.all(plain<Pick<Exchange, "turn" | "event">>(strange, org));
  return found.map(({ turn, event }) =>
    problem(`turn ${turn}`, `a log of its agent has an entry for ${event} that this turn did not make`),
  );
}
