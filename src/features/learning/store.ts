import {
  type ActorId,
  type ContactScope,
  canonicalJson,
  type Digest,
  type DoneBy,
  errorKind,
  outcomePart,
  type Role,
  type Scope,
  type ThreadId,
  type Trust,
  type TurnId,
} from "../../protocol/index.ts";
import {
  type AgentOwner,
  append,
  atMost,
  type EndedTurn,
  inOrder,
  keepOwn,
  linkedTable,
  type OneTurn,
  owner,
  ownText,
  plain,
  type StorePart,
  scopeKey,
  type Tx,
  tables,
  toDoneBy,
  within,
} from "../../store/index.ts";
import {
  CANDIDATE,
  candidateInLink,
  candidates,
  judgeCandidate,
  VERSION_TABLES,
  type VerdictTable,
  verdictLink,
} from "./candidate-store.ts";
import { ended, evidence, revision } from "./evidence-store.ts";
import { heard, LONGEST, news } from "./record-store.ts";
import { learningDerived, retractLearning } from "./retract-store.ts";
import { LESSON_TABLES, RETRACTED_LESSONS } from "./schema-store.ts";

/** The source of a lesson: a changed draft, a person's answer, a turn that died. */
export const LESSON_KINDS = ["edit", "answer", "failure"] as const;
export type LessonKind = (typeof LESSON_KINDS)[number];

/** One thing that taught a lesson. `origin` names it in the record, `place` which of its changes it is; the texts are pieces of the contact. */
interface SourceTable extends ContactScope {
  readonly origin: string;
  readonly place: number;
  readonly kind: LessonKind;
  readonly lesson: string;
  /** A lesson that does not hold any more since then. */
  readonly ends: string | null;
  readonly thread: ThreadId;
  readonly turn: TurnId;
  readonly situation: Digest;
  readonly wrong: Digest;
  readonly instead: Digest;
  /** The trust of `instead`. */
  readonly trust: Trust;
  readonly at: number;
  readonly link: number;
  /** Set from a retraction on until the lesson is derived again. */
  readonly stale: number | null;
}

/** The parts of the record that teach. */
const READ = ["drafts", "turns", "answers"] as const;

/** How far the record was read: `what` is decisions about drafts, turns, or answers to questions. */
interface CursorTable extends AgentOwner {
  readonly what: (typeof READ)[number];
  readonly upto: number;
}

interface DismissalTable extends AgentOwner {
  readonly lesson: string;
  readonly by: Role;
  readonly by_id: ActorId | null;
  readonly at: number;
  readonly link: number;
}

/** What a turn's requests held of everything learned: ids and counts, but no text. */
interface UseTable extends ContactScope {
  readonly turn: TurnId;
  readonly thread: ThreadId;
  /** Null if the agent has no layer for it; 0: no version was active. */
  readonly version: number | null;
  readonly rules: number;
  readonly stale: number;
  /** The drafts whose corrections were shown, as JSON. */
  readonly corrections: string;
  /** The retraction that removed its version: the thread is no longer pinned to it. */
  readonly withdrawn: number | null;
}

const { query, insert } = tables<{
  lesson_source: SourceTable;
  lesson_cursor: CursorTable;
  lesson_dismissal: DismissalTable;
  learning_use: UseTable;
}>();

/** Something that taught a lesson, with its words: those of an erased contact are empty. */
export interface LessonSource
  extends Omit<SourceTable, "org" | "agent" | "contact" | "situation" | "wrong" | "instead" | "link" | "stale"> {
  readonly scope: ContactScope;
  readonly situation: string;
  readonly wrong: string;
  readonly instead: string;
}

/** How far the record was read, by its links. */
export type Cursor = Readonly<Record<CursorTable["what"], number>>;

/** What was in a turn's requests, as the turn passes it to its commit. */
export type Used = Pick<UseTable, "version" | "rules" | "stale"> & { readonly corrections: readonly string[] };

export const USED = outcomePart<Used>();

export const LESSON_NOT_FOUND = errorKind("lesson_not_found", {
  status: 404,
  exit: 3,
  retry: false,
  message: "the agent has no lesson of that id",
});

