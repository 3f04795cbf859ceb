/** The weight of each feature. Fitted by `checks/bench/memory-fit.ts`; docs/decisions says where they come from. */
export const WEIGHTS = {
  /** How well the unit's own words answer (BM25), and those of the unit with its neighbours. */
  turn: 0.43,
  window: 0.22,
  /** Terms of the question that are elsewhere in its session. */
  session: 0.13,
  /** Members of a kind that is asked for. */
  kind: 0.34,
  /** It was said by the person whom the question names, or by the person they address as "you". */
  named: 1.45,
  you: 1.46,
  /** The person whose words are asked for speaks of themselves in it. */
  ownWords: 0.99,
  /** A time is asked for, and it contains one. Most long messages contain one. */
  when: 2.52,
  /** It was said on the day or in the month that is asked for. */
  date: 3.71,
  /** How well the question right before it fits. */
  answered: 0.13,
  /** How much longer than usual it is, in conversations. */
  length: 0.52,
  /** How many units its memory has: a long text contains every word somewhere. */
  parts: -0.8,
  /** The asker once said what is always to be done; or they prefer something that may matter, because help is asked for. */
  rule: 4.03,
  wishHelps: 3.31,
} as const satisfies Readonly<Record<string, number>>;

export type FeatureName = keyof typeof WEIGHTS;

export const FEATURE_NAMES = Object.keys(WEIGHTS).filter((name): name is FeatureName => Object.hasOwn(WEIGHTS, name));

/** What speaks for or against the assumption that anything answers. Fitted by `checks/bench/memory-fit.ts --gate`. */
export const GATE = {
  base: -1.49,
  /** It is a question and states little beside it. */
  asks: 2.13,
  /** The score of the best result: by its words and those near it, by lasting statements, and by its date. */
  score: 0.2,
  standing: 0.41,
  date: 0.45,
  /** How many terms are looked for, how many of them the best result has, and how well it fits. */
  terms: -0.25,
  has: 0.34,
  turn: -0.29,
  /** The share of the terms other than everyday words that the best result lacks, and how many terms appear nowhere at all. */
  missing: -1.63,
  unknown: -0.5,
  /** How far the best result leads over the rest. */
  ahead: 0.39,
  /** How much of the question another speaker covers; whether the person meant says far less about it. */
  others: -1,
  farBehind: -1.28,
  /** It asks about what was said or shown just now; it begins with a reaction to that; it asks for a course of events. */
  points: -0.45,
  reacts: -1.68,
  course: 2.03,
  /** The same for conversations of long messages, which contain every word somewhere. */
  asideLong: 1.24,
  hasLong: 0.65,
  unknownLong: -0.62,
  aheadLong: -1,
} as const satisfies Readonly<Record<string, number>>;

export type GateName = keyof typeof GATE;

export const GATE_NAMES = Object.keys(GATE).filter((name): name is GateName => Object.hasOwn(GATE, name));

/** The weight of the words of a unit and of its neighbours as evidence, whoever said it and whenever. */
export const EVIDENCE = { turn: 0.32, window: 0.24 } as const;
/** Between the covered part of the question itself (0) and its share (1): the value that best separates questions from small talk. */
export const SHARE = 0.7;

/** For BM25: how soon repetitions of a word stop counting, and how much a long unit is penalized. */
export const SATURATION = { turn: 1.2, window: 0.9 } as const;
export const LENGTH_PENALTY = { turn: 0.6, window: 0.3 } as const;

/** How many neighbours are read with a unit. */
export const BEFORE = 3;
export const AFTER = 2;

/** If a course of events is asked for: how much the next result of a session loses, times the logarithm of its position there. */
export const SPREAD = 1;
