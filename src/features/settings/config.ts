import { z } from "zod";
import { agentKey, type KindsOf, line, type StoredKeys, slug, sourceForm } from "../../agents/index.ts";
import { REASONING_LEVELS, suggestion, trusted } from "../../protocol/index.ts";

/** Who may change a setting: higher roles always may. */
const SETTERS = ["operators", "members", "contacts"] as const;

/** The most characters of one text. */
const LONGEST_TEXT = 20_000;

const SETTING = z
  .strictObject({
    choices: z
      .array(slug())
      .min(2)
      .max(20)
      .optional()
      .describe("The values that it may have. Exactly one of `choices` and `maxLength`."),
    maxLength: z
      .int()
      .min(1)
      .max(LONGEST_TEXT)
      .optional()
      .describe("Its value is free text of at most this many characters."),
    default: z
      .string()
      .max(LONGEST_TEXT)
      .optional()
      .describe("Its value in conversations where nobody set it. Default: none."),
    description: line(200).optional().describe("What it is for, in one line."),
    settableBy: z
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
  .meta({ oneOf: [{ required: ["choices"] }, { required: ["maxLength"] }] });

const SETTINGS = z
  .record(slug(), SETTING)
  .optional()
  .describe(
    "Settings of one conversation that people and programs change, by name: a choice or a short text, for layers with `source: setting`.",
  );

type DeclaredSetting = z.output<typeof SETTING>;

/** What is wrong with one setting by itself. */
function faultsOf({
  choices,
  maxLength,
  default: usual,
  settableBy,
  sets,
}: DeclaredSetting): readonly (readonly [string, string])[] {
  const faults: (readonly [string, string])[] = [];
  if ((choices === undefined) === (maxLength === undefined))
    faults.push(["", "needs exactly one of `choices` and `maxLength`"]);
  if (usual !== undefined && choices !== undefined && !choices.includes(usual))
    faults.push(["default", `is none of its choices${suggestion(usual, choices)}`]);
  if (usual !== undefined && maxLength !== undefined && usual.length > maxLength)
    faults.push(["default", `has ${usual.length} characters; expected at most ${maxLength}`]);
  if (settableBy === "contacts" && choices === undefined)
    faults.push([
      "settableBy",
      "what contacts write is never in the prompt's prefix; give it `choices`, or use `settableBy: members`",
    ]);
  const isLevel = (value: string): boolean => REASONING_LEVELS.some((level) => level === value);
  if (sets !== undefined && !choices?.every(isLevel))
    faults.push(["sets", `needs \`choices\` among ${REASONING_LEVELS.join(", ")}`]);
  return faults;
}

const settingsKey = agentKey(SETTINGS, {
  check: (declared = {}, { agent, refuse }) => {
    for (const [name, setting] of Object.entries(declared))
      for (const [member, sentence] of faultsOf(setting)) refuse(member === "" ? [name] : [name, member], sentence);
    const levels = Object.keys(declared).filter((name) => declared[name]?.sets === "reasoning");
    if (levels.length > 1) refuse([levels[1] ?? "", "sets"], `\`${levels[0]}\` sets it already; one setting may`);
    for (const [i, layer] of agent.layers.entries()) {
      if (layer.source !== "setting") continue;
      const at = (member: string, sentence: string): void => refuse(["layers", i, member], sentence, "agent");
      const { setting: name = "", texts } = layer;
      const known = Object.hasOwn(declared, name) ? declared[name] : undefined;
      if (layer.setting === undefined) at("source", "needs `setting`: the name of one of the agent's `settings`");
      else if (known === undefined)
        at("setting", `the agent's \`settings\` have no \`${name}\`${suggestion(name, Object.keys(declared))}`);
      else if (known.choices === undefined && texts !== undefined)
        at("texts", "the setting is a text itself; remove this");
      else if (known.choices !== undefined && texts === undefined)
        at("setting", "the setting is a choice: say in `texts` what the layer says for its values");
      if (layer.scope === "turn" && known !== undefined && known.choices === undefined)
        at("scope", "a value that somebody writes does not stand beside the messages; use `thread`, or `choices`");
      for (const value of Object.keys(texts ?? {}))
        if (known?.choices !== undefined && !known.choices.includes(value))
          at("texts", `\`${value}\` is none of the choices of \`${name}\`${suggestion(value, known.choices)}`);
    }
  },
});

/** The settings of each conversation. */
export const KEYS = { settings: settingsKey };

/** A layer with the value of a setting, or with the one of its texts that the setting chooses. */
export const SOURCES = {
  setting: sourceForm({
    fills: "the value of one of the conversation's `settings`, or the one of the layer's `texts` that it chooses",
    isStored: true,
    changesFor: "thread",
    inTail: true,
    isRepeatable: true,
    takes: ["setting", "texts"],
    kept: { setting: z.string(), texts: z.record(z.string(), z.string().transform(trusted)) },
    make: ({ setting = "", texts = {} }) => ({
      setting,
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
