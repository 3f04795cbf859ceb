import type { z } from "zod";
import { count, number, oneLine, type Style, setIn, shortVersion, table } from "../../print/index.ts";
import type { Agent, Source, Tainted, ToolName } from "../../protocol/index.ts";
import type { DECLARED } from "./shapes.ts";

/** Where a layer's content comes from, in a few words. */
export function sourceText(source: Source): string {
  switch (source.kind) {
    case "text":
      return source.file ?? "strata.yaml";
    case "clock":
      return `clock, ${source.timezone}`;
    case "own":
      return source.name;
    default:
      if ("limit" in source) return `${source.kind}, ${count(source.limit, "memory", "memories")}`;
      return "entries" in source ? `${source.kind}, ${count(source.entries, "entry", "entries")}` : source.kind;
  }
}

const COLUMNS = [
  { head: "layer" },
  { head: "rank", right: true },
  { head: "scope" },
  { head: "mutability" },
  { head: "trust" },
  { head: "tokens", right: true },
  { head: "budget", right: true },
  { head: "source", least: 20 },
] as const;

/** An agent as it is declared, for people; `shown` has beside it what was looked up. */
export function declaredLines(shown: z.input<typeof DECLARED>, agent: Agent, style: Style): readonly string[] {
  const { layers, model, guess, problem, file } = shown;
  const { name, version, tools, budgets, output } = agent;
  const rows = layers.map((layer) => [
    layer.id,
    number(layer.rank),
    layer.scope,
    layer.mutability,
    layer.trust,
    layer.tokens === undefined ? "" : number(layer.tokens),
    typeof layer["budget"] === "number" ? number(layer["budget"]) : "",
    layer.source,
  ]);
  const locked = layers.filter(({ mutability }) => mutability === "immutable").length;
  const { rounds, calls, seconds, dollars } = budgets.turn;
  const cost = dollars === undefined ? "" : `, $${dollars}`;
  return [
    `${style.bold(name)}, version ${shortVersion(version)}`,
    ...setIn(agent.description, "", style),
    ...shown.attention.map((line) => style.yellow(line)),
    "",
    `declared ${file ?? "in a program"}`,
    `model    ${model}${problem === undefined ? "" : ` (cannot answer yet: ${problem})`}`,
    ...(agent.embedder === undefined ? [] : [`embedder ${agent.embedder}`]),
    `lock     ${count(locked, "immutable layer")}, unchanged since the lock`,
    `history  ${agent.history}, recall ${agent.recall}, mode ${agent.mode}`,
    `budget   ${count(budgets.total, "token")} in all, ${number(budgets.reply)} of them for the reply`,
    ...(guess === undefined ? [] : [`window   ${style.yellow(guess)}`]),
    `turn     at most ${count(rounds, "request")}, ${count(calls, "tool call")}, ${count(seconds, "second")}${cost}`,
    ...(budgets.spend === undefined ? [] : [`spend    ${spendText(budgets.spend)}`]),
    ...livingLines(agent),
    `tools    ${tools.map((tool) => toolText(tool, agent.rules)).join(", ") || "none"}`,
    ...(output === undefined ? [] : [`output   one JSON value that matches ${oneLine(JSON.stringify(output), 2_000)}`]),
    "",
    ...table(COLUMNS, rows, style),
  ];
}

/** How it lives by itself, and whom it knows: nothing where it is as most agents are. */
function livingLines({ life, senders, inbox }: Pick<Agent, "life" | "senders" | "inbox">): readonly string[] {
  const { tick, credits, account } = life ?? {};
  const lives = [
    ...(tick === undefined ? [] : [`every ${count(tick, "minute")} a turn of its own`]),
    ...(credits === undefined ? [] : [`credits low at $${credits.low}, critical at $${credits.critical}`]),
    ...(account === undefined ? [] : [`account ${account.address}`]),
  ];
  return [
    ...(lives.length === 0 ? [] : [`life     ${lives.join("; ")}`]),
    ...(senders === undefined ? [] : ["senders  Ethereum addresses, proven if a message is signed"]),
    ...(inbox === undefined ? [] : ["inbox    batch: a turn may answer several senders"]),
  ];
}

const spendText = ({ dollars, per }: NonNullable<Agent["budgets"]["spend"]>): string =>
  `at most $${dollars} ${per === "ever" ? "ever" : `in each UTC ${per}`}, all turns together`;

const TAINTED_SAYS: Readonly<Record<Tainted, string>> = {
  run: "runs in tainted turns, too",
  ask: "waits for a person in a tainted turn",
  refuse: "is refused in a tainted turn",
};

/** A tool, and what the agent's declaration adds to what the tool says of itself. */
function toolText(name: ToolName, rules: Agent["rules"]): string {
  const { approval, tainted, calls, seconds } = rules?.find(({ tool }) => tool === name) ?? {};
  const says = [
    ...(approval === true ? ["waits for a person"] : []),
    ...(tainted === undefined ? [] : [TAINTED_SAYS[tainted]]),
    ...(calls === undefined ? [] : [`at most ${count(calls, "call")} a turn`]),
    ...(seconds === undefined ? [] : [`at most ${count(seconds, "second")} a call`]),
  ];
  return says.length === 0 ? name : `${name} (${says.join("; ")})`;
}
