import { isMap, isSeq } from "yaml";
import { nearest } from "../protocol/index.ts";
import type { Path } from "./path.ts";
import { reportOn } from "./report.ts";
import { editableYaml, readYaml } from "./yaml-source.ts";

/** The result for one key of DevClaw's file: the new place of its value, or what to do about it. */
export type TranslatedKey = { readonly key: string; readonly line: number } & Translated;

type Translated = { readonly to: string } | { readonly next: string };

/** The blueprint's files with the content of DevClaw's file, and the result for each of its keys. */
export interface Translation {
  readonly files: ReadonlyMap<string, string>;
  /** The agent's name, if the file has one. */
  readonly name?: string;
  /** The variable in which the model's provider looks for its key, if the file names none. */
  readonly variable?: string;
  readonly keys: readonly TranslatedKey[];
}

/** The blueprint's name, and its agent's. */
const AGENT = "workbench";

/**
 * Translates a DevClaw file into the blueprint `workbench`: `texts` are the blueprint's files by path. An invalid value is an error with
 * its line, a key without a counterpart is named with the next step.
 * @throws StrataError `config_invalid`
 */
export function translateDevclaw(
  from: { readonly file: string; readonly text: string },
  texts: ReadonlyMap<string, string>,
): Translation {
  const source = readYaml(from.file, from.text);
  const report = reportOn(source);
  if (source.value === null || typeof source.value !== "object" || Array.isArray(source.value))
    report.add([], "expected the keys of a config.yaml of DevClaw, as `name:` and `token_budget:`");
  report.end();
  const draft = draftOf(texts);
  const present = presentKeys(source.value);
  draft.reserves = present.some(({ key }) => key === "token_budget.reserved");
  const keys = present.flatMap(({ key, path, value }) => {
    const outcome = ownOf(RULES, key)?.(value, draft) ?? {
      next: ownOf(NEXT, key) ?? ownOf(NEXT, path[0] ?? "") ?? unknown(key),
    };
    if (!("wrong" in outcome)) return [{ key, line: source.locate(path, true).line, ...outcome }];
    report.add(path, outcome.wrong, /^(?:api|base_url|api_key)$/.test(path[0] ?? "") ? { value: "" } : {});
    return [];
  });
  report.end();
  if (keys.every((key) => "next" in key && key.next === unknown(key.key))) {
    const [first] = present;
    const near = first === undefined ? "" : meantKey(first.key);
    const message = `expected at least one key of DevClaw's, as ${Object.keys(RULES).slice(0, 5).join(", ")}${near}`;
    report.add(near === "" ? [] : (first?.path ?? []), message, near === "" ? {} : { value: "" });
  }
  report.end();
  const { name, provider } = draft;
  const variable = ownOf(VARIABLES, provider ?? "");
  return {
    files: draft.files(),
    ...(name !== undefined && { name }),
    ...(variable !== undefined && { variable }),
    keys: keys.toSorted((a, b) => a.line - b.line),
  };
}

/** A file may use any name, even one that every object has. */
const ownOf = <T>(table: Readonly<Record<string, T>>, key: string): T | undefined =>
  Object.hasOwn(table, key) ? table[key] : undefined;

interface PresentKey {
  readonly key: string;
  readonly path: readonly string[];
  readonly value: unknown;
}

/**
 * The keys with a value. A section is split into its keys if one of them is known. In the order of the rules: what is said about the
 * model's server affects the model, whatever the order in the file.
 */
function presentKeys(top: unknown): readonly PresentKey[] {
  const rules = Object.keys(RULES);
  const keys = objectEntries(top).flatMap(([key, value]): readonly PresentKey[] => {
    const isSection = rules.some((name) => name.startsWith(`${key}.`)) && !Array.isArray(value);
    const below = isSection ? objectEntries(value) : [];
    if (below.length === 0) return [{ key, path: [key], value }];
    return below.map(([name, one]) => ({ key: `${key}.${name}`, path: [key, name], value: one }));
  });
  const orderOf = ({ key }: PresentKey) => (rules.includes(key) ? rules.indexOf(key) : rules.length);
  return keys.filter(({ value }) => value !== null && value !== "").sort((a, b) => orderOf(a) - orderOf(b));
}

