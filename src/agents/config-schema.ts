import { z } from "zod";
import {
  DEFAULT_BUDGETS,
  DEFAULT_SCHEDULING,
  EDITORS,
  HISTORIES,
  LAYER_SCOPES,
  LONGEST_MESSAGE,
  MODES,
  MUTABILITIES,
  RECALLS,
  SPEND_PERIODS,
  TAINTED,
  TRUSTS,
} from "../protocol/index.ts";
import { MODEL_CARD, PROVIDER, SECRET } from "./provider-schema.ts";
import { embedder, line, model, REFERENCE, SECRET_FORM, slug, tokens } from "./schema-parts.ts";

export { PROVIDER_KINDS } from "./provider-schema.ts";

const STORE_FORM = `an address of PostgreSQL without a password, as in \`postgres://strata@db.internal/strata\`, or \`${REFERENCE}\` of the environment or of \`.env\``;

function isStoreAddress(address: string): boolean {
  const parsed = URL.parse(address);
  return (
    /^postgres(?:ql)?:$/.test(parsed?.protocol ?? "") && parsed?.password === "" && !parsed.searchParams.has("password")
  );
}

/** Pieces of a request that are not layers, but have lines in the ledger. */
const RESERVED = new Set(["tools", "transcript", "message", "prefix", "summary"]);

const APPEARANCE = z.enum(["whole", "line", "absent"]);

export const LAYER = z.strictObject({
  id: slug()
    .refine((id) => !RESERVED.has(id), "another name: this one already names another piece of the request")
    .describe("The layer's name, once per agent. Not `tools`, `transcript`, `message`, `prefix` or `summary`."),
  rank: z
    .int()
    .min(0)
    .max(9_999)
    .describe(
      "Which layer wins if two disagree: the one with the lower number. Unique per agent, but live sources may share a rank.",
    ),
  text: z.string().optional().describe("The layer's text, written here. Exactly one of `text`, `file` and `source`."),
  file: z
    .string()
    .min(1)
    .optional()
    .describe("The file with the layer's text, relative to strata.yaml and inside its folder."),
  source: slug().optional(),
  timezone: z
    .string()
    .optional()
    .describe("For `source: clock`: an IANA time zone, as in `Europe/Berlin`. Default `UTC`."),
  limit: z
    .int()
    .min(1)
    .max(50)
    .optional()
    .describe(
      "For `source: recall` and `recent`: the highest number of memories, however large the `budget` is. Default 12, and 5. For `source: corrections`: the highest number of corrections. Default 3.",
    ),
  setting: slug().optional().describe("For `source: setting`: which of the agent's `settings`."),
  by: slug().optional().describe("For `source: case`: which fact of the conversation chooses one of the `texts`."),
  texts: z
    .record(slug(), z.string())
    .optional()
    .describe(
      "For `source: setting`, where the setting is a choice, and `source: case`: what the layer says for each value. For a value that is not here it says nothing.",
    ),
  after: slug()
    .optional()
    .describe(
      "The layer directly before this one, if the position should not follow from the rank. The rank still decides which layer wins.",
    ),
  scope: z
    .enum(LAYER_SCOPES)
    .optional()
    .describe(
      "Which requests share this text, so that a cache can reuse it. Default `agent` for texts. A source that is filled in each turn always has `turn`, one that stays until it is edited `agent`.",
    ),
  mutability: z
    .enum(MUTABILITIES)
    .optional()
    .describe(
      "How it may change: `immutable` not at run time, `versioned` by a recorded edit. Default `immutable` for texts. A source that is filled in each turn is always `live`, one that stays until it is edited `versioned`.",
    ),
  editors: z
    .enum(EDITORS)
    .optional()
    .describe(
      "Who may edit a `versioned` text: only `operators`, or also the `agent`, with the tool `update_prompt_layer`. Default `agent`.",
    ),
  trust: z
    .enum(TRUSTS)
    .optional()
    .describe(
      "Whose words the text is. `platform` is possible only with `scope: all`. Default `operator`; `platform` for `source: clock`; a source from `modules` states its own.",
    ),
  private: z
    .boolean()
    .optional()
    .describe(
      "Whether replies may not quote it: in a reply that repeats 16 words of an immutable text in a row, or all of a shorter one, these words are replaced with `[…]`. Set `false` for text that anybody may read, such as opening hours. Default `true`.",
    ),
  budget: tokens(1)
    .optional()
    .describe(
      "Tokens to which it is cut if not everything fits. Without a budget, a live source then gets at most a quarter of the room for live layers. Not for immutable layers, which are never cut.",
    ),
  minimum: tokens(0).default(0).describe("Tokens that are always reserved for it."),
  required: z
    .boolean()
    .optional()
    .describe(
      "Whether the turn fails if the layer fails or does not fit. Immutable layers are always required; default false for the others.",
    ),
  modes: z
    .strictObject({
      compact: APPEARANCE.default("whole").describe("How the layer appears in `mode: compact`."),
      minimal: APPEARANCE.optional().describe("How the layer appears in `mode: minimal`. Default: as in `compact`."),
    })
    .prefault({})
    .describe("How the layer appears if the prompt must be short: `whole`, as its `line`, or `absent`."),
  line: line(500).optional().describe("The one-line summary that replaces the layer if `modes` says `line`."),
  needs: z
    .array(slug())
    .max(100)
    .optional()
    .describe(
      "Tools and other layers of the agent that the text relies on: what it says that the agent can do or see is true only with them. `strata lint` reports those that the agent does not have.",
    ),
});

