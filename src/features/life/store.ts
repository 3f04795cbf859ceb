import {
  type ActorId,
  type AgentName,
  type AgentState,
  type Credits,
  canonicalJson,
  type Digest,
  type ErrorCode,
  type OrgId,
  type Role,
  StrataError,
  type TopUp,
  type TurnId,
  untrusted,
} from "../../protocol/index.ts";
import {
  type AgentOwner,
  append,
  atMost,
  batchMemberOf,
  type EndedTurn,
  endedTurns,
  type Finding,
  fixed,
  inOrder,
  keepShared,
  linkedTable,
  newColumn,
  type Position,
  plain,
  problem,
  type StorePart,
  sharedText,
  spent,
  type Tx,
  tables,
  toDoneBy,
} from "../../store/index.ts";

interface LifeTable extends AgentOwner {
  readonly state: AgentState;
  readonly since: number;
  readonly because: string | null;
  readonly turn: TurnId | null;
  readonly code: ErrorCode | null;
  readonly ticked_at: number | null;
}

/** `note` names a shared piece. */
interface TopUpTable extends AgentOwner {
  readonly id: number;
  readonly dollars: number;
  readonly by: Role;
  readonly by_id: ActorId | null;
  readonly note: Digest;
  readonly at: number;
  readonly link: number;
}

/** The totals of an agent's rows: ended turns, and US dollars spent since its first payment. */
interface TallyTable extends AgentOwner {
  readonly turns: number;
  readonly since: number | null;
  readonly dollars: number;
}

const { query, insert } = tables<{ life: LifeTable; top_up: TopUpTable; tally: TallyTable }>();

/** What an agent that lives by itself is doing, as last recorded. It contains no contact's words, so no erasure affects it. */
export interface LifeRecord {
  readonly state: AgentState;
  /** Since when, milliseconds since 1970. */
  readonly since: number;
  /** Why it is faulted or out of credits, if no turn says so: the platform's own sentence. */
  readonly because?: string;
  /** The turn whose failure left it faulted. The failure's text is kept only with the turn, as its contact's. */
  readonly failed?: { readonly turn: TurnId; readonly code: ErrorCode };
  /** When its own last turn began. */
  readonly tickedAt?: number;
}

/** What to write next. Without `tickedAt` the old one stays. */
type LifeMove = Omit<LifeRecord, "since"> & { readonly from: AgentState | undefined; readonly at: number };

/** What is kept of agents' lives: states, payments, and the totals of their turns. */
export const LIFE_STORE = {
  name: "life",
  tables: {
    life: { volatile: "org agent state since because turn code ticked_at" },
    top_up: { linked: "agent id dollars by by_id note at", derived: "org link", since: "by_id" },
    tally: { derived: "org agent turns since dollars" },
  },
  migrations: [{ number: 27, name: "who paid", statements: [newColumn("top_up", "by_id", "text")] }],
  functions: ({ reading, writing }) => ({
    life: reading(life),
    /** False if it is no longer in the state `from`. */
    moveLife: writing(moveLife),
    /** Undefined before the first payment. */
    credits: reading(credits),
    /** Newest first. */
    topUps: reading(topUps),
    topUp: writing(topUp),
    /** How many turns of the agent have ended, with whomever. */
    turnCount: reading(turnCount),
  }),
  changes: {
    topUp: ({ org, agent }: AgentOwner) => ({ kind: "credits", scope: { org, agent, contact: null }, ids: [agent] }),
  },
  linked: {
    topUp: linkedTable<TopUpTable>(
      "top_up",
      ({ agent, id }) => `payment ${id} of ${agent}`,
      async (tx, row) => {
        await sharedText(tx, row.org, row.note);
        return topUpLink(row);
      },
    ),
  },
  onCommit: countTurn,
  // Its own sentences, its operators' notes and numbers: nothing in them is a contact's.
  erase: async () => undefined,
  verify: checkTallies,
} satisfies StorePart;

async function life(tx: Tx, { org, agent }: AgentOwner): Promise<LifeRecord | undefined> {
  const row = await tx.first(lifeOf({ org, agent }));
  if (!row) return undefined;
  const { state, since, because, turn, code, ticked_at: tickedAt } = row;
  return {
    state,
    since,
    ...(because !== null && { because }),
    ...(turn !== null && code !== null && { failed: { turn, code } }),
    ...(tickedAt !== null && { tickedAt }),
  };
}

