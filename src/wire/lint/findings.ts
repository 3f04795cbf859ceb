import { type Cost, measured, type PaddingPays, paddingPays, twoDigits, withoutPadding } from "./cost.ts";
import { RULE_NAMES, type RuleName, ruleOf, type Severity } from "./rules.ts";
import type { Subject } from "./subject.ts";
import { lintText, type Spot } from "./texts.ts";

/** One thing that breaks the cache, or costs more than it must. */
export interface LintFinding {
  readonly rule: RuleName;
  readonly severity: Severity;
  /** `layer safety`, `tool read`, `prefix`, `tail`, `threads`. */
  readonly section: string;
  readonly part?: string;
  readonly spot?: Spot;
  /** The text at that place. */
  readonly stands: string;
  readonly because: string;
  /** Missing if nothing was measured and nothing can be computed. */
  readonly cost?: Cost;
  readonly remedy: string;
}

/** A rule's finding, before the rule's own text is added. */
type FoundText = Pick<LintFinding, "rule" | "section" | "stands"> &
  Partial<Pick<LintFinding, "part" | "spot" | "cost" | "remedy">>;

type Check = (subject: Subject) => readonly FoundText[];

/** All that the rules find, errors first, in the order of the rules. Pure. */
export function lintSubject(subject: Subject): readonly LintFinding[] {
  const found = CHECKS.flatMap((check) => check(subject)).map((one) => finding(one, subject));
  return found.toSorted((a, b) => RULE_NAMES.indexOf(a.rule) - RULE_NAMES.indexOf(b.rule));
}

function finding({ cost, ...found }: FoundText, { length, rates }: Subject): LintFinding {
  const { severity, because, remedy, row } = ruleOf(found.rule);
  const costs = cost ?? (row === undefined ? undefined : measured(row, length.turns, rates));
  return { severity, because, remedy, ...found, ...(costs && { cost: costs }) };
}

const count = (number: number, word: string): string => `${number} ${word}${number === 1 ? "" : "s"}`;

const tokens = (number: number): string => count(number, "token");

const unstable: Check = ({ unstable: sections }) =>
  sections.map(({ section, worlds, request, byte, ofRequest, one, other }) => ({
    rule: section.startsWith("tool ") ? "unstable-tools" : "unstable-prefix",
    section,
    stands: `${worlds.join(", ")}: from byte ${byte} of it on (byte ${ofRequest} of request ${request}) ${JSON.stringify(one)} is ${JSON.stringify(other)}`,
  }));

/** A tool that returns current data uses `currently` for its answers: that is not a claim about now. */
const textFindings: Check = (subject) =>
  subject.texts.flatMap(({ section, part, text }) =>
    lintText(text)
      .filter(({ rule }) => rule !== "word-of-now" || section.startsWith("layer "))
      .map(({ rule, spot, words, more }) => ({
        rule,
        section,
        ...(part !== undefined && { part }),
        spot,
        stands: `${JSON.stringify(words)}${more === 0 ? "" : ` and ${more} more`}`,
      })),
  );

/** The engine orders by scope, then by rank; within a scope the declaration decides (CACHING §4.1). */
const changingAboveStable: Check = ({ layers }) =>
  layers.flatMap((layer, n) => {
    // A layer placed behind another one is there on purpose.
    if (layer.mutability !== "versioned" || layer.after !== undefined) return [];
    const behind = layers
      .slice(n + 1)
      .filter(({ scope, mutability }) => scope === layer.scope && mutability === "immutable");
    if (behind.length === 0) return [];
    const names = behind.map(({ id }) => id).join(", ");
    return [
      {
        rule: "changing-above-stable",
        section: `layer ${layer.id}`,
        stands: `versioned, rank ${layer.rank}, before ${names}`,
      },
    ];
  });

const cutPrefix: Check = ({ prefix }) =>
  prefix.flatMap(({ section, fate, tokens: sent, wanted }) =>
    fate === "truncated" || fate === "dropped"
      ? [{ rule: "cut-prefix", section: `layer ${section}`, stands: `${sent} of ${tokens(wanted)} are sent` }]
      : [],
  );

const smallSystem: Check = ({ system }) =>
  system === undefined || system.budget >= system.least
    ? []
    : [
        {
          rule: "small-system",
          section: "prefix",
          stands: `budgets.system is ${system.budget}, and what is never cut has ${tokens(system.least)}`,
        },
      ];

const sum = (counts: readonly number[]): number => counts.reduce((total, count) => total + count, 0);

const prefixTokens = ({ prefix }: Subject): number => sum(prefix.map((entry) => entry.tokens));

/** Without a record: new tokens of a turn and tokens of the tail as they were measured (CACHING §4.4, §3); half of the new ones ask. */
const USUAL = { turn: { events: 116, grows: 233 }, tail: 290 };