const objectEntries = (value: unknown): readonly (readonly [string, unknown])[] =>
  value !== null && typeof value === "object" ? Object.entries(value) : [];

interface AgentDraft {
  /** Sets a key of the agent, and reports it. */
  readonly set: (path: Path, value: unknown) => Translated;
  readonly setLayer: (id: string, key: string, value: unknown) => Translated;
  readonly setTop: (path: Path, value: unknown) => Translated;
  readonly agentValue: (path: Path) => unknown;
  readonly text: (path: string, change: (old: string) => string) => Translated;
  readonly files: () => ReadonlyMap<string, string>;
  /** The file's setting for the model's server; the model follows it. */
  server: string | undefined;
  /** Who runs the model, as long as no variable holds its key. */
  provider: string | undefined;
  name: string | undefined;
  /** Whether the file says what is reserved for the reply. */
  reserves: boolean;
  readonly skillFolders: string[];
}

function draftOf(texts: ReadonlyMap<string, string>): AgentDraft {
  const files = new Map(texts);
  const yaml = editableYaml(files.get("strata.yaml") ?? "");
  const setTop = (path: Path, value: unknown) => {
    yaml.setIn(path, isScalar(value) ? value : yaml.createNode(value));
    return { to: `${path.join(".")}: ${isScalar(value) ? value : JSON.stringify(value)}` };
  };
  return {
    setTop,
    set: (path, value) => {
      setTop(["agents", AGENT, ...path], value);
      return { to: `${path.join(".")}: ${isScalar(value) ? value : JSON.stringify(value)}` };
    },
    setLayer: (id, key, value) => {
      const layers = yaml.getIn(["agents", AGENT, "layers"]);
      const at = isSeq(layers) ? layers.items.findIndex((one) => isMap(one) && one.get("id") === id) : -1;
      setTop(["agents", AGENT, "layers", at, key], value);
      return { to: `${key} of layer ${id}: ${value}` };
    },
    agentValue: (path) => yaml.getIn(["agents", AGENT, ...path]),
    text: (path, change) => {
      files.set(path, `${change(files.get(path) ?? "").trimEnd()}\n`);
      return { to: path };
    },
    files: () => files.set("strata.yaml", yaml.toString({ lineWidth: 0 })),
    server: undefined,
    provider: undefined,
    name: undefined,
    reserves: false,
    skillFolders: [],
  };
}

const isScalar = (value: unknown): boolean => typeof value !== "object";

type KeyRule = (value: unknown, draft: AgentDraft) => Translated | { readonly wrong: string };

const wholeNumberRule =
  (most: number, put: (value: number, draft: AgentDraft) => Translated): KeyRule =>
  (value, draft) =>
    typeof value === "number" && Number.isInteger(value) && value >= 1 && value <= most
      ? put(value, draft)
      : { wrong: `expected a whole number, 1 to ${most.toLocaleString("en-US")}` };

const tokens = (...path: string[]) => wholeNumberRule(10_000_000, (value, { set }) => set(path, value));

const layerTokens = (id: string) => wholeNumberRule(10_000_000, (value, { setLayer }) => setLayer(id, "budget", value));

const textRule =
  (put: (text: string, draft: AgentDraft) => Translated | { readonly wrong: string }): KeyRule =>
  (value, draft) =>
    typeof value === "string" && value.trim() !== "" ? put(value.trim(), draft) : { wrong: "expected text" };

const total = wholeNumberRule(10_000_000, (most, { set, agentValue, reserves }) => {
  const usual = Number(agentValue(["budgets", "reply"]));
  const reply = Math.max(1, Math.min(usual, Math.floor(most / 4)));
  set(["budgets", "reply"], reply);
  set(["budgets", "total"], most);
  return { to: `budgets.total: ${most}${reserves ? "" : `, of it budgets.reply: ${reply}`}` };
});

const server = textRule((url, draft) => {
  draft.server = providerAt(url);
  if (draft.server === undefined) return { wrong: "expected an address, as https://api.openai.com/v1" };
  if (draft.server !== COMPATIBLE) return { to: `the provider ${draft.server}` };
  return draft.setTop(["providers", COMPATIBLE], { kind: "openai-compatible", url });
});