const lifeOf = fixed((of: AgentOwner) =>
  query.selectFrom("life").selectAll().where("org", "=", of.org).where("agent", "=", of.agent),
);

/** From one state to another, unless another writer was faster. Repeating the present state keeps its `since`. */
async function moveLife(tx: Tx, { org, agent }: AgentOwner, move: LifeMove): Promise<boolean> {
  const known = await tx.first(lifeOf({ org, agent }));
  if (known?.state !== move.from) return false;
  const now = {
    state: move.state,
    since: known?.state === move.state ? known.since : move.at,
    because: move.because ?? null,
    turn: move.failed?.turn ?? null,
    code: move.failed?.code ?? null,
    ticked_at: move.tickedAt ?? known?.ticked_at ?? null,
  };
  await tx.run(
    query
      .insertInto("life")
      .values({ org, agent, ...now })
      .onConflict((on) => on.columns(["org", "agent"]).doUpdateSet(now)),
  );
  return true;
}

const HOUR = 3_600_000;
const DAY = 24 * HOUR;

/** The payments, less the cost of all requests since, which each turn's commit adds up. */
async function credits(tx: Tx, { org, agent }: AgentOwner, at: number): Promise<Credits | undefined> {
  const paid = await tx.first(paidIn({ org, agent }));
  if (!paid || paid.first === null) return undefined;
  const { first, dollars: toppedUp } = paid;
  const all = (await tally(tx, { org, agent })).dollars;
  const since = Math.max(first, at - DAY);
  const lastDay = { spent: await spent(tx, org, agent, since), hours: Math.max(0, at - since) / HOUR };
  return { toppedUp, spent: all, balance: toppedUp - all, lastDay };
}

const paidIn = fixed((of: AgentOwner) =>
  query
    .selectFrom("top_up")
    .select((eb) => [
      eb.fn.min<number | null>("at").as("first"),
      eb.fn.coalesce(eb.fn.sum<number>("dollars"), eb.lit(0)).as("dollars"),
    ])
    .where("org", "=", of.org)
    .where("agent", "=", of.agent),
);

async function topUps(tx: Tx, { org, agent }: AgentOwner, limit: number, after?: Position): Promise<readonly TopUp[]> {
  const all = query
    .selectFrom("top_up")
    .selectAll()
    .where((eb) => eb.and({ org, agent }))
    .orderBy("id", "desc")
    .limit(atMost(limit));
  const newest = after ? all.where("id", "<", after.at) : all;
  return inOrder(await tx.all(newest), async ({ id, dollars, note, at, ...who }) => {
    return { id, dollars, ...toDoneBy(who), note: untrusted(await sharedText(tx, org, note)), at };
  });
}

/** Notes a payment, and gives the agent's new balance. */
async function topUp(tx: Tx, owner: AgentOwner, payment: Omit<TopUp, "id">): Promise<Credits> {
  const { dollars, by, byId, at } = payment;
  if (!Number.isFinite(dollars) || dollars === 0) throw noPayment(owner, dollars);
  const { org, agent } = owner;
  const id = ((await topUps(tx, owner, 1))[0]?.id ?? 0) + 1;
  const facts = { org, agent, id, dollars, by, by_id: byId ?? null, note: await keepShared(tx, org, payment.note), at };
  await tx.run(insert("top_up", { ...facts, link: (await append(tx, org, topUpLink(facts))).seq }));
  await countFrom(tx, owner, (await tx.first(paidIn({ org, agent })))?.first ?? at);
  const now = await credits(tx, owner, at);
  if (now) return now;
  throw new StrataError("unexpected", `payment ${id} of ${agent} vanished inside its own transaction: report it`);
}

/** The content of a payment's link. */
function topUpLink({ agent, id, dollars, by, by_id, note, at }: Omit<TopUpTable, "link">): string {
  // Links of payments from before ids were kept do not have one.
  return canonicalJson({ topUp: { agent, id, dollars, by, ...(by_id !== null && { by_id }), note, at } });
}

