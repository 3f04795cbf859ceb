import type { Command } from "commander";
import { cardOf, FAMILIES, type ModelCard } from "../../../app/entry/costs.ts";
import type { App } from "../../../app.ts";
import { answeringOf } from "../../../features/agents/index.ts";
import { count, number, type Style, table } from "../../../print/index.ts";
import { type ModelRef, nearest, StrataError } from "../../../protocol/index.ts";
import type { Context } from "../shell/context.ts";
import { inSession } from "../shell/session.ts";

interface ModelsOptions {
  readonly provider?: string;
}

/** One card, and which of its values strata.yaml says, as `contextWindow` or `price.input`. */
interface ModelRow extends ModelCard {
  readonly model: ModelRef;
  readonly declared: readonly string[];
  /** False if no family of that name is built in: the card is then the cautious default. */
  readonly known: boolean;
  /** Of a model that is not known: the name of a known one that is most like it. */
  readonly nearest?: ModelRef;
}

/** `strata models`: the known facts about models, and where they come from. */
export function declareModels(program: Command, context: Context): void {
  const models = program
    .command("models")
    .description(
      "list what is known about models: windows, caches, prices in dollars per million tokens, and their dates",
    )
    .option("--provider <name>", "of this provider only (default: all, and what strata.yaml declares)")
    .addHelpText("after", "\nExample:\n  $ strata models --provider anthropic")
    .action((options: ModelsOptions, command: Command) =>
      inSession(context, command, async ({ app, json }) => {
        const rows = await listModels(app, options.provider);
        if (json) context.json(rows);
        else context.say(...renderModelTable(rows, context.style));
      }),
    );
  declareShow(models, context);
}

function declareShow(parent: Command, context: Context): void {
  parent
    .command("show")
    .description("show what is known about one model, and where each value comes from")
    .argument("<model>", "the model, as in openai:gpt-5-mini")
    .addHelpText("after", "\nExample:\n  $ strata models show anthropic:claude-sonnet-5-5")
    .action((model: string, _options: unknown, command: Command) =>
      inSession(context, command, async ({ app, json }) => {
        const row = modelRow(app, checkModelName(model));
        if (json) context.json(row);
        else context.say(...view(row, context.style));
      }),
    );
}

/** Almost anything may be a model's name; this refuses only what certainly is not. */
function checkModelName(text: string): ModelRef {
  if (/^(?:rehearsal|recording|[a-z0-9._-]+:\S+)$/.test(text)) return text;
  const message = `${JSON.stringify(text)} is not a model; write PROVIDER:NAME, as in anthropic:claude-sonnet-5-5`;
  throw new StrataError("invalid_input", message, { model: text });
}

/** The built-in families, and before them the models that agents use and strata.yaml declares. */
async function listModels(app: App, provider: string | undefined): Promise<readonly ModelRow[]> {
  const used = (await answeringOf(app, app.runtime.agents(app.operator))).map(({ model }) => model);
  const said = app.projects.flatMap(({ models }) => Object.keys(models));
  const names = new Set([...used, ...said, ...FAMILIES.map(({ family }) => family)]);
  const rows = [...names].map((model) => modelRow(app, model));
  const chosen = provider === undefined ? rows : rows.filter(({ model }) => model.split(":")[0] === provider);
  if (chosen.length > 0) return chosen;
  const known = [...new Set(rows.map(({ model }) => model.split(":")[0]))].join(", ");
  const message = `no model of ${JSON.stringify(provider)} is known; there are ${known}`;
  throw new StrataError("invalid_input", message, { provider: provider ?? "" });
}

function modelRow(app: App, model: ModelRef): ModelRow {
  const said = app.projects.map(({ models }) => (Object.hasOwn(models, model) ? models[model] : undefined));
  const card = app.cardOf(model);
  const known = isNamed(card.family);
  const near = known ? undefined : nearest(model, FAMILIES.map(({ family }) => family).filter(isNamed));
  const declared = keysOf(said.find((one) => one !== undefined) ?? {});
  return { model, ...card, declared, known, ...(near !== undefined && { nearest: near }) };
}

/** Families whose name is only a prefix are used for all models without their own card. */
const isNamed = (family: string): boolean => family !== "unknown" && !/[-:]$/.test(family);

/** The keys that say something; those of an object by themselves. */
const keysOf = (said: object): readonly string[] =>
  Object.entries(said).flatMap(([key, value]) => {
    if (value === undefined) return [];
    return typeof value === "object" && value !== null ? keysOf(value).map((inner) => `${key}.${inner}`) : [key];
  });

