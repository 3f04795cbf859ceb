import {
  type AgentName,
  ANSWER_KIND,
  type ContactId,
  type ContactScope,
  type Digest,
  type DoneBy,
  type EventId,
  isBatch,
  type OrgId,
  OUTSIDE_KINDS,
  repeaterOf,
  type TurnId,
} from "../../protocol/index.ts";
import { findMadeVersions, withdrawnParts } from "../agent/withdraw-texts.ts";
import { goneMemories } from "../memory/retract-memories.ts";
import { owner, plain } from "../statement.ts";
import type { Row } from "../tables.ts";
import { batchesWith } from "../threads/batch-members.ts";
import type { DroppedRows, LeftDone, Lineage, Retracting, Tx, WithdrawnVersion } from "../tx.ts";
import { contactTables } from "./contact-rows.ts";

/** A lineage while it is looked for. */
interface OpenLineage extends Lineage {
  since: number;
  isErased?: boolean;
  readonly events: Set<EventId>;
  readonly notices: Set<EventId>;
  readonly turns: Set<TurnId>;
  readonly whole: Set<TurnId>;
  /** Texts that go unless something else names them, those that go in any case, and turns whose tails go. */
  readonly texts: Set<Digest>;
  readonly certain: Set<Digest>;
  readonly tails: Set<TurnId>;
  readonly dropped: DroppedRows[];
}

/** A retraction under way, with what only the store needs of it. */
export interface OpenRetracting extends Retracting {
  readonly lineages: () => readonly OpenLineage[];
  readonly lineageOf: (scope: ContactScope, since: number) => OpenLineage;
  readonly undone: readonly number[];
  readonly left: readonly LeftDone[];
  /** These are not handled here. */
  readonly leaveOut: (scopes: readonly ContactScope[]) => void;
}

/** Begins a retraction. */
export function retracting(org: OrgId, n: number, { by, byId, at }: DoneBy & { readonly at: number }): OpenRetracting {
  const all = new Map<string, OpenLineage>();
  const withdrawn: WithdrawnVersion[] = [];
  const undone: number[] = [];
  const left: LeftDone[] = [];
  const keyOf = ({ agent, contact }: ContactScope): string => JSON.stringify([agent, contact]);
  const lineageOf: OpenRetracting["lineageOf"] = (scope, since) => {
    const found = all.get(keyOf(scope)) ?? {
      ...{ scope: owner(scope), since, events: new Set(), notices: new Set(), turns: new Set(), whole: new Set() },
      ...{ texts: new Set(), certain: new Set(), tails: new Set(), dropped: [] },
    };
    found.since = Math.min(found.since, since);
    all.set(keyOf(scope), found);
    return found;
  };
  const known = (scope: ContactScope): OpenLineage => lineageOf(scope, Number.MAX_SAFE_INTEGER);
  return {
    ...{ org, n, by, at, ...(byId !== undefined && { byId }), withdrawn, undone, left, lineageOf },
    lineages: () => [...all.values()],
    isGone: ({ turn, ...scope }) => all.get(keyOf(scope))?.whole.has(turn) === true,
    addNotices: (scope, events) => {
      const { events: all, notices } = known(scope);
      for (const id of events) {
        all.add(id);
        notices.add(id);
      }
    },
    addTurns: (scope, since, turns) => {
      const lineage = lineageOf(scope, since);
      for (const id of turns) {
        lineage.turns.add(id);
        lineage.whole.add(id);
      }
    },
    hide: (scope, since, turns) => {
      const lineage = lineageOf(scope, since);
      for (const id of turns) lineage.turns.add(id);
    },
    blank: (scope, texts) => {
      for (const digest of texts) if (digest !== null) known(scope).texts.add(digest);
    },
    drop: (scope, rows) => void known(scope).dropped.push(rows),
    blankTails: (scope, turns) => {
      for (const id of turns) known(scope).tails.add(id);
    },
    withdraw: (version) => {
      const isSame = (one: WithdrawnVersion) => JSON.stringify(one) === JSON.stringify(version);
      if (!withdrawn.some(isSame)) withdrawn.push(version);
    },
    undo: (link) => void undone.push(link),
    leave: (one) => void left.push(one),
    leaveOut: (scopes) => {
      for (const scope of scopes) all.delete(keyOf(scope));
    },
  };
}

