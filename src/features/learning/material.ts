import { type Agent, isInPlace, type Layer, SELF } from "../../protocol/index.ts";
import type { AgentOwner, Store } from "../../store/index.ts";
import type { TurnParts } from "../../turn/index.ts";
import type { KeptCandidate } from "./candidate-store.ts";
import { formsOf, judgeOf } from "./cases.ts";
import { DIGEST_CHANNEL } from "./config.ts";
import { meantBy } from "./evidence.ts";
import { lessonsIn } from "./known.ts";
import { isHeir, type Lesson, lessonsFrom, MOST_SOURCES, taughtIn } from "./lessons.ts";
import { ruleKey, rulesOf, saysWithin } from "./rules.ts";
import { LEARNING_STORE, type LessonSource } from "./store.ts";

/** How many lessons a digest reads (004.35). */
export const MOST_LESSONS = 100;
/** A lesson is worth a rule from here on (004.36). */
export const LEAST_SUPPORT = 2;
export const LEAST_CONFIDENCE = 0.4;
/** All that a digest is made from. */
export interface Material {
  readonly layer: Layer;
  readonly mode: "approval" | "auto";
  readonly lessons: readonly Lesson[];
  readonly sources: readonly LessonSource[];
  /** The rules that are active now, and their version. */
  readonly rules: readonly string[];
  readonly parent?: number;
  /** Rejected rules, by their keys. */
  readonly rejected: ReadonlySet<string>;
  /** Texts that a trial has refused: of their rules, others may be good. */
  readonly refused: ReadonlySet<string>;
}

/** What a digest would read now: nothing if the agent has no layer for it. */
export async function materialFor({ store }: TurnParts, agent: Agent): Promise<Material | undefined> {
  const layer = agent.layers.find(({ source }) => source.kind === "learning");
  if (layer === undefined) return undefined;
  const owner: AgentOwner = { org: agent.org, agent: agent.name };
  const kept = store.part(LEARNING_STORE);
  const mode = agent.learning?.mode ?? "approval";
  const made = await kept.candidates(owner, MOST_LESSONS);
  const taught = await taughtIn({ store }, { ...owner, contact: null }, { most: MOST_SOURCES });
  const { sources } = taught;
  const key = { layer: layer.id };
  const versions = (await store.textVersions(owner, { key, limit: MOST_LESSONS })).filter((one) =>
    isInPlace(layer, one),
  );
  const active = versions.find((one) => one.active);
  const rules = rulesOf(active?.text ?? "");
  const good = new Set(
    versions.filter(({ status }) => status === "kept").flatMap(({ text }) => rulesOf(text).map(ruleKey)),
  );
  const bad = versions.filter(({ status }) => status === "rejected").flatMap(({ text }) => rulesOf(text).map(ruleKey));
  const refused = made
    .filter(({ verdict }) => verdict?.verdict === "refused")
    .map(({ body }) => textKey(rulesOf(body)));
  const places = new Map(sources.toReversed().map(({ lesson, place }) => [lesson, place]));
  // The lessons of one edit keep the order of its text.
  const placeOf = (id: string): number => places.get(id) ?? 0;
  const isDigested = await digestedFrom({ store, agent, sources, made });
  const all = lessonsFrom(taught);
  const looked = (await lastDigest(store, agent)) ?? 0;
  const judge = judgeOf(taught.cases);
  const bySource = Map.groupBy(sources, ({ lesson }) => lesson);
  const over = new Map(
    all.flatMap(({ id, state }) =>
      state === "ended" ? [[id, judge.overSince(formsOf(bySource.get(id) ?? []))] as const] : [],
    ),
  );
  /** The replacement of a lesson that was worth a rule is worth one, too. */
  const isHeirOf = (one: Lesson): boolean =>
    one.state === "open" &&
    isOwnWord(one) &&
    all.some(
      ({ id, state, support }) =>
        state === "ended" && support >= LEAST_SUPPORT && isHeir(bySource.get(one.id) ?? [], { id, over: over.get(id) }),
    );
  const isOffered = (one: Lesson): boolean =>
    one.state === "ended"
      ? isLeftIn(rules, one, { all, sources, looked, over: over.get(one.id)?.at ?? 0 })
      : (isWorth(one) || isHeirOf(one)) && !isDigested(one.id);
  const own = lessonsIn(sources);
  const lessons = all
    .filter((one) => own.has(one.id) && isOffered(one) && (mode === "approval" || speaksAlone(one)))
    .map((one) => ({ ...one, ...meantBy(own.get(one.id) ?? []) }))
    .sort((a, b) => b.support - a.support || b.at - a.at || placeOf(a.id) - placeOf(b.id))
    .slice(0, MOST_LESSONS);
  return {
    ...{ layer, mode, lessons, sources, rules },
    ...(active && { parent: active.n }),
    rejected: new Set(bad.filter((rule) => !good.has(rule))),
    refused: new Set(refused),
  };
}

