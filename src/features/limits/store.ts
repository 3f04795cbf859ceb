import {
  type AgentName,
  type ContactId,
  type ContactScope,
  type OrgId,
  type SpendPeriod,
  StrataError,
  type ThreadId,
} from "../../protocol/index.ts";
import { inOrder, leases, newTable, plain, type StorePart, spent, type Tx, tables } from "../../store/index.ts";
import { chainOf, type PayerTable } from "./chain-store.ts";

/** The kinds of subjects of a limit. */
export const KINDS = ["organization", "agent", "contact", "key", "group"] as const;
export type Kind = (typeof KINDS)[number];

/** Whose calls are counted. `agent` and `contact` are empty if they do not apply, `name` except for keys and groups. */
export interface Counted {
  readonly kind: Kind;
  readonly agent: AgentName | "";
  readonly contact: ContactId | "";
  readonly name: string;
}

/** A subject's limit: of calls in a minute, and of US dollars in the period that began at `since` and ends at `until`. */
export interface Allowed {
  readonly calls?: number;
  readonly money?: {
    readonly dollars: number;
    readonly per: SpendPeriod;
    readonly since: number;
    readonly until?: number;
    /** Whether what the agent spent before the limit was set counts as well. */
    readonly countsBefore?: true;
  };
}

/** A counted subject, and its limits. */
export interface Subject extends Counted {
  readonly allowed: Allowed;
}

/** What a subject has used. `held`: US dollars that are reserved for calls under way. */
export interface Used {
  readonly calls: number;
  readonly spent: number;
  readonly held: number;
}

/** Time on the record's clock and in reality, and whether the worker behind a lease may still be there. */
export interface Now {
  readonly at: number;
  readonly real: number;
  readonly alive: (holder: string) => boolean;
}

/** A call of the model that is about to be made. */
export interface AskedCall extends Now {
  /** A unique id. */
  readonly call: string;
  /** The most US dollars that it can cost. */
  readonly most: number;
  /** The turn that makes it: the reservation belongs to it until it is settled, or the turn's lease has ended. */
  readonly scope: ContactScope;
  readonly thread: ThreadId;
  readonly holder: string;
}

/** A call that only counts: what it costs is charged elsewhere. */
type CountedCall = Pick<AskedCall, "call" | "at">;

/** The limit that a call would cross. `until`: from when on it may be made, if nothing else happens; absent if never. */
export interface Crossed {
  readonly subject: Subject;
  readonly what: "calls" | "dollars";
  readonly until?: number;
  readonly used: Used;
  /** US dollars that the call can cost. */
  readonly most?: number;
}

interface SpentTable extends Counted {
  readonly org: OrgId;
  readonly per: SpendPeriod;
  readonly since: number;
  readonly dollars: number;
}

/** A subject's call. `dollars` are held for it, zero once its program has died, and null once it is settled. */
interface CallTable extends Counted {
  readonly org: OrgId;
  readonly call: string;
  readonly holder: string;
  readonly at: number;
  readonly per: SpendPeriod | null;
  readonly since: number | null;
  readonly dollars: number | null;
}

const { query, insert } = tables<{ limit_spent: SpentTable; limit_call: CallTable; limit_payer: PayerTable }>();

const MINUTE = 60_000;
/** When a call may be tried again that only calls under way are in the way of. Milliseconds. */
const SOON = 5_000;
/** Sums of dollars differ in their last digits by the order of the bills. */
const ROUNDING = 1e-9;

/** What keys, agents, contacts and organizations have used of their limits. Shared by all programs; it contains only numbers. */
export const LIMITS_STORE = {
  name: "limits",
  tables: {
    limit_spent: { volatile: "org agent contact kind name per since dollars" },
    limit_call: { volatile: "org agent contact kind name call holder at per since dollars" },
    limit_payer: { volatile: "org agent contact event payer" },
  },
  migrations: [
    {
      number: 38,
      name: "limits of calls and money",
      statements: [
        newTable("limit_spent", {
          columns:
            "org text!, agent text!, contact text!, kind text!, name text!, per text!, since int!, dollars real!",
          key: "org, kind, agent, contact, name, per",
        }),
        newTable("limit_call", {
          columns:
            "org text!, agent text!, contact text!, kind text!, name text!, call text!, holder text!, at int!, per text, since int, dollars real",
          key: "org, call, kind, agent, contact, name",
        }),
        "create index limit_call_of on limit_call (org, kind, agent, contact, name, at)",
        "create index limit_call_old on limit_call (org, at)",
        newTable("limit_payer", {
          columns: "org text!, agent text!, contact text!, event text!, payer text!",
          key: "org, agent, contact, event",
        }),
      ],
    },
  ],
  functions: ({ reading, writing }) => ({
    /**
     * Reserves a call for all subjects or for none. Gives the limit that it would cross for longest; nothing if it may be made.
     * @throws StrataError `lease_lost`
     */
    take: writing(countCall),
    /** The same without a call: subjects with nothing left. */
    crossed: reading((tx, org: OrgId, subjects: readonly Subject[], at: number) => crossed(tx, org, subjects, { at })),
    /** Settles a call's cost; repeating it changes nothing. */
    settle: writing(settle),
    /** Counts a call outside any turn for all subjects or for none, as `take` does. */
    takeOutside: writing(async (tx, org: OrgId, subjects: readonly Subject[], asked: CountedCall) => {
      const found = await crossed(tx, org, subjects, asked);
      if (found === undefined) await noteCall(tx, org, subjects, { ...asked, holder: "" });
      return found;
    }),
    /** Spending outside any turn. */
    spend: writing(spend),
    used: reading((tx, org: OrgId, subjects: readonly Subject[], at: number) =>
      inOrder(subjects, (subject) => usedBy(tx, org, subject, at)),
    ),
    /** Releases reservations of programs that died. Gives how many there were. */
    release: writing(release),
    /** Who posted a turn's events at the beginning of its chain of calls, and the agents that call one another in it. */
    chain: reading(chainOf),
  }),
  erase: eraseCounts,
} satisfies StorePart;

