import {
  type ContactId,
  type ContactScope,
  type Digest,
  isBatch,
  type OrgId,
  type OutboxId,
  outcomePart,
  type Scope,
  SELF,
  type Spoken,
  spoken,
  type ThreadId,
  type TurnId,
} from "../../protocol/index.ts";
import {
  type AgentOwner,
  atMost,
  type EndedTurn,
  type Finding,
  fixed,
  inOrder,
  newColumn,
  type OneTurn,
  owner,
  type Position,
  plain,
  problem,
  type StorePart,
  TEXT_OF,
  type Tx,
  tables,
} from "../../store/index.ts";
import { SCHEDULE } from "../schedules/config.ts";
import { confirm, holdBack, IN_STATE, type ReplyState, type STATUSES, states } from "./state-store.ts";

export { type ReplyState, STATES, STATUSES } from "./state-store.ts";

/** `piece` names the reply's text. */
interface OutboxTable extends ContactScope {
  readonly id: OutboxId;
  readonly thread: ThreadId;
  readonly turn: TurnId;
  readonly channel: string;
  readonly piece: Digest;
  readonly status: (typeof STATUSES)[number];
  readonly at: number;
  readonly delivered_at: number | null;
  /** The program that tries to deliver it, and until when no other does. */
  readonly holder: string | null;
  readonly lease_until: number | null;
  readonly tries: number;
  /** Not to be tried again before. */
  readonly due: number | null;
  /** Why the last try failed. */
  readonly failed: string | null;
  /** The person's act that sent it; null if its turn did. */
  readonly act: string | null;
  /** When its arrival was confirmed; null: not yet. */
  readonly confirmed_at: number | null;
}

const { query, insert } = tables<{ outbox: OutboxTable }>();

/** A reply on its way out, written in the turn's commit. */
export interface OutboxMessage
  extends Pick<OutboxTable, "id" | "contact" | "thread" | "turn" | "channel" | "status" | "at"> {
  readonly text: Spoken;
  /** Why the last try to deliver it failed, while it is not delivered. */
  readonly failed?: string;
}

/** Which of an agent's replies; an absent field matches any. */
interface MailWish extends Partial<Pick<OutboxMessage, "status" | "thread" | "turn">> {
  readonly contact?: ContactId;
  readonly state?: ReplyState;
  /** Oldest first; newest first by default. */
  readonly oldest?: true;
  /** Also the agent's reports on turns that it began itself, which are for no contact. */
  readonly ownTurns?: true;
  readonly limit: number;
  readonly after?: Position | undefined;
}

/** Which program wants to deliver, until when, and how much. */
interface DeliveryLease {
  readonly holder: string;
  readonly now: number;
  readonly until: number;
  readonly limit: number;
}

type Leased = OutboxMessage & { readonly tries: number };

/** One try to deliver a message. */
interface DeliveryTry {
  readonly outbox: OutboxId;
  /** Absent if it was accepted. */
  readonly failed?: string;
  /** When to try again; none: never. */
  readonly again?: number;
  /** It was stopped by its own program, and counts for nothing. */
  readonly stopped?: true;
  readonly at: number;
}

/**
 * From when a turn's reply may be given to a program that delivers it, in real time, asked for in the commit. `never`: it counts as
 * delivered. `nobody`: it is not a message. Absent: at once.
 */
export const DELIVER_AFTER = outcomePart<() => number | "never" | "nobody">();