export const textKey = (rules: readonly string[]): string => rules.map(ruleKey).join("\n");

/** 004.36. A failure without a person's words makes no rule. */
const isWorth = ({ state, kind, support, confidence, instead }: Lesson): boolean =>
  state === "open" &&
  (kind !== "failure" || instead !== "") &&
  (support >= LEAST_SUPPORT || confidence >= LEAST_CONFIDENCE);

/** Whether a lesson was ended since the last digest, and a rule says it still, and no other lesson does. */
function isLeftIn(
  rules: readonly string[],
  lesson: Lesson,
  {
    all,
    sources,
    looked,
    over,
  }: {
    readonly all: readonly Lesson[];
    readonly sources: readonly LessonSource[];
    readonly looked: number;
    readonly over: number;
  },
): boolean {
  const message = lesson.instead === "" ? lesson.wrong : lesson.instead;
  return (
    (over > looked || sources.some(({ ends, at }) => ends === lesson.id && at > looked)) &&
    rules.some((rule) => saysWithin(message, rule)) &&
    !all.some(({ state, instead }) => state === "open" && instead !== "" && saysWithin(message, instead))
  );
}

/**
 * Whether it says something without a word that is or may be a contact's. A removal from a draft does not, nor does an answer without its
 * question.
 */
const speaksAlone = (lesson: Lesson): boolean => isOwnWord(lesson) && lesson.kind === "edit" && lesson.instead !== "";

export const isOwnWord = ({ trust }: Pick<Lesson, "trust">): boolean => trust === "operator" || trust === "member";

interface Digests {
  readonly store: Store;
  readonly agent: Agent;
  readonly sources: readonly LessonSource[];
  readonly made: readonly KeptCandidate[];
}

/**
 * 004.66: what a digest has used is not offered again until a person has to teach it again: after the digest if it produced nothing, or on
 * a draft written with the version that should hold it, if no digest has read that edit yet.
 */
async function digestedFrom({ store, agent, sources, made }: Digests): Promise<(lesson: string) => boolean> {
  const owner: AgentOwner = { org: agent.org, agent: agent.name };
  const ids = new Set(made.flatMap(({ lessons }) => lessons));
  const again = sources.filter(({ lesson }) => ids.has(lesson));
  const used = await store.part(LEARNING_STORE).used(
    owner,
    again.map(({ turn }) => turn),
  );
  const looked = (await lastDigest(store, agent)) ?? 0;
  const taught = Map.groupBy(again, ({ lesson }) => lesson);
  const isAnew = (id: string, { at: from, verdict }: KeptCandidate): boolean => {
    if (verdict === undefined) return false;
    const { version } = verdict;
    return (taught.get(id) ?? []).some(({ at, turn }) =>
      version === undefined
        ? at > Math.max(from, verdict.at)
        : at > looked && (used.get(turn)?.version ?? 0) >= version,
    );
  };
  return (id) => made.some((one) => one.lessons.includes(id) && !isAnew(id, one));
}

/** When the newest digest began. */
export async function lastDigest(store: Store, { org, name }: Agent): Promise<number | undefined> {
  const [newest] = await store.threads({ org, agent: name, contact: SELF }, 1, { channel: DIGEST_CHANNEL });
  return newest?.createdAt;
}
