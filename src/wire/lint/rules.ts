import { MEASURED, type Row, type RowName } from "./cost.ts";

/** An error breaks what the cache keeps for as good as every request; a warning costs less, or not always. */
export type Severity = "error" | "warning";

/** One thing that lint looks for. */
interface LintRule {
  readonly severity: Severity;
  /** The problem that it finds. */
  readonly finds: string;
  /** Why that costs. */
  readonly because: string;
  /** What to do, in one sentence. */
  readonly remedy: string;
  /** The measurement for it; missing if the cost is computed or unknown. */
  readonly row?: RowName;
}

const CHANGES = "whoever renews it changes the prefix, and all that comes after is written again";

/** All rules, in the order in which they are reported (CACHING §4.6). */
const RULES = {
  "unstable-tools": {
    severity: "error",
    finds: "a tool whose name, description or schema differs between two loads or two renders",
    because: "tools come first, so nothing in the cache matches any more",
    remedy: "write the tool's description and schema as constants, and let the tool answer with what varies",
    row: "tools",
  },
  "unstable-prefix": {
    severity: "error",
    finds: "another section before the tail whose bytes differ between two renders of the same request",
    because: "the cache matches bytes: from the first that differs on, all is written again",
    remedy: "make the section independent of the time, place and order in which it is rendered",
    row: "snapshot",
  },
  seconds: {
    severity: "error",
    finds: "a time to the second or finer, or a timestamp, in a text of the prefix",
    because: CHANGES,
    remedy: "remove it and give the agent a layer with `source: clock`, which comes after the last breakpoint",
    row: "seconds",
  },
  clock: {
    severity: "error",
    finds: "a clock that is finer than a day (`it is now 14:32`, a date with a time) in a text of the prefix",
    because: CHANGES,
    remedy: "remove it and give the agent a layer with `source: clock`, which comes after the last breakpoint",
    row: "minutes",
  },
  counter: {
    severity: "error",
    finds:
      "a number that counts requests, turns, messages, calls or visits (`Turn 42.`, `you have been called 12 times`) in a text of the prefix",
    because: CHANGES,
    remedy: "move the number into a source of your own: its layer comes after the last breakpoint",
    row: "seconds",
  },
  uuid: {
    severity: "error",
    finds: "a UUID in a text of the prefix",
    because: CHANGES,
    remedy: "remove it; pass what a tool must know about the request to the tool, not to the model",
    row: "id",
  },
  "request-id": {
    severity: "error",
    finds: "the id of a request, session, thread or user in a text of the prefix",
    because: "nobody else sends these bytes, so nothing is shared, and the next request has others",
    remedy: "remove it; pass what a tool must know about the request to the tool, not to the model",
    row: "id",
  },
  "relative-time": {
    severity: "error",
    finds: "a time relative to now, as in `3 minutes ago` or `was here yesterday`, in a text of the prefix",
    because: "it is wrong a minute later, and putting it right rewrites what was kept",
    remedy: "write the date instead, or move the text into a source of your own",
    row: "relative",
  },
  "word-of-now": {
    severity: "warning",
    finds: "a claim about now (`today`, `currently`, `as of now`) in a text of the prefix",
    because:
      "the prefix is frozen for as long as the thread's epoch: it is stale there, or it is renewed and written again",
    remedy: "say what always holds, or move the claim into a source of your own",
    row: "relative",
  },
  "date-of-now": {
    severity: "warning",
    finds: "a day that is given as today's in a text of the prefix",
    because: "it is wrong tomorrow; renewed each day, it costs one write a day",
    remedy: "remove it and give the agent a layer with `source: clock`",
    row: "day",
  },
  "hash-like": {
    severity: "warning",
    finds:
      "a hexadecimal sign chain of 32 or more with letters and digits, or of 12 or more where they take turns at least 4 times, in a text of the prefix",
    because: "if it comes from a build, a session or a request, it changes with it",
    remedy: "remove it, or make sure that it stays the same from one request and one start to the next",
    row: "id",
  },
  "random-token": {
    severity: "warning",
    finds: "a sign chain that looks random in a text of the prefix",
    because: "if it was made for a session or a request, it changes with it",
    remedy: "remove it, or make sure that it stays the same from one request and one start to the next",
    row: "id",
  },
  "changing-above-stable": {
    severity: "warning",
    finds: "a `versioned` layer before an `immutable` one of the same scope",
    because: "an edit of it rewrites the layers after it, although they did not change",
    remedy: "give it a higher rank number than the immutable layers of its scope, or a narrower scope",
    row: "snapshot",
  },
  "cut-prefix": {
    severity: "warning",
    finds: "a layer of the prefix that is cut or dropped, for it does not fit into the budget or the model's window",
    because: "it is cut once an epoch and costs nothing more, but what it loses is never said",
    remedy: "shorten the text to its budget, or raise `budgets.total` where the model's window allows it",
  },
  "small-system": {
    severity: "warning",
    finds: "a `budgets.system` below the tokens of the immutable layers and minimums of the prefix",
    because: "these are sent in any case, so where room is short, nothing is left for the other layers of the prefix",
    remedy: "raise `budgets.system`, or remove it: without it, only `budgets.total` limits the prefix",
  },
  "below-minimum": {
    severity: "warning",
    finds: "a prefix with fewer tokens than the model keeps",
    because: "nothing of it is kept until the conversation has grown past the minimum, and threads share nothing",
    remedy: "fill it up to the minimum with useful examples if that pays, or choose a model with a lower minimum",
  },
  "large-tail": {
    severity: "warning",
    finds: "live layers that together cost more than reading the whole prefix",
    because: "the tail is paid in full with each request",
    remedy: "lower the `limit` or the `budget` of the live layers, or move what stays the same into a text",
  },
  "tail-before-events": {
    severity: "warning",
    finds: "an agent with `liveLayers: before`, where the model's live layers do not stay",
    because:
      "what stands behind the tail is not kept, so the events are sent once more in the next turn before they are",
    remedy: "leave it, if the question last is worth that to you; else remove `liveLayers`",
  },
  "freeze-instead": {
    severity: "warning",
    finds: "memories that would cost less as a fixed part of the prefix than recalled turn by turn",
    because: "what is recalled is paid in full each turn, what is frozen is read at the price of reads",
    remedy:
      "say `recall: auto`, which freezes them while the layer's `limit` and `budget` hold them, or write what always holds into a text",
  },
  "model-toggle": {
    severity: "warning",
    finds: "threads whose turns were answered by more than one model",
    because: "each model has a cache of its own, so every switch writes the whole thread again",
    remedy: "name the agent's `model` in strata.yaml, and change it between threads only",
    row: "model",
  },
} satisfies Readonly<Record<string, LintRule>>;

export type RuleName = keyof typeof RULES;

export const RULE_NAMES: readonly RuleName[] = Object.keys(RULES).filter(isRuleName);

function isRuleName(name: string): name is RuleName {
  return Object.hasOwn(RULES, name);
}

/** One rule by its name. */
export const ruleOf = (name: RuleName): LintRule => RULES[name];

/** The rules as a table in Markdown, for `docs/lint.md`. */
export function ruleTable(): string {
  const rows = RULE_NAMES.map((name) => {
    const { severity, finds, because, remedy, row } = ruleOf(name);
    return `| \`${name}\` | ${severity} | ${finds} | ${because} | ${row === undefined ? "" : figures(MEASURED[row])} | ${remedy} |`;
  });
  const head = ["| rule | severity | finds | because | measured | remedy |", "|---|---|---|---|---|---|"];
  return [...head, ...rows].join("\n");
}

const figures = ({ what, at50, at200, at200cheap }: Row): string =>
  `${at50} / ${at200} / ${at200cheap ?? "–"} (${what})`;
