import { z } from "zod";
import { frozenKey, type KeyPlace, line, type StoredKeys } from "../../agents/index.ts";
import { MODES, type OwnChannel, trusted } from "../../protocol/index.ts";

/** The tool by which an agent asks one of its sub-agents. */
export const CALL_SUBAGENT = "call_subagent";

/** The tool by which an agent sends its caller an update before it answers. */
export const ENQUEUE_PARENT = "enqueue_parent";

/** The channel of what agents ask each other: one thread for each call. */
export const PEER = {
  name: "peer",
  holds: "what agents ask each other",
  answersCalls: true,
} as const satisfies OwnChannel;

const TOOLS = z.array(z.string().min(1).max(64)).max(100);

const DEFINED = z
  .strictObject({
    name: line(64).describe("What it is called by."),
    description: line(300).describe("When it is asked, for the agent that asks."),
    text: z.string().min(1).optional().describe("Its instructions. Exactly one of `text`, `file` and `share`."),
    file: z.string().min(1).optional().describe("The file with its instructions, relative to strata.yaml."),
    tools: TOOLS.optional().describe("Tools that it may call, of the agent's own. Default: `tools` of all."),
    share: z
      .literal("fork")
      .optional()
      .describe(
        "It has no instructions, tools or mode of its own: it is the agent itself, and goes on from its conversation, up to its last finished reply.",
      ),
    mode: z.enum(MODES).default("minimal").describe("How much of the agent's prompt stands before its instructions."),
  })
  .meta({ oneOf: [{ required: ["text"] }, { required: ["file"] }, { required: ["share"] }] });

const LIMITS = z.strictObject({
  tokens: z
    .int()
    .min(2_000)
    .max(10_000_000)
    .optional()
    .describe("Tokens that one request may have, its reply included."),
  modelCalls: z.int().min(1).max(100).default(4).describe("Model calls that it may make."),
  toolCalls: z.int().min(0).max(1_000).default(8).describe("Tool calls that it may make."),
  seconds: z
    .number()
    .min(1)
    .max(3_600)
    .default(60)
    .describe("Seconds that it may take; its caller's do not run meanwhile."),
  maxCost: z
    .number()
    .min(0)
    .max(1_000)
    .optional()
    .describe("US dollars that it may cost. Without this, half of what its caller may still spend."),
});

const SUBAGENTS = z
  .strictObject({
    defined: z.array(DEFINED).max(50).default([]).describe("Sub-agents of this agent, each with a prompt of its own."),
    fromFiles: z
      .boolean()
      .default(true)
      .describe("Whether it may also call those that an AGENTS.md of its `source: files` layer defines."),
    tools: TOOLS.optional().describe(
      "Tools that sub-agents may call, of the agent's own, where nothing else is said. Default: those that change nothing.",
    ),
    depth: z.int().min(1).max(3).default(1).describe("How deep they may call each other: with 1, they call none."),
    updates: z
      .boolean()
      .optional()
      .describe(
        "Whether they may tell their caller something before they answer, with the tool `enqueue_parent`. Default: false.",
      ),
    limits: LIMITS.prefault({}).describe(
      "How far one call may go, at most to what is left of its caller's own limits.",
    ),
  })
  .optional()
  .describe(
    "Sub-agents that the agent may ask with the tool `call_subagent`: each answers one question, in a turn of its own. Default: none.",
  );

type WrittenSubagents = z.output<typeof SUBAGENTS>;

const STORED = z
  .strictObject({
    defined: z
      .array(
        z.strictObject({
          name: z.string(),
          description: z.string(),
          text: z.string().transform(trusted),
          tools: z.exactOptional(z.array(z.string()).readonly()),
          share: z.exactOptional(z.literal("fork")),
          mode: z.enum(MODES),
        }),
      )
      .readonly(),
    fromFiles: z.boolean(),
    tools: z.exactOptional(z.array(z.string()).readonly()),
    depth: z.number(),
    updates: z.exactOptional(z.literal(true)),
    limits: z
      .strictObject({
        tokens: z.exactOptional(z.number()),
        modelCalls: z.number(),
        toolCalls: z.number(),
        seconds: z.number(),
        maxCost: z.exactOptional(z.number()),
      })
      .readonly(),
  })
  .readonly();

/** Without unset ones: the stored form has no key for them. */
function storedLimits({ tokens, maxCost, ...limits }: z.output<typeof LIMITS>): z.output<typeof STORED>["limits"] {
  return { ...limits, ...(tokens !== undefined && { tokens }), ...(maxCost !== undefined && { maxCost }) };
}

function checkSubagents(value: WrittenSubagents, { agent, refuse }: KeyPlace): void {
  if (value === undefined) return;
  const own = agent.tools.map((tool) => (typeof tool === "string" ? tool : tool.name));
  const names = value.defined.map(({ name }) => name.toLowerCase());
  const checkTools = (tools: readonly string[] = [], path: readonly (string | number)[]): void => {
    for (const [i, tool] of tools.entries())
      if (!own.includes(tool)) refuse([...path, i], `the agent itself has no \`${tool}\` among its \`tools\``);
  };
  checkTools(value.tools, ["tools"]);
  for (const [i, { text, file, share, tools }] of value.defined.entries()) {
    if (names.indexOf(names[i] ?? "") < i)
      refuse(["defined", i, "name"], "is there already; capitals make no difference");
    if ([text, file, share].filter((one) => one !== undefined).length !== 1)
      refuse(["defined", i], "needs exactly one of `text`, `file` and `share`");
    if (share !== undefined && tools !== undefined)
      refuse(["defined", i, "tools"], "a fork has all tools of its agent: leave `tools` out");
    if (share !== undefined && agent.history === "log")
      refuse(["defined", i, "share"], "a fork goes on from a conversation, and with `history: log` there is none");
    checkTools(tools, ["defined", i, "tools"]);
  }
}

/** Whom an agent may ask. */
export const KEYS = {
  subagents: frozenKey({
    written: SUBAGENTS,
    stored: STORED,
    tools: (value: WrittenSubagents) => (value === undefined ? [] : [CALL_SUBAGENT]),
    freeze: (value: WrittenSubagents, { textOf }) => {
      if (value === undefined) return undefined;
      const { defined, fromFiles, tools, depth, limits, updates } = value;
      return {
        defined: defined.map(({ name, description, tools: its, mode, share, ...written }, i) => ({
          name,
          description,
          text: textOf(written, ["defined", i]),
          mode,
          ...(its && { tools: its }),
          ...(share && { share }),
        })),
        fromFiles,
        depth,
        ...(tools && { tools }),
        ...(updates && { updates }),
        limits: storedLimits(limits),
      };
    },
    check: checkSubagents,
  }),
};

declare module "../../protocol/agent.ts" {
  interface Agent extends StoredKeys<typeof KEYS> {}
}

declare module "../../protocol/tool.ts" {
  interface ToolReader extends StoredKeys<typeof KEYS> {}
}