/** Outgoing replies, and their delivery. Erased ones are not included. */
export const OUTBOX_STORE = {
  name: "deliveries",
  tables: {
    outbox: {
      linked: "org agent contact id thread turn channel piece at act",
      volatile: "status delivered_at holder lease_until tries due failed confirmed_at",
      since: "act",
    },
  },
  migrations: [
    {
      number: 35,
      name: "replies by a person's act",
      statements: [
        newColumn("outbox", "act", "text"),
        { sqlite: "create index outbox_act_checked on outbox (+act) where act is not null", postgres: "" },
      ],
    },
    { number: 44, name: "receipts of replies", statements: [newColumn("outbox", "confirmed_at", "int")] },
  ],
  functions: ({ reading, writing }) => {
    const [due, lease] = [reading(dueIds), writing(leaseDue)];
    return {
      /** Replies, newest first by default. Reports on turns that the agent began itself are included only on request. */
      mail: reading(mail),
      /** How many wait, and how many could not be delivered. */
      mailCounts: reading(mailCounts),
      /** How many wait on each thread of the agent. */
      waitingByThread: reading(waitingByThread),
      /** How far these replies came, by their ids. */
      states: reading(states),
      /** Marks waiting messages as delivered; false when none is waiting any more. */
      deliver: writing(deliver),
      /** Notes that a sent message has arrived; false if it was not sent, or the arrival is already known. */
      confirm: writing(confirm),
      /** How many waiting messages could be delivered now, counted up to a limit, and when the next one falls due. */
      deliveriesDue: reading(deliveriesDue),
      /**
       * Due messages of the agent, leased to the holder until then: no caller gets them before, not even the holder, and none of the same
       * thread. So they arrive in order: none is due before an older one of its thread, unless that one could not be delivered. Oldest
       * first; threads with a failed delivery last. Does not wait for writers if nothing is due.
       */
      dueDeliveries: async (of: AgentOwner, wish: DeliveryLease): Promise<readonly Leased[]> =>
        (await due(of, { ...wish, limit: 1 })).length > 0 ? lease(of, wish) : [],
      /** Notes a try: delivered, or waiting again. False if it was delivered meanwhile, or another holder has the lease. */
      noteDelivery: writing(noteDelivery),
    };
  },
  onCommit: sendReply,
  inLink: async (tx, of, ending) => {
    if (ending !== undefined) return { outbox: SENT_IN.get(ending) ?? [] };
    return { outbox: (await tx.all(recorded(of))).sort((a, b) => (a.id < b.id ? -1 : 1)) };
  },
  replyId: async (tx, of, act) => (await tx.first(act === null ? recorded(of) : byAct({ ...of, act })))?.id,
  erase: forgetFailures,
  retract: holdBack,
  verify: checkMail,
} satisfies StorePart;

/** What a turn's commit has written. */
const SENT_IN = new WeakMap<EndedTurn, readonly object[]>();

async function sendReply(tx: Tx, ending: EndedTurn): Promise<void> {
  const { scope, turn, done } = ending;
  // The messages of a turn of several senders are in the senders' own turns.
  if (done === undefined || done.words === null || isBatch(scope)) return;
  const { thread } = done.claim;
  const { replyId: id, at } = done.outcome;
  const due = DELIVER_AFTER.of(done.outcome)?.() ?? null;
  if (due === "nobody") return;
  const said = { id, thread: thread.id, channel: thread.channel, piece: done.words, at };
  const far =
    due === "never"
      ? ({ status: "delivered", delivered_at: at, due: null } as const)
      : ({ status: "waiting", delivered_at: null, due } as const);
  const nothing = { holder: null, lease_until: null, failed: null, act: null, confirmed_at: null };
  await tx.run(insert("outbox", { ...owner(scope), turn, ...said, ...far, ...nothing, tries: 0 }));
  SENT_IN.set(ending, [said]);
}

/** A reply sent by a person's act, inside a write transaction. */
export async function queueReply(
  tx: Tx,
  scope: ContactScope,
  reply: Pick<OutboxTable, "id" | "thread" | "turn" | "channel" | "piece" | "at"> & { readonly act: string },
): Promise<void> {
  const none = { delivered_at: null, holder: null, lease_until: null, due: null, failed: null, confirmed_at: null };
  await tx.run(insert("outbox", { ...owner(scope), ...reply, ...none, status: "waiting", tries: 0 }));
}

const recorded = fixed((of: OneTurn) =>
  query
    .selectFrom("outbox")
    .select(["thread", "id", "channel", "piece", "at"])
    .where((eb) => eb.and({ ...owner(of), turn: of.turn }))
    .where("act", "is", null),
);

const byAct = fixed((of: OneTurn & { readonly act: string }) =>
  query
    .selectFrom("outbox")
    .select("id")
    .where((eb) => eb.and({ ...owner(of), turn: of.turn, act: of.act })),
);

/** Who would have been given a message may have quoted it. */
async function forgetFailures(tx: Tx, scope: ContactScope): Promise<void> {
  await tx.run(
    query
      .updateTable("outbox")
      .set({ failed: null })
      .where((eb) => eb.and(owner(scope))),
  );
}

