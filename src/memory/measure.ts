import type { Asked } from "./asked.ts";
import { daysAfter, isIn } from "./dates.ts";
import type { IndexSize, ReadUnit } from "./lexical-index.ts";
import { FLAGS } from "./units.ts";
import { AFTER, BEFORE, EVIDENCE, type FeatureName, LENGTH_PENALTY, SATURATION, SHARE, SOON_AFTER } from "./weights.ts";

/** Added to a length, so that a unit without terms has one too. */
const NO_LENGTH = 0.05;

/** A term of a kind that is asked for: which term names the kind, and what it tells. */
export interface OfKind {
  readonly kind: string;
  readonly tells: number;
}

/** All that ranking looks at. */
export interface Shortlist {
  readonly asked: Asked;
  /** The terms looked for, each with how much it tells: its rarity in the scope times its weight in the question. */
  readonly tells: ReadonlyMap<string, number>;
  /** Terms that are not asked for, but of a kind that is. */
  readonly kinds: ReadonlyMap<string, OfKind>;
  /** What each of them is worth as evidence, and what all that is asked for would be, with what the index has not. */
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
  /** How much of what is asked for the unit and its neighbours say. */
  readonly evidence: number;
}

/** What was counted or weighed, by the position of its term among those looked for. Most units have one or two. */
type Few = ReadonlyMap<number, number>;
const NONE: Few = new Map();
type Weights = readonly number[];

/** A unit with what it has of what is looked for. */
interface Read {
  readonly unit: ReadUnit;
  /** How often each term looked for stands in it. */
  readonly counts: Few;
  /** What it has of the kind that each term names: what the best tells. */
  readonly kinds: Few;
  /** In units of the usual length. */
  readonly length: number;
}

interface Session {
  readonly units: number;
  /** What all terms tell that stand in it. */
  readonly tells: number;
}

interface Context {
  readonly asked: Asked;
  readonly weights: Weights;
  readonly worths: Weights;
  /** Makes questions of many words and of few alike. */
  readonly scale: number;
  readonly read: readonly Read[];
  readonly sessions: ReadonlyMap<number, Session>;
}

/** What there is to know of each unit that says anything of what is asked for, itself or near it, before it is weighed; those of a session together. */
export function measure(shortlist: Shortlist): readonly Measured[] {
  const { asked, tells, worth, all } = shortlist;
  const weights = [...tells.values()];
  const total = weights.reduce((sum, weight) => sum + weight, 0);
  if (total === 0) return [];
  const terms = [...tells.keys()];
  const worths = terms.map((term) => (worth.get(term) ?? 0) / all ** SHARE);
  const read = readRows(shortlist, terms);
  const sessions = sessionsOf(read, weights);
  const context = { asked, weights, worths, scale: Math.sqrt(10 / total), read, sessions };
  return read.flatMap((own, at) => measureOne(context, own, at) ?? []);
}

function measureOne(context: Context, own: Read, at: number): Measured | undefined {
  const { asked, weights, worths, scale, read, sessions } = context;
  const { unit, counts, length } = own;
  const around = windowOf(read, own, at);
  const window = totals(around);
  const ofKind = kindsOf(own, counts);
  const kindNear = kindsAround(around, own, window);
  if (window.size === 0 && ofKind + kindNear === 0) return undefined;
  const near = around.reduce((sum, one) => sum + one.length, 0) / around.length;
  const before = read[at - 1];
  const follows = before !== undefined && isNear(before.unit, unit, 1) && has(before.unit, FLAGS.question);
  const isSpeaker = asked.speaker !== "" && unit.speaker === asked.speaker;
  const session = sessions.get(unit.session);
  const values: Values = {
    turn: scale * bm25(counts, weights, length),
    window: scale * bm25(window, weights, near),
    session: scale * Math.max(0, (session?.tells ?? 0) - told(counts.keys(), weights)),
    kind: scale * ofKind,
    kindNear: scale * kindNear,
    speaker: Number(isSpeaker),
    ownWords: Number(isSpeaker && has(unit, FLAGS.firstPerson)),
    when: Number(asked.asksWhen && has(unit, FLAGS.time)),
    howMany: Number(asked.asksHowMany && has(unit, FLAGS.number)),
    ...datesOf(asked, unit.at),
    answers: Number(follows),
    answered: follows ? scale * bm25(before.counts, weights, before.length) : 0,
    asks: Number(has(unit, FLAGS.question)),
    length: (session?.units ?? 1) > 1 ? Math.log(length + NO_LENGTH) : 0,
  };
  const evidence = EVIDENCE.turn * bm25(counts, worths, length) + EVIDENCE.window * bm25(window, worths, near);
  return { unit, values, evidence };
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
  return new Map([...sessions].map(([id, { units, having }]) => [id, { units, tells: told(having, weights) }]));
}

function told(slots: Iterable<number>, weights: Weights): number {
  let all = 0;
  for (const slot of slots) all += weights[slot] ?? 0;
  return all;
}

/** How well the counted terms answer; `length` in units of the usual. */
function bm25(counts: Few, weights: Weights, length: number): number {
  if (counts.size === 0) return 0;
  const norm = SATURATION * (1 - LENGTH_PENALTY + LENGTH_PENALTY * length);
  let all = 0;
  for (const [slot, count] of counts) all += ((weights[slot] ?? 0) * count * (SATURATION + 1)) / (count + norm);
  return all;
}

/** What the unit has of kinds, where it does not name the kind. */
function kindsOf({ kinds }: Read, named: Few): number {
  let all = 0;
  for (const [slot, tells] of kinds) if (!named.has(slot)) all += tells;
  return all;
}

/** What the neighbours have of kinds, the best of each, where none of them names the kind. */
function kindsAround(around: readonly Read[], own: Read, named: Few): number {
  let best: Map<number, number> | undefined;
  for (const near of around) {
    if (near === own || near.kinds.size === 0) continue;
    best ??= new Map();
    for (const [slot, tells] of near.kinds) if (!named.has(slot)) best.set(slot, Math.max(best.get(slot) ?? 0, tells));
  }
  return best === undefined ? 0 : [...best.values()].reduce((sum, tells) => sum + tells, 0);
}

function datesOf({ dates }: Asked, at: number): Pick<Values, "date" | "after"> {
  const exact = dates.filter(({ month }) => month !== undefined);
  if (exact.some((date) => isIn(at, date))) return { date: 1, after: 0 };
  const days = exact.map((date) => daysAfter(at, date)).filter((passed) => passed >= 0);
  return { date: 0, after: Math.max(0, 1 - Math.min(...days, SOON_AFTER) / SOON_AFTER) };
}

/** The unit and those of its session that stand near it, in their order: other talk may go on at the same time. */
function windowOf(read: readonly Read[], own: Read, at: number): readonly Read[] {
  const around: Read[] = [];
  for (let near = Math.max(0, at - BEFORE); near <= at + AFTER; near += 1) {
    const one = read[near];
    if (one !== undefined && isNear(own.unit, one.unit, near < at ? BEFORE : AFTER)) around.push(one);
  }
  return around;
}

/** In one session, with little said elsewhere in between. */
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
