import { didYouMean, suggestion } from "../protocol/index.ts";
import { checkOutput } from "./check-output.ts";
import { type AgentConfig, type Config, type LayerConfig, PROVIDER_KINDS } from "./config-schema.ts";
import type { SourceForm, Sources } from "./layer-source.ts";
import type { Path } from "./path.ts";
import type { Report } from "./report.ts";
import { usualKind } from "./secret.ts";

type ProviderConfig = Config["providers"][string];

/** The report, and what is known about sources. */
interface Checking extends Report {
  readonly sources: Sources;
}

/** Checks that involve several keys. All problems go into the report. */
export function checkConfig(config: Config, given: Report, sources: Sources): void {
  const report: Checking = { ...given, sources };
  for (const [name, provider] of Object.entries(config.providers)) checkProvider(name, provider, report);
  for (const [name, agent] of Object.entries(config.agents)) {
    const path: Path = ["agents", name];
    checkOnce(
      agent.layers.map((layer) => layer.id),
      [...path, "layers"],
      "id",
      report,
    );
    checkRanks(agent, [...path, "layers"], report);
    const tools = agent.tools.map((tool) => (typeof tool === "string" ? tool : tool.name));
    checkOnce(tools, [...path, "tools"], undefined, report);
    checkRecall(agent, path, report);
    checkAfter(agent, [...path, "layers"], report);
    checkEdited(agent, [...path, "layers"], report);
    checkSources(agent, path, report);
    checkOutput(agent.output, [...path, "output"], report);
    checkBudgets(agent, path, report);
    for (const [i, layer] of agent.layers.entries()) checkLayer(layer, [...path, "layers", i], report);
  }
}

function checkProvider(name: string, { kind, package: npm, url }: ProviderConfig, report: Report): void {
  const path: Path = ["providers", name];
  const speaks = kind ?? (npm === undefined ? usualKind(name) : undefined);
  if (name === "rehearsal") report.add(path, "another name: this one is the built-in model", { key: true });
  if (kind !== undefined && npm !== undefined)
    report.add([...path, "kind"], "`package` already says which API it is; remove one");
  else if (speaks === undefined && npm === undefined) {
    const expected = `needs a \`kind\` (${PROVIDER_KINDS.join(", ")}) or a \`package\`${didYouMean(name, PROVIDER_KINDS)}`;
    report.add(path, expected, { key: true, value: "" });
  }
  if (speaks === "openai-compatible" && url === undefined) {
    report.add(path, "needs the server's `url`, as in `http://127.0.0.1:11434/v1`", { key: true, value: "" });
  }
}

/** With two layers of the same rank, a conflict between them would be undecided; two of the same id could not be distinguished. */
function checkOnce(values: readonly (string | number)[], list: Path, key: string | undefined, report: Report): void {
  for (const [i, value] of values.entries()) {
    const first = values.indexOf(value);
    if (first === i) continue;
    const path = key === undefined ? [...list, i] : [...list, i, key];
    report.add(path, `is already in entry [${first}]; each may appear only once`);
  }
}

/** Live layers may share a rank: they are the sections of one, and none of them commands. */
function checkRanks({ layers }: AgentConfig, path: Path, report: Checking): void {
  for (const [i, layer] of layers.entries()) {
    const other = layers.findIndex(({ rank }, k) => rank === layer.rank && k < i);
    const first = layers[other];
    if (first === undefined || (report.sources.isLive(first) && report.sources.isLive(layer))) continue;
    report.add([...path, i, "rank"], `is already in entry [${other}]; each may appear only once`);
  }
}

/** An agent that edits its own texts may not edit a layer above an immutable one (law 2). */
function checkEdited({ layers, tools }: AgentConfig, path: Path, report: Report): void {
  if (!tools.some((tool) => (typeof tool === "string" ? tool : tool.name) === "update_prompt_layer")) return;
  const isText = ({ source }: LayerConfig): boolean => source === undefined;
  const fixed = layers.filter((one) => isText(one) && (one.mutability ?? "immutable") === "immutable");
  for (const [i, layer] of layers.entries()) {
    const under = fixed.find(({ rank }) => rank > layer.rank);
    if (layer.mutability !== "versioned" || layer.editors === "operators" || !isText(layer)) continue;
    if (under === undefined) continue;
    const sentence = `the agent edits this layer with \`update_prompt_layer\`, and it outranks the immutable \`${under.id}\` of rank ${under.rank}`;
    report.add(
      [...path, i, "rank"],
      `${sentence}; give it a rank behind all immutable layers, or use \`editors: operators\``,
    );
  }
}

