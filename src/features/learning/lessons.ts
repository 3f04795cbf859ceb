import {
  type Agent,
  type ApprovalId,
  type ContactId,
  type ContactScope,
  digestOf,
  isReserved,
  lowestTrust,
  type Scope,
  type ThreadId,
  type Trust,
  trustOf,
} from "../../protocol/index.ts";
import type { AgentOwner, Store } from "../../store/index.ts";
import type { Parts } from "../../turn/index.ts";
import { APPROVAL_STORE, QUESTION } from "../approvals/index.ts";
import { DRAFT_STORE, type Draft } from "../drafts/index.ts";
import { type Case, formsOf, judgeOf } from "./cases.ts";
import {
  type Around,
  type Change,
  type Compared,
  changesIn,
  comparedForm,
  greetingOf,
  isAskedAlike,
  longestRun,
  QUOTED_RUN,
  type Relation,
  relationOf,
} from "./changes.ts";
import { contentTerms, isSameMatter, meantBy, SAME_MATTER } from "./evidence.ts";
import { knownOf, lessonsIn } from "./known.ts";
import type { Heard, News } from "./record-store.ts";
import { ruleKey } from "./rules.ts";
import { LEARNING_STORE, type LessonKind, type LessonSource, placeOf } from "./store.ts";
import { askedTeam, failedTurn, WORDING } from "./wording.ts";

/** How much of the record is read at a time. */
const BATCH = 200;
/** A new change is compared with the newest known ones. */
const MOST_COMPARED = 500;

/**
 * Learns from what is new in the record: drafts that people changed, questions that they answered, turns that died. Lessons are kept
 * whether or not the agent digests them. Gives how many things were found.
 */
export async function learnFromRecord(
  { store, agents }: Pick<Parts, "store" | "agents">,
  owner: AgentOwner,
  batches = Number.POSITIVE_INFINITY,
): Promise<number> {
  const kept = store.part(LEARNING_STORE);
  const agent = agents.all.find(({ org, name }) => org === owner.org && name === owner.agent);
  const signatures = agent === undefined ? [] : signaturesOf(agent);
  // Lessons derived again after a retraction keep their ids, so that dismissed ones stay dismissed.
  const named = await kept.staleLessons(owner);
  let learned = 0;
  for (let i = 0; i < batches; i++) {
    const from = await kept.cursor(owner);
    const decided = await store.part(DRAFT_STORE).decidedAfter(owner, from.drafts, BATCH);
    const { turns, upto: read } = await kept.news(owner, from.turns, BATCH);
    const questions = await store.part(APPROVAL_STORE).answeredAfter(owner, from.answers, BATCH);
    const upto = {
      drafts: decided.at(-1)?.link ?? from.drafts,
      turns: read,
      answers: questions.at(-1)?.link ?? from.answers,
    };
    if (upto.drafts === from.drafts && upto.turns === from.turns && upto.answers === from.answers) {
      if (named.size > 0) await kept.dropStale(owner);
      break;
    }
    const news: Teaching[] = [];
    for (const { approval: id, link: _, ...scope } of questions) news.push(...(await fromAnswer(store, scope, id)));
    for (const draft of decided)
      if (draft.status === "edited")
        news.push(
          ...fromDraft(
            { ...draft, ...(await kept.heard(draft.scope, draft)), usual: await usualGreeting(store, draft) },
            signatures,
          ),
        );
    const known = news.length === 0 ? [] : await kept.sources({ ...owner, contact: null }, {}, MOST_COMPARED);
    const found = [...related(news, known, named), ...turns.map(fromTurn)];
    if (await kept.learn(owner, { from, upto, found })) learned += found.length;
  }
  return learned;
}

/** The signatures that may follow what people send. */
export function signaturesOf({ business }: Agent): readonly string[] {
  if (business === undefined) return [];
  const { name, members = {} } = business;
  return Object.values(members).flatMap((one) => [one.signature ?? [], `${one.name}, ${name}`, one.name].flat());
}

/** Usual is a greeting that this contact was given in each of the last answers: that of a single answer says nothing. */
type Edited = Draft & Heard & { readonly usual: string };

