import { z } from "zod";
import { layerId, outboxId, untrusted } from "../../protocol/index.ts";
import { FIELDS } from "./fields.ts";

const skill = () => z.string().min(1).max(64).describe("A skill, where the layer holds skills.");
const number = z.string().regex(/^[1-9]\d{0,8}$/, "a number from 1");
const version = (from: number, says: string) => z.int().min(from).max(1_000_000_000).describe(says);

/** The fields of requests about an agent's texts, life and mail. */
export const OF = {
  agent: FIELDS.agent,
  layer: z.string().describe("A layer, by its id, or by its rank where no other layer shares it.").transform(layerId),
  part: skill(),
  skill: skill().describe("A skill's name."),
  n: number.describe("A version, from 1.").transform(Number),
  before: number.describe("Only versions before this one.").transform(Number),
  beforeMove: number.describe("Only what was done before this move, by its `seq`.").transform(Number),
  compared: z
    .string()
    .regex(/^\d{1,9}$/, "a version, 0 for the declared text")
    .describe("A version; 0 is the declared text.")
    .transform(Number),
  version: version(0, "The version that is to be active; 0 is the declared text."),
  over: version(0, "The active version that it takes the place of, where it was written over another."),
  newText: z.string().max(100_000).describe("The new text. How long it may be says the refusal."),
  line: z.string().max(1_000).describe("The line that stands for the layer where a mode shows it as one."),
  reason: z.string().max(1_000).describe("Why, for the record.").transform(untrusted),
  sender: FIELDS.contact.describe("The sender, as the channel names them."),
  dollars: z.number().describe("US dollars; less than nothing takes back a mistake."),
  note: z.string().max(1_000).default("").describe("What for, for the record.").transform(untrusted),
  message: z.string().describe("A message, `out_…`.").transform(outboxId),
} as const;

export const AGENT_PATH = z.strictObject({ agent: OF.agent });
export const LAYER_PATH = z.strictObject({ agent: OF.agent, layer: OF.layer });
export const SKILL_PATH = z.strictObject({ agent: OF.agent, skill: OF.skill });

/** A member only where it was given: what is left out is never `undefined`. */
export function given<K extends string, V>(name: K, value: V | undefined): { readonly [P in K]?: V } {
  const made: { [P in K]?: V } = {};
  if (value !== undefined) made[name] = value;
  return made;
}
