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
import { contentTerms, isGeneral, isSameMatter, meantBy, SAME_MATTER } from "./evidence.ts";
import type { Heard, News } from "./record-store.ts";
import { type Matter, ruleKey } from "./rules.ts";
import { LEARNING_STORE, type LessonKind, type LessonSource, placeOf } from "./store.ts";
import { askedTeam, failedTurn, WORDING } from "./wording.ts";

/** So much of the record is read at a time. */
const BATCH = 200;
/** A new change is compared with the newest of what is known. */
const MOST_COMPARED = 500;

/**
 * Learns from what the record has that nobody has learned from yet: drafts that people changed, questions that they
 * answered, turns that died. Whether the agent digests
 * lessons or not, they are kept. Gives how many things were found.
 */
export async function learnFromRecord(
  { store, agents }: Pick<Parts, "store" | "agents">,
  owner: AgentOwner,
  batches = Number.POSITIVE_INFINITY,
): Promise<number> {
  const kept = store.part(LEARNING_STORE);
  const agent = agents.all.find(({ org, name }) => org === owner.org && name === owner.agent);
  const signatures = agent === undefined ? [] : signaturesOf(agent);
  // What is derived again after a retraction keeps its names: what was dismissed stays so.
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

/** What may stand below what people send. */
export function signaturesOf({ business }: Agent): readonly string[] {
  if (business === undefined) return [];
  const { name, members = {} } = business;
  return Object.values(members).flatMap((one) => [one.signature ?? [], `${one.name}, ${name}`, one.name].flat());
}

/** Usual is a greeting that this contact was given in each of the last answers: that of a single answer says nothing. */
type Edited = Draft & Heard & { readonly usual: string };

/** So many answers before this one begin with a greeting that is meant. */
const GREETED = 2;

async function usualGreeting(store: Store, { scope, text, decided }: Draft): Promise<string> {
  const greeting = greetingOf(decided?.sent ?? "");
  if (decided === undefined || greeting === "" || greetingOf(text) === greeting) return "";
  const before = await store.part(DRAFT_STORE).sentBefore(scope, { before: decided.at, limit: GREETED });
  return before.length === GREETED && before.every((sent) => greetingOf(sent) === greeting) ? greeting : "";
}

/** What a person changed in a draft, with the greeting that its contact is always given. */
const changesOf = (draft: Edited, sent: string, around: Around): readonly Change[] => [
  ...(draft.usual === "" ? [] : [{ removed: "", added: draft.usual, isQuoted: false }]),
  ...changesIn(draft.text, sent, around),
];
/** Something that teaches, before it is known which lesson it is. `own`: what the lesson is called if it is a new one. */
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
    // What a person did about another matter says nothing of this one.
    const over = like.find(
      ({ relation, source }) =>
        (relation === "takes back" || relation === "replaces") &&
        isSameMatter(one.source.situation, source.situation, one.source.instead === "" ? SAME_MATTER : 0),
    );
    const ends = same === undefined && over !== undefined ? over.source.lesson : null;
    // An edit that was taken back teaches nothing, and neither does the one that took it back.
    const lesson = ends !== null && over?.relation === "takes back" ? ends : (same ?? nameFor(one));
    const source: LessonSource = { ...one.source, lesson, ends };
    found.push(source);
    newest.unshift({ source, form });
  }
  return found;
}

interface Formed {
  readonly source: Pick<LessonSource, "kind" | "wrong">;
  readonly form: Compared;
}

/** An answer is the same lesson only by its own words; a question that was answered otherwise, or what was said otherwise in an edit, takes the place of the older. */
function relationBetween(
  newer: Formed & Pick<Teaching, "own">,
  older: Formed & { readonly source: LessonSource },
): Relation {
  const relation = relationOf(newer.form, older.form);
  if (newer.source.kind === "edit" && older.source.kind === "edit") return relation;
  if (newer.source.kind === "answer" && older.source.kind === "answer") {
    if (newer.own === older.source.lesson) return "same";
    return isAskedAlike(newer.source.wrong, older.source.wrong) || relation === "replaces" ? "replaces" : "other";
  }
  return relation === "replaces" ? "replaces" : "other";
}

