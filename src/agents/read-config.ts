import type { z } from "zod";
import { didYouMean, suggestion } from "../protocol/index.ts";
import type { Schema } from "./agent-key.ts";
import type { Config } from "./config-schema.ts";
import { type Path, show, valueAt, visible, writePath } from "./path.ts";
import { nameOfToday } from "./renamed.ts";
import { MOST_PROBLEMS, type Report } from "./report.ts";

/**
 * The file's value as a configuration.
 * @throws StrataError `config_invalid` with all that does not fit the schema
 */
export function readConfig(report: Report, schema: Schema): Config {
  refuseReferences(report, serversIn(schema));
  const result = schema.config.safeParse(report.source.value);
  if (result.success) return result.data;
  for (const issue of result.error.issues.slice(0, MOST_PROBLEMS)) explain(issue, { report, schema });
  throw report.error();
}

/** Where features' keys may name a variable: `life.account.rpc`. */
const serversIn = ({ keys }: Schema): readonly string[] =>
  Object.entries(keys).flatMap(([name, { servers = [] }]) => servers.map((below) => `${name}.${below}`));

/** `${` promises that something is put in. Outside the secret places nothing is, so it may not look as if. */
function refuseReferences(report: Report, servers: readonly string[]): void {
  const places = ["`store`", "`providers.*.key`", ...servers.map((place) => `\`agents.*.${place}\``)].join(", ");
  const look = (value: unknown, path: Path): void => {
    if (typeof value === "string" && value.includes(OPENING) && !isSecretPlace(path, servers))
      report.add(
        path,
        `\`${OPENING}…}\` is allowed only in ${places} and under \`secrets\`; write the value out, or move a text that needs it into a file`,
      );
    if (value === null || typeof value !== "object") return;
    for (const [name, member] of Object.entries(value))
      look(member, [...path, Array.isArray(value) ? Number(name) : name]);
  };
  look(report.source.value, []);
}

const OPENING = "$" + "{";

function isSecretPlace([top, ...path]: Path, servers: readonly string[]): boolean {
  if (top === "providers") return path.length === 2 && path[1] === "key";
  if (top === "agents") return servers.includes(path.slice(1).join("."));
  return top === "store" ? path.length === 0 : top === "secrets" && path.length === 1;
}

interface About {
  readonly report: Report;
  readonly schema: Schema;
}

/** Unknown keys of one place that are looked up. */
const MOST_KEYS = 20;

function explain(issue: z.core.$ZodIssue, about: About): void {
  const { report, schema } = about;
  const path = issue.path.map((step) => (typeof step === "number" ? step : String(step)));
  const value = valueAt(report.source.value, path);
  if (issue.code === "unrecognized_keys") {
    for (const key of issue.keys.slice(0, MOST_KEYS)) explainKey(key, path, about);
  } else if (issue.code === "invalid_key") {
    report.add(path, `expected ${issue.issues[0]?.message}`, { key: true, value: show(path.at(-1)) });
  } else if (issue.code === "invalid_union" && meantOf(issue) !== undefined) {
    for (const one of meantOf(issue) ?? []) explain({ ...one, path: [...issue.path, ...one.path] }, about);
  } else {
    const help = value === undefined ? meaning(path, schema) : meant(issue, value);
    report.add(path, `expected ${wanted(issue)}${help}`);
  }
}

/** The problems in the one form of several that was meant: the one that matches except for something inside. */
const meantOf = ({ errors }: z.core.$ZodIssueInvalidUnion): readonly z.core.$ZodIssue[] | undefined =>
  errors.find(
    (all) => all.length > 0 && all.every(({ code, path }) => path.length > 0 || code === "unrecognized_keys"),
  );

function explainKey(key: string, path: Path, { report, schema }: About): void {
  const where = path.length === 0 ? "the top" : writePath(path);
  const known = Object.keys(schemaAt(path, schema)?.properties ?? {});
  const name = nameOfToday(key, path);
  const near = didYouMean(key, known) || belongsTo(key, schema) || suggestion(key, known);
  const problem = `unknown key \`${visible(key)}\` at ${where}${near}`;
  // Its value is not shown, since an unknown key may contain a misplaced secret.
  report.add([...path, key], name === undefined ? problem : `\`${key}\` is now \`${name}\``, { key: true, value: "" });
}

/** Where a key stands that was written somewhere else: with an agent, or at the top. */
function belongsTo(key: string, schema: Schema): string {
  const places: readonly Path[] = [["agents", "NAME"], []];
  const place = places.find((one) => Object.hasOwn(schemaAt(one, schema)?.properties ?? {}, key));
  return place === undefined
    ? ""
    : `; it belongs to ${place.length === 0 ? "the top: " : "an agent: "}\`${writePath([...place, key])}\``;
}

/** What the issue's schema expects, as words that end a sentence beginning with "expected". */
function wanted(issue: z.core.$ZodIssue): string {
  switch (issue.code) {
    case "invalid_type":
      return NOUNS[issue.expected] ?? issue.expected;
    case "invalid_value":
      return `${issue.values.length > 1 ? "one of " : ""}${issue.values.map((one) => `\`${String(one)}\``).join(", ")}`;
    case "too_small":
      if (issue.minimum === 1 && issue.origin === "string") return "something here";
      if (issue.minimum === 1 && issue.origin === "array") return "at least one entry";
      return `${issue.inclusive === false ? "more than" : "at least"} ${issue.minimum}${unit(issue.origin)}`;
    case "too_big":
      return `at most ${issue.maximum}${unit(issue.origin)}`;
    case "invalid_union":
      return issue.message === "Invalid input" ? "one of the forms that docs/configuration.md shows" : issue.message;
    default:
      return issue.message;
  }
}

const NOUNS: Readonly<Record<string, string>> = {
  string: "text",
  int: "a whole number",
  number: "a number",
  boolean: "true or false",
  array: "a list",
  object: "a map of keys and values",
  record: "a map of names and what they stand for",
};

const unit = (origin: string): string => (origin === "string" ? " characters" : origin === "array" ? " entries" : "");

function meant(issue: z.core.$ZodIssue, value: unknown): string {
  if (issue.code !== "invalid_value" || typeof value !== "string") return "";
  return didYouMean(value, issue.values.map(String));
}

/** What the key is for, from the schema. */
function meaning(path: Path, schema: Schema): string {
  const { description } = schemaAt(path, schema) ?? {};
  return description === undefined ? "" : `. ${description}`;
}

interface SchemaNode {
  readonly description?: string;
  readonly properties?: Readonly<Record<string, SchemaNode>>;
  readonly additionalProperties?: boolean | SchemaNode;
  readonly items?: SchemaNode;
}

/** The piece of the JSON Schema that speaks about a path. */
function schemaAt(path: Path, schema: Schema): SchemaNode | undefined {
  let node: SchemaNode | undefined = schema.json();
  for (const step of path) {
    const open: boolean | SchemaNode | undefined = node?.additionalProperties;
    const named: SchemaNode | undefined = typeof step === "string" ? node?.properties?.[step] : node?.items;
    node = named ?? (typeof open === "object" ? open : undefined);
  }
  return node;
}