/** A provider's vector takes longer than looking something up here. */
export const SOURCE_WITH_EMBEDDER = 1_500;

const BUDGETS = z.strictObject({
  total: tokens(1)
    .default(DEFAULT_BUDGETS.total)
    .describe("Tokens of everything that is sent, plus the reserve for the reply."),
  reply: tokens(1).default(DEFAULT_BUDGETS.reply).describe("Tokens kept free for the reply."),
  keep: tokens(1)
    .optional()
    .describe(
      "The fewest tokens of the conversation that stay when it is cut. It is then cut as soon as that is cheaper than reading all of it from the model's cache again, and at the latest when `total` is reached. Default: 600, and it is not cut below 8,000 tokens (12,000 while it shows results of tools), nor while nearly all of it would stay in short.",
    ),
  system: tokens(1)
    .optional()
    .describe(
      "Tokens of the prompt's prefix, without tools, if not everything fits into `total`. Soft: the prefix is cut to it only as far as message, live layers and conversation need the room, and never below its immutable layers and minimums. Default: no limit.",
    ),
  history: tokens(1)
    .optional()
    .describe(
      "Tokens that the conversation claims, at most half of what may be sent: layers beyond their budgets and `system` leave this much free from the first message on, and a conversation that has no more is not cut for want of room while they can give way. Default: nothing is left free ahead; once there is no room, it claims a quarter of what may be sent.",
    ),
  message: z
    .int()
    .min(1)
    .max(1_000_000)
    .optional()
    .describe(
      `Characters of one message or other posted event; longer ones are refused. Default ${LONGEST_MESSAGE.toLocaleString("en-US")}.`,
    ),
  result: tokens(1)
    .default(DEFAULT_BUDGETS.result)
    .describe(
      "Tokens of one tool result. A longer one is cut; with `read_result` among the tools, what is not shown is kept and can be read.",
    ),
  turn: z
    .strictObject({
      modelCalls: z
        .int()
        .min(1)
        .max(1_000)
        .default(DEFAULT_BUDGETS.turn.modelCalls)
        .describe("Model calls of one turn."),
      toolCalls: z.int().min(0).max(10_000).default(DEFAULT_BUDGETS.turn.toolCalls).describe("Tool calls of one turn."),
      seconds: z
        .int()
        .min(1)
        .max(86_400)
        .default(DEFAULT_BUDGETS.turn.seconds)
        .describe("Seconds that one turn may take."),
      maxCost: z
        .number()
        .positive()
        .optional()
        .describe(
          "US dollars that one turn may cost, with what its agent asks others. A call that could cost more than is left is not made. Default: no limit.",
        ),
    })
    .prefault({})
    .describe("The limits of one turn."),
  source: z
    .int()
    .min(1)
    .max(60_000)
    .optional()
    .describe(
      `Milliseconds that a layer's source may take. Default ${DEFAULT_BUDGETS.source}; ${SOURCE_WITH_EMBEDDER} if the agent has an embedder, which recall calls.`,
    ),
  spend: z
    .strictObject({
      dollars: z.number().positive().describe("US dollars that all turns together may cost."),
      per: z.enum(SPEND_PERIODS).describe("The period: each UTC `day`, each UTC `month`, or `ever`."),
    })
    .optional()
    .describe(
      "What all turns of the agent together may cost. A call that could cost more than is left is not made, so the limit is never exceeded, by several programs together either. Default: no limit.",
    ),
});