async function countCall(
  tx: Tx,
  org: OrgId,
  subjects: readonly Subject[],
  asked: AskedCall,
): Promise<Crossed | undefined> {
  if (!(await isHeld(tx, asked))) throw leaseLost(asked);
  await tx.run(plain(OLD, org, asked.at - MINUTE));
  let found = await crossed(tx, org, subjects, asked);
  if (found !== undefined && found.used.held > 0 && (await release(tx, org, asked)) > 0)
    found = await crossed(tx, org, subjects, asked);
  if (found !== undefined) return found;
  await noteCall(tx, org, subjects, asked);
  return undefined;
}

async function noteCall(
  tx: Tx,
  org: OrgId,
  subjects: readonly Subject[],
  { call, holder, at, most = 0 }: CountedCall & Pick<AskedCall, "holder"> & Partial<Pick<AskedCall, "most">>,
): Promise<void> {
  for (const subject of subjects) {
    const { money } = subject.allowed;
    await noteBefore(tx, org, subject);
    const period = { per: money?.per ?? null, since: money?.since ?? null };
    // A limit that only counts calls holds no money.
    const row = { org, ...whose(subject), call, holder, at, ...period, dollars: money === undefined ? null : most };
    await tx.run(insert("limit_call", row));
  }
}

/** What the record says of the period, as the first sum of a subject that counts that as well. */
async function noteBefore(tx: Tx, org: OrgId, { allowed: { money }, ...subject }: Subject): Promise<void> {
  if (money?.countsBefore === undefined || (await spentRow(tx, org, subject, money)) !== undefined) return;
  const { kind, agent, contact, name } = subject;
  const before = await spentBefore(tx, org, subject, money.since);
  await tx.run(plain(SPENT, org, kind, agent, contact, name, money.per, money.since, before));
}

const spentBefore = async (tx: Tx, org: OrgId, { agent }: Counted, since: number): Promise<number> =>
  agent === "" ? 0 : spent(tx, org, agent, since);

const spentRow = (
  tx: Tx,
  org: OrgId,
  subject: Counted,
  { per, since }: NonNullable<Allowed["money"]>,
): Promise<Pick<SpentTable, "dollars"> | undefined> =>
  tx.first(
    query
      .selectFrom("limit_spent")
      .select("dollars")
      .where((eb) => eb.and({ org, ...whose(subject), per, since })),
  );

const OLD = "delete from limit_call where org = ? and at <= ? and coalesce(dollars, 0) = 0";

/** An erased contact would else be named again, by a turn that does not know yet that it has lost its thread. */
async function isHeld(tx: Tx, { scope: { org, agent, contact }, thread: id, holder }: AskedCall): Promise<boolean> {
  const held = query
    .selectFrom("thread")
    .select("id")
    .where((eb) => eb.and({ org, agent, contact, id, holder }));
  return (await tx.first(held)) !== undefined;
}

const leaseLost = ({ thread }: AskedCall): StrataError =>
  new StrataError("lease_lost", `another worker took ${thread} over; its turn continues there`, { thread });

/** The limit that such a call would cross for longest. Without a call, the limit of a subject with nothing left. */
async function crossed(
  tx: Tx,
  org: OrgId,
  subjects: readonly Subject[],
  asked: Pick<AskedCall, "at"> & Partial<Pick<AskedCall, "most">>,
): Promise<Crossed | undefined> {
  const found = await inOrder(subjects, async (subject) => [
    ...(await callsCrossed(tx, org, subject, asked)),
    ...(await moneyCrossed(tx, org, subject, asked)),
  ]);
  const time = ({ until = Number.POSITIVE_INFINITY }: Crossed): number => until;
  return found.flat().toSorted((one, other) => time(other) - time(one))[0];
}