/** A greeting counts as intended once this many earlier answers begin with one. */
const GREETED = 2;

async function usualGreeting(store: Store, { scope, text, decided }: Draft): Promise<string> {
  const greeting = greetingOf(decided?.sent ?? "");
  if (decided === undefined || greeting === "" || greetingOf(text) === greeting) return "";
  const before = await store.part(DRAFT_STORE).sentBefore(scope, { before: decided.at, limit: GREETED });
  return before.length === GREETED && before.every((sent) => greetingOf(sent) === greeting) ? greeting : "";
}

/** What a person changed in a draft, with the contact's usual greeting. */
const changesOf = (draft: Edited, sent: string, around: Around): readonly Change[] => [
  ...(draft.usual === "" ? [] : [{ removed: "", added: draft.usual, isQuoted: false }]),
  ...changesIn(draft.text, sent, around),
];
/** Something that teaches, before its lesson is known. `own`: the id of a new lesson. */
interface Teaching {
  readonly source: Omit<LessonSource, "lesson" | "ends">;
  readonly own: string;
}

function fromDraft(draft: Edited, signatures: Around["signatures"]): readonly Teaching[] {
  const { id, scope, thread, turn, text, decided, situation, said } = draft;
  if (decided?.sent === undefined || text === "") return [];
  return changesOf(draft, decided.sent, { said, signatures }).map((change, place) => ({
    own: lessonId(id, place),
    source: {
      ...{ scope, thread, turn, origin: id, place, kind: "edit", situation, at: decided.at },
      wrong: change.removed,
      instead: change.added,
      trust: change.isQuoted ? "contact" : lowestTrust(["operator", trustOf({ role: decided.by })]),
    },
  }));
}

/** Finds which lessons they teach, and which older ones they end, in the order in which people said it. */
function related(
  news: readonly Teaching[],
  known: readonly LessonSource[],
  named: ReadonlyMap<string, string>,
): readonly LessonSource[] {
  const found: LessonSource[] = [];
  const newest = known.filter(({ kind }) => kind !== "failure").map((source) => ({ source, form: formOf(source) }));
  const nameFor = ({ own, source }: Teaching): string => {
    const was = named.get(placeOf(source));
    return was !== undefined && newest.every((one) => one.source.lesson !== was) ? was : own;
  };
  for (const one of news.toSorted((a, b) => a.source.at - b.source.at)) {
    const form = formOf(one.source);
    const like = newest
      .filter(({ source }) => !isEnded(source.lesson, newest))
      .map((other) => ({ ...other, relation: relationBetween({ ...one, form }, other) }));
    const same = like.find(({ relation }) => relation === "same")?.source.lesson;
    // An edit about another matter says nothing about this one.
    const over = like.find(
      ({ relation, source }) =>
        (relation === "takes back" || relation === "replaces") &&
        mayAnswerOver(one.source, source) &&
        (isSameQuestion(one.source, source) ||
          isSameMatter(one.source.situation, source.situation, sharesWords(one.source, source) ? 0 : SAME_MATTER)),
    );
    const ends = same === undefined && over !== undefined ? over.source.lesson : null;
    // A reverted edit teaches nothing, and neither does the edit that reverted it.
    const lesson = ends !== null && over?.relation === "takes back" ? ends : (same ?? nameFor(one));
    const source: LessonSource = { ...one.source, lesson, ends };
    found.push(source);
    newest.unshift({ source, form });
  }
  return found;
}

/** What the agent had asked, of a lesson of kind `answer`. */
export const questionIn = (wrong: string): string => wrong.replace(askedTeam(""), "");

type Asked = Pick<LessonSource, "kind" | "wrong">;

const isSameQuestion = (one: Asked, other: Asked): boolean =>
  one.kind === "answer" && other.kind === "answer" && isAskedAlike(questionIn(one.wrong), questionIn(other.wrong));

/** An answer that a contact may have dictated ends nothing that people said by themselves. */
const mayAnswerOver = (newer: Pick<LessonSource, "kind" | "trust">, older: Pick<LessonSource, "trust">): boolean =>
  newer.kind !== "answer" || newer.trust !== "contact" || older.trust === "contact";