/** A layer right after another one is in the same block. */
function checkAfter({ layers }: AgentConfig, path: Path, report: Checking): void {
  for (const [i, { after, scope, id, source }] of layers.entries()) {
    if (after === undefined) continue;
    const at = [...path, i, "after"];
    const before = layers.find((one) => one.id === after);
    if (before === undefined)
      report.add(
        at,
        `no layer is named \`${after}\`${suggestion(
          after,
          layers.map((one) => one.id),
        )}`,
      );
    else if (before.id === id || before.after !== undefined)
      report.add(at, "name another layer, one that has no `after` itself");
    else if (report.sources.isLive({ source }) || report.sources.isLive(before))
      report.add(at, "only layers of the prefix can have `after`; remove it");
    else if ((before.scope ?? "agent") !== (scope ?? "agent"))
      report.add(at, `is in another block of the prompt: give both layers the same \`scope\``);
  }
}

/** Sources about the same thing occur once; and an agent has no layer for what it lacks. */
function checkSources(agent: AgentConfig, path: Path, report: Checking): void {
  for (const [i, layer] of agent.layers.entries()) {
    const form = report.sources.formOf(layer);
    if (form === undefined) continue;
    const at = [...path, "layers", i, "source"];
    if (!form.isRepeatable && agent.layers.findIndex(({ source }) => source === layer.source) !== i)
      report.add(at, "a second one would repeat the first; remove it");
    const unfit = form.unfit?.(agent);
    if (unfit !== undefined) report.add(at, unfit);
  }
}

function checkRecall(agent: AgentConfig, path: Path, report: Checking): void {
  const recalls = agent.layers.some(({ source }) => source === "recall");
  const needs = agent.recall === "auto" || agent.recall === "search" || agent.recall === "frozen";
  if (needs && !recalls) {
    report.add([...path, "recall"], "needs a layer with `source: recall`; add one, or use `tools` or `none`");
  }
}

function checkBudgets(agent: AgentConfig, path: Path, report: Report): void {
  const { total, reply, keep } = agent.budgets;
  const at = [...path, "budgets"];
  if (reply >= total) {
    const expected = `expected less than the total of ${total}, because the reserve for the reply is part of it`;
    report.add([...at, "reply"], expected, { value: String(reply) });
    return;
  }
  if (keep !== undefined && keep >= total - reply) {
    const room = `expected less than the ${total - reply} tokens that \`total\` leaves without the reply`;
    report.add([...at, "keep"], room, { value: String(keep) });
    return;
  }
  const { history } = agent.budgets;
  if (keep !== undefined && history !== undefined && history < keep) {
    report.add([...at, "history"], `expected at least \`keep\`, which is ${keep}`, { value: String(history) });
    return;
  }
  const reserved = agent.layers.reduce((sum, layer) => sum + layer.minimum, 0);
  if (reserved + reply <= total) return;
  const sum = `the layers' minimums (${reserved}) and the reply (${reply}) exceed it`;
  report.add([...at, "total"], `${sum}; raise it or lower a minimum`, { value: String(total) });
}

function checkLayer(layer: LayerConfig, path: Path, report: Checking): void {
  const given = (["text", "file", "source"] as const).filter((key) => layer[key] !== undefined);
  if (given.length !== 1) {
    const found = given.length === 0 ? "none" : given.map((key) => `\`${key}\``).join(" and ");
    report.add(path, `layer \`${layer.id}\` needs exactly one of \`text\`, \`file\` and \`source\`; found ${found}`);
    return;
  }
  checkModes(layer, path, report);
  if (layer.source === undefined) checkTextLayer(layer, path, report);
  else checkSourceLayer(layer, path, report);
  if (layer.budget !== undefined && layer.minimum > layer.budget) {
    report.add([...path, "minimum"], `expected at most the layer's budget of ${layer.budget}`);
  }
}

function checkModes({ id, modes, line, source }: LayerConfig, path: Path, report: Checking): void {
  const lined = (["compact", "minimal"] as const).filter((mode) => modes[mode] === "line");
  for (const mode of lined) {
    if (source !== undefined)
      report.add([...path, "modes", mode], "a source has no one-line summary; use `whole` or `absent`");
    else if (line === undefined)
      report.add([...path, "modes", mode], `layer \`${id}\` has no \`line\`; add its one-line summary`);
  }
  if (line !== undefined && lined.length === 0) {
    report.add([...path, "line"], "no mode shows it; add `modes: {compact: line}` or remove it");
  }
}