const TOOL_NAME = z.string().regex(/^[A-Za-z0-9_-]{1,64}$/, "a tool name of 1 to 64 letters, digits, `_` and `-`");

const TOOL = z.strictObject({
  name: TOOL_NAME.describe("The tool."),
  approval: z.literal(true).optional().describe("Each call waits until a person has approved it."),
  wait: z
    .literal(true)
    .optional()
    .describe(
      "Where a call needs a person, the agent waits for the decision, too: the result is what it reads next, however long that takes. Default: it goes on without the result and is told later.",
    ),
  tainted: z
    .enum(TAINTED)
    .optional()
    .describe(
      "What happens to a call in a tainted turn, that is, one that has read what somebody outside wrote: it may `run`, `ask` a person first, or be refused (`refuse`). Default: as the tool says, otherwise `run`.",
    ),
  calls: z.int().min(1).max(10_000).optional().describe("Calls of this tool in one turn."),
  seconds: z.int().min(1).max(3_600).optional().describe("Seconds that one call may take."),
});

/** The layers, with the sentence that says which sources there are. */
export const layersOf = (layer: typeof LAYER) =>
  z
    .array(layer.meta({ oneOf: [{ required: ["text"] }, { required: ["file"] }, { required: ["source"] }] }))
    .max(100)
    .describe(
      "The pieces of the prompt. Their order in the prompt follows from scope and rank, not from the order here.",
    );

/** The keys of every agent; the keys of features are in their folders. */
export const AGENT = z.strictObject({
  description: line(500).describe("What the agent is for, in one line."),
  model: model().optional().describe("The agent's model. Default: the file's `model`."),
  embedder: embedder()
    .optional()
    .describe("The embedding model for the agent's memories. Default: the file's `embedder`."),
  recall: z
    .enum(RECALLS)
    .optional()
    .describe(
      "How memories get into the prompt. `search`: each message starts a search for what fits. `frozen`: all saved memories stand at the start of a conversation, as long as they fit the layer's `limit` and `budget`; messages are searched. `auto`: whichever of the two is cheaper by the model's prices. `tools`: only when the agent searches. `none`: never. Default `auto` if a layer has `source: recall`, otherwise `none`.",
    ),
  history: z
    .enum(HISTORIES)
    .default("transcript")
    .describe(
      "How past turns are shown. `transcript`: as a growing conversation. `log`: not at all; each turn stands alone, and a layer with `source: conversation` shows the last exchanges with its sender.",
    ),
  mode: z
    .enum([...MODES, "auto"])
    .default("full")
    .describe(
      "How much of the prompt is sent. `auto`: `full` if it fits the model's window with room for a conversation, otherwise `compact`.",
    ),
  layers: layersOf(LAYER),
  tools: z
    .array(z.union([TOOL_NAME, TOOL], "a tool's name, or a map with its `name`"))
    .max(128)
    .default([])
    .describe(
      "The tools that the agent may use: a name, or a map if the agent's use of the tool has limits of its own.",
    ),
  output: z
    .record(z.string(), z.json())
    .optional()
    .describe("A JSON Schema of an object: each reply is one JSON value that matches it. Default: replies are text."),
  budgets: BUDGETS.prefault({}).describe("Limits on size, time and cost."),
});