const key = textRule((given, draft) => {
  const provider = draft.server ?? draft.provider ?? "openai";
  if (/^\$\{[A-Za-z_]\w*\}$/.test(given)) {
    draft.provider = undefined;
    return draft.setTop(["providers", provider, "key"], given);
  }
  const variable = ownOf(VARIABLES, provider);
  if (variable !== undefined) return { next: `a key never stands in strata.yaml: put it into .env as ${variable}` };
  const next = "put it into .env as MY_API_KEY, and `key: $" + "{MY_API_KEY}` below";
  return { next: `a key never stands in strata.yaml: ${next} \`providers.${provider}\`` };
});

const skillFolders: KeyRule = (value, { set, skillFolders: known }) => {
  if (!Array.isArray(value) || value.length === 0 || value.length > 20 || value.some((one) => typeof one !== "string"))
    return { wrong: "expected a list of 1 to 20 folders" };
  const folders = value.map((one) =>
    String(one)
      .replace(/^(?:\.\/)+/, "")
      .replace(/\/+$/, ""),
  );
  if (folders.some((one) => one === "" || one.startsWith("/") || one.split("/").includes("..")))
    return { next: "copy the skills into a folder of the project and name it under `skillFolders.read`" };
  known.push(...folders);
  return set(["skillFolders", "read"], [...new Set(known)]);
};