/** No link records how far a reply came; its columns must be consistent. */
async function checkMail(tx: Tx, org: OrgId): Promise<readonly Finding[]> {
  const odd = `select id, status from outbox where org = ? and ((status = 'delivered') != (delivered_at is not null)
    or (status != 'delivered' and confirmed_at is not null))`;
  return (await tx.all(plain<Pick<OutboxTable, "id" | "status">>(odd, org))).map(({ id, status }) =>
    problem(
      `reply ${id}`,
      `it is marked as ${status}, but ${status === "delivered" ? "no" : "a"} time of delivery is noted`,
    ),
  );
}

type OutboxRow = OutboxTable & { readonly text: string };

const IS_THERE = `${TEXT_OF("outbox")} is not null`;

/** The agent's report on a turn that it began itself, other than a scheduled run. */
export const isOwnReport = ({ contact, channel }: Pick<OutboxMessage, "contact" | "channel">): boolean =>
  contact === SELF && channel !== SCHEDULE.name;

/** Messages for others: not what the agent said to itself, except in scheduled runs. */
const FOR_OTHERS = `(outbox.contact != '${SELF}' or outbox.channel = '${SCHEDULE.name}')`;

const SAID = `from outbox where org = ? and agent = ? and ${IS_THERE}`;
const SENT = `${SAID} and ${FOR_OTHERS}`;

const ROWS = `select outbox.*, ${TEXT_OF("outbox")} as text`;
const REPLIES = `${ROWS} ${SENT}`;

async function mail(
  tx: Tx,
  { org, agent }: AgentOwner,
  { status, state, oldest, ownTurns, limit, after, ...rest }: MailWish,
): Promise<readonly OutboxMessage[]> {
  const chosen = (["contact", "thread", "turn"] as const).filter((column) => rest[column] !== undefined);
  const way = oldest ? "asc" : "desc";
  const where = [
    ownTurns ? `${ROWS} ${SAID}` : REPLIES,
    ...(status === undefined ? [] : [IN[status]]),
    ...(state === undefined ? [] : [IN_STATE[state]]),
    ...chosen.map((column) => `${column} = ?`),
    ...(after ? [`(at, id) ${oldest ? ">" : "<"} (?, ?)`] : []),
  ];
  const wanted = `${where.join(" and ")} order by at ${way}, id ${way} limit ${atMost(limit)}`;
  return (
    await tx.all(
      plain<OutboxRow>(
        wanted,
        org,
        agent,
        ...chosen.map((column) => rest[column]),
        ...(after ? [after.at, after.id] : []),
      ),
    )
  ).map(toMessage);
}

/** Inlined, to match the index of waiting messages. */
const IN: Readonly<Record<OutboxMessage["status"], string>> = {
  waiting: "status = 'waiting'",
  delivered: "status = 'delivered'",
  undeliverable: "status = 'undeliverable'",
};

/** The words are the model's: `Spoken` when the turn stored them. */
function toMessage({ id, contact, thread, turn, channel, status, at, failed, text }: OutboxRow): OutboxMessage {
  const words = spoken(String(JSON.parse(text)));
  return { id, contact, thread, turn, channel, text: words, status, at, ...(failed !== null && { failed }) };
}

async function mailCounts(
  tx: Tx,
  { org, agent }: AgentOwner,
): Promise<{ readonly outbox: number; readonly undeliverable: number }> {
  const count = async (status: OutboxMessage["status"]): Promise<number> =>
    (await tx.column(plain<number>(`select count(*) ${SENT} and ${IN[status]}`, org, agent)))[0] ?? 0;
  return { outbox: await count("waiting"), undeliverable: await count("undeliverable") };
}

const waitingByThread = (
  tx: Tx,
  { org, agent }: AgentOwner,
): Promise<readonly { readonly thread: ThreadId; readonly waiting: number }[]> =>
  tx.all(plain(`select thread, count(*) as waiting ${SENT} and ${IN.waiting} group by thread`, org, agent));

/** A message is delivered once: of two that say so, one hears no. */
async function deliver(
  tx: Tx,
  scope: Scope,
  which: Pick<OutboxMessage, "id"> | Pick<OutboxMessage, "turn">,
  at: number,
): Promise<boolean> {
  const { org, agent, contact } = scope;
  const named = "id" in which ? (["id", which.id] as const) : (["turn", which.turn] as const);
  const wanted = [...(contact === null ? [] : [["contact", contact] as const]), named];
  const marked = `update outbox set status = 'delivered', delivered_at = ?, confirmed_at = ?, failed = null
    where org = ? and agent = ? and ${wanted.map(([column]) => `${column} = ?`).join(" and ")} and status = 'waiting'`;
  return (await tx.changed(plain(marked, at, at, org, agent, ...wanted.map(([, value]) => value)))) > 0;
}

