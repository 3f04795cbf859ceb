import {
  type ActorId,
  type ContactScope,
  canonicalJson,
  type Digest,
  type DoneBy,
  type Role,
  type ThreadId,
  type TurnId,
} from "../../protocol/index.ts";
import {
  append,
  inOrder,
  keepOwn,
  linkedTable,
  newColumn,
  newTable,
  openRow,
  owner,
  ownText,
  type StorePart,
  scopeKey,
  type Tx,
  tables,
  toDoneBy,
} from "../../store/index.ts";

/** A change of a thread's setting; `piece` names the value, null if it was reset. */
interface SettingTable extends ContactScope {
  readonly thread: ThreadId;
  readonly n: number;
  readonly name: string;
  readonly piece: Digest | null;
  readonly by: Role;
  readonly by_id: ActorId | null;
  readonly at: number;
  readonly link: number;
}

const { query, insert } = tables<{ thread_fact: SettingTable }>();

/** A thread's setting, as set from outside. */
export interface ThreadSetting extends DoneBy {
  readonly name: string;
  readonly value: string;
  /** Which change of the thread's settings made it so, from 1. */
  readonly n: number;
  readonly at: number;
}

/** Null: it is not set any more. */
export interface SettingChange extends Omit<ThreadSetting, "value" | "n"> {
  readonly value: string | null;
}

/** Settings of threads: every change is kept, and linked. Values belong to the contact, and are erased with its other texts. */
export const SETTING_STORE = {
  name: "settings",
  tables: {
    thread_fact: { linked: "agent thread n name piece by by_id at", derived: "org contact link", since: "by_id" },
  },
  migrations: [
    {
      number: 17,
      name: "facts",
      statements: [
        newTable("thread_fact", {
          columns: `org text!, agent text!, contact text!, thread text!, n int!, name text!, piece text, by text!, at int!, link int!`,
          key: "org, agent, contact, thread, n",
          references: [
            "org, agent, contact, thread -> thread (org, agent, contact, id)",
            "org, agent, contact, piece -> piece (org, agent, contact, digest)",
          ],
        }),
        `create index thread_fact_link on thread_fact (org, link)`,
      ],
    },
    { number: 25, name: "who set settings", statements: [newColumn("thread_fact", "by_id", "text")] },
  ],
  functions: ({ reading, writing }) => ({
    /** The thread's present settings; a fork begins with those in effect where it branches off. */
    settings: reading(newestSettings),
    /** Sets one, or with null resets it. Gives its present state. @throws StrataError `thread_not_found` */
    setSetting: writing(setSetting),
  }),
  linked: {
    fact: linkedTable<SettingTable>(
      "thread_fact",
      ({ thread, n }) => `setting ${n} of ${thread}`,
      async (tx, row) => {
        if (row.piece !== null) await ownText(tx, row, row.piece);
        return settingLink(row);
      },
    ),
  },
  // Its values are pieces of the contact, which are blanked with all others.
  erase: async () => undefined,
} satisfies StorePart;

/** The link of a change, in the word of its first form. It names no contact, because an erasure removes the name. */
const settingLink = ({ agent, thread, n, name, piece, by, by_id, at }: Omit<SettingTable, "link">): string =>
  // Links of changes from before ids were kept do not have one.
  canonicalJson({ fact: { agent, thread, n, name, piece, by, ...(by_id !== null && { by_id }), at } });

async function newestSettings(tx: Tx, scope: ContactScope, thread: ThreadId): Promise<readonly ThreadSetting[]> {
  const newest = new Map((await changes(tx, scope, thread)).map((row) => [row.name, row]));
  const all = await inOrder(newest.values(), (row) => settingOf(tx, row));
  return all.flatMap((one) => one ?? []);
}

/** Sets one inside a write transaction. */
export async function setSetting(
  tx: Tx,
  scope: ContactScope,
  thread: ThreadId,
  { name, value, by, byId, at }: SettingChange,
): Promise<ThreadSetting | undefined> {
  await openRow(tx, scope, thread);
  const known = await changes(tx, scope, thread);
  const piece = value === null ? null : await keepOwn(tx, scope, await scopeKey(tx, scope), value);
  const row = { ...owner(scope), thread, n: (known.at(-1)?.n ?? 0) + 1, name, piece, by, by_id: byId ?? null, at };
  const { seq: link } = await append(tx, scope.org, settingLink(row));
  await tx.run(insert("thread_fact", { ...row, link }));
  return value === null ? undefined : { name, value, n: row.n, ...toDoneBy(row), at };
}

/** All changes that the thread has seen, the oldest first: a fork has seen those of its parent until it branched off. */
async function changes(tx: Tx, scope: ContactScope, id: ThreadId): Promise<readonly SettingTable[]> {
  const own = { ...owner(scope), thread: id };
  const rows = await tx.all(
    query
      .selectFrom("thread_fact")
      .selectAll()
      .where((eb) => eb.and(own))
      .orderBy("n"),
  );
  const parent = await parentOf(tx, scope, id);
  if (parent === undefined) return rows;
  const before = await changes(tx, scope, parent.thread);
  return [...before.filter(({ at }) => at <= parent.until), ...rows];
}

async function parentOf(tx: Tx, scope: ContactScope, id: ThreadId) {
  const thread = await tx.first(
    query
      .selectFrom("thread")
      .select(["forked_thread", "forked_turn", "created_at"])
      .where((eb) => eb.and({ ...owner(scope), id })),
  );
  if (!thread?.forked_thread) return undefined;
  const until = thread.forked_turn === null ? thread.created_at : await turnEndTime(tx, scope, thread.forked_turn);
  return { thread: thread.forked_thread, until };
}

async function turnEndTime(tx: Tx, scope: ContactScope, id: TurnId): Promise<number> {
  const turn = await tx.first(
    query
      .selectFrom("turn")
      .select(["started_at", "ended_at"])
      .where((eb) => eb.and({ ...owner(scope), id })),
  );
  return turn?.ended_at ?? turn?.started_at ?? Number.MAX_SAFE_INTEGER;
}

async function settingOf(tx: Tx, { piece, name, n, at, ...row }: SettingTable): Promise<ThreadSetting | undefined> {
  const value = piece === null ? null : await ownText(tx, row, piece);
  return value === null ? undefined : { name, value, n, ...toDoneBy(row), at };
}
