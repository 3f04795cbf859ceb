import { type AgentName, type ContactScope, type Digest, type OrgId, SELF, type TurnId } from "../../protocol/index.ts";
import { type Lineage, plain, type Retracting, type Tx } from "../../store/index.ts";
import { DIGEST_CHANNEL } from "./config.ts";

/** The origin of a lesson's source, and its texts. */
interface SourceRow extends ContactScope {
  readonly origin: string;
  readonly place: number;
  readonly turn: TurnId;
  readonly lesson: string;
  readonly situation: Digest;
  readonly wrong: Digest;
  readonly instead: Digest;
  readonly at: number;
  readonly link: number;
}

interface CandidateRow {
  readonly turn: TurnId;
  readonly layer: Parameters<Retracting["withdraw"]>[0]["layer"];
  readonly lessons: string;
  readonly offered: string | null;
  readonly parent: number | null;
  readonly at: number;
  readonly version: number | null;
}

/** The lessons that these turns taught. */
const TAUGHT_IN = `select * from lesson_source where org = ? and agent = ? and contact = ? and turn in (select value from json_each(?))`;

const taughtIn = (tx: Tx, { org, agent, contact }: ContactScope, turns: ReadonlySet<TurnId>): Promise<SourceRow[]> =>
  tx.all(plain<SourceRow>(TAUGHT_IN, org, agent, contact, JSON.stringify([...turns])));

/** The lessons of each agent that something taught which is retracted, and since when. */
async function lessonsGone(tx: Tx, lineages: readonly Lineage[]) {
  const gone = new Map<AgentName, { readonly lessons: Set<string>; since: number }>();
  for (const { scope, turns } of lineages) {
    for (const { lesson, at } of await taughtIn(tx, scope, turns)) {
      const of = gone.get(scope.agent) ?? { lessons: new Set(), since: at };
      of.lessons.add(lesson);
      of.since = Math.min(of.since, at);
      gone.set(scope.agent, of);
    }
  }
  return gone;
}

const CANDIDATES = `select one.*, learning_verdict.version from learning_candidate as one left join learning_verdict
  on learning_verdict.org = one.org and learning_verdict.agent = one.agent and learning_verdict.contact = one.contact
  and learning_verdict.turn = one.turn where one.org = ? and one.agent = ?`;

/**
 * Digests that read a lesson which is no longer taught, and digests that built on such a digest's version: their output is removed,
 * and the next digest rewrites it. It also disappears from what was sent in requests.
 */
export async function learningDerived(tx: Tx, retracting: Retracting): Promise<void> {
  const { org } = retracting;
  for (const [agent, { lessons, since }] of await lessonsGone(tx, retracting.lineages())) {
    const own = { org, agent, contact: SELF };
    const made = await tx.all(plain<CandidateRow>(CANDIDATES, org, agent));
    const versions = new Set<number>();
    const names = (text: string): boolean => (JSON.parse(text) as readonly string[]).some((one) => lessons.has(one));
    const isMadeOf = ({ lessons: folded, offered, at }: CandidateRow): boolean =>
      names(folded) || (offered === null ? at >= since : names(offered));
    // A version was written from the one before it, too.
    for (const one of made.toSorted((a, b) => a.at - b.at)) {
      if (!isMadeOf(one) && (one.parent === null || !versions.has(one.parent))) continue;
      retracting.addTurns(own, one.at, [one.turn]);
      if (one.version === null) continue;
      versions.add(one.version);
      retracting.withdraw({ agent, layer: one.layer, part: "", n: one.version });
      const shown = `select contact, turn from learning_use where org = ? and agent = ? and version = ?`;
      for (const { contact, turn } of await tx.all(
        plain<ContactScope & { turn: TurnId }>(shown, org, agent, one.version),
      ))
        retracting.blankTails({ org, agent, contact }, [turn]);
    }
    const others = await tx.column(plain<TurnId>(WITHOUT_RULES, org, agent, SELF, DIGEST_CHANNEL, since));
    retracting.addTurns(own, since, others);
  }
}

