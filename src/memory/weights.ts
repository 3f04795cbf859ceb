/** What one of each feature counts. Fitted by `checks/bench/memory-fit.ts`; where they come from stands in docs/decisions. */
export const WEIGHTS = {
  turn: 0.32,
  window: 0.24,
  session: 0.15,
  speaker: 2.1,
  ownWords: 1.15,
  when: 1.6,
  howMany: 1.2,
  answers: 0.35,
  date: 4.9,
} as const satisfies Readonly<Record<string, number>>;

export type FeatureName = keyof typeof WEIGHTS;

export const FEATURE_NAMES = Object.keys(WEIGHTS).filter((name): name is FeatureName => Object.hasOwn(WEIGHTS, name));

/** What the words of a unit and of its neighbours count as evidence, whoever said it and whenever. */
export const EVIDENCE = { turn: 0.32, window: 0.24 } as const;
/** Between what is said of the question as it is (0) and as a share of it (1): what tells questions from chatter best. */
export const SHARE = 0.7;

/** Of BM25: how soon a word said again counts no more, and how much a long unit is held against it. */
export const SATURATION = 0.9;
export const LENGTH_PENALTY = 0.3;

/** The neighbours that are read with a unit. */
export const BEFORE = 3;
export const AFTER = 2;