const COLUMNS = [
  { head: "model" },
  { head: "window", right: true },
  { head: "cache" },
  { head: "from", right: true },
  { head: "breakpoints", right: true },
  { head: "kept" },
  { head: "in", right: true },
  { head: "read", right: true },
  { head: "write", right: true },
  { head: "long", right: true },
  { head: "out", right: true },
  { head: "tail" },
  { head: "checked" },
  { head: "strata.yaml" },
] as const;

function renderModelTable(rows: readonly ModelRow[], style: Style): readonly string[] {
  return table(COLUMNS, rows.map(cells), style);
}

function cells({ price, priced, ...row }: ModelRow): readonly string[] {
  const dollars = (value: number): string => (priced ? `$${value}` : "");
  return [
    // A name that is only a beginning.
    /[-:]$/.test(row.model) ? `${row.model}…` : row.model,
    `${number(row.contextWindow)}${row.guessed && row.family !== row.model ? " (guess)" : ""}`,
    row.cache,
    row.cache === "none" ? "" : number(row.minimumPrefix),
    row.breakpoints === 0 ? "" : number(row.breakpoints),
    [row.lifetimes.short, row.lifetimes.long].flatMap((seconds) => (seconds ? [time(seconds)] : [])).join(", "),
    dollars(price.input),
    dollars(price.cacheRead),
    dollars(price.cacheWrite),
    dollars(price.cacheWriteLong),
    dollars(price.output),
    row.tailMode,
    row.checked,
    row.declared.join(", "),
  ];
}

/** `5 min`, `1 h`, `1 day` */
function time(seconds: number): string {
  if (seconds % 86_400 === 0) return `${seconds / 86_400} day`;
  if (seconds % 3_600 === 0) return `${seconds / 3_600} h`;
  return seconds % 60 === 0 ? `${seconds / 60} min` : `${seconds} s`;
}

/** Each value on a line, with its unit and origin. */
function view(row: ModelRow, style: Style): readonly string[] {
  const { price, lifetimes, priced } = row;
  const cost = (dollars: number): string => (priced ? `$${dollars} a million tokens` : "not known");
  const values: readonly (readonly [string, string])[] = [
    [
      "contextWindow",
      `${count(row.contextWindow, "token")} of prompt and reply${row.guessed ? ", which is a guess: `contextWindow` sets it" : ""}`,
    ],
    ["maxOutputTokens", count(row.maxOutputTokens, "token")],
    ["tokenFactor", `${row.tokenFactor} tokens per token of o200k, as a first estimate`],
    ["cache", row.cache],
    ["minimumPrefix", count(row.minimumPrefix, "token")],
    ["step", count(row.step, "token")],
    ["breakpoints", `${number(row.breakpoints)} a request`],
    ["lookback", count(row.lookback, "position")],
    ["lifetimes.short", time(lifetimes.short)],
    ["lifetimes.long", lifetimes.long === undefined ? "none" : time(lifetimes.long)],
    ["tailMode", row.tailMode],
    ["loadsTools", row.loadsTools === true ? "yes" : "no"],
    ["reasoningBoundToHistory", row.reasoningBoundToHistory === true ? "yes" : "no"],
    ["sampling", row.sampling ?? "taken"],
    ["metadata", row.metadata],
    ["price.input", cost(price.input)],
    ["price.cacheRead", cost(price.cacheRead)],
    ["price.cacheWrite", cost(price.cacheWrite)],
    ["price.cacheWriteLong", cost(price.cacheWriteLong)],
    ["price.output", cost(price.output)],
  ];
  const lines = values.map(([name, value]) => [name, value, sourceOf(row, name)]);
  const columns = [{ head: "value" }, { head: "is" }, { head: "as said by" }];
  return [style.bold(row.model), originOf(row), "", ...table(columns, lines, style)];
}

function originOf({ family, checked, known, nearest: near }: ModelRow): string {
  if (known) return `built in as ${family}, checked ${checked}`;
  const hint = near === undefined ? "" : `; the nearest known name is ${near}`;
  return family === "unknown"
    ? `no card is built in, so each value is a cautious guess; set better ones under \`models\` in strata.yaml${hint}`
    : `no family of this name is known: these are cautious values, those of ${family}…, checked ${checked}; set better ones under \`models\` in strata.yaml${hint}`;
}

/** A partly declared price keeps the built-in rest; if there is none, missing parts are derived, as lifetimes are. */
function sourceOf({ declared, family, price }: ModelRow, name: string): string {
  const [whole = ""] = name.split(".");
  if (declared.includes(name)) return "strata.yaml";
  const builtIn = cardOf(family).price.input;
  if (whole === "price" && builtIn > 0)
    return price.input === builtIn ? "built in" : "built in, as its share of price.input";
  if (declared.some((key) => key.startsWith(`${whole}.`))) return "strata.yaml, by leaving it out";
  return family === "unknown" ? "nobody" : "built in";
}