/** A replacement without a word in common may be about another matter. */
const sharesWords = (
  { instead: one }: Pick<LessonSource, "instead">,
  { instead: other }: Pick<LessonSource, "instead">,
) => [...contentTerms(one)].some((term) => contentTerms(other).has(term));

interface Formed {
  readonly source: Pick<LessonSource, "kind" | "wrong">;
  readonly form: Compared;
}

/** An answer is the same lesson only in the same words; a different answer to a question, or a different edit, replaces the older one. */
function relationBetween(
  newer: Formed & Pick<Teaching, "own">,
  older: Formed & { readonly source: LessonSource },
): Relation {
  const relation = relationOf(newer.form, older.form);
  if (newer.source.kind === "edit" && older.source.kind === "edit") return relation;
  if (newer.source.kind === "answer" && older.source.kind === "answer") {
    if (newer.own === older.source.lesson) return "same";
    return isSameQuestion(newer.source, older.source) || relation === "replaces" ? "replaces" : "other";
  }
  return relation === "replaces" ? "replaces" : "other";
}

/** An answer took the place of nothing that the agent had written. */
const formOf = ({ kind, wrong, instead }: Pick<LessonSource, "kind" | "wrong" | "instead">) =>
  comparedForm({ removed: kind === "answer" ? "" : wrong, added: instead });

const isEnded = (lesson: string, all: readonly { readonly source: LessonSource }[]): boolean =>
  all.some(({ source }) => source.ends === lesson);

const lessonId = (...facts: readonly (string | number)[]): string => `lsn_${digestOf(facts.join(" ")).slice(0, 12)}`;

/** One lesson covers all turns that died of the same cause. */
function fromTurn({ id, scope, thread, code, at, situation }: News["turns"][number]): LessonSource {
  return {
    ...{ scope, thread, turn: id, origin: id, place: 0, kind: "failure", situation, at, ends: null },
    lesson: lessonId(scope.agent, code ?? "killed"),
    wrong: code === null ? WORDING.killed : failedTurn(code),
    instead: "",
    trust: "platform",
  };
}

/** One lesson covers all contacts for whom the agent asked the same question and got the same answer. Nothing if the contact was erased. */
async function fromAnswer(store: Store, scope: ContactScope, id: ApprovalId): Promise<readonly Teaching[]> {
  const asked = await store.part(APPROVAL_STORE).approval(scope, id);
  const question = QUESTION.safeParse(asked?.input).data?.question;
  const answer = asked?.outcome?.text.trim();
  if (asked?.decidedAt === undefined || question === undefined || !answer || isReserved(scope.contact)) return [];
  const { thread, turn, decidedAt: at, decidedBy: role } = asked;
  const { situation, said } = await store.part(LEARNING_STORE).heard(scope, { thread, turn, at });
  const isQuoted = longestRun(answer, [situation, ...said]) >= QUOTED_RUN;
  return [
    {
      own: lessonId(scope.agent, "answer", `${ruleKey(question)} → ${ruleKey(answer)}`),
      source: {
        ...{ scope, thread, turn, origin: id, place: 0, kind: "answer", situation, at },
        wrong: askedTeam(question),
        instead: answer,
        trust: isQuoted ? "contact" : lowestTrust(["operator", ...(role === undefined ? [] : [trustOf({ role })])]),
      },
    },
  ];
}

/** A lesson, with the newest that taught it. */
export interface Lesson {
  readonly id: string;
  readonly kind: LessonKind;
  readonly situation: string;
  readonly wrong: string;
  readonly instead: string;
  /** The lowest trust of its sources. */
  readonly trust: Trust;
  /** By how many contacts, and how often. */
  readonly support: number;
  readonly times: number;
  /** From 0 to 1: how sure it is that this holds for others. */
  readonly confidence: number;
  /** Taught whatever the message was about. */
  readonly general: boolean;
  readonly contacts: readonly ContactId[];
  readonly threads: readonly ThreadId[];
  readonly first: number;
  readonly at: number;
  readonly state: "open" | "ended" | "dismissed";
  /** Other lessons that it may contradict, where somebody looked. */
  readonly mayContradict?: readonly string[];
}

