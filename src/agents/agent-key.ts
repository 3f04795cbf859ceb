import { z } from "zod";
import { canonicalJson, type JsonObject, type Layer, type Trusted } from "../protocol/index.ts";
import { AGENT, type AgentConfig, type Config, LAYER, layersOf, TOP } from "./config-schema.ts";
import { type SourceForms, type Sources, sourcesOf } from "./layer-source.ts";
import type { Path } from "./path.ts";
import { slug } from "./schema-parts.ts";

/**
 * The declaration of a key of an agent: its form in strata.yaml, in the frozen agent and in the record, and its checks.
 * The configuration page and the schema for editors are generated from it, too.
 */
export interface AgentKey<Written extends z.ZodType = z.ZodType, Kept = unknown> {
  /** With limits, default and the sentence of the page. It must accept `undefined`, because older agents lack the key. */
  readonly written: Written;
  /** The stored form. It has no limits, because everything that an earlier Strata accepted must stay readable. */
  readonly stored: z.ZodType<Kept>;
  /**
   * It may also be at the top of the file, and has no default then. `whole`: agents without it take it from there. `members`: an agent that
   * has it takes the members it does not set from there.
   */
  readonly shared?: "whole" | "members";
  /** Paths below the key, as `account.rpc`, that hold a server's address or the variable with one. */
  readonly servers?: readonly string[];
  /** Undefined: the agent is the same as without the key, with the same version. */
  freeze(value: z.output<Written>, around: KeyPlace): Kept | undefined;
  /** Checks the value against the rest of the file. Also called for agents without the key. */
  check?(value: z.output<Written>, around: KeyPlace): void;
  /** Tools that come with it. */
  tools?(value: z.output<Written>): readonly string[];
  /** Where, below the key, the value names one of these tools. Default: at the key itself. */
  toolAt?(value: z.output<Written>, tool: string): Path;
  /** Texts that the lock holds beside the layers, by name: as with an immutable layer, nothing of them changes without a new lock. */
  locks?(kept: Kept): Readonly<Record<string, string>>;
  /** Layers that come with the kept value. If the agent has no layers of its own, no model reads them, so they are omitted. */
  layers?(kept: Kept): readonly KeyLayer[];
}

/** A layer of a key. It ranks below all locked layers, and above all others. */
export type KeyLayer = Omit<Layer, "rank">;

/** Keys of agents, by name: those of one feature, or all. */
export type AgentKeys = Readonly<Record<string, AgentKey>>;

/** The members of `Agent` that these keys make. A feature adds them where it declares its keys: `interface Agent extends Kept<typeof KEYS> {}`. */
export type StoredKeys<Keys extends AgentKeys> = {
  readonly [Name in keyof Keys]?: Keys[Name] extends AgentKey<z.ZodType, infer Value> ? Value : never;
};

/** The members of an agent as a program writes them. */
export type WrittenKeys<Keys extends AgentKeys> = {
  readonly [Name in keyof Keys]?: z.input<Keys[Name]["written"]>;
};

/** Keys that may also be at the top. */
type SharedKeys<Keys extends AgentKeys> = {
  readonly [Name in keyof Keys as Keys[Name] extends { readonly shared: string } ? Name : never]: Keys[Name];
};

/** A schema for each key. Its type names none of them: the core knows no feature's key. */
export const membersOf = (keys: AgentKeys, of: (key: AgentKey) => z.ZodType): Readonly<Record<never, never>> =>
  Object.fromEntries(Object.entries(keys).map(([name, key]) => [name, of(key)]));

/** The tools that come with an agent's keys. They do not stand under `tools`. */
export const toolsOfKeys = (keys: AgentKeys, agent: object): readonly string[] =>
  Object.entries(keys).flatMap(([name, key]) => key.tools?.(Reflect.get(agent, name)) ?? []);

/** The place of a key's value. */
export interface KeyPlace {
  /** The agent's name. */
  readonly name: string;
  /** All agents of the file, by name, each as read with its features' keys: a feature reads its own by `Reflect.get`. */
  readonly agents: Readonly<Record<string, AgentConfig>>;
  /** Everything in strata.yaml about the agent, except keys of features. */
  readonly agent: AgentConfig;
  /** The names under `secrets`. */
  readonly secrets: readonly string[];
  /** Reports a problem below the key, or at another place of the agent. */
  readonly refuse: (path: Path, expected: string, from?: "agent") => void;
  /** A text, inline or from a file, as for layers: normalised and checked. */
  readonly textOf: (given: GivenText, path: Path) => Trusted;
  /** A file of the project's folder, as an absolute path; undefined if it is missing, which is reported. */
  readonly fileOf: (file: string, path: Path) => { readonly file: string; readonly folder: string } | undefined;
  /** Reports why a JSON Schema cannot be checked, as for `output`. */
  readonly checkSchema: (schema: JsonObject, path: Path) => void;
}

/** Exactly one of the two. */
export interface GivenText {
  readonly text?: string | undefined;
  readonly file?: string | undefined;
}

type Rules<Written extends z.ZodType> = Pick<AgentKey<Written>, "servers" | "check" | "tools" | "toolAt">;