export const LEARNING_STORE = {
  name: "learning",
  tables: {
    lesson_source: {
      linked: "agent origin place kind lesson ends thread turn situation wrong instead trust at",
      derived: "org contact link",
      volatile: "stale",
    },
    lesson_cursor: { volatile: "org agent what upto" },
    lesson_dismissal: { linked: "agent lesson by by_id at", derived: "org link" },
    learning_use: { linked: "org agent contact turn thread version rules stale corrections", volatile: "withdrawn" },
    learning_candidate: {
      linked: "org agent contact turn layer body summary lessons offered anchors inputs parent at",
      since: "offered",
    },
    learning_verdict: { linked: "agent turn verdict version report at", derived: "org contact link" },
  },
  migrations: [LESSON_TABLES, VERSION_TABLES, RETRACTED_LESSONS],
  functions: ({ reading, writing }) => ({
    cursor: reading(cursor),
    /** Turns that died since the record was last read, up to a limit. */
    news: reading(news),
    /** What a turn was about, and the contact's newest messages on the thread until then. */
    heard: reading(heard),
    /** Keeps what was learned, and up to where the record was read; false if another program was faster. */
    learn: writing(learn),
    /** The sources of lessons, newest first: of one agent, of one of its contacts, or of one lesson. */
    sources: reading(sources),
    evidence: reading(evidence),
    ended: reading(ended),
    revision: reading(revision),
    /** The ids of lessons that are to be derived again, by their sources. */
    staleLessons: reading(staleLessons),
    /** Removes lessons that were to be derived again but have no source. */
    dropStale: writing(dropStale),
    dismissed: reading(dismissed),
    /** False if it already is. */
    dismiss: writing(dismiss),
    /** What these turns' requests held of everything learned. */
    used: reading(used),
    /** The version with which a thread began; undefined before its first turn. */
    pinned: reading(pinned),
    /** Which of these drafts were changed in substance, and so taught something. */
    taught: reading(taught),
    /** The texts of the agent's digests, newest first. */
    candidates: reading(candidates),
    /** Records the outcome of a digest's text once; false if another program already did. */
    judgeCandidate: writing(judgeCandidate),
  }),
  linked: {
    lesson: linkedTable<SourceTable>(
      "lesson_source",
      ({ origin, place }) => `what ${origin} taught, ${place}`,
      async (tx, row) => {
        for (const piece of [row.situation, row.wrong, row.instead]) await ownText(tx, row, piece);
        return sourceLink(row);
      },
    ),
    verdict: linkedTable<VerdictTable>(
      "learning_verdict",
      ({ turn }) => `verdict on what ${turn} wrote`,
      async (tx, row) => {
        await ownText(tx, row, row.report);
        return verdictLink(row);
      },
    ),
    dismissal: linkedTable<DismissalTable>(
      "lesson_dismissal",
      ({ lesson }) => `dismissal of ${lesson}`,
      (_, row) => dismissalLink(row),
    ),
  },
  writes: [CANDIDATE],
  onCommit: async (tx, { scope, turn, done }: EndedTurn) => {
    const what = done && USED.of(done.outcome);
    if (done === undefined || what === undefined) return;
    const { version, rules, stale } = what;
    const corrections = JSON.stringify(what.corrections);
    await tx.run(
      insert("learning_use", {
        ...owner(scope),
        turn,
        thread: done.claim.thread.id,
        version,
        rules,
        stale,
        corrections,
        withdrawn: null,
      }),
    );
  },
  inLink: async (tx, of, ending) => {
    const wrote = ending === undefined || wroteIn(ending) ? await candidateInLink(tx, of) : {};
    if (ending !== undefined && (ending.done === undefined || USED.of(ending.done.outcome) === undefined)) return wrote;
    const row = await tx.first(usedBy(of));
    if (row === undefined) return wrote;
    const { thread, version, rules, stale, corrections } = row;
    return { ...wrote, learning: { thread, version, rules, stale, corrections } };
  },
  // All words are pieces of the contact, which are blanked with all others.
  erase: async () => undefined,
  derived: learningDerived,
  retract: retractLearning,
} satisfies StorePart;