/** An answer took the place of nothing that the agent had written. */
const formOf = ({ kind, wrong, instead }: Pick<LessonSource, "kind" | "wrong" | "instead">) =>
  comparedForm({ removed: kind === "answer" ? "" : wrong, added: instead });

const isEnded = (lesson: string, all: readonly { readonly source: LessonSource }[]): boolean =>
  all.some(({ source }) => source.ends === lesson);

const lessonId = (...facts: readonly (string | number)[]): string => `lsn_${digestOf(facts.join(" ")).slice(0, 12)}`;

/** What a turn died of is one lesson for all turns that died of it. */
function fromTurn({ id, scope, thread, code, at, situation }: News["turns"][number]): LessonSource {
  return {
    ...{ scope, thread, turn: id, origin: id, place: 0, kind: "failure", situation, at, ends: null },
    lesson: lessonId(scope.agent, code ?? "killed"),
    wrong: code === null ? WORDING.killed : failedTurn(code),
    instead: "",
    trust: "platform",
  };
}

/** What a person answered is one lesson for all contacts for whom the agent asked the same and got the same answer. Nothing where the contact was erased. */
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
  /** The lowest of those who taught it. */
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
}

/** How much one source says of other contacts. An edit may hold for one contact alone; an answer was asked for as a rule. */
const WEIGHTS: Readonly<Record<LessonKind, number>> = { edit: 0.3, answer: 0.5, failure: 0.2 };
/** Of what a contact may have dictated. */
const DICTATED = 0.1;

/** So many contacts and conversations of a lesson are named. */
const MOST_NAMED = 20;

/** What taught an agent's lessons, which of them somebody dismissed, and when drafts were decided about. */
export interface Taught {
  readonly sources: readonly LessonSource[];
  readonly dismissed: ReadonlySet<string>;
  /** Lessons that a newer edit took back or said otherwise, for whichever contact. */
  readonly ended: ReadonlySet<string>;
  readonly sent: readonly number[];
}

/** All of it that there is of a scope, up to so many sources. */
export async function taughtIn(
  { store }: Pick<Parts, "store">,
  scope: Scope,
  { most, kind }: { readonly most: number; readonly kind?: LessonKind },
): Promise<Taught> {
  const kept = store.part(LEARNING_STORE);
  const dismissed = await kept.dismissed({ org: scope.org, agent: scope.agent });
  return {
    sources: await kept.sources(scope, kind === undefined ? {} : { kind }, most),
    dismissed: new Set(dismissed.map(({ lesson }) => lesson)),
    ended: new Set(await kept.ended({ org: scope.org, agent: scope.agent })),
    sent: await store.part(DRAFT_STORE).decidedTimes(scope, MOST_SOURCES),
  };
}

/** The lessons that these sources teach, the one with the newest source first. */
export function lessonsFrom({ sources: all, dismissed, ended, sent }: Taught): readonly Lesson[] {
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
    return [
      {
        ...{ id, kind, situation, ...meantBy(readable), trust, at, contacts: contacts.slice(0, MOST_NAMED) },
        general: kind === "edit" && isGeneral(readable, sent),
        support: contacts.length,
        times: readable.length,
        confidence: Math.round(100 * (1 - (1 - weight) ** contacts.length)) / 100,
        threads: [...new Set(readable.map(({ thread }) => thread))].slice(0, MOST_NAMED),
        first: Math.min(...readable.map((one) => one.at)),
        state: ended.has(id) ? "ended" : dismissed.has(id) ? "dismissed" : "open",
      },
    ];
  });
}

/** So many sources are looked through for an agent's lessons. */
export const MOST_SOURCES = 2_000;

/** The agent's lessons, or those of one contact alone. */
export const lessonsOf = async (parts: Pick<Parts, "store">, scope: Scope): Promise<readonly Lesson[]> =>
  lessonsFrom(await taughtIn(parts, scope, { most: MOST_SOURCES }));

