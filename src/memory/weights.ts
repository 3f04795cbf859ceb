/** What one of each feature counts. Fitted by `checks/bench/memory-fit.ts`; where they come from stands in docs/decisions. */
export const WEIGHTS = {
  /** What the unit's own words tell (BM25), and with those of its neighbours. */
  turn: 0.46,
  window: 0.28,
  /** What is asked for and stands elsewhere in its session. */
  session: 0.2,
  /** What is of a kind that is asked for: in the unit, in a neighbour. */
  kind: 0.34,
  kindNear: 0.22,
  /** It was said by whom the question names, and of themselves. */
  speaker: 2.38,
  ownWords: 0.82,
  /** A time is asked for, or a number, and there is one. */
  when: 2.52,
  howMany: 0.91,
  /** It was said on the day or in the month that is asked for, or soon after. */
  date: 4.94,
  after: 3.02,
  /** It comes right after a question; what that question tells of what is asked for. */
  answers: 0.21,
  answered: 0.17,
  /** It is a question itself. */
  asks: -0.68,
  /** How much longer than usual it is, in talk. */
  length: 0.91,
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

/** So many days after what is asked for it is no longer near. */
export const SOON_AFTER = 20;
