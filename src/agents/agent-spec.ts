import { z } from "zod";
import {
  type Agent,
  agentName,
  canonicalJson,
  type Digest,
  digestOf,
  LAYER_SCOPES,
  type Layer,
  layerId,
  MODES,
  MUTABILITIES,
  orgId,
  StrataError,
  type ToolName,
  TRUSTS,
  toolName,
  trusted,
} from "../protocol/index.ts";
import { deepFreeze } from "./freeze.ts";

/** The agent with its version: the digest of its spec. Frozen. */
export function sealAgent(agent: Omit<Agent, "version">): Agent {
  return deepFreeze({ ...agent, version: digestOf(canonicalJson(agent)) });
}

/** The agent with more tools: another version, unless it had them all. */
export function withTools(agent: Agent, names: readonly ToolName[]): Agent {
  const tools = [...new Set([...agent.tools, ...names])].sort();
  const { version: _, ...rest } = agent;
  return tools.length === agent.tools.length ? agent : sealAgent({ ...rest, tools });
}

/** Everything of an agent but its version, as canonical JSON: what a store keeps. Its digest is the version. */
export function agentSpec(agent: Agent): string {
  const { version: _, ...rest } = agent;
  return canonicalJson(rest);
}

/**
 * The agent of a stored spec, for threads that are pinned to it. `version` is what the record says it is.
 * @throws StrataError `record_broken` when the spec is not of that version or not a spec
 */
export function reviveAgent(spec: string, version: Digest = digestOf(spec)): Agent {
  const found = digestOf(spec);
  if (found !== version) throw broken(`its digest is ${found}, the record says ${version}`, { found, version });
  const agent = parseSpec(spec);
  if (agentSpec(agent) !== spec) throw broken("it is not canonical JSON", { version });
  return agent;
}

function broken(why: string, details: Readonly<Record<string, unknown>>, cause?: unknown): StrataError {
  const next = "run `strata verify` to see what else is damaged, and restore the data from a backup";
  return new StrataError("record_broken", `a stored agent version cannot be read: ${why}; ${next}`, details, cause);
}

function parseSpec(spec: string): Agent {
  try {
    const { layers, model, ...rest } = SPEC.parse(JSON.parse(spec));
    const agent = { ...rest, ...(model === undefined ? {} : { model }), layers: layers.map(withoutGaps) };
    return sealAgent({ ...agent, budgets: { ...agent.budgets, turn: turnOf(agent.budgets.turn) } });
  } catch (error) {
    throw broken(error instanceof z.ZodError ? z.prettifyError(error) : String(error), {}, error);
  }
}

type SpecLayer = z.output<typeof LAYER>;
type SpecTurn = z.output<typeof TURN>;

function withoutGaps({ budget, line, source, ...rest }: SpecLayer): Layer {
  return {
    ...rest,
    source:
      source.kind === "text"
        ? { kind: "text", text: source.text, ...(source.file === undefined ? {} : { file: source.file }) }
        : source,
    ...(budget === undefined ? {} : { budget }),
    ...(line === undefined ? {} : { line }),
  };
}

const turnOf = ({ dollars, ...rest }: SpecTurn): Agent["budgets"]["turn"] => ({
  ...rest,
  ...(dollars === undefined ? {} : { dollars }),
});

// The digest was checked: these are the bytes that were loaded from strata.yaml, so their texts are the operator's.
const TEXT = z.string().transform(trusted);
const APPEARANCE = z.enum(["whole", "line", "absent"]);

const LAYER = z.strictObject({
  id: z.string().transform(layerId),
  rank: z.int(),
  mutability: z.enum(MUTABILITIES),
  scope: z.enum(LAYER_SCOPES),
  trust: z.enum(TRUSTS),
  source: z.discriminatedUnion("kind", [
    z.strictObject({ kind: z.literal("text"), text: TEXT, file: z.string().optional() }),
    z.strictObject({ kind: z.literal("clock"), timezone: z.string() }),
    z.strictObject({ kind: z.literal("recall"), limit: z.int() }),
  ]),
  budget: z.int().optional(),
  minimum: z.int(),
  required: z.boolean(),
  modes: z.strictObject({ full: APPEARANCE, compact: APPEARANCE, minimal: APPEARANCE }),
  line: TEXT.optional(),
});

const TURN = z.strictObject({ rounds: z.int(), calls: z.int(), seconds: z.int(), dollars: z.number().optional() });

const SPEC = z.strictObject({
  org: z.string().transform(orgId),
  name: z.string().transform(agentName),
  description: z.string(),
  model: z.string().optional(),
  layers: z.array(LAYER),
  tools: z.array(z.string().transform(toolName)),
  recall: z.enum(["auto", "tools", "none"]),
  history: z.literal("transcript"),
  mode: z.enum(MODES),
  budgets: z.strictObject({ total: z.int(), reply: z.int(), result: z.int(), turn: TURN, source: z.int() }),
});