/** So many edits and answers are looked through for what an agent's rules are about. */
const MOST_EVIDENCE = 300;
/** So many messages of a lesson say what it is about. */
const MOST_SITUATIONS = 10;

/** What the lessons that still hold say, with the messages that they were taught with. */
export async function mattersOf({ store }: Pick<Parts, "store">, owner: AgentOwner): Promise<readonly Matter[]> {
  const all = await store.part(LEARNING_STORE).evidence(owner, MOST_EVIDENCE);
  const ended = new Set(await store.part(LEARNING_STORE).ended(owner));
  const sent = await store.part(DRAFT_STORE).decidedTimes({ ...owner, contact: null }, MOST_SOURCES);
  return [...Map.groupBy(all, ({ lesson }) => lesson)]
    .filter(([id]) => !ended.has(id))
    .map(([, sources]) => {
      const { wrong, instead } = meantBy(sources);
      const situations = [...new Set(sources.map(({ situation }) => situation))].slice(0, MOST_SITUATIONS);
      return { message: instead === "" ? wrong : instead, situations, general: isGeneral(sources, sent) };
    });
}

/** A correction of a draft, as it may be shown with a message of the same contact. */
export type Correction = Pick<
  LessonSource,
  "origin" | "place" | "lesson" | "situation" | "wrong" | "instead" | "at"
> & {
  /** Made whatever the message was about. */
  readonly general: boolean;
};

/** So many corrections of a contact are looked through. */
export const MOST_CORRECTIONS = 50;

/** What people changed in drafts for this contact, the newest of each lesson, without what a contact dictated and what no longer holds. */
export async function correctionsFor(parts: Pick<Parts, "store">, scope: Scope): Promise<readonly Correction[]> {
  const taught = await taughtIn(parts, scope, { most: MOST_CORRECTIONS, kind: "edit" });
  const good = new Map(
    lessonsFrom(taught)
      .filter(({ state, trust }) => state === "open" && trust !== "contact")
      .map((one) => [one.id, one]),
  );
  return taught.sources.flatMap((source) => {
    const { general, instead } = good.get(source.lesson) ?? {};
    return general === undefined || instead === undefined ? [] : [{ ...source, general, instead }];
  });
}

/** From here on, two messages are about the same. */
const ALIKE = 0.3;

/**
 * The corrections that help with this message, the best first, each lesson once: those of messages like it, and those that people made whatever
 * the message was. Often it is none. Pure.
 */
export function chosenFor(message: string, all: readonly Correction[], most: number): readonly Correction[] {
  const lessons = [...Map.groupBy(all, ({ lesson }) => lesson).values()].map((same) => ({
    same,
    abouts: same.map(({ situation, wrong }) => contentTerms(`${situation} ${wrong}`)),
  }));
  // What all messages of a contact have in common says nothing about which of them are alike. One draft may have taught several lessons.
  const count = new Map<string, number>();
  const counted = new Set<string>();
  for (const { same, abouts } of lessons) {
    if (same.some(({ origin }) => counted.has(origin))) continue;
    for (const { origin } of same) counted.add(origin);
    for (const term of new Set(abouts.flatMap((one) => [...one]))) count.set(term, (count.get(term) ?? 0) + 1);
  }
  const weight = (terms: readonly string[]): number => terms.reduce((sum, term) => sum + 1 / (count.get(term) ?? 1), 0);
  const likeness = (one: ReadonlySet<string>, other: ReadonlySet<string>): number => {
    const shared = [...one].filter((term) => other.has(term));
    return shared.length === 0 ? 0 : weight(shared) / Math.min(weight([...one]), weight([...other]));
  };
  const asked = contentTerms(message);
  const found = lessons.flatMap(({ same, abouts }) => {
    const [newest] = same;
    const score = Math.max(newest?.general ? ALIKE : 0, ...abouts.map((about) => likeness(asked, about)));
    return newest === undefined || score < ALIKE ? [] : [{ newest, score }];
  });
  return found
    .sort((a, b) => b.score - a.score || b.newest.at - a.newest.at || a.newest.place - b.newest.place)
    .slice(0, most)
    .map(({ newest }) => newest);
}
