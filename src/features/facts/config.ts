import { z } from "zod";
import { agentKey, type KindsOf, line, type StoredKeys, slug, sourceForm } from "../../agents/index.ts";
import { REASONING_LEVELS, suggestion, trusted } from "../../protocol/index.ts";

/** Who may set a fact: the mightier may always. */
const SETTERS = ["operators", "members", "contacts"] as const;

/** Characters that one text may be given at the most. */
const LONGEST_TEXT = 20_000;

const FACT = z
  .strictObject({
    choices: z
      .array(slug())
      .min(2)
      .max(20)
      .optional()
      .describe("The values that it may have. Exactly one of `choices` and `text`."),
    text: z
      .int()
      .min(1)
      .max(LONGEST_TEXT)
      .optional()
      .describe("It is a text of its own, of so many characters at the most."),
    default: z
      .string()
      .max(LONGEST_TEXT)
      .optional()
      .describe("Its value in conversations where nobody set it. Default: none."),
    description: line(200).optional().describe("What it is for, in one line."),
    by: z
      .enum(SETTERS)
      .default("operators")
      .describe(
        "Who may set it: `operators` alone, `members` of the organization as well, or also the `contacts` in their own conversations, who may choose and never write.",
      ),
    sets: z
      .literal("reasoning")
      .optional()
      .describe(
        "It is how much the model reasons before it answers: its choices are among `off`, `low`, `medium` and `high`. A model that has a setting for that is sent it, and no text of a layer; for any other, the layer's text stands.",
      ),
  })
  .meta({ oneOf: [{ required: ["choices"] }, { required: ["text"] }] });

const FACTS = z
  .record(slug(), FACT)
  .optional()
  .describe(
    "What is known of one conversation and set from outside, by name: a choice or a short text, for layers with `source: fact`.",
  );

type Declared = z.output<typeof FACT>;

/** What is wrong with one fact by itself. */
function faultsOf({ choices, text, default: usual, by, sets }: Declared): readonly (readonly [string, string])[] {
  const faults: (readonly [string, string])[] = [];
  if ((choices === undefined) === (text === undefined)) faults.push(["", "needs exactly one of `choices` and `text`"]);
  if (usual !== undefined && choices !== undefined && !choices.includes(usual))
    faults.push(["default", `is none of its choices${suggestion(usual, choices)}`]);
  if (usual !== undefined && text !== undefined && usual.length > text)
    faults.push(["default", `has ${usual.length} characters; expected at most ${text}`]);
  if (by === "contacts" && choices === undefined)
    faults.push(["by", "what contacts write never stands in the prompt's prefix; give it `choices`, or say `members`"]);
  const isLevel = (value: string): boolean => REASONING_LEVELS.some((level) => level === value);
  if (sets !== undefined && !choices?.every(isLevel))
    faults.push(["sets", `needs \`choices\` among ${REASONING_LEVELS.join(", ")}`]);
  return faults;
}

const facts = agentKey(FACTS, {
  check: (declared = {}, { agent, refuse }) => {
    for (const [name, fact] of Object.entries(declared))
      for (const [member, says] of faultsOf(fact)) refuse(member === "" ? [name] : [name, member], says);
    const levels = Object.keys(declared).filter((name) => declared[name]?.sets === "reasoning");
    if (levels.length > 1) refuse([levels[1] ?? "", "sets"], `\`${levels[0]}\` sets it already; one fact may`);
    for (const [i, layer] of agent.layers.entries()) {
      if (layer.source !== "fact") continue;
      const at = (member: string, says: string): void => refuse(["layers", i, member], says, "agent");
      const { fact: name = "", texts } = layer;
      const known = Object.hasOwn(declared, name) ? declared[name] : undefined;
      if (layer.fact === undefined) at("source", "needs `fact`: the name of one of the agent's `facts`");
      else if (known === undefined)
        at("fact", `the agent's \`facts\` have no \`${name}\`${suggestion(name, Object.keys(declared))}`);
      else if (known.choices === undefined && texts !== undefined)
        at("texts", "the fact is a text itself; remove this");
      else if (known.choices !== undefined && texts === undefined)
        at("fact", "the fact is a choice: say in `texts` what the layer says for its values");
      for (const value of Object.keys(texts ?? {}))
        if (known?.choices !== undefined && !known.choices.includes(value))
          at("texts", `\`${value}\` is none of the choices of \`${name}\`${suggestion(value, known.choices)}`);
    }
  },
});

/** What is known of each conversation. */
export const KEYS = { facts };

/** A layer that says what a fact says, or the one of its texts that the fact chooses. */
export const SOURCES = {
  fact: sourceForm({
    fills: "what one of the conversation's `facts` says, or the one of the layer's `texts` that it chooses",
    isStored: true,
    changesFor: "thread",
    isRepeatable: true,
    takes: ["fact", "texts"],
    kept: { fact: z.string(), texts: z.record(z.string(), z.string().transform(trusted)) },
    make: ({ fact = "", texts = {} }) => ({
      fact,
      texts: Object.fromEntries(Object.entries(texts).map(([value, text]) => [value, trusted(text)])),
    }),
  }),
};

declare module "../../protocol/agent.ts" {
  interface Agent extends StoredKeys<typeof KEYS> {}
}

declare module "../../protocol/layer.ts" {
  interface SourceKinds extends KindsOf<typeof SOURCES> {}
}