/** The oldest of as many calls as are allowed has to be a minute old. */
async function callsCrossed(
  tx: Tx,
  org: OrgId,
  subject: Subject,
  { at }: Pick<AskedCall, "at">,
): Promise<readonly Crossed[]> {
  const { calls } = subject.allowed;
  if (calls === undefined) return [];
  const oldest = await tx.first(
    query
      .selectFrom("limit_call")
      .select("at")
      .where((eb) => eb.and({ org, ...whose(subject) }))
      .where("at", ">", at - MINUTE)
      .orderBy("at", "desc")
      .limit(1)
      .offset(calls - 1),
  );
  if (oldest === undefined) return [];
  return [{ subject, what: "calls", until: oldest.at + MINUTE, used: await usedBy(tx, org, subject, at) }];
}

async function moneyCrossed(
  tx: Tx,
  org: OrgId,
  subject: Subject,
  { at, most }: Pick<AskedCall, "at"> & Partial<Pick<AskedCall, "most">>,
): Promise<readonly Crossed[]> {
  const { money } = subject.allowed;
  if (money === undefined) return [];
  const used = await usedBy(tx, org, subject, at);
  const left = money.dollars - used.spent;
  const isCrossed = (room: number): boolean => (most === undefined ? room <= ROUNDING : most > room + ROUNDING);
  if (!isCrossed(left - used.held)) return [];
  const until = isCrossed(left) ? money.until : at + SOON;
  return [
    {
      subject,
      what: "dollars",
      used,
      ...(most !== undefined && { most }),
      ...(until !== undefined && (most ?? 0) <= money.dollars + ROUNDING && { until }),
    },
  ];
}

async function usedBy(tx: Tx, org: OrgId, subject: Subject, at: number): Promise<Used> {
  const { money } = subject.allowed;
  const of = { org, ...whose(subject) };
  const row = await tx.first(
    query
      .selectFrom("limit_call")
      .select((eb) => [
        eb.fn
          .sum<number | null>("dollars")
          .filterWhere("since", "=", money?.since ?? null)
          .as("held"),
        eb.fn
          .countAll<number>()
          .filterWhere("at", ">", at - MINUTE)
          .as("calls"),
      ])
      .where((eb) => eb.and(of)),
  );
  const counted = money && (await spentRow(tx, org, subject, money))?.dollars;
  const before = money?.countsBefore ? await spentBefore(tx, org, subject, money.since) : 0;
  return { calls: row?.calls ?? 0, held: row?.held ?? 0, spent: Math.max(counted ?? 0, before) };
}

async function settle(
  tx: Tx,
  org: OrgId,
  { call, dollars }: { readonly call: string; readonly dollars: number },
): Promise<void> {
  const open = query.selectFrom("limit_call").selectAll().where("org", "=", org).where("call", "=", call);
  for (const { per, since, ...row } of await tx.all(open.where("dollars", "is not", null))) {
    if (per === null || since === null) continue;
    await tx.run(plain(SPENT, org, row.kind, row.agent, row.contact, row.name, per, since, dollars));
  }
  await tx.run(plain("update limit_call set dollars = null where org = ? and call = ?", org, call));
}

async function spend(tx: Tx, org: OrgId, subjects: readonly Subject[], dollars: number): Promise<void> {
  for (const { allowed, kind, agent, contact, name } of subjects)
    if (allowed.money !== undefined)
      await tx.run(plain(SPENT, org, kind, agent, contact, name, allowed.money.per, allowed.money.since, dollars));
}

/** The bill of a call that began in an earlier period comes too late for that: it is over. */
const SPENT = `insert into limit_spent (org, kind, agent, contact, name, per, since, dollars) values (?, ?, ?, ?, ?, ?, ?, ?)
  on conflict (org, kind, agent, contact, name, per) do update set since = excluded.since, dollars = excluded.dollars
    + case when limit_spent.since = excluded.since then limit_spent.dollars else 0 end
  where limit_spent.since <= excluded.since`;

async function release(tx: Tx, org: OrgId, { real, alive }: Pick<Now, "real" | "alive">): Promise<number> {
  const held = await tx.column(
    plain<string>("select distinct holder from limit_call where org = ? and dollars > 0", org),
  );
  if (held.length === 0) return 0;
  const living = (await leases(tx, org)).filter(({ holder, until }) => until > real && alive(holder));
  const dead = held.filter((holder) => !living.some((one) => one.holder === holder));
  for (const holder of dead)
    await tx.run(
      plain("update limit_call set dollars = 0 where org = ? and holder = ? and dollars is not null", org, holder),
    );
  return dead.length;
}

const whose = ({ kind, agent, contact, name }: Counted): Counted => ({ kind, agent, contact, name });

/** Only numbers: they are deleted. The cost of their calls under way still counts for the others. */
async function eraseCounts(tx: Tx, { org, agent, contact }: ContactScope): Promise<void> {
  for (const table of ["limit_spent", "limit_call", "limit_payer"])
    await tx.run(plain(`delete from ${table} where org = ? and agent = ? and contact = ?`, org, agent, contact));
}