function noPayment({ agent }: AgentOwner, dollars: number): StrataError {
  const message = `${dollars} dollars are no payment to ${agent}: give a number of US dollars, below zero to correct one`;
  return new StrataError("invalid_input", message, { agent, dollars: String(dollars) });
}

/**
 * The totals of an agent's rows; nothing before its first turn or payment. Each commit keeps them, so that reading a long life costs no
 * more than a short one; `verify` adds up the rows again.
 */
async function tally(tx: Tx, { org, agent }: AgentOwner): Promise<TallyTable> {
  return (await tx.first(tallyOf({ org, agent }))) ?? { org, agent, turns: 0, since: null, dollars: 0 };
}

const tallyOf = fixed((of: AgentOwner) =>
  query.selectFrom("tally").selectAll().where("org", "=", of.org).where("agent", "=", of.agent),
);

const turnCount = async (tx: Tx, owner: AgentOwner): Promise<number> => (await tally(tx, owner)).turns;

/** Counts a turn that ends, and what it spent. One sender's part of a shared turn does not count as a turn. */
async function countTurn(tx: Tx, { scope, turn, requests }: EndedTurn): Promise<void> {
  const counts = requests.length > 0 || (await batchMemberOf(tx, scope, turn)) === undefined;
  if ((await tx.changed(plain(UNPAID, scope.org, scope.agent, counts ? 1 : 0))) === 1) return;
  const { since, turns, ...known } = await tally(tx, scope);
  const paid = requests.filter(({ at }) => since !== null && at >= since);
  const dollars = paid.reduce((sum, one) => sum + one.dollars, known.dollars);
  await tx.run(keptTally({ ...known, since, turns: counts ? turns + 1 : turns, dollars }));
}

/** Changes nothing of an agent that was ever paid in to. */
const UNPAID = `insert into tally (org, agent, turns, since, dollars) values (?, ?, ?, null, 0)
  on conflict (org, agent) do update set turns = tally.turns + excluded.turns where tally.since is null`;

/** Counts from the first payment on: earlier spending is free. */
async function countFrom(tx: Tx, owner: AgentOwner, first: number): Promise<void> {
  const known = await tally(tx, owner);
  if (known.since === first) return;
  await tx.run(keptTally({ ...known, since: first, dollars: await spent(tx, owner.org, owner.agent, first) }));
}

const keptTally = fixed(({ org, agent, turns, since, dollars }: TallyTable) =>
  query
    .insertInto("tally")
    .values({ org, agent, turns, since, dollars })
    .onConflict((on) => on.columns(["org", "agent"]).doUpdateSet({ turns, since, dollars })),
);

/** Sums in another order differ in their last digits; per dollar. */
const ROUNDING = 1e-9;

/** The totals of all agents must match their rows. */
async function checkTallies(tx: Tx, org: OrgId): Promise<readonly Finding[]> {
  const turns = await endedTurns(tx, org);
  const paid = await tx.all(
    query
      .selectFrom("top_up")
      .select((eb) => ["agent", eb.fn.min<number>("at").as("first")])
      .where("org", "=", org)
      .groupBy("agent"),
  );
  const kept = await tx.all(query.selectFrom("tally").selectAll().where("org", "=", org));
  const agents = [...new Set([...turns, ...paid, ...kept].map(({ agent }) => agent))];
  const found = await inOrder(agents, async (agent) => {
    const since = paid.find((one) => one.agent === agent)?.first ?? null;
    const dollars = since === null ? 0 : await spent(tx, org, agent, since);
    const rows = { turns: turns.find((one) => one.agent === agent)?.turns ?? 0, since, dollars };
    return differences(await tally(tx, { org, agent }), rows).map((what) => wrongSum(agent, what));
  });
  return found.flat();
}

type Sums = Omit<TallyTable, keyof AgentOwner>;

const differences = (known: Sums, rows: Sums): readonly string[] => [
  ...(known.turns === rows.turns ? [] : ["turns"]),
  ...(known.since === rows.since ? [] : ["first payment"]),
  ...(Math.abs(known.dollars - rows.dollars) <= ROUNDING * (1 + rows.dollars) ? [] : ["dollars"]),
];

const wrongSum = (agent: AgentName, what: string): Finding =>
  problem(`agent ${agent}`, `its sum of ${what} is not what the record's rows add up to`);
