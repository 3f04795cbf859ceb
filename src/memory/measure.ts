import type { ParsedQuery, Who } from "./asked.ts";
import { isIn } from "./dates.ts";
import type { IndexSize, ReadUnit } from "./lexical-index.ts";
import { FLAGS } from "./units.ts";
import { AFTER, BEFORE, EVIDENCE, type FeatureName, LENGTH_PENALTY, SATURATION, SHARE } from "./weights.ts";

/** Added to a length, so that a unit without terms also has one. */
const NO_LENGTH = 0.05;

/** A term of a kind that is asked for: the term that names the kind, and the weight. */
export interface OfKind {
  readonly kind: string;
  readonly tells: number;
}

/** Everything that the ranking looks at. */
export interface Shortlist {
  readonly asked: ParsedQuery;
  /** The terms that are looked for, each with its weight: its rarity in the scope times its weight in the question. */
  readonly tells: ReadonlyMap<string, number>;
  /** Terms that are not asked for, but of a kind that is. */
  readonly kinds: ReadonlyMap<string, OfKind>;
  /**
   * What each of them is worth as evidence, and (`all`) what the whole question would be worth, with the terms that the index does not
   * have.
   */
  readonly worth: ReadonlyMap<string, number>;
  readonly all: number;
  readonly size: IndexSize;
  /** The candidates and their neighbours. */
  readonly rows: readonly ReadUnit[];
}

export type Values = Readonly<Record<FeatureName, number>>;

/** A unit with what was measured of it. */
export interface Measured {
  readonly unit: ReadUnit;
  readonly values: Values;
  /** How much of the question the unit and its neighbours contain. */
  readonly evidence: number;
}

/** Counts or weights, by the position of the term among those that are looked for. Most units have one or two. */
type Few = ReadonlyMap<number, number>;
const NONE: Few = new Map();
type Weights = readonly number[];

/** A unit with what it contains of what is looked for. */
interface Read {
  readonly unit: ReadUnit;
  /** How many times each of the terms appears in it. */
  readonly counts: Few;
  /** For each term that names a kind: the weight of the best member that it contains. */
  readonly kinds: Few;
  /** As a multiple of the usual length of a unit. */
  readonly length: number;
}

interface Session {
  readonly units: number;
  /** The sum of the weights of all terms in it. */
  readonly tells: number;
}

interface Context {
  readonly asked: ParsedQuery;
  readonly weights: Weights;
  readonly worths: Weights;
  /** Makes questions of many words and of few words comparable. */
  readonly scale: number;
  readonly read: readonly Read[];
  readonly sessions: ReadonlyMap<number, Session>;
  /** From 0 for talk in short messages to 1 for long ones. */
  readonly long: number;
}

/** The mean logarithm of units per message from which messages count as long. */
const LONG = 1.5;

/** Whether the messages are long, as far as can be seen. Then neighbours are about other things, and the asker's own words are few. */
export function longness(rows: readonly ReadUnit[]): number {
  const mean = rows.reduce((sum, { parts }) => sum + Math.log(parts), 0) / Math.max(1, rows.length);
  return Math.min(1, mean / LONG);
}

/** Measures each unit that contains something of the question, itself or near it. Units of a session follow one another. */
export function measure(shortlist: Shortlist): readonly Measured[] {
  const { asked, tells, worth, all } = shortlist;
  const weights = [...tells.values()];
  const total = weights.reduce((sum, weight) => sum + weight, 0);
  const terms = [...tells.keys()];
  const worths = terms.map((term) => (worth.get(term) ?? 0) / Math.max(all, Number.MIN_VALUE) ** SHARE);
  const read = readRows(shortlist, terms);
  const sessions = sessionsOf(read, weights);
  const long = longness(shortlist.rows);
  const context = { asked, weights, worths, scale: scaleOf(total), read, sessions, long };
  return read.flatMap((own, at) => measureOne(context, own, at) ?? []);
}

/** Makes questions of many words and of few words comparable. */
export const scaleOf = (total: number): number => (total === 0 ? 0 : Math.sqrt(10 / total));

function measureOne(context: Context, own: Read, at: number): Measured | undefined {
  const { asked, weights, worths, scale, read, sessions, long } = context;
  const short = 1 - long;
  const { unit, counts, length } = own;
  const around = windowOf(read, own, at);
  const window = totals(around);
  const ofKind = kindsOf(own, counts);
  const standing = standingOf(asked, unit);
  const dated = datesOf(asked, unit.at);
  if (window.size === 0 && ofKind + standing.rule + standing.wishHelps + dated.date === 0) return undefined;
  const near = around.reduce((sum, one) => sum + one.length, 0) / around.length;
  const before = read[at - 1];
  const follows =
    before !== undefined &&
    before.unit.memory !== unit.memory &&
    isNear(before.unit, unit, 1) &&
    has(before.unit, FLAGS.question);
  const session = sessions.get(unit.session);
  const values: Values = {
    turn: scale * bm25(counts, weights, length),
    window: short * scale * bm25(window, weights, near, "window"),
    session: short * scale * Math.max(0, (session?.tells ?? 0) - sumOfWeights(counts.keys(), weights)),
    kind: scale * ofKind,
    ...speakerOf(asked.who, unit),
    when: short * Number(asked.asksWhen && has(unit, FLAGS.time)),
    ...dated,
    answered: follows ? scale * bm25(before.counts, weights, before.length) : 0,
    length: (session?.units ?? 1) > 1 ? Math.log(length + NO_LENGTH) : 0,
    parts: Math.log(unit.parts),
    ...standing,
  };
  const evidence =
    EVIDENCE.turn * bm25(counts, worths, length, "window") + EVIDENCE.window * bm25(window, worths, near, "window");
  return { unit, values, evidence };
}