/** The same key for all agents, which may also be at the top of the file. */
export function sharedKey<Key extends AgentKey>(
  key: Key,
  shared: NonNullable<AgentKey["shared"]> = "whole",
): Key & { readonly shared: string } {
  if (key.written.safeParse(undefined).data !== undefined)
    throw new TypeError("a shared key has no default of its own");
  return { ...key, shared };
}

/** A key that is kept as written. An absent value, or one that equals its default, is omitted from the agent. */
export function agentKey<Written extends z.ZodType>(
  written: Written,
  rules: Rules<Written> = {},
): AgentKey<Written, Lasting<NonNullable<z.output<Written>>>> {
  // Made from the very schema whose type this is.
  const stored = lasting(written) as z.ZodType<Lasting<NonNullable<z.output<Written>>>>;
  const usual = written.safeParse(undefined);
  if (!usual.success) throw new TypeError("a key of an agent must accept that it is missing");
  const same = usual.data === undefined ? undefined : canonicalJson(usual.data);
  const freeze = (value: z.output<Written>) => {
    const given = withoutMissing(value);
    return given === undefined || canonicalJson(given) === same ? undefined : stored.parse(given);
  };
  return { written, stored, ...rules, freeze };
}

/** A key whose kept value differs from the written one, such as the text of a file. */
export const frozenKey = <Written extends z.ZodType, Kept>(key: AgentKey<Written, Kept>): AgentKey<Written, Kept> =>
  key;

/** A value as it is stored: optional fields are missing and never `undefined`. */
type Lasting<T> = T extends string | number | boolean | null
  ? T
  : T extends readonly (infer Item)[]
    ? readonly Lasting<Item>[]
    : { readonly [Key in keyof T]: Lasting<Exclude<T[Key], undefined>> };

function withoutMissing(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(withoutMissing);
  if (value === null || typeof value !== "object") return value;
  const members = Object.entries(value).filter(([, member]) => member !== undefined);
  return Object.fromEntries(members.map(([name, member]) => [name, withoutMissing(member)]));
}

/** The same shape without limits and defaults, which may change later, while today's values must stay readable. */
function lasting(schema: z.core.$ZodType): z.ZodType {
  if (schema instanceof z.ZodOptional) return z.exactOptional(lasting(schema.unwrap()));
  if (schema instanceof z.ZodDefault || schema instanceof z.ZodPrefault) return lasting(schema.unwrap());
  if (schema instanceof z.ZodArray) return z.array(lasting(schema.element));
  if (schema instanceof z.ZodUnion) return z.union(schema.options.map(lasting));
  if (schema instanceof z.ZodRecord) return z.record(z.string(), lasting(schema.valueType));
  if (schema instanceof z.ZodObject) {
    const members = Object.entries<z.core.$ZodType>(schema.shape);
    return z.strictObject(Object.fromEntries(members.map(([name, member]) => [name, lasting(member)])));
  }
  if (schema instanceof z.ZodPipe)
    return schema.out instanceof z.ZodTransform ? lasting(schema.in).pipe(schema.out) : lasting(schema.out);
  if (schema._zod.def.type === "string") return z.string();
  if (schema._zod.def.type === "number") return z.number();
  if (schema instanceof z.ZodEnum || schema instanceof z.ZodLiteral || schema instanceof z.ZodBoolean) return schema;
  throw new TypeError(`nothing says how a ${schema._zod.def.type} is kept; declare the key with frozenKey`);
}

/** The form of strata.yaml, with the keys of all features. */
export interface Schema {
  readonly config: z.ZodType<Config>;
  readonly keys: AgentKeys;
  readonly sources: Sources;
  /** As a JSON Schema, for editors. It is made when it is first asked for: most starts never need it. */
  readonly json: () => Readonly<Record<string, unknown>>;
}

export function schemaOf(keys: AgentKeys, forms: SourceForms): Schema {
  const sources = sourcesOf(forms);
  const written = membersOf(keys, (key) => key.written);
  const layers = layersOf(LAYER.extend({ source: slug().optional().describe(sources.message) }));
  const agents = z
    .record(slug(), AGENT.extend({ layers, ...written }))
    .refine((all) => Object.keys(all).length > 0, "at least one agent")
    .describe("The agents, by name.");
  const atTop = Object.fromEntries(Object.entries(keys).filter(([, key]) => key.shared));
  const config = TOP.extend({
    ...membersOf(atTop, ({ written: form, shared = "whole" }) => form.describe(`${form.description} ${HOLDS[shared]}`)),
    agents,
  });
  let json: Readonly<Record<string, unknown>> | undefined;
  return {
    config,
    keys,
    sources,
    json: () => {
      json ??= jsonSchema(config);
      return json;
    },
  };
}

/** To which agents a value at the top applies. */
const HOLDS = {
  whole: "It holds for each agent that has none of its own.",
  members: "What it says holds for each agent that does not say that itself.",
} as const;

function jsonSchema(config: z.ZodType): Readonly<Record<string, unknown>> {
  const { $schema, ...schema } = z.toJSONSchema(config, { io: "input" });
  return { $schema, title: "strata.yaml", description: "The agents of one Strata project.", ...schema };
}

/** The same as a program writes it: defaults may be omitted. */
export type WrittenConfig<Keys extends AgentKeys> = z.input<typeof TOP> &
  WrittenKeys<SharedKeys<Keys>> & {
    readonly agents: Readonly<Record<string, z.input<typeof AGENT> & WrittenKeys<Keys>>>;
  };