const wroteIn = ({ done }: EndedTurn): boolean =>
  done?.outcome.writes.some(({ write }) => write.kind === CANDIDATE.kind) ?? false;

/** They name no contact, because an erasure removes the name. */
const sourceLink = ({ org: _, contact: __, link: ___, stale: ____, ...row }: SourceTable): string =>
  canonicalJson({ lesson: row });
const dismissalLink = ({ agent, lesson, by, by_id, at }: Omit<DismissalTable, "link">): string =>
  canonicalJson({ dismissal: { agent, lesson, by, by_id, at } });

const usedBy = ({ turn, ...of }: OneTurn) =>
  query
    .selectFrom("learning_use")
    .selectAll()
    .where((eb) => eb.and({ ...owner(of), turn }));

async function cursor(tx: Tx, { org, agent }: AgentOwner): Promise<Cursor> {
  const rows = await tx.all(
    query
      .selectFrom("lesson_cursor")
      .selectAll()
      .where((eb) => eb.and({ org, agent })),
  );
  const of = (what: CursorTable["what"]): number => rows.find((row) => row.what === what)?.upto ?? 0;
  return { drafts: of("drafts"), turns: of("turns"), answers: of("answers") };
}

async function learn(
  tx: Tx,
  of: AgentOwner,
  { from, upto, found }: { readonly from: Cursor; readonly upto: Cursor; readonly found: readonly LessonSource[] },
): Promise<boolean> {
  const now = await cursor(tx, of);
  if (READ.some((what) => now[what] !== from[what])) return false;
  for (const { scope, situation, wrong, instead, ...one } of found) {
    // Erased meanwhile: nothing is learned from it.
    const known = await tx.column(plain<string>(THREAD_OPEN, scope.org, scope.agent, scope.contact, one.thread));
    if (known.length === 0) continue;
    const key = await scopeKey(tx, scope);
    const keep = (text: string): Promise<Digest> => keepOwn(tx, scope, key, text.slice(0, LONGEST));
    const texts = { situation: await keep(situation), wrong: await keep(wrong), instead: await keep(instead) };
    const row = { ...owner(scope), ...one, ...texts, link: 0, stale: null };
    await tx.run(plain(FORGET_STALE, scope.org, scope.agent, scope.contact, one.origin, one.place));
    await tx.run(insert("lesson_source", { ...row, link: (await append(tx, of.org, sourceLink(row))).seq }));
  }
  for (const what of READ) {
    const row = { org: of.org, agent: of.agent, what, upto: upto[what] };
    await tx.run(plain(FORGET_CURSOR, of.org, of.agent, what));
    await tx.run(insert("lesson_cursor", row));
  }
  return true;
}

const THREAD_OPEN = `select id from thread where org = ? and agent = ? and contact = ? and id = ? and erased_link is null`;
const FORGET_STALE = `delete from lesson_source where org = ? and agent = ? and contact = ? and origin = ? and place = ? and stale = 1`;
const FORGET_CURSOR = `delete from lesson_cursor where org = ? and agent = ? and what = ?`;

async function sources(
  tx: Tx,
  scope: Scope,
  { lesson, kind }: { readonly lesson?: string; readonly kind?: LessonKind },
  limit: number,
): Promise<readonly LessonSource[]> {
  const wanted = { ...within(scope), ...(lesson !== undefined && { lesson }), ...(kind && { kind }) };
  const rows = await tx.all(
    query
      .selectFrom("lesson_source")
      .selectAll()
      .where((eb) => eb.and(wanted))
      .where("stale", "is", null)
      .orderBy("link", "desc")
      .limit(atMost(limit)),
  );
  return inOrder(rows, async ({ org, agent, contact, situation, wrong, instead, link: _, stale: __, ...row }) => {
    const whose = { org, agent, contact };
    const text = async (piece: Digest): Promise<string> => (await ownText(tx, whose, piece)) ?? "";
    return {
      scope: whose,
      ...row,
      situation: await text(situation),
      wrong: await text(wrong),
      instead: await text(instead),
    };
  });
}