/** Finds all that came from what is in it already: turns, what they asked other agents, what was made of what was remembered of them. */
export async function follow(tx: Tx, all: OpenRetracting): Promise<void> {
  const size = (): number =>
    all.withdrawn.length +
    all.lineages().reduce((sum, { events, turns, whole }) => sum + 1 + events.size + turns.size + whole.size, 0);
  for (let before = -1; before !== size(); ) {
    before = size();
    for (const lineage of all.lineages()) await followOne(tx, all, lineage);
    for (const part of tx.parts) await part.derived?.(tx, all);
    await findMadeVersions(tx, all);
    await followReaders(tx, all);
  }
}

/** Turns of anybody in which a model has read a block or a skill that goes: they leave the requests, and what was said in them stays. */
async function followReaders(tx: Tx, all: OpenRetracting): Promise<void> {
  for (const [agent, texts] of await withdrawnParts(tx, all)) {
    const shows = repeaterOf(texts);
    type Read = Pick<Row<"turn_message">, "contact" | "turn"> & { readonly text: string; readonly at: number };
    for (const { contact, turn, text, at } of await tx.all(plain<Read>(RESULTS, all.org, agent, all.org, agent)))
      if (shows(stringsIn(text))) all.hide({ org: all.org, agent, contact }, at, [turn]);
  }
}

/** Results of tools in all conversations of an agent, with the turn that got them. */
const RESULTS = (["came_with", "turn"] as const)
  .map((turn, i) => {
    const table = i === 0 ? "message" : "turn_message";
    return `select distinct one.contact, one.${turn} as turn, piece.text, turn.started_at as at from ${table} as one
      join turn on turn.org = one.org and turn.agent = one.agent and turn.contact = one.contact and turn.id = one.${turn}
      join piece on piece.org = one.org and piece.agent = one.agent and piece.contact = one.contact and piece.digest = one.piece
      where one.org = ? and one.agent = ? and piece.text like '%"role":"tool"%'`;
  })
  .join(" union ");

/** All words of a stored text, whatever form it has. */
export function stringsIn(text: string): string {
  const found: string[] = [];
  const walk = (value: unknown): void => {
    if (typeof value === "string") found.push(value);
    else if (typeof value === "object" && value !== null) for (const one of Object.values(value)) walk(one);
  };
  try {
    walk(JSON.parse(text));
  } catch {
    found.push(text);
  }
  return found.join("\n");
}

/** The same in what parts of the store keep alone. */
export async function followParts(tx: Tx, all: OpenRetracting): Promise<void> {
  for (const part of tx.parts) await part.derived?.(tx, all);
}

async function followOne(tx: Tx, all: OpenRetracting, lineage: OpenLineage): Promise<void> {
  const { scope, events, turns, whole } = lineage;
  const whose = [scope.org, scope.agent, scope.contact];
  const list = (ids: Iterable<string>): string => JSON.stringify([...ids]);
  for (const id of await tx.column(plain<TurnId>(HANDLED, ...whose, list(events)))) turns.add(id);
  // A run that waits goes on in later turns: they answer what it began with.
  for (const id of await tx.column(plain<TurnId>(OF_RUN, ...whose, ...whose, list(turns)))) turns.add(id);
  for (const id of await tx.column(plain<EventId>(ANSWERS, ...whose, list(turns)))) events.add(id);
  const others = await tx.column(plain<TurnId>(HANDLES_OTHERS, ...whose, list(turns), list(events)));
  for (const id of turns) if (!others.includes(id)) whole.add(id);
  const [first] = await tx.column(plain<number | null>(FIRST, ...whose, list(events)));
  if (first !== undefined && first !== null) lineage.since = Math.min(lineage.since, first);
  for (const called of await tx.all(plain<CalledEvent>(CALLED, ...whose, ...whose, list(turns)))) {
    const there = all.lineageOf({ ...scope, agent: called.agent }, called.at);
    there.events.add(called.id);
  }
  for (const agent of await related(tx, scope)) all.lineageOf({ ...scope, agent }, lineage.since);
  await followBatches(tx, all, lineage);
  const { turns: summing } = await goneMemories(tx, lineage);
  all.addTurns(scope, lineage.since, summing);
}

/** Agents that call this one for the contact, or that it calls: one may have told the other. */
async function related(tx: Tx, { org, agent, contact }: ContactScope): Promise<readonly AgentName[]> {
  const calls = `select distinct agent, caller_agent as caller from thread where org = ? and contact = ? and caller_agent is not null
    and (agent = ? or caller_agent = ?)`;
  type Call = { readonly agent: AgentName; readonly caller: AgentName };
  const found = await tx.all(plain<Call>(calls, org, contact, agent, agent));
  return found.flatMap((one) => [one.agent, one.caller]).filter((name) => name !== agent);
}