/** Keys for all agents together. */
export const TOP = z.strictObject({
  organization: slug().describe("The organization the agents belong to."),
  model: model()
    .optional()
    .describe(
      "The model of agents that name none. Default: the model of the first of these variables that is set: `ANTHROPIC_API_KEY` (`anthropic:claude-sonnet-5-5`), `OPENAI_API_KEY` without `OPENAI_BASE_URL` (`openai:gpt-6.2-sol`), `OPENAI_BASE_URL` (`compatible:` followed by the value of `OPENAI_MODEL`, otherwise the first model that the server lists), `OPENROUTER_API_KEY` (`openrouter:anthropic/claude-sonnet-5.5`); if none is set, `rehearsal`. A key declared under `providers` counts like its variable. Bedrock is used only if it is named.",
    ),
  embedder: embedder()
    .optional()
    .describe(
      "The embedding model of agents that name none. With it, memories are found even if they share no word with the query: an embedding model of a provider, as in `openai:text-embedding-3-small`; `rehearsal`, a stand-in without a key that compares parts of words and knows no meaning; or `none`. The texts of memories and queries are sent to that provider. Default `none`: memories are found by their words.",
    ),
  store: z
    .string()
    .refine((address) => SECRET_FORM.test(address) || isStoreAddress(address), STORE_FORM)
    .optional()
    .describe(
      `The database for everything except the files of workspaces: PostgreSQL 15 or newer, as in \`postgres://strata@db.internal/strata\`; with a password, \`${REFERENCE}\` of the environment or of \`.env\`. The variable \`STRATA_STORE\` overrides it. Default: the file \`strata.db\` in the data folder.`,
    ),
  providers: z
    .record(slug(), PROVIDER)
    .default({})
    .describe(
      "Who runs the models, by the name before the colon. No entry is needed if the usual variables are set: `ANTHROPIC_API_KEY` for `anthropic` (at `ANTHROPIC_BASE_URL`, if that is set), `OPENAI_API_KEY` for `openai`, `OPENROUTER_API_KEY` for `openrouter`; `OPENAI_BASE_URL`, with or without `OPENAI_API_KEY`, for a server under the name `compatible`; for `bedrock`, a region and `AWS_BEARER_TOKEN_BEDROCK`, or `AWS_ACCESS_KEY_ID` and `AWS_SECRET_ACCESS_KEY`, with `AWS_SESSION_TOKEN` if there is one.",
    ),
  models: z
    .record(model(), MODEL_CARD)
    .default({})
    .describe(
      "Properties of models that Strata does not know, or that differ from the built-in ones, by `provider:name`.",
    ),
  turns: z
    .strictObject({
      atOnce: z
        .int()
        .min(1)
        .max(1_000)
        .default(DEFAULT_SCHEDULING.atOnce)
        .describe(
          "How many turns run side by side in one program. The others wait in a queue in which agents take turns, and contacts of one agent.",
        ),
      waiting: z
        .int()
        .min(1)
        .max(100_000)
        .default(DEFAULT_SCHEDULING.waiting)
        .describe(
          "How many turns may wait. Beyond that, whoever has more than an equal share of them gets `queue_full` (503), with the time after which to come again.",
        ),
      chains: z
        .enum(["depth", "breadth"])
        .default(DEFAULT_SCHEDULING.chains)
        .describe(
          "Which of a contact's turns go first where agents ask each other: `depth` ends a chain that has begun before the next begins; `breadth` takes them as they come.",
        ),
    })
    .prefault({})
    .describe("How the turns of one program share its time."),
  modules: z
    .array(z.string().min(1))
    .max(100)
    .default([])
    .describe("TypeScript or JavaScript files with tools and sources of your own, relative to strata.yaml."),
  secrets: z
    .record(z.string().regex(/^[A-Za-z][A-Za-z0-9_-]{0,63}$/, "a name of letters, digits, `_` and `-`"), SECRET)
    .default({})
    .describe(
      `What modules may read with \`secret(name)\`: \`${REFERENCE}\` of the environment or of \`.env\`. The values never appear in a prompt, log or record.`,
    ),
});

/** strata.yaml, read and with its plain defaults filled in. The keys of features are read by the features' own declarations. */
export type Config = z.output<typeof TOP> & { readonly agents: Record<string, AgentConfig> };
export type AgentConfig = z.output<typeof AGENT>;
export type LayerConfig = AgentConfig["layers"][number];
