import { z } from "zod";
import { agentKey, frozenKey, type KindsOf, type StoredKeys, slug, sourceForm } from "../../agents/index.ts";
import { type Agent, TEXT_LIMITS, type TextLimits, trusted, USUAL_TEXT_LIMITS } from "../../protocol/index.ts";

const SKILL = z
  .strictObject({
    name: slug().describe("The skill's name."),
    text: z
      .string()
      .min(1)
      .max(TEXT_LIMITS.skill)
      .optional()
      .describe("Its instructions. Exactly one of `text` and `file`."),
    file: z
      .string()
      .min(1)
      .optional()
      .describe("The file with its instructions, relative to strata.yaml and inside its folder."),
    enabled: z.boolean().default(true).describe("Whether it is enabled from the start."),
  })
  .meta({ oneOf: [{ required: ["text"] }, { required: ["file"] }] });

const SKILLS = z
  .array(SKILL)
  .max(100)
  .default([])
  .describe("Instructions for the layer with `source: skills`; an operator enables, changes and disables them.");

const SOUL = slug()
  .transform(trusted)
  .optional()
  .describe("The agent's short name for itself, for the layer with `source: soul`, until an operator changes it.");

const soul = agentKey(SOUL, {
  check: (value, { agent, refuse }) => {
    const at = agent.layers.findIndex(({ source }) => source === "soul");
    if (value === undefined && at >= 0)
      refuse(["layers", at, "source"], "the agent has no `soul`; add one or remove it", "agent");
    if (value !== undefined && at < 0) refuse([], "needs a layer with `source: soul`; add one");
  },
});

/** Instructions that are a part of the skills' layer while they are enabled. */
const skills = frozenKey({
  written: SKILLS,
  stored: z
    .array(z.strictObject({ name: z.string(), text: z.string().transform(trusted), enabled: z.boolean() }).readonly())
    .readonly(),
  freeze: (all, { textOf }) =>
    all.length === 0
      ? undefined
      : all.map((skill, i) => ({ name: skill.name, text: textOf(skill, [i]), enabled: skill.enabled })),
  check: (all, { agent, refuse }) => {
    if (all.length > 0 && !agent.layers.some(({ source }) => source === "skills"))
      refuse([], "needs a layer with `source: skills`; add one");
    const names = all.map(({ name }) => name);
    for (const [i, { name, text, file }] of all.entries()) {
      const first = names.indexOf(name);
      if (first !== i) refuse([i, "name"], `is already in entry [${first}]; each may appear only once`);
      if ((text === undefined) === (file === undefined))
        refuse([i], `skill \`${name}\` needs exactly one of \`text\` and \`file\``);
    }
    const most = TEXT_LIMITS.skills;
    if (all.filter(({ enabled }) => enabled).length > most)
      refuse([], `at most ${most} may be enabled from the start; set \`enabled: false\` for some`);
  },
});

const TEXT_SIZES = z
  .strictObject({
    layer: z
      .int()
      .min(100)
      .max(20_000)
      .default(USUAL_TEXT_LIMITS.layer)
      .describe("Characters that an edited layer may have. The guard of layer texts reads no more than 20,000."),
    total: z
      .int()
      .min(100)
      .max(200_000)
      .default(USUAL_TEXT_LIMITS.total)
      .describe("Characters that all texts of the prefix may have together after an edit, without soul and skills."),
  })
  .optional()
  .describe(
    `How long the texts of layers may become by edits. What strata.yaml declares may be longer. Default: ${USUAL_TEXT_LIMITS.layer.toLocaleString("en-US")} characters for a layer, ${USUAL_TEXT_LIMITS.total.toLocaleString("en-US")} for all together.`,
  );

const textLimits = agentKey(TEXT_SIZES, {
  check: (sizes, { refuse }) => {
    if (sizes !== undefined && sizes.total < sizes.layer)
      refuse(["total"], `expected at least \`layer\`, which is ${sizes.layer}`);
  },
});

/** An agent's own name and skills, until they are edited. */
export const KEYS = { soul, skills, textLimits };

/** How long this agent's texts may become by edits. */
export const textLimitsOf = ({ textLimits }: Pick<Agent, "textLimits">): TextLimits => ({
  ...USUAL_TEXT_LIMITS,
  ...textLimits,
});

/** The name is in the prefix, right after the layer that points to it; the skills come after everything editable. */
export const SOURCES = {
  soul: sourceForm({ fills: "the agent's short name for itself", isStored: true, kept: {}, make: () => ({}) }),
  skills: sourceForm({ fills: "its enabled skills", isStored: true, kept: {}, make: () => ({}) }),
};

declare module "../../protocol/agent.ts" {
  interface Agent extends StoredKeys<typeof KEYS> {}
}

declare module "../../protocol/tool.ts" {
  interface ToolReader extends Pick<StoredKeys<typeof KEYS>, "textLimits"> {}
}

declare module "../../protocol/layer.ts" {
  interface SourceKinds extends KindsOf<typeof SOURCES> {}
}
