import type { Who } from "./asked.ts";
import { stemOf } from "./fold.ts";
import { longness, type Measured, type Shortlist } from "./measure.ts";
import { bestOf, type Scored, weighed } from "./ranked.ts";
import { type FeatureName, GATE, GATE_NAMES, type GateName, WEIGHTS } from "./weights.ts";
import { PLAIN_WORDS } from "./word-lists.ts";

/** Everyday words as terms. */
export const PLAIN: ReadonlySet<string> = new Set([...PLAIN_WORDS].map(stemOf));

/** Larger values are capped here: they mean nothing more. */
const MOST_TERMS = 24;
const MOST_HAD = 5;
const MOST_UNKNOWN = 4;
/**
 * How far the best result may lead over the next one, and over the one in place `FAR`; larger leads are capped. If fewer were found, that
 * one is assumed to have the share `USUAL` of the best score.
 */
const MOST_AHEAD = 3;
const FAR = 20;
const USUAL = 0.5;
const MOST_FAR_AHEAD = 6;

export type GateValues = Readonly<Record<GateName, number>>;

/** Nobody speaks in what was saved. */
export const isSaid = ({ unit }: Measured): boolean => unit.speaker !== "";

/**
 * The messages, the best first. Lasting statements count as such only if they share a word with the question: otherwise they would fit any.
 */
export const saidInOrder = (all: readonly Measured[]): readonly Scored[] =>
  bestOf(all.filter(isSaid), (values) => weighed(values) - (values.turn === 0 ? standingOf(values) : 0));

const standingOf = (values: Measured["values"]): number => counted(values, ["rule", "wishHelps"]);

/** The evidence from a question and from the messages, to judge if anything answers it. Undefined if nothing was found. */
export function gateValues(shortlist: Shortlist, all: readonly Measured[]): GateValues | undefined {
  const ranked = saidInOrder(all);
  const [best] = ranked;
  if (best === undefined) return undefined;
  const { asked, tells, worth, rows } = shortlist;
  const { values } = best.measured;
  const has = new Set(best.measured.unit.has.filter((term) => tells.has(term)));
  const telling = [...asked.terms.keys()].filter((term) => !PLAIN.has(term));
  const long = longness(rows);
  const standing = values.turn === 0 ? 0 : standingOf(values);
  const date = counted(values, ["date"]);
  const had = Math.min(MOST_HAD, has.size);
  const unknown = Math.min(MOST_UNKNOWN, [...asked.terms.keys()].filter((term) => !worth.has(term)).length);
  return {
    base: 1,
    asks: Number(asked.asks === "question"),
    score: best.score - standing - date - counted(values, ["named", "you", "ownWords"]),
    standing,
    date,
    terms: Math.min(MOST_TERMS, asked.terms.size),
    has: had,
    turn: values.turn,
    missing: telling.filter((term) => !has.has(term)).length / Math.max(1, telling.length),
    unknown,
    ahead: Math.min(MOST_FAR_AHEAD, best.score - (ranked[FAR - 1]?.score ?? USUAL * best.score)),
    others: coveredByOthers(shortlist, all),
    farBehind: (1 - long) * Number(isFarBehind(asked.who, all)),
    points: Number(asked.points),
    reacts: Number(asked.reacts),
    course: Number(asked.asksCourse),
    asideLong: long * Number(asked.asks === "aside"),
    hasLong: long * had,
    unknownLong: long * unknown,
    aheadLong: long * Math.min(MOST_AHEAD, best.score - (ranked[1] ?? best).score),
  };
}

const counted = (values: Measured["values"], names: readonly FeatureName[]): number =>
  names.reduce((sum, name) => sum + WEIGHTS[name] * values[name], 0);

/**
 * How much of the question one unit of another speaker covers, at most, as a share; another speaker is neither the person named nor the
 * asker.
 */
function coveredByOthers({ asked: { who }, worth, all: whole }: Shortlist, all: readonly Measured[]): number {
  const meant = who.named === "" ? who.self : who.named;
  const covers = all
    .filter(({ unit }) => unit.speaker !== meant)
    .map(({ unit }) => [...new Set(unit.has)].reduce((sum, term) => sum + (worth.get(term) ?? 0), 0));
  return Math.max(0, ...covers) / Math.max(whole, Number.MIN_VALUE);
}

/** If the person meant says less than this share of what another speaker says about it, the question may be about the wrong person. */
const OWN_SHARE = 0.75;

/** Whether the best text of the person meant says far less about it than the best of anybody else. */
function isFarBehind({ named, self, other, saysMe, saysYou }: Who, all: readonly Measured[]): boolean {
  const meant = named !== "" ? named : saysMe !== saysYou ? (saysMe ? self : other) : "";
  const of = (isOwn: boolean): number =>
    Math.max(0, ...all.filter(({ unit }) => (unit.speaker === meant) === isOwn).map(({ values }) => values.turn));
  return meant !== "" && of(true) < OWN_SHARE * of(false);
}

/** The likelihood, from 0 to 1, that something answers. */
export function sureness(values: GateValues): number {
  const sum = GATE_NAMES.reduce((all, name) => all + GATE[name] * values[name], 0);
  return 1 / (1 + Math.exp(-sum));
}
