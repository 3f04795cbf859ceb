import type { Who } from "./asked.ts";
import { stemOf } from "./fold.ts";
import { longness, type Measured, type Shortlist } from "./measure.ts";
import { GATE, GATE_NAMES, type GateName, WEIGHTS } from "./weights.ts";
import { PLAIN_WORDS } from "./word-lists.ts";

/** As terms. */
export const PLAIN: ReadonlySet<string> = new Set([...PLAIN_WORDS].map(stemOf));

/** More terms of the question in one unit tell no more. */
const MOST_TERMS = 5;
const MOST_TELLING = 3;

export type GateValues = Readonly<Record<GateName, number>>;

/** What there is to know of a question and of the best that was found, before it is judged whether anything answers it. */
export function gateValues(shortlist: Shortlist, all: readonly Measured[], best: Best): GateValues {
  const { asked, tells, worth, all: whole, rows } = shortlist;
  const known = [...tells.keys()].reduce((sum, term) => sum + (worth.get(term) ?? 0), 0);
  const { own, others } = bestOf(asked.who, all);
  const has = new Set(best.measured.unit.has.filter((term) => tells.has(term)));
  const telling = new Set([...has].filter((term) => !PLAIN.has(term)));
  const isMeant = own !== undefined;
  const long = longness(rows);
  const { rule, wishHelps } = best.measured.values;
  const standing = WEIGHTS.rule * rule + WEIGHTS.wishHelps * wishHelps;
  return {
    base: 1,
    asks: Number(asked.asks === "question"),
    aside: Number(asked.asks === "aside"),
    known: known / Math.max(whole, Number.MIN_VALUE),
    score: best.score - standing,
    standing,
    terms: Math.log(1 + tells.size),
    has: Math.min(MOST_TERMS, has.size),
    turn: best.measured.values.turn,
    hasTelling: Math.min(MOST_TELLING, telling.size),
    tellingShare:
      [...telling].reduce((sum, term) => sum + (worth.get(term) ?? 0), 0) / Math.max(whole, Number.MIN_VALUE),
    behind: (1 - long) * Number(isMeant && own < others),
    farBehind: (1 - long) * Number(isMeant && own < OWN_SHARE * others),
    points: (1 - long) * Number(asked.points),
    pointsLong: long * Number(asked.points),
    helps: Number(asked.asksHelp),
    course: Number(asked.asksCourse),
    long,
  };
}

interface Best {
  readonly measured: Measured;
  readonly score: number;
}

/** Where the one who is meant says less than so much of what somebody else says of it, the question may be about the wrong person. */
const OWN_SHARE = 0.75;

/** How much of what is asked for the one who is meant says at the best, and anybody else; nothing of their own where nobody is meant. */
function bestOf(who: Who, all: readonly Measured[]): { readonly own?: number; readonly others: number } {
  const { named, self, other, saysMe, saysYou } = who;
  const meant = named !== "" ? named : saysMe !== saysYou ? (saysMe ? self : other) : "";
  const of = (isOwn: boolean): number =>
    Math.max(0, ...all.filter(({ unit }) => (unit.speaker === meant) === isOwn).map(({ values }) => values.turn));
  return meant === "" ? { others: 0 } : { own: of(true), others: of(false) };
}

/** How likely something answers, from 0 to 1. */
export function sureness(values: GateValues): number {
  const sum = GATE_NAMES.reduce((all, name) => all + GATE[name] * values[name], 0);
  return 1 / (1 + Math.exp(-sum));
}