const BASIS = { record: "medians of the record", usual: "as measured on other threads" };

/** CACHING §3.5: the gap, and in threads of which length filling it pays. */
const belowMinimum: Check = (subject) => {
  const { rates, length, observed } = subject;
  const size = prefixTokens(subject);
  if (size >= rates.minimum) return [];
  const { turn = USUAL.turn, tail = USUAL.tail } = observed;
  const growth = { ...turn, tail };
  const pays = paddingPays(size, growth, rates);
  const basis = observed.turn === undefined ? BASIS.usual : BASIS.record;
  const stands = `${tokens(size)} of the ${rates.minimum} that the model needs, ${rates.minimum - size} too few; with ${tokens(turn.grows)} more a turn (${basis}) filling it up ${paysWhen(pays)}`;
  const cost = withoutPadding(size, { ...growth, turns: length.turns }, rates);
  const found: FoundText = { rule: "below-minimum", section: "prefix", stands, ...(cost.times > 1 && { cost }) };
  if (cost.times >= WORTH_IT) return [found];
  const remedy = `leave it, or choose a model with a lower minimum: in threads of ${count(length.turns, "request")} filling it up saves little or nothing`;
  return [{ ...found, remedy }];
};

/** Below it, what an estimate from medians promises may as well be a loss. */
const WORTH_IT = 1.05;

function paysWhen(pays: PaddingPays | undefined): string {
  if (pays === undefined) return "never pays";
  const { from, to } = pays;
  return Number.isFinite(to)
    ? `pays in threads of about ${from} to ${to} requests`
    : `pays in threads of about ${from} requests and more`;
}

/** CACHING §4.6: a tail of more than r times the prefix costs more than the prefix. */
const largeTail: Check = (subject) => {
  const { tail } = subject.observed;
  const { read } = subject.rates;
  const reading = read * prefixTokens(subject);
  if (tail === undefined || tail <= reading) return [];
  const stands = `${tokens(tail)} a request (median of the record), where reading the prefix of ${prefixTokens(subject)} costs what ${Math.round(reading)} do`;
  const message = `D / (r P), D = ${tail}, r = ${read}, P = ${prefixTokens(subject)}`;
  const times = twoDigits(tail / Math.max(reading, 1));
  return [{ rule: "large-tail", section: "tail", stands, cost: { times, basis: "computed", message } }];
};

/** Tokens behind the tail cost 1 instead of being read at r in the next request; a turn's new tokens cost w. */
const tailBeforeEvents: Check = (subject) => {
  const { observed, rates, length, paidTwice } = subject;
  if (paidTwice === "nothing") return [];
  const { turn = USUAL.turn, tail = USUAL.tail } = observed;
  const again = paidTwice === "events" ? turn.events : turn.grows;
  const { read, write } = rates;
  const base = read * (prefixTokens(subject) + (turn.grows * (length.turns - 1)) / 2) + write * turn.grows + tail;
  const from = observed.turn === undefined ? BASIS.usual : BASIS.record;
  const stands = `${tokens(again)} a turn (${paidTwice}; ${from}) are paid once more`;
  const message = `1 + (1 - r) e / (r (P + s (n - 1) / 2) + w s + D), e = ${again}, s = ${turn.grows}, D = ${tail}, P = ${prefixTokens(subject)}, n = ${length.turns}, r = ${read}, w = ${write}`;
  const times = twoDigits(1 + ((1 - read) * again) / base);
  return [{ rule: "tail-before-events", section: "tail", stands, cost: { times, basis: "computed", message } }];
};

/** CACHING §4.3: freeze memories while store tokens < (tokens retrieved per turn) / r. */
const freezeInstead: Check = ({ observed: { recall }, rates: { read } }) => {
  if (recall === undefined || recall.stored === 0 || read * recall.stored >= recall.perTurn) return [];
  const stands = `${tokens(recall.perTurn)} are recalled a turn, and all memories of a contact are ${recall.stored} (medians of the record)`;
  const message = `D / (r S), D = ${recall.perTurn}, r = ${read}, S = ${recall.stored}`;
  const times = twoDigits(recall.perTurn / Math.max(read * recall.stored, 1));
  return [{ rule: "freeze-instead", section: "tail", stands, cost: { times, basis: "computed", message } }];
};

const modelToggle: Check = ({ observed: { mixed } }) => {
  if (mixed === undefined || mixed.threads === 0) return [];
  const stands = `${mixed.threads} of ${mixed.of} threads were answered by more than one of ${mixed.models.join(", ")}`;
  return [{ rule: "model-toggle", section: "threads", stands }];
};

const CHECKS: readonly Check[] = [
  unstable,
  textFindings,
  changingAboveStable,
  cutPrefix,
  smallSystem,
  belowMinimum,
  largeTail,
  tailBeforeEvents,
  freezeInstead,
  modelToggle,
];