/** Looks and leases in one write transaction: of two that ask, one is given a message. */
async function leaseDue(tx: Tx, of: AgentOwner, wish: DeliveryLease): Promise<readonly Leased[]> {
  const { holder, until } = wish;
  const one = (id: OutboxId) => plain<OutboxRow>(`${REPLIES} and id = ?`, of.org, of.agent, id);
  const rows = (await inOrder(await dueIds(tx, of, wish), (id) => tx.all(one(id)))).flat();
  for (const { org, agent, id } of rows) await changeWaiting(tx, { org, agent, id }, { holder, lease_until: until });
  return rows.map((row) => ({ ...toMessage(row), tries: row.tries }));
}

async function deliveriesDue(
  tx: Tx,
  of: AgentOwner,
  wish: Pick<DeliveryLease, "now" | "limit">,
): Promise<{ readonly due: number; readonly next?: number }> {
  const later = `select min(case when coalesce(due, 0) > coalesce(lease_until, 0) then due else lease_until end) from ${WAITING} and (due > ? or lease_until > ?)`;
  const [next] = await tx.column(plain<number | null>(later, of.org, of.agent, wish.now, wish.now));
  const due = (await dueIds(tx, of, wish)).length;
  return typeof next === "number" ? { due, next } : { due };
}

/** What is due, oldest first; threads with a failed delivery last. */
async function dueIds(
  tx: Tx,
  { org, agent }: AgentOwner,
  { now, limit }: Pick<DeliveryLease, "now" | "limit">,
): Promise<readonly OutboxId[]> {
  const whose = [org, agent];
  const found = async (isTried: boolean, most: number): Promise<readonly OutboxId[]> => {
    const given = [...whose, now, ...whose, now, ...whose, now, ...whose];
    return tx.column(plain<OutboxId>(dueAt(isTried, most), ...given));
  };
  const first = await found(false, limit);
  return first.length < limit ? [...first, ...(await found(true, limit - first.length))] : first;
}

/** By its index, which has a row for each reply that waits: in its order the first one is found without a look at the others' texts. */
const WAITING = "outbox indexed by outbox_waiting where org = ? and agent = ? and status = 'waiting'";

/** For threads with a failed delivery, or for the others. `early`: a listener may still take it, and later ones come after it. */
const dueAt = (isTried: boolean, limit: number): string => `
  with early as materialized (select thread, at, id from ${WAITING} and tries = 0 and due > ?)
  select id from ${WAITING} and ${FOR_OTHERS} and (due is null or due <= ?)
    and thread not in (select thread from ${WAITING} and lease_until > ?)
    and ${isTried ? "thread in" : "tries = 0 and thread not in"} (select thread from ${WAITING} and tries > 0)
    and not exists (
      select 1 from early where early.thread = outbox.thread and (early.at, early.id) < (outbox.at, outbox.id))
    and ${IS_THERE}
  order by at, id limit ${atMost(limit)}`;

/** The result of a try, reported by the last holder of the message. */
function noteDelivery(tx: Tx, { org, agent }: AgentOwner, holder: string, tried: DeliveryTry): Promise<boolean> {
  const { outbox: id, failed = null, again = null, stopped = false, at } = tried;
  const lost: OutboxChange = again === null ? { status: "undeliverable" } : { due: again };
  const came: OutboxChange = failed === null ? { status: "delivered", delivered_at: at } : lost;
  const change = { ...came, holder: null, lease_until: null, failed };
  return changeWaiting(tx, { org, agent, id, holder }, change, stopped ? 0 : 1);
}

type OutboxChange = Partial<Omit<OutboxTable, keyof ContactScope | "id" | "tries">>;

/** False if none of these waits. */
async function changeWaiting(tx: Tx, which: Partial<OutboxTable>, change: OutboxChange, tries = 0): Promise<boolean> {
  const changed = query
    .updateTable("outbox")
    .set((eb) => ({ ...change, tries: eb("tries", "+", tries) }))
    .where((eb) => eb.and({ ...which, status: "waiting" as const }));
  return (await tx.changed(changed)) > 0;
}
