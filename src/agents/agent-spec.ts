import { z } from "zod";
import {
  type Agent,
  type AgentName,
  agentName,
  type CoreAgent,
  canonicalJson,
  type Digest,
  digestOf,
  HISTORIES,
  LAYER_SCOPES,
  layerId,
  MODES,
  MUTABILITIES,
  orgId,
  RECALLS,
  type Source,
  SPEND_PERIODS,
  StrataError,
  TAINTED,
  type ToolName,
  TRUSTS,
  toolName,
  trusted,
} from "../protocol/index.ts";
import { membersOf, type Schema } from "./agent-key.ts";
import { deepFreeze } from "./freeze.ts";
import { withFirstNames, withNamesOfToday } from "./renamed.ts";

/** The agent with its version: the digest of its spec. Frozen. */
export function sealAgent(agent: Omit<Agent, "version">): Agent {
  return deepFreeze({ ...agent, version: digestOf(canonicalJson(withFirstNames(agent))) });
}

/** The agent with additional tools: another version, unless it had them already. */
export function withTools(agent: Agent, names: readonly ToolName[]): Agent {
  const tools = [...new Set([...agent.tools, ...names])].sort();
  const { version: _, ...rest } = agent;
  return tools.length === agent.tools.length ? agent : sealAgent({ ...rest, tools });
}

/** Everything of an agent except its version, as canonical JSON for the store. Its digest is the version. */
export function agentSpec(agent: Agent): string {
  const { version: _, ...rest } = agent;
  return canonicalJson(withFirstNames(rest));
}

/**
 * The agent of a stored spec, for threads that are pinned to it. `version` is the recorded one, and `name` the present one: a renamed agent
 * keeps the version that it had under its first name.
 * @throws StrataError `record_broken` when the spec is not of that version or not a spec
 */
export type Revive = (spec: string, version?: Digest, name?: AgentName) => Agent;

/** The same with the keys of all features. */
export function reviving({ keys, sources }: Pick<Schema, "keys" | "sources">): Revive {
  const layers = z.array(LAYER.extend({ source: sources.stored }));
  const form = SPEC.extend({ layers, ...membersOf(keys, (key) => maybe(key.stored)) });
  return (spec, version = digestOf(spec), name) => {
    const agent = reviveAgent(form, spec, version);
    return name === undefined || name === agent.name ? agent : deepFreeze({ ...agent, name });
  };
}

function reviveAgent(form: typeof SPEC, spec: string, version: Digest): Agent {
  const found = digestOf(spec);
  if (found !== version) throw brokenVersion(`its digest is ${found}, the record says ${version}`, { found, version });
  const agent = parseSpec(form, spec);
  if (agentSpec(agent) !== spec) throw brokenVersion("it is not canonical JSON", { version });
  return agent;
}

function brokenVersion(why: string, details: Readonly<Record<string, unknown>>, cause?: unknown): StrataError {
  const next = "run `strata verify` where the data is, to see what else is damaged, and restore the data from a backup";
  return new StrataError("record_broken", `a stored agent version cannot be read: ${why}; ${next}`, details, cause);
}

/** The digest is already checked, so an unreadable spec was written this way. */
function parseSpec(form: typeof SPEC, spec: string): Agent {
  try {
    const parsed: Whole<z.output<typeof SPEC>> = form.parse(withNamesOfToday(JSON.parse(spec)));
    return sealAgent(parsed);
  } catch (error) {
    if (error instanceof z.ZodError && error.issues.every(({ code }) => NEWS.includes(code))) throw newer(error);
    throw brokenVersion(error instanceof z.ZodError ? z.prettifyError(error) : String(error), {}, error);
  }
}

/** What only a newer Strata writes: another key, or another word where this one knows some. */
const NEWS: readonly z.core.$ZodIssue["code"][] = ["unrecognized_keys", "invalid_value", "invalid_union"];

function newer(error: z.ZodError): StrataError {
  const message = `a stored agent version was written by a newer Strata: ${z.prettifyError(error)}`;
  const next = "update Strata, or begin a new conversation, which takes the agent as it is declared here";
  return new StrataError("store_newer", `${message}; ${next}`, { issues: error.issues.length }, error);
}

/**
 * The parsed agent, if the form below has every key; otherwise the paths of the missing ones, and the line above does not compile: a
 * version written today would be unreadable tomorrow.
 */
type Whole<Read> = [Lacking<Read>] extends [never] ? CoreAgent : Lacking<Read>;
type Lacking<Read> = Exclude<Paths<Omit<CoreAgent, "output">>, Paths<Omit<Read, "output">>>;

/** The keys of a value and of all in it: `layers.source.kind`. */
type Paths<T> = T extends string | number | boolean | null | undefined
  ? never
  : T extends readonly (infer Item)[]
    ? Paths<Item>
    : T extends object
      ? { [Key in keyof T & string]-?: Key | `${Key}.${Paths<T[Key]>}` }[keyof T & string]
      : never;

// The digest was checked: these are the bytes that were loaded from strata.yaml, so their texts are the operator's.
const TEXT = z.string().transform(trusted);
const APPEARANCE = z.enum(["whole", "line", "absent"]);

/** A member that may be missing and is never `undefined`: written unchanged from what was read. */
const maybe = <T extends z.ZodType>(type: T): z.ZodExactOptional<T> => z.exactOptional(type);

/** Any source: each feature declares what is kept of its own. */
const SOURCE: z.ZodType<Source> = z.custom<Source>();

const LAYER = z.strictObject({
  id: z.string().transform(layerId),
  rank: z.int(),
  mutability: z.enum(MUTABILITIES),
  editors: maybe(z.literal("operators")),
  scope: z.enum(LAYER_SCOPES),
  trust: z.enum(TRUSTS),
  source: SOURCE,
  after: maybe(z.string().transform(layerId)),
  budget: maybe(z.int()),
  minimum: z.int(),
  required: z.boolean(),
  modes: z.strictObject({ full: APPEARANCE, compact: APPEARANCE, minimal: APPEARANCE }),
  private: maybe(z.literal(false)),
  apart: maybe(z.literal(true)),
  line: maybe(TEXT),
  needs: maybe(z.array(z.string())),
});

const BUDGETS = z.strictObject({
  total: z.int(),
  reply: z.int(),
  keep: maybe(z.int()),
  message: maybe(z.int()),
  system: maybe(z.int()),
  history: maybe(z.int()),
  result: z.int(),
  turn: z.strictObject({ modelCalls: z.int(), toolCalls: z.int(), seconds: z.number(), maxCost: maybe(z.number()) }),
  source: z.int(),
  spend: maybe(z.strictObject({ dollars: z.number(), per: z.enum(SPEND_PERIODS) })),
});

const RULE = z.strictObject({
  tool: z.string().transform(toolName),
  approval: maybe(z.literal(true)),
  wait: maybe(z.literal(true)),
  tainted: maybe(z.enum(TAINTED)),
  calls: maybe(z.int()),
  seconds: maybe(z.int()),
});

const SPEC = z.strictObject({
  org: z.string().transform(orgId),
  name: z.string().transform(agentName),
  description: z.string(),
  model: maybe(z.string()),
  embedder: maybe(z.string()),
  layers: z.array(LAYER),
  tools: z.array(z.string().transform(toolName)),
  rules: maybe(z.array(RULE)),
  output: maybe(z.record(z.string(), z.json())),
  recall: z.enum(RECALLS),
  history: z.enum(HISTORIES),
  mode: z.enum([...MODES, "auto"]),
  budgets: BUDGETS,
});
