import type { AgentOwner, Store } from "../../store/index.ts";
import type { Parts } from "../../turn/index.ts";
import { DRAFT_STORE } from "../drafts/index.ts";
import type { Case } from "./cases.ts";
import type { Evidence } from "./evidence-store.ts";
import { SAID } from "./record-store.ts";
import { ruleKey } from "./rules.ts";
import { LEARNING_STORE, type LessonSource } from "./store.ts";

/** What each turn of an agent chooses from: its drafts, and what people taught with them. */
export interface Known {
  /** What was sent for which message, newest first. */
  readonly cases: readonly Case[];
  /** What people changed and answered, by lesson. */
  readonly lessons: ReadonlyMap<string, readonly Evidence[]>;
  /** The lessons that do not hold any more. */
  readonly ended: ReadonlySet<string>;
}

/** How many reviewed drafts decide which lessons fit which messages. */
const MOST_CASES = 300;
/** How many edits and answers are searched for the subjects of an agent's rules. */
const MOST_EVIDENCE = 1_000;
/** For how many agents of a store it is kept. */
const MOST_KEPT = 8;

interface Kept {
  readonly revision: string;
  readonly known: Promise<Known>;
}

const KEPT = new WeakMap<Store, Map<string, Kept>>();

/** Read and worked out once, until the agent learns something, or an erasure or a retraction takes something away. */
export async function knownOf({ store }: Pick<Parts, "store">, { org, agent }: AgentOwner): Promise<Known> {
  const kept = KEPT.get(store) ?? new Map<string, Kept>();
  KEPT.set(store, kept);
  const key = JSON.stringify([org, agent]);
  const revision = await store.part(LEARNING_STORE).revision({ org, agent });
  const there = kept.get(key);
  if (there?.revision === revision) return there.known;
  const made = { revision, known: read(store, { org, agent }, await there?.known.catch(() => undefined)) };
  kept.delete(key);
  kept.set(key, made);
  for (const oldest of kept.keys()) if (kept.size > MOST_KEPT) kept.delete(oldest);
  made.known.catch(() => kept.get(key) === made && kept.delete(key));
  return made.known;
}

/** Cases that are as before stay the same objects: what was worked out of one of them is kept with it. */
async function read(store: Store, owner: AgentOwner, before: Known | undefined): Promise<Known> {
  const kept = store.part(LEARNING_STORE);
  const old = new Map(before?.cases.map((one) => [one.id, one]));
  const cases = await store.part(DRAFT_STORE).decidedCases(owner, { kinds: SAID, limit: MOST_CASES });
  return {
    cases: cases.map((one) => {
      const same = old.get(one.id);
      return same !== undefined && same.message === one.message && same.wrote === one.wrote && same.sent === one.sent
        ? same
        : one;
    }),
    lessons: lessonsIn(await kept.evidence(owner, MOST_EVIDENCE)),
    ended: new Set(await kept.ended(owner)),
  };
}

/**
 * Lessons by their ids. The text that a source replaced or removed is omitted if another lesson had taught it, since that only shows
 * which messages the other lesson fits. A lesson with nothing left is dropped.
 */
export function lessonsIn<Source extends Pick<LessonSource, "lesson" | "wrong" | "instead">>(
  sources: readonly Source[],
): ReadonlyMap<string, readonly Source[]> {
  const keyOf = (text: string): string => ` ${ruleKey(text)} `;
  const taught = new Map(sources.map(({ lesson, instead }) => [keyOf(instead), lesson]));
  const isTaught = ({ lesson, wrong }: Source): boolean => {
    if (wrong === "") return false;
    const key = keyOf(wrong);
    return [...taught].some(([text, by]) => by !== lesson && text.includes(key));
  };
  const own = sources.map((one) => (isTaught(one) ? { ...one, wrong: "" } : one));
  return Map.groupBy(
    own.filter(({ wrong, instead }) => wrong !== "" || instead !== ""),
    ({ lesson }) => lesson,
  );
}
