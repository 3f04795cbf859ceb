/** Facts of a conversation: small settings from outside that decide how its agent works there. */
import { z } from "zod";
import { ago, printable, table } from "../../print/index.ts";
import type { Feature } from "../feature.ts";
import { FIELDS, list, TIME } from "../fields.ts";
import { operation } from "../operation.ts";
import { factSteps } from "./api.ts";
import { KEYS } from "./config.ts";
import { FACT_STORE } from "./store.ts";

export { declaredFacts, type FactDoors, factDoors } from "./api.ts";
export { FACT_STORE } from "./store.ts";

const FACT = z
  .object({
    name: z.string(),
    value: z.string().nullable().describe("null where nobody set it and it has no default"),
    by: z.string().optional().describe("who set it; left out, it is the default"),
    at: TIME.optional(),
    choices: list(z.string()).optional().describe("the values that it may have"),
    longest: z.number().optional().describe("of a text: characters at most"),
    description: z.string().optional(),
    sets: z.literal("reasoning").optional().describe("`reasoning`: how much the model reasons before it answers"),
  })
  .meta({ id: "Fact" });

const ONE = z.strictObject({ id: FIELDS.thread });
const NAME = z.string().min(1).max(64).describe("which fact");
const ID = "thr_01jd8k3v5x9m2q7r4t6w8y0zab";

const facts = operation({
  name: "fact.list",
  does: "List the facts that a conversation's agent declares, with what they are set to there.",
  may: "read",
  at: "GET /v1/threads/{id}/facts",
  takes: ONE,
  gives: z.object({ facts: list(FACT) }),
  list: "facts",
  command: { words: ["id"], examples: [`fact list ${ID}`], opens: "record to run" },
  run: async ({ runtime }, { id }, { actor }) => ({ facts: await runtime.facts(actor, id) }),
  show: ({ facts: found }, { style, world }) => factLines(found, world.clock.real(), style),
});

const set = operation({
  name: "fact.set",
  does: "Set a fact of a conversation, such as its thinking level, from its next turn on.",
  may: "post",
  at: "POST /v1/threads/{id}/facts/{name}",
  takes: ONE.extend({ name: NAME, value: z.string().max(20_000).describe("its value: one of its choices, or a text") }),
  gives: FACT,
  command: { words: ["id", "name", "value"], examples: [`fact set ${ID} thinking high`], opens: "record to run" },
  run: ({ runtime }, { id, name, value }, { actor }) => runtime.setFact(actor, id, { name, value }),
  show: ({ name, value }, { given: { id } }) => [`${name} is ${short(value)} on ${id} from the next turn on.`],
});

const unset = operation({
  name: "fact.unset",
  does: "Take a fact of a conversation back to its default, from its next turn on.",
  may: "post",
  at: "DELETE /v1/threads/{id}/facts/{name}",
  takes: ONE.extend({ name: NAME }),
  gives: FACT,
  command: { words: ["id", "name"], examples: [`fact unset ${ID} thinking`], opens: "record to run" },
  run: ({ runtime }, { id, name }, { actor }) => runtime.setFact(actor, id, { name, value: null }),
  show: ({ name, value }, { given: { id } }) => [`${name} is ${short(value)} on ${id} from the next turn on.`],
});

export const FEATURE: Feature = {
  name: "facts",
  keys: KEYS,
  store: FACT_STORE,
  steps: factSteps,
  operations: [facts, set, unset],
};

type FactView = z.output<typeof FACT>;

const COLUMNS = [{ head: "fact" }, { head: "value" }, { head: "set" }, { head: "may be" }] as const;

/** How much of a text is shown in a line. */
const SHOWN = 60;

const short = (value: string | null): string =>
  value === null ? "not set" : printable(value.length > SHOWN ? `${value.slice(0, SHOWN)}…` : value);

/** What is set, by whom, and what it could be. */
export function factLines(
  found: readonly FactView[],
  now: number,
  style: Parameters<typeof table>[2],
): readonly string[] {
  if (found.length === 0) return ["The agent declares no `facts` in strata.yaml."];
  const rows = found.map(({ name, value, by, at, choices, longest = 0 }) => [
    name,
    short(value),
    at === undefined ? "by default" : `${ago(now - at)} by ${by}`,
    choices?.join(", ") ?? `a text of at most ${longest} characters`,
  ]);
  return table(COLUMNS, rows, style);
}