/** Digests without kept rules. Their input is unknown. */
const WITHOUT_RULES = `select turn.id from turn join thread on thread.org = turn.org and thread.agent = turn.agent
  and thread.contact = turn.contact and thread.id = turn.thread
  where turn.org = ? and turn.agent = ? and turn.contact = ? and thread.channel = ? and turn.started_at >= ?
  and not exists (select 1 from learning_candidate as one where one.org = turn.org and one.agent = turn.agent and one.turn = turn.id)`;

/** Lessons are derived again from the record: whether a word was a contact's own, and which lessons are one, may be otherwise now. */
export async function retractLearning(tx: Tx, retracting: Retracting): Promise<void> {
  const agents = new Set<AgentName>();
  for (const { scope, since, turns, whole } of retracting.lineages()) {
    const taught = await taughtIn(tx, scope, turns);
    for (const { situation, wrong, instead } of taught) retracting.blank(scope, [situation, wrong, instead]);
    // A turn that only read what became of a retracted one still teaches: its lesson keeps its id until it is derived again.
    for (const { turn } of taught)
      if (!whole.has(turn)) retracting.drop(scope, { table: "lesson_source", column: "turn", value: turn });
    if (taught.length > 0) agents.add(scope.agent);
    const gone = taught.filter(({ turn }) => whole.has(turn));
    for (const { origin, place, link } of gone) {
      retracting.undo(link);
      await tx.run(plain(FORGET, scope.org, scope.agent, scope.contact, origin, place));
    }
    for (const lesson of new Set(gone.map((one) => one.lesson))) await withoutDismissal(tx, retracting, scope, lesson);
    const later = `select count(*) from lesson_source where org = ? and agent = ? and contact = ? and at >= ?`;
    const [left = 0] = await tx.column(plain<number>(later, scope.org, scope.agent, scope.contact, since));
    if (left > 0) agents.add(scope.agent);
  }
  for (const agent of agents) await deriveAgain(tx, retracting, { org: retracting.org, agent });
  const shown = `update learning_use set withdrawn = ? where org = ? and agent = ? and version = ?`;
  for (const { agent, n } of versionsOf(retracting)) await tx.run(plain(shown, retracting.n, retracting.org, agent, n));
}

/** A lesson is not dismissed if, in its present form, nothing had taught it by then. */
async function withoutDismissal(
  tx: Tx,
  retracting: Retracting,
  { org, agent }: ContactScope,
  lesson: string,
): Promise<void> {
  const of = `org = ? and agent = ? and lesson = ?`;
  const taught = `select 1 from lesson_source as one where one.org = lesson_dismissal.org and one.agent = lesson_dismissal.agent
    and one.lesson = lesson_dismissal.lesson and one.at <= lesson_dismissal.at`;
  for (const link of await tx.column(
    plain<number>(`select link from lesson_dismissal where ${of} and not exists (${taught})`, org, agent, lesson),
  )) {
    retracting.undo(link);
    await tx.run(plain(`delete from lesson_dismissal where ${of}`, org, agent, lesson));
  }
}

const versionsOf = ({ withdrawn }: Retracting): Retracting["withdrawn"] => withdrawn.filter(({ part }) => part === "");

const FORGET = `delete from lesson_source where org = ? and agent = ? and contact = ? and origin = ? and place = ?`;

async function deriveAgain(
  tx: Tx,
  retracting: Retracting,
  { org, agent }: { readonly org: OrgId; readonly agent: AgentName },
): Promise<void> {
  for (const link of await tx.column(
    plain<number>(`select link from lesson_source where org = ? and agent = ?`, org, agent),
  ))
    retracting.undo(link);
  await tx.run(plain(`update lesson_source set stale = 1 where org = ? and agent = ?`, org, agent));
  await tx.run(plain(`delete from lesson_cursor where org = ? and agent = ?`, org, agent));
}