/** How much one source says of other contacts. An edit may hold for one contact alone; an answer was asked for as a rule. */
const WEIGHTS: Readonly<Record<LessonKind, number>> = { edit: 0.3, answer: 0.5, failure: 0.2 };
/** The weight of what a contact may have dictated. */
const DICTATED = 0.1;

/** How many contacts and conversations of a lesson are named. */
const MOST_NAMED = 20;

/** The sources of an agent's lessons, the dismissed lessons, and what was sent for which message. */
export interface Taught {
  readonly sources: readonly LessonSource[];
  readonly dismissed: ReadonlySet<string>;
  /** Lessons that a newer edit took back or said otherwise, for whichever contact. */
  readonly ended: ReadonlySet<string>;
  /** Of the whole agent, and of the scope. */
  readonly cases: readonly Case[];
  readonly own: readonly Case[];
}

/** All lesson sources of a scope, up to a limit. */
export async function taughtIn(
  { store }: Pick<Parts, "store">,
  scope: Scope,
  { most, kind }: { readonly most: number; readonly kind?: LessonKind },
): Promise<Taught> {
  const kept = store.part(LEARNING_STORE);
  const dismissed = await kept.dismissed({ org: scope.org, agent: scope.agent });
  const { cases, ended } = await knownOf({ store }, scope);
  return {
    sources: await kept.sources(scope, kind === undefined ? {} : { kind }, most),
    dismissed: new Set(dismissed.map(({ lesson }) => lesson)),
    ended,
    cases,
    own: scope.contact === null ? cases : cases.filter(({ contact }) => contact === scope.contact),
  };
}

/** The lessons that these sources teach, the one with the newest source first. */
export function lessonsFrom({ sources: all, dismissed, ended, cases, own }: Taught): readonly Lesson[] {
  const [judge, judgeOfOwn] = [judgeOf(cases), judgeOf(own)];
  const ownOf = lessonsIn(all);
  const groups = Map.groupBy(all, ({ lesson }) => lesson);
  return [...groups].flatMap(([id, sources]): Lesson[] => {
    const readable = sources
      .filter(({ wrong, instead }) => wrong !== "" || instead !== "")
      .toSorted((a, b) => b.at - a.at);
    const [newest] = readable;
    if (newest === undefined) return [];
    const trust = lowestTrust(readable.map((one) => one.trust));
    const contacts = [...new Set(readable.map(({ scope }) => scope.contact))];
    const weight = trust === "contact" ? DICTATED : WEIGHTS[newest.kind];
    const { kind, situation, at } = newest;
    const forms = formsOf(ownOf.get(id) ?? readable);
    const isOver = ended.has(id) || (kind === "edit" && judge.overSince(forms) !== undefined);
    return [
      {
        ...{ id, kind, situation, ...meantBy(readable), trust, at, contacts: contacts.slice(0, MOST_NAMED) },
        general: kind === "edit" && judgeOfOwn.isGeneral(forms),
        support: contacts.length,
        times: readable.length,
        confidence: Math.round(100 * (1 - (1 - weight) ** contacts.length)) / 100,
        threads: [...new Set(readable.map(({ thread }) => thread))].slice(0, MOST_NAMED),
        first: Math.min(...readable.map((one) => one.at)),
        state: isOver ? "ended" : dismissed.has(id) ? "dismissed" : "open",
      },
    ];
  });
}

/** How many sources are searched for an agent's lessons. */
export const MOST_SOURCES = 2_000;

/** The agent's lessons, or those of one contact alone. */
export const lessonsOf = async (parts: Pick<Parts, "store">, scope: Scope): Promise<readonly Lesson[]> =>
  lessonsFrom(await taughtIn(parts, scope, { most: MOST_SOURCES }));

/** Whether these edits replaced what another lesson says: they ended it, or were made where it was finally removed. */
export const isHeir = (
  sources: readonly Pick<LessonSource, "origin" | "ends">[],
  { id, over }: { readonly id: string; readonly over: Pick<Case, "id"> | undefined },
): boolean => sources.some(({ origin, ends }) => ends === id || origin === over?.id);
