import { z } from "zod";
import {
  DEFAULT_BUDGETS,
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

/** Pieces of a request that are no layers: the ledger names them like layers. */
const RESERVED = new Set(["tools", "transcript", "message", "prefix", "summary"]);

const APPEARANCE = z.enum(["whole", "line", "absent"]);

export const LAYER = z.strictObject({
  id: slug()
    .refine((id) => !RESERVED.has(id), "another name: this one stands for another piece of the request")
    .describe("The layer's name, once per agent. Not `tools`, `transcript`, `message`, `prefix` or `summary`."),
  rank: z
    .int()
    .min(0)
    .max(9_999)
    .describe(
      "Who wins where two layers disagree: the lower number. Once per agent, but for sources of one turn, which may share one.",
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
      "For `source: recall` and `recent`: memories at most, however much room its `budget` has. Default 12, and 5.",
    ),
  after: slug()
    .optional()
    .describe(
      "The layer right behind which it stands, where that is not what its rank says. Who wins still follows from the rank.",
    ),
  scope: z
    .enum(LAYER_SCOPES)
    .optional()
    .describe(
      "Who shares these bytes. Default `agent` for texts; a source that is filled anew is always `turn`, one that stands until it is edited `agent`.",
    ),
  mutability: z
    .enum(MUTABILITIES)
    .optional()
    .describe(
      "Who may change it: `immutable` nobody at run time, `versioned` a recorded edit. Default `immutable` for texts; a source that is filled anew is always `live`, one that stands until it is edited `versioned`.",
    ),
  editors: z
    .enum(EDITORS)
    .optional()
    .describe(
      "Who may edit a `versioned` text: `operators` alone, or the `agent` as well, with the tool `update_prompt_layer`. Default `agent`.",
    ),
  trust: z
    .enum(TRUSTS)
    .optional()
    .describe(
      "Who speaks. `platform` goes with `scope: all` and with nothing else. Default `operator`; `platform` for `source: clock`; a source out of `modules` says it itself.",
    ),
  private: z
    .boolean()
    .optional()
    .describe(
      "Whether its words are kept from replies: one that repeats 16 words of an immutable text in a row, or all of a shorter one, goes out with `[…]` in their place. `false` for what may be said to anybody, such as opening hours. Default `true`.",
    ),
  budget: tokens(1)
    .optional()
    .describe(
      "Tokens it is cut to when not everything fits. Without one, a live source then gets a quarter of the room for live layers at most. Not for immutable layers: they are never cut.",
    ),
  minimum: tokens(0).default(0).describe("Tokens that stay reserved for it whatever happens."),
  required: z
    .boolean()
    .optional()
    .describe(
      "Whether the turn stops when the layer fails or does not fit. Immutable layers always are; default false for the others.",
    ),
  modes: z
    .strictObject({
      compact: APPEARANCE.default("whole").describe("How the layer appears in `mode: compact`."),
      minimal: APPEARANCE.default("whole").describe("How the layer appears in `mode: minimal`."),
    })
    .prefault({})
    .describe("How the layer appears where the prompt must be short: `whole`, as its `line`, or `absent`."),
  line: line(500).optional().describe("The one line that stands for the layer where `modes` says `line`."),
});

/** A provider's vector takes longer than looking something up here. */
export const SOURCE_WITH_EMBEDDER = 1_500;

const BUDGETS = z.strictObject({
  total: tokens(1).default(DEFAULT_BUDGETS.total).describe("Tokens of everything sent and the reserve for the reply."),
  reply: tokens(1).default(DEFAULT_BUDGETS.reply).describe("Tokens kept free for the reply."),
  keep: tokens(1)
    .optional()
    .describe(
      "Tokens of the conversation that stay at least when it is cut. It is then cut as soon as that is cheaper than to go on reading all of it from the model's cache, and at the latest when `total` is reached. Default: it is cut only then, and a sixth to a half of the room stays.",
    ),
  message: z
    .int()
    .min(1)
    .max(1_000_000)
    .optional()
    .describe(
      `Characters of one message, or of what else is posted; a longer one is refused. Default ${LONGEST_MESSAGE.toLocaleString("en-US")}.`,
    ),
  result: tokens(1).default(DEFAULT_BUDGETS.result).describe("Tokens of one tool result; what is longer is cut once."),
  turn: z
    .strictObject({
      rounds: z.int().min(1).max(1_000).default(DEFAULT_BUDGETS.turn.rounds).describe("Model calls of one turn."),
      calls: z.int().min(0).max(10_000).default(DEFAULT_BUDGETS.turn.calls).describe("Tool calls of one turn."),
      seconds: z.int().min(1).max(86_400).default(DEFAULT_BUDGETS.turn.seconds).describe("Seconds one turn may take."),
      dollars: z.number().positive().optional().describe("US dollars one turn may cost. Default: no limit."),
    })
    .prefault({})
    .describe("How far one turn may go."),
  source: z
    .int()
    .min(1)
    .max(60_000)
    .optional()
    .describe(
      `Milliseconds a layer's source may take. Default ${DEFAULT_BUDGETS.source}; ${SOURCE_WITH_EMBEDDER} where the agent has an embedder, which is asked on the way.`,
    ),
  spend: z
    .strictObject({
      dollars: z.number().positive().describe("US dollars they may cost together."),
      per: z.enum(SPEND_PERIODS).describe("In each UTC `day`, in each UTC `month`, or `ever`."),
    })
    .optional()
    .describe(
      "What all turns of the agent together may cost. Past it no model is called until the next period. A request that broke off costs nothing here, for no provider tells what it bills for it; and each program may pass the limit by one request. Default: no limit.",
    ),
});

const TOOL_NAME = z.string().regex(/^[A-Za-z0-9_-]{1,64}$/, "a tool name of 1 to 64 letters, digits, `_` and `-`");

const TOOL = z.strictObject({
  name: TOOL_NAME.describe("The tool."),
  approval: z.literal(true).optional().describe("Each call waits until a person has approved it."),
  tainted: z
    .enum(TAINTED)
    .optional()
    .describe(
      "What becomes of a call in a turn that has read what somebody outside wrote: it may `run`, `ask` a person first, or be refused (`refuse`). Default: what the tool says, else `run`.",
    ),
  calls: z.int().min(1).max(10_000).optional().describe("Calls of this tool in one turn."),
  seconds: z.int().min(1).max(3_600).optional().describe("Seconds one call may take."),
});

/** The layers, with the sentence that says which sources there are. */
export const layersOf = (layer: typeof LAYER) =>
  z
    .array(layer.meta({ oneOf: [{ required: ["text"] }, { required: ["file"] }, { required: ["source"] }] }))
    .min(1)
    .max(100)
    .describe("What the agent is told. Prompt order follows from scope and rank, not from the order here.");

/** What strata.yaml says of every agent; the keys of features stand in their folders. */
export const AGENT = z.strictObject({
  description: line(500).describe("What the agent is for, in one line."),
  model: model().optional().describe("The agent's model. Default: the file's `model`."),
  embedder: embedder().optional().describe("What makes the agent's vectors. Default: the file's `embedder`."),
  recall: z
    .enum(RECALLS)
    .optional()
    .describe(
      "How memories come in: `search` looks for what fits on each message; `frozen` sets all that was saved at the start of a conversation, while the layer's `limit` and `budget` hold it, and looks for the rest; `auto` does whichever costs less by the model's prices; `tools` only when the agent searches; `none`. Default `auto` where a layer has `source: recall`, else `none`.",
    ),
  history: z
    .enum(HISTORIES)
    .default("transcript")
    .describe(
      "How past turns are shown: `transcript` as a conversation that grows; `log` not at all, each turn stands alone, and a layer with `source: conversation` shows the last exchanges with its sender.",
    ),
  mode: z
    .enum([...MODES, "auto"])
    .default("full")
    .describe(
      "How much of the prompt is sent. `auto`: `full` where the model's window holds it with room for a conversation, else `compact`.",
    ),
  layers: layersOf(LAYER),
  tools: z
    .array(z.union([TOOL_NAME, TOOL], "a tool's name, or a map with its `name`"))
    .max(128)
    .default([])
    .describe("The tools the agent may use: a name, or a map where the agent's use of the tool has limits of its own."),
  output: z
    .record(z.string(), z.json())
    .optional()
    .describe("A JSON Schema of an object: each reply is one JSON value that fits it. Default: replies are text."),
  budgets: BUDGETS.prefault({}).describe("How much room and how far."),
});

/** What concerns all agents. */
export const TOP = z.strictObject({
  organization: slug().describe("The organization the agents belong to."),
  model: model()
    .optional()
    .describe(
      "The model of agents that name none. Default: that of the first of these variables that is set: `ANTHROPIC_API_KEY` (`anthropic:claude-sonnet-4-5`), `OPENAI_API_KEY` without `OPENAI_BASE_URL` (`openai:gpt-5-mini`), `OPENAI_BASE_URL` (`compatible:` and what `OPENAI_MODEL` says, else `compatible:default`), `OPENROUTER_API_KEY` (`openrouter:anthropic/claude-sonnet-4.5`); where none is, `rehearsal`. A key declared under `providers` counts like its variable. Bedrock answers only where it is named.",
    ),
  embedder: embedder()
    .optional()
    .describe(
      "What makes the vectors by which memories are found also where no word is the same, for agents that name none: an embedding model of a provider, as in `openai:text-embedding-3-small`; `rehearsal`, a stand-in without a key that compares pieces of words and knows no meaning; or `none`. Texts of memories and searches are sent to that provider. Default `none`: memories are found by their words.",
    ),
  store: z
    .string()
    .refine((address) => SECRET_FORM.test(address) || isStoreAddress(address), STORE_FORM)
    .optional()
    .describe(
      `Where all is kept but the files of workspaces: a database of PostgreSQL 15 or newer, as in \`postgres://strata@db.internal/strata\`; with a password, \`${REFERENCE}\` of the environment or of \`.env\`. The variable \`STRATA_STORE\` goes before it. Default: the file \`strata.db\` in the data folder.`,
    ),
  providers: z
    .record(slug(), PROVIDER)
    .default({})
    .describe(
      "Who runs the models, by the name before the colon. No entry is needed where the usual variables are set: `ANTHROPIC_API_KEY` for `anthropic` (at `ANTHROPIC_BASE_URL`, where that is set), `OPENAI_API_KEY` for `openai`, `OPENROUTER_API_KEY` for `openrouter`; `OPENAI_BASE_URL`, with or without `OPENAI_API_KEY`, for a server under the name `compatible`; for `bedrock`, a region and `AWS_BEARER_TOKEN_BEDROCK`, or `AWS_ACCESS_KEY_ID` and `AWS_SECRET_ACCESS_KEY`, with `AWS_SESSION_TOKEN` where there is one.",
    ),
  models: z
    .record(model(), MODEL_CARD)
    .default({})
    .describe("What Strata must know of a model and does not, or knows otherwise, by `provider:name`."),
  modules: z
    .array(z.string().min(1))
    .max(100)
    .default([])
    .describe("TypeScript or JavaScript files with tools and sources of your own, relative to strata.yaml."),
  secrets: z
    .record(z.string().regex(/^[A-Za-z][A-Za-z0-9_-]{0,63}$/, "a name of letters, digits, `_` and `-`"), SECRET)
    .default({})
    .describe(
      `What modules may ask for with \`secret(name)\`: \`${REFERENCE}\` of the environment or of \`.env\`. The values reach no prompt, log or record.`,
    ),
});

/** strata.yaml, read and with its plain defaults filled in. The keys of features are read by the features' own declarations. */
export type Config = z.output<typeof TOP> & { readonly agents: Record<string, AgentConfig> };
export type AgentConfig = z.output<typeof AGENT>;
export type LayerConfig = AgentConfig["layers"][number];