/** Keys with a counterpart, in the order in which they are applied: the model's server before the model, and the model before its key. */
const RULES: Readonly<Record<string, KeyRule>> = {
  name: textRule((name, draft) => {
    const slug = name
      .toLowerCase()
      .replace(/[^a-z0-9]+/g, "-")
      .replace(/^-+|-+$/g, "");
    if (slug === "" || slug.length > 64 || !/^[\p{L}\p{N} ._'-]+$/u.test(name))
      return { wrong: "expected a name of letters, digits and blanks, with at least one letter from a to z" };
    draft.name = slug;
    draft.text("layers/core.md", (text) => text.replace(/^You are the workbench,/, () => `You are ${name},`));
    return { to: `the agent's name, ${slug}, and layers/core.md` };
  }),
  instructions: textRule((text, draft) => draft.text("layers/instructions.md", () => text)),
  business_context: textRule((text, { set }) => {
    if (text.length > 4_000)
      return { wrong: "expected at most 4,000 characters; what is longer goes into a file of the project" };
    set(["settings", "business", "default"], text);
    return { to: "settings.business.default" };
  }),
  timezone: textRule((zone, { setLayer }) =>
    isZone(zone) ? setLayer("temporal", "timezone", zone) : { wrong: "expected a time zone, as Europe/Berlin" },
  ),
  prompt_layer_cache_ttl: (value, { set }) => {
    const seconds = secondsOf(value);
    if (seconds === undefined || seconds > 86_400)
      return { wrong: "expected a duration of at most 24 hours, as 30s, 500ms or 1m30s" };
    set(["files", "ttl"], seconds);
    set(["skillFolders", "ttl"], seconds);
    return { to: `files.ttl and skillFolders.ttl: ${seconds}` };
  },
  token_budget: total,
  "token_budget.total": total,
  "token_budget.system": tokens("budgets", "system"),
  "token_budget.history": tokens("budgets", "history"),
  "token_budget.reserved": (value, draft) => {
    const total = Number(draft.agentValue(["budgets", "total"]));
    return Number(value) < total
      ? tokens("budgets", "reply")(value, draft)
      : { wrong: `expected less than the total of ${total}` };
  },
  "token_budget.memory": layerTokens("memory"),
  "token_budget.skills": layerTokens("skills"),
  "api.base_url": server,
  base_url: server,
  model: textRule((model, draft) => {
    const [named] = model.split(":", 1);
    draft.provider = model.includes(":") ? named : (draft.server ?? usualProvider(model));
    if (model.includes(":")) return draft.set(["model"], model);
    const { provider } = draft;
    if (provider === undefined)
      return { next: "say who runs it: `model: PROVIDER:MODEL` in strata.yaml; `strata models` lists providers" };
    // Anthropic writes its versions with dashes.
    return draft.set(["model"], `${provider}:${provider === "anthropic" ? model.replaceAll(".", "-") : model}`);
  }),
  "api.api_key": key,
  api_key: key,
  "security.max_input_length": wholeNumberRule(1_000_000, (value, { set }) => set(["budgets", "message"], value)),
  "skills.clawdhub_dirs": skillFolders,
  "skills.paths": skillFolders,
};

/** The next step for keys without a counterpart. */
const NEXT: Readonly<Record<string, string>> = {
  trigger: "a Strata agent answers every message that is posted to it: leave the others out where you post them",
  language: "say in layers/core.md in which language it answers, then `strata lock`",
  access: "decide who may write in the program that posts messages to the REST API (docs/http.md)",
  workspaces: "make an agent of each: `strata init workbench --name NAME --folder NAME`",
  channels: "post messages to the REST API and take the replies with `deliver` (docs/http.md)",
  memory: "memories need no settings: `strata memory import FILE` brings in what was remembered",
  security: "Strata's guards are always on (docs/security.md); there is nothing to set",
  "security.rate_limit": "limit requests in front of `strata start`, in your proxy",
  "token_budget.tools": "tools count toward `budgets.total`: name fewer under `tools` where they take too much",
  api: "name the provider and its key under `providers` (docs/configuration.md)",
  plugins: "write tools in a module and name it under `modules` (docs/tools.md)",
  skills: "copy the folder of each skill into skills/, or run `strata skill add`",
  scheduler: "write each job under `schedules` of the agent (docs/life.md)",
  schedules: "write each job under `schedules` of the agent (docs/life.md)",
  heartbeat: "write it under `schedules` of the agent (docs/life.md)",
  subagents: "describe each one in AGENTS.md, under the heading Subagents (docs/workbench.md)",
  logging: "every turn is recorded: `strata explain` and `strata usage` show it; there is nothing to set",
  routines: "`strata usage` and `strata doctor` show the figures; there is nothing to set",
};

const unknown = (key: string): string =>
  `Strata has no such key${meantKey(key)}; docs/configuration.md has all that an agent can have`;

/** The DevClaw key that was probably meant, if one is similar. */
function meantKey(key: string): string {
  const near = nearest(key, [...Object.keys(RULES), ...Object.keys(NEXT)]);
  return near === undefined ? "" : `; did you mean \`${near}\`?`;
}

const COMPATIBLE = "compatible";

const VARIABLES: Readonly<Record<string, string>> = {
  anthropic: "ANTHROPIC_API_KEY",
  openai: "OPENAI_API_KEY",
  openrouter: "OPENROUTER_API_KEY",
  bedrock: "AWS_BEARER_TOKEN_BEDROCK",
};

/** The provider at an address; undefined if there is none. */
function providerAt(url: string): string | undefined {
  if (!URL.canParse(url) || !/^https?:$/.test(new URL(url).protocol)) return undefined;
  const { hostname } = new URL(url);
  const known = { "api.openai.com": "openai", "api.anthropic.com": "anthropic", "openrouter.ai": "openrouter" };
  return Object.entries(known).find(([host]) => host === hostname)?.[1] ?? COMPATIBLE;
}

const usualProvider = (model: string): string | undefined =>
  /^claude-/.test(model) ? "anthropic" : /^(?:gpt-|o\d)/.test(model) ? "openai" : undefined;

function isZone(zone: string): boolean {
  try {
    return new Intl.DateTimeFormat("en", { timeZone: zone }).resolvedOptions().timeZone !== "";
  } catch {
    return false;
  }
}

const UNITS: Readonly<Record<string, number>> = { ms: 0.001, s: 1, m: 60, h: 3_600 };

/** A duration as Go writes it, in seconds. */
function secondsOf(value: unknown): number | undefined {
  if (typeof value !== "string" || !/^(?:\d+(?:\.\d+)?(?:ms|s|m|h))+$/.test(value)) return undefined;
  const parts = [...value.matchAll(/(\d+(?:\.\d+)?)(ms|s|m|h)/g)];
  return Number(parts.reduce((sum, [, count, unit = "s"]) => sum + Number(count) * (UNITS[unit] ?? 1), 0).toFixed(3));
}
