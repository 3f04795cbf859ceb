import { StrataError } from "../protocol/index.ts";

/** One section that takes part in sharing the room. All figures are tokens. */
export interface Section {
  readonly id: string;
  readonly rank: number;
  readonly wanted: number;
  readonly minimum: number;
  readonly budget?: number;
  /** It gets no more than this, however much is free. */
  readonly most?: number;
  /** False for what is sent whole or not at all: immutable layers, tools. */
  readonly cuttable: boolean;
  /** True for what may be left out. */
  readonly droppable: boolean;
  /** Tokens of the line that then replaces it. */
  readonly omission?: () => number;
}

/** A section that is sent whole. */
export const fixedSection = (id: string, wanted: number): Section => ({
  id,
  rank: 0,
  wanted,
  minimum: wanted,
  cuttable: false,
  droppable: false,
});

/** A live source without a budget gets at most this share of the tail's room, so that one huge source leaves the rest to the others. */
const LIVE_SHARE = 1 / 4;

interface LiveRoom {
  readonly room: number;
  readonly fits: boolean;
  /** The minimum that its layer declares. (The section's own minimum may be more: a required source reserves all that it wants.) */
  readonly reserved: number;
}

/**
 * A live source's section if not everything fits: it gets its budget, or its share of the room, and no more. If only the transcript would
 * have to make room for it (`fits`), it gets its share even if its budget is lower.
 */
export function liveWithin(section: Section, { room, fits, reserved }: LiveRoom): Section {
  const { wanted, minimum, budget } = section;
  const share = Math.floor(Math.max(room, 0) * LIVE_SHARE);
  const most = Math.max(fits ? Math.max(budget ?? 0, share) : (budget ?? share), reserved);
  return most >= wanted || !section.cuttable ? section : { ...section, most, minimum: Math.min(minimum, most) };
}

/** Tokens that the sections would take. */
export const wantedSum = (sections: readonly Section[]): number =>
  sections.reduce((sum, { wanted, most = wanted }) => sum + Math.min(wanted, most), 0);

/** The fewest tokens that the sections can take. */
export const leastSum = (sections: readonly Section[]): number =>
  sections.reduce(
    (sum, section) => sum + (section.cuttable || section.droppable ? section.minimum : section.wanted),
    0,
  );

/** How much room each section that had to be cut gets; 0 means dropped, and a section without an entry stays whole. */
export type Allotment = ReadonlyMap<string, number>;

/**
 * Tokens that a section which was cut may take if this many are free for it; undefined if all of it fits. A soft budget protects the others:
 * what all of them leave free may go `beyond` it.
 */
export function regrown(
  { wanted, minimum, budget = wanted, most }: Section,
  free: number,
  beyond = false,
): number | undefined {
  if (most === undefined && wanted <= free) return undefined;
  return Math.min(Math.max(most ?? (beyond ? wanted : budget), minimum), free);
}

/** A section with fewer tokens is of no use: it is dropped instead. */
export const LEAST_BEGINNING = 64;

/**
 * Shares out `limit` tokens, from the highest rank number down. First, each cuttable section is cut to its budget. Then droppable sections
 * are trimmed as far as necessary, and dropped (down to their reserved minimum, if they have one, or the line that reports it) if too
 * little would be left. If there is no `margin`, small ones are dropped last, because they free next to nothing. Then the other cuttable
 * sections are trimmed down to their minimum, and finally the lines go. `margin` stays free if sections are trimmed.
 * @throws StrataError `budget_too_small` if the required content does not fit
 */
export function shareOut(sections: readonly Section[], limit: number, margin = 0): Allotment {
  const room = new Map(sections.flatMap(({ id, most }) => (most === undefined ? [] : [[id, most] as const])));
  const least = [...sections].sort((a, b) => b.rank - a.rank);
  let over = wantedSum(sections) - limit;

  const give = (section: Section, tokens: number): void => {
    const now = room.get(section.id) ?? section.wanted;
    if (over <= 0 || tokens >= now) return;
    room.set(section.id, tokens);
    over -= now - tokens;
  };
  const dropped = ({ wanted, minimum, omission = () => 0 }: Section): number => {
    const line = omission();
    return line < wanted ? Math.max(minimum, line) : minimum;
  };
  for (const section of least) {
    const { cuttable, droppable, budget, minimum } = section;
    if (cuttable && budget !== undefined) give(section, Math.max(budget, droppable ? dropped(section) : minimum));
  }
  const trimmed = (section: Section): number => (room.get(section.id) ?? section.wanted) - over - margin;
  const isSmall = ({ wanted }: Section): boolean => margin === 0 && wanted < LEAST_BEGINNING;
  for (const section of least) {
    if (!section.droppable || isSmall(section)) continue;
    const left = section.cuttable ? trimmed(section) : 0;
    give(section, left >= LEAST_BEGINNING ? Math.max(left, section.minimum) : dropped(section));
  }
  for (const section of least) if (section.droppable && isSmall(section)) give(section, dropped(section));
  for (const section of least)
    if (section.cuttable && !section.droppable) give(section, Math.max(trimmed(section), section.minimum));
  for (const section of least) if (section.droppable) give(section, section.minimum);

  if (over > 0) throw tooSmall(sections, room, limit);
  return room;
}

function tooSmall(sections: readonly Section[], room: Allotment, limit: number): StrataError {
  const must = sections
    .map((section) => ({ section: section.id, tokens: room.get(section.id) ?? section.wanted }))
    .filter((one) => one.tokens > 0);
  const sum = must.reduce((total, one) => total + one.tokens, 0);
  const listed = must
    .sort((a, b) => b.tokens - a.tokens)
    .slice(0, 6)
    .map((one) => `${one.section} ${one.tokens}`)
    .join(", ");
  const what = `what must be sent needs ${sum} tokens and only ${limit} may be sent (${listed})`;
  const details = { needed: sum, limit, sections: must, what };
  return new StrataError(
    "budget_too_small",
    `${what}; raise budgets.total, lower budgets.reply or shorten these`,
    details,
  );
}