/** The ids of all that is kept of a lineage: of its events and turns, and of what came of these; of an erased contact, all of them. */
export async function idsOf(tx: Tx, lineage: Lineage): Promise<ReadonlySet<string>> {
  const { scope, events, turns, isErased } = lineage;
  const ids = new Set<string>([...events, ...turns]);
  for (const { table } of await contactTables(tx)) {
    if (table === "memory") continue;
    const all = `select * from "${table}" where org = ? and agent = ? and contact = ?`;
    for (const row of await tx.all(plain<Cells>(all, scope.org, scope.agent, scope.contact))) {
      const { id, turn } = row;
      if (typeof id === "string" && (isErased === true || turns.has(turn as TurnId))) ids.add(id);
    }
  }
  return ids;
}

type Cells = Readonly<Record<string, unknown>>;

type CalledEvent = Pick<Row<"event">, "agent" | "id" | "at">;

/** The messages that several senders sent together are in one request: it goes with the message of any of them. */
async function followBatches(tx: Tx, all: OpenRetracting, { scope, turns, since }: OpenLineage): Promise<void> {
  if (isBatch(scope) || turns.size === 0) return;
  for (const batch of await batchesWith(tx, scope)) {
    const whose = [batch.org, batch.agent, batch.contact];
    const staged = await tx.column(
      plain<string>(STAGED, scope.org, scope.agent, scope.contact, batch.contact, JSON.stringify([...turns])),
    );
    if (staged.length === 0) continue;
    await addMembers(tx, all, batch);
    all.addTurns(batch, since, await tx.column(plain<TurnId>(BATCH_TURNS, ...whose, since)));
  }
}

/** The model may have told any sender of a batch what another one had sent. */
export async function addMembers(
  tx: Tx,
  all: OpenRetracting,
  { org, agent, contact: batch }: ContactScope,
): Promise<void> {
  type Member = { readonly contact: ContactId; readonly at: number };
  for (const { contact, at } of await tx.all(plain<Member>(MEMBERS, org, agent, batch)))
    all.lineageOf({ org, agent, contact }, at);
}

const HANDLED = `select distinct turn from turn_event where org = ? and agent = ? and contact = ?
  and event in (select value from json_each(?))`;
const OF_RUN = `select id from turn where org = ? and agent = ? and contact = ? and run in (
  select run from turn where org = ? and agent = ? and contact = ? and id in (select value from json_each(?)))`;
const CALLS = `select id from open_call where open_call.org = ? and open_call.agent = ? and open_call.contact = ?
  and open_call.turn in (select value from json_each(?))`;
const ANSWERS = `select event.id from event join open_call on open_call.org = event.org and open_call.agent = event.agent
  and open_call.contact = event.contact and open_call.id = event.answers
  where event.org = ? and event.agent = ? and event.contact = ? and open_call.turn in (select value from json_each(?))`;
/** A note that the platform adds to a message does not start a turn. */
const HANDLES_OTHERS = `select distinct turn_event.turn from turn_event join event on event.org = turn_event.org
  and event.agent = turn_event.agent and event.contact = turn_event.contact and event.id = turn_event.event
  where turn_event.org = ? and turn_event.agent = ? and turn_event.contact = ? and turn_event.turn in (select value from json_each(?))
  and not turn_event.event in (select value from json_each(?)) and event.kind in (${[
    ...OUTSIDE_KINDS,
    "peer",
    ANSWER_KIND,
  ]
    .map((kind) => `'${kind}'`)
    .join(", ")})`;
const FIRST = `select min(at) from event where org = ? and agent = ? and contact = ? and id in (select value from json_each(?))`;
const CALLED = `select event.agent, event.id, event.at from event join thread on thread.org = event.org and thread.agent = event.agent
  and thread.contact = event.contact and thread.id = event.thread
  where thread.org = ? and thread.caller_agent = ? and thread.contact = ? and thread.caller_call in (${CALLS})`;
const STAGED = `select turn from staged where org = ? and agent = ? and contact = ? and batch_contact = ?
  and turn in (select value from json_each(?))`;
const MEMBERS = `select staged.contact, min(turn.started_at) as at from staged join turn on turn.org = staged.org and turn.agent = staged.agent
  and turn.contact = staged.contact and turn.id = staged.turn where staged.org = ? and staged.agent = ? and staged.batch_contact = ?
  group by staged.contact order by staged.contact`;
const BATCH_TURNS = `select id from turn where org = ? and agent = ? and contact = ? and (ended_at is null or ended_at >= ?)`;