/** Whether the right person said it, if the question asks for a person's words. */
export function speakerOf(
  { named, self, other, saysMe, saysYou }: Who,
  { speaker, flags }: Pick<ReadUnit, "speaker" | "flags">,
): Pick<Values, "named" | "you" | "ownWords"> {
  const isNamed = named !== "" && speaker === named;
  const isMe = saysMe && self !== "" && speaker === self;
  return {
    named: Number(isNamed),
    you: Number(saysYou && other !== "" && speaker === other),
    ownWords: Number((isNamed || isMe) && (flags & FLAGS.firstPerson) !== 0),
  };
}

/**
 * Whether it is a lasting instruction or preference of the asker, said by them or saved about them. If the other person said it, it is
 * advice.
 */
export function standingOf(
  { who: { self, other }, asksHelp, asksNow }: ParsedQuery,
  { speaker, flags }: Pick<ReadUnit, "speaker" | "flags">,
): Pick<Values, "rule" | "wishHelps"> {
  const isTheirs = speaker === "" || (self === "" ? other === "" || speaker !== other : speaker === self);
  return {
    rule: Number(asksNow && isTheirs && (flags & FLAGS.rule) !== 0),
    wishHelps: Number(asksHelp && isTheirs && (flags & FLAGS.wish) !== 0),
  };
}

function readRows({ rows, size, kinds }: Shortlist, terms: readonly string[]): readonly Read[] {
  const slots = new Map(terms.map((term, slot) => [term, slot]));
  const usual = Math.max(1, size.terms / Math.max(1, size.units));
  const read = (unit: ReadUnit): Read => {
    if (unit.has.length === 0) return { unit, counts: NONE, kinds: NONE, length: unit.length / usual };
    const counts = new Map<number, number>();
    const ofKinds = new Map<number, number>();
    for (const term of unit.has) {
      const slot = slots.get(term);
      if (slot !== undefined) counts.set(slot, (counts.get(slot) ?? 0) + 1);
      const ofKind = slot === undefined ? kinds.get(term) : undefined;
      const named = ofKind === undefined ? undefined : slots.get(ofKind.kind);
      if (ofKind !== undefined && named !== undefined)
        ofKinds.set(named, Math.max(ofKinds.get(named) ?? 0, ofKind.tells));
    }
    return { unit, counts, kinds: ofKinds, length: unit.length / usual };
  };
  return rows.toSorted((a, b) => a.session - b.session || a.place - b.place).map(read);
}

function sessionsOf(read: readonly Read[], weights: Weights): ReadonlyMap<number, Session> {
  const sessions = new Map<number, { units: number; having: Set<number> }>();
  for (const { unit, counts } of read) {
    const session = sessions.get(unit.session) ?? { units: 0, having: new Set() };
    session.units += 1;
    for (const slot of counts.keys()) session.having.add(slot);
    sessions.set(unit.session, session);
  }
  return new Map([...sessions].map(([id, { units, having }]) => [id, { units, tells: sumOfWeights(having, weights) }]));
}

function sumOfWeights(slots: Iterable<number>, weights: Weights): number {
  let all = 0;
  for (const slot of slots) all += weights[slot] ?? 0;
  return all;
}

/** How well the counted terms answer; `length` is a multiple of the usual one. */
function bm25(counts: Few, weights: Weights, length: number, of: "turn" | "window" = "turn"): number {
  if (counts.size === 0) return 0;
  const [soon, penalty] = [SATURATION[of], LENGTH_PENALTY[of]];
  const norm = soon * (1 - penalty + penalty * length);
  let all = 0;
  for (const [slot, count] of counts) all += ((weights[slot] ?? 0) * count * (soon + 1)) / (count + norm);
  return all;
}

/** The contained members of kinds that it does not name. */
function kindsOf({ kinds }: Read, named: Few): number {
  let all = 0;
  for (const [slot, tells] of kinds) if (!named.has(slot)) all += tells;
  return all;
}

/** Whether it was said on the day or in the month that is asked for. */
const datesOf = ({ dates }: ParsedQuery, at: number): Pick<Values, "date"> => ({
  date: Number(dates.some((date) => ("from" in date || date.month !== undefined) && isIn(at, date))),
});

/**
 * The unit and the ones near it in its session, in order. Another conversation may go on at the same time, so places alone do not count.
 * Other parts of the same long memory are not neighbours.
 */
function windowOf(read: readonly Read[], own: Read, at: number): readonly Read[] {
  const around: Read[] = [];
  for (let near = Math.max(0, at - BEFORE); near <= at + AFTER; near += 1) {
    const one = read[near];
    if (one === undefined || (one !== own && one.unit.memory === own.unit.memory)) continue;
    if (isNear(own.unit, one.unit, near < at ? BEFORE : AFTER)) around.push(one);
  }
  return around;
}

/** In the same session, with little said elsewhere in between. */
function isNear(a: ReadUnit, b: ReadUnit, distance: number): boolean {
  return a.session === b.session && Math.abs(a.place - b.place) <= 2 * distance;
}

function has(unit: ReadUnit, flag: number): boolean {
  return (unit.flags & flag) !== 0;
}

function totals(around: readonly Read[]): Few {
  const telling = around.filter(({ counts }) => counts.size > 0);
  if (telling.length < 2) return telling[0]?.counts ?? NONE;
  const all = new Map<number, number>();
  for (const { counts } of telling) {
    for (const [slot, count] of counts) all.set(slot, (all.get(slot) ?? 0) + count);
  }
  return all;
}