/** The key of a lesson's source. */
export const placeOf = ({ origin, place }: Pick<SourceTable, "origin" | "place">): string => `${origin} ${place}`;

async function staleLessons(tx: Tx, { org, agent }: AgentOwner): Promise<ReadonlyMap<string, string>> {
  const rows = await tx.all(
    plain<SourceTable>(`select * from lesson_source where org = ? and agent = ? and stale = 1`, org, agent),
  );
  return new Map(rows.map((row) => [placeOf(row), row.lesson]));
}

const dropStale = (tx: Tx, { org, agent }: AgentOwner): Promise<void> =>
  tx.run(plain(`delete from lesson_source where org = ? and agent = ? and stale = 1`, org, agent));

/** Who dismissed which lesson, and when. */
export type Dismissal = DoneBy & { readonly lesson: string; readonly at: number };

async function dismissed(tx: Tx, { org, agent }: AgentOwner): Promise<readonly Dismissal[]> {
  const rows = await tx.all(
    query
      .selectFrom("lesson_dismissal")
      .selectAll()
      .where((eb) => eb.and({ org, agent })),
  );
  return rows.map(({ lesson, at, ...who }) => ({ lesson, at, ...toDoneBy(who) }));
}

async function dismiss(tx: Tx, of: AgentOwner, { lesson, by, byId, at }: Dismissal): Promise<boolean> {
  if ((await dismissed(tx, of)).some((one) => one.lesson === lesson)) return false;
  const row = { org: of.org, agent: of.agent, lesson, by, by_id: byId ?? null, at };
  await tx.run(insert("lesson_dismissal", { ...row, link: (await append(tx, of.org, dismissalLink(row))).seq }));
  return true;
}

async function used(tx: Tx, { org, agent }: AgentOwner, turns: readonly TurnId[]): Promise<ReadonlyMap<TurnId, Used>> {
  const rows = await tx.all(plain<UseTable>(USED_IN, org, agent, JSON.stringify(turns)));
  return new Map(
    rows.map(({ turn, version, rules, stale, corrections }) => [
      turn,
      { version, rules, stale, corrections: JSON.parse(corrections) },
    ]),
  );
}

const USED_IN = `select * from learning_use where org = ? and agent = ? and turn in (select value from json_each(?))`;

/**
 * The version in the first turn of a thread since it has this version of its agent, or of the thread that it was forked from: 0 if none was
 * active.
 */
async function pinned(tx: Tx, scope: ContactScope, thread: ThreadId): Promise<number | undefined> {
  const { org, agent, contact } = scope;
  const [first] = await tx.column(plain<number>(FIRST_USE, org, agent, contact, thread));
  if (first !== undefined) return first;
  const [parent] = await tx.column(plain<ThreadId | null>(PARENT, org, agent, contact, thread));
  return parent ? pinned(tx, scope, parent) : undefined;
}

const FIRST_USE = `select learning_use.version from learning_use
  join turn on turn.org = learning_use.org and turn.agent = learning_use.agent and turn.contact = learning_use.contact and turn.id = learning_use.turn
  join thread on thread.org = turn.org and thread.agent = turn.agent and thread.contact = turn.contact and thread.id = turn.thread
  where learning_use.org = ? and learning_use.agent = ? and learning_use.contact = ? and learning_use.thread = ?
    and learning_use.version is not null and learning_use.withdrawn is null and turn.version = thread.version order by turn.seq limit 1`;
const PARENT = `select forked_thread from thread where org = ? and agent = ? and contact = ? and id = ?`;

async function taught(tx: Tx, { org, agent }: AgentOwner, origins: readonly string[]): Promise<ReadonlySet<string>> {
  return new Set(await tx.column(plain<string>(TAUGHT, org, agent, JSON.stringify(origins))));
}

const TAUGHT = `select distinct origin from lesson_source where org = ? and agent = ? and kind = 'edit' and stale is null and origin in (select value from json_each(?))`;
