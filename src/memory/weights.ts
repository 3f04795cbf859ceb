/** What one of each feature counts. Fitted by `checks/bench/memory-fit.ts`; where they come from stands in docs/decisions. */
export const WEIGHTS = {
  /** What the unit's own words tell (BM25), and with those of its neighbours. */
  turn: 0.42,
  window: 0.24,
  /** What is asked for and stands elsewhere in its session. */
  session: 0.13,
  /** What is of a kind that is asked for. */
  kind: 0.34,
  /** It was said by whom the question names; by the asker, who speaks of themselves; by whom they say "you" to. */
  named: 1.51,
  me: -0.01,
  you: 1.31,
  /** Whose words are asked for speaks of themselves in it. */
  ownWords: 0.92,
  /** A time is asked for, and there is one. In talk of long texts most have one. */
  when: 2.52,
  /** It was said on the day or in the month that is asked for, or soon after. */
  date: 3.8,
  after: 2.06,
  /** What the question right before it tells of what is asked for. */
  answered: 0.14,
  /** How much longer than usual it is, in talk. */
  length: 0.7,
  /** How many units its memory has: a long text has every word somewhere. */
  parts: -0.87,
  /** The asker once said what is to be done, or what they prefer; help is asked for, on which that may bear. */
  rule: 3.98,
  wishHelps: 3.08,
} as const satisfies Readonly<Record<string, number>>;

export type FeatureName = keyof typeof WEIGHTS;

export const FEATURE_NAMES = Object.keys(WEIGHTS).filter((name): name is FeatureName => Object.hasOwn(WEIGHTS, name));

/** What counts for or against that what was said answers at all. Fitted by `checks/bench/memory-fit.ts --gate`. */
export const GATE = {
  base: -1.49,
  /** It is a question, and tells nothing beside it. */
  asks: 1.97,
  /** The score of the best: by its words and those near it, by what holds for good, and by its date. */
  score: 0.21,
  standing: 0.4,
  date: 0.34,
  /** How many terms are looked for, how many the best has and how well it fits. */
  terms: -0.27,
  has: 0.4,
  turn: -0.28,
  /** The share of those that are no everyday words which the best has not, and how many terms stand nowhere at all. */
  missing: -1.59,
  unknown: -0.38,
  /** How far the best stands above the rest. */
  ahead: 0.37,
  /** How much of it somebody else says than who is meant; the one who is meant says far less of it. */
  others: -1.08,
  farBehind: -1.26,
  /** It asks about what was said or shown just now; it begins with a word on that; it asks for a course of things. */
  points: -0.66,
  reacts: -1.52,
  course: 1.23,
  /** The same in talk of long texts, where every word stands somewhere. */
  asideLong: 1.36,
  hasLong: 0.8,
  unknownLong: -1,
  aheadLong: -1.1,
} as const satisfies Readonly<Record<string, number>>;

export type GateName = keyof typeof GATE;

export const GATE_NAMES = Object.keys(GATE).filter((name): name is GateName => Object.hasOwn(GATE, name));

/** What the words of a unit and of its neighbours count as evidence, whoever said it and whenever. */
export const EVIDENCE = { turn: 0.32, window: 0.24 } as const;
/** Between what is said of the question as it is (0) and as a share of it (1): what tells questions from chatter best. */
export const SHARE = 0.7;

/** Of BM25: how soon a word said again counts no more, and how much a long unit is held against it. */
export const SATURATION = { turn: 1.2, window: 0.9 } as const;
export const LENGTH_PENALTY = { turn: 0.6, window: 0.3 } as const;

/** The neighbours that are read with a unit. */
export const BEFORE = 3;
export const AFTER = 2;

/** So many days after what is asked for it is no longer near. */
export const SOON_AFTER = 20;

/** Where a course of things is asked for: how much the next best of a session counts less, by the logarithm of how many stand before it. */
export const SPREAD = 1;