function checkTextLayer(layer: LayerConfig, path: Path, report: Checking): void {
  const { trust = "operator", scope = "agent", mutability = "immutable" } = layer;
  const at = (key: string, expected: string): void => report.add([...path, key], expected);
  checkMembers(layer, undefined, { ...report, at });
  if (scope === "turn")
    at("scope", "a text that never changes belongs before the conversation; use `agent` or `thread`");
  if (mutability === "live") at("mutability", "only sources change by themselves; use `immutable` or `versioned`");
  if (trust !== "platform" && trust !== "operator") {
    at("trust", "a text in strata.yaml is the operator's own; use `operator`, or `platform` with `scope: all`");
  } else if ((trust === "platform") !== (scope === "all")) {
    at(
      layer.trust === undefined ? "scope" : "trust",
      "`trust: platform` and `scope: all` go together: text that all organizations share is the platform's",
    );
  }
  if (trust === "platform" && mutability !== "immutable")
    at("mutability", "the platform's text is locked; use `immutable`");
  if (mutability !== "immutable") return;
  if (layer.editors !== undefined) at("editors", "nobody edits an immutable layer; use `mutability: versioned`");
  if (layer.required === false)
    at("required", "an immutable layer is always sent; remove this or use `mutability: versioned`");
  for (const key of ["budget", "minimum"] as const) {
    if (layer[key]) at(key, "an immutable layer is never cut; remove this or use `mutability: versioned`");
  }
}

function checkSourceLayer(layer: LayerConfig, path: Path, report: Checking): void {
  const at = (key: string, expected: string): void => report.add([...path, key], expected);
  if (layer.editors !== undefined) at("editors", "only a versioned text has editors; remove it");
  const form = report.sources.formOf(layer);
  checkMembers(layer, form, { ...report, at });
  if (form?.isStored) {
    checkStoredLayer(layer, form, at);
    return;
  }
  const { scope = "turn", mutability = "live", trust, timezone } = layer;
  if (scope !== "turn") at("scope", "a source changes each turn and may not touch the cached prefix; use `turn`");
  if (mutability !== "live") at("mutability", "a source changes each turn; use `live`");
  if (timezone !== undefined && !isTimezone(timezone))
    at("timezone", "expected an IANA time zone, as in `Europe/Berlin`");
  if (trust === undefined) return;
  if (form === undefined) at("trust", "a source from `modules` states its trust itself; remove it");
  else if (layer.source === "clock" && trust !== "platform") at("trust", "the platform tells the time; use `platform`");
  else if (trust === "platform" && !form.isOurs)
    at("trust", "memories are not the platform's text; use `operator` or less");
}

type At = (key: string, expected: string) => void;

/** Fields that only some sources accept. */
function checkMembers(
  layer: LayerConfig,
  form: SourceForm | undefined,
  { sources, at }: Pick<Checking, "sources"> & { readonly at: At },
): void {
  for (const [member, sentence] of [
    ["limit", "a limit"],
    ["timezone", "a time zone"],
    ["setting", "a setting"],
    ["by", "a fact"],
    ["texts", "a choice of texts"],
  ] as const) {
    if (layer[member] !== undefined && !form?.takes?.includes(member))
      at(member, `${sentence} is for ${sources.taking(member)} alone; remove it`);
  }
}

const STORED = { scope: "agent", mutability: "versioned" } as const;

/** The operator's word in the prefix, changed by recorded edits and settings only. */
function checkStoredLayer(layer: LayerConfig, { changesFor, inTail }: SourceForm, at: At): void {
  const usual = {
    ...(changesFor === undefined ? STORED : ({ scope: changesFor, mutability: "live" } as const)),
    ...(inTail === "only" && ({ scope: "turn" } as const)),
  };
  const whose = { org: "organization", agent: "agent", thread: "conversation" }[changesFor ?? "agent"];
  const { scope = usual.scope, mutability = usual.mutability, trust = "operator" } = layer;
  if (scope !== usual.scope && !(inTail && scope === "turn"))
    at(
      "scope",
      inTail === "only"
        ? "it stands at the end of each request; use `turn`"
        : `it is one ${whose}'s; use \`${usual.scope}\`${inTail ? ", or `turn` for the end of each request" : ""}`,
    );
  if (mutability !== usual.mutability) at("mutability", `it is not locked; use \`${usual.mutability}\``);
  if (trust !== "operator") at("trust", "only operators write it; use `operator`");
}

/** Time zones that were there when they were asked for: to ask takes as long as reading a whole agent. */
const timezones = new Set<string>();

function isTimezone(name: string): boolean {
  try {
    if (!timezones.has(name)) new Intl.DateTimeFormat("en", { timeZone: name });
    if (timezones.size < 1_000) timezones.add(name);
    return true;
  } catch {
    return false;
  }
}
