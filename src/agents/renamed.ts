import type { Path } from "./path.ts";

/** A word that was another one first, at a place in the words of today; `*` is any name or index. */
type Rename = readonly [place: string, today: string, first: string];

/**
 * A stored agent keeps its keys' original names: its version is the digest of these bytes. With other names, all threads would be pinned to
 * another version than the declared one, although the agent has not changed.
 */
const STORED_KEYS: readonly Rename[] = [
  ["", "settings", "facts"],
  ["settings.*", "maxLength", "text"],
  ["settings.*", "settableBy", "by"],
  ["layers.*.source", "setting", "fact"],
  ["", "liveLayers", "tail"],
  ["budgets.turn", "modelCalls", "rounds"],
  ["budgets.turn", "toolCalls", "calls"],
  ["budgets.turn", "maxCost", "dollars"],
  ["life.credits", "modelCalls", "rounds"],
  ["consolidate", "groupBy", "by"],
  ["subagents.limits", "modelCalls", "rounds"],
  ["subagents.limits", "toolCalls", "calls"],
  ["subagents.limits", "maxCost", "dollars"],
];

/** The same of values. */
const STORED_VALUES: readonly Rename[] = [
  ["layers.*.source.kind", "setting", "fact"],
  ["liveLayers", "after", "after-events"],
  ["liveLayers", "before", "before-events"],
];

/** Keys of strata.yaml that had another name, for the message about the old one. */
const WRITTEN: readonly Rename[] = [
  ["agents.*", "settings", "facts"],
  ["agents.*.settings.*", "maxLength", "text"],
  ["agents.*.settings.*", "settableBy", "by"],
  ["agents.*.layers.*", "setting", "fact"],
  ["agents.*", "liveLayers", "tail"],
  ["agents.*.budgets.turn", "modelCalls", "rounds"],
  ["agents.*.budgets.turn", "toolCalls", "calls"],
  ["agents.*.budgets.turn", "maxCost", "dollars"],
  ["agents.*.life.credits", "modelCalls", "rounds"],
  ["agents.*.consolidate", "groupBy", "by"],
  ["agents.*.subagents.limits", "modelCalls", "rounds"],
  ["agents.*.subagents.limits", "toolCalls", "calls"],
  ["agents.*.subagents.limits", "maxCost", "dollars"],
  ["models.*", "contextWindow", "window"],
  ["models.*", "maxOutputTokens", "longestReply"],
  ["models.*", "reasoningBoundToHistory", "binds"],
  ["models.*", "tailMode", "tail"],
];

/** The present name of an unknown key of strata.yaml, if it is a former name. */
export const nameOfToday = (key: string, path: Path): string | undefined =>
  translation(WRITTEN, "today", key, path.map(String));

/** An agent with the names of its stored form. */
export const withFirstNames = (agent: unknown): unknown => renameValue(agent, "first", []);

/** A stored agent with the names of today. */
export const withNamesOfToday = (spec: unknown): unknown => renameValue(spec, "today", []);

type Direction = "today" | "first";

function renameValue(value: unknown, to: Direction, place: readonly string[]): unknown {
  if (Array.isArray(value)) return value.map((one, i) => renameValue(one, to, [...place, String(i)]));
  if (typeof value === "string") return translation(STORED_VALUES, to, value, place) ?? value;
  if (value === null || typeof value !== "object") return value;
  const members = Object.entries(value).map(([name, member]) => {
    const other = translation(STORED_KEYS, to, name, place) ?? name;
    return [other, renameValue(member, to, [...place, to === "today" ? other : name])];
  });
  return Object.fromEntries(members);
}

function translation(
  renames: readonly Rename[],
  to: Direction,
  word: string,
  place: readonly string[],
): string | undefined {
  for (const [at, today, first] of renames) {
    const [from, other] = to === "today" ? [first, today] : [today, first];
    if (word === from && isAt(at, place)) return other;
  }
  return undefined;
}

function isAt(at: string, place: readonly string[]): boolean {
  const steps = at === "" ? [] : at.split(".");
  return steps.length === place.length && steps.every((step, i) => step === "*" || step === place[i]);
}
