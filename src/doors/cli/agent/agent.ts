import type { Command } from "commander";
import type { App } from "../../../app.ts";
import { type Agent, type Layer, never, type Source, type ToolName } from "../../../protocol/index.ts";
import type { Context } from "../shell/context.ts";
import { chosenAgent, inSession, shortVersion } from "../shell/session.ts";
import { setIn } from "../shell/set-in.ts";
import { count, number, oneLine, type Style } from "../shell/style.ts";
import { table } from "../shell/table.ts";
import { answeringOf } from "../start/answering.ts";
import { declareActs } from "./agent-acts.ts";
import { attentionLines } from "./attention.ts";

/** `strata agent …`: who is declared, and what each is made of. */
export function declareAgent(program: Command, context: Context): void {
  const agent = program
    .command("agent")
    .description("list the declared agents, show what one is made of and who looked into it")
    .addHelpText("after", "\nExample:\n  $ strata agent show companion");
  declareList(agent, context);
  declareShow(agent, context);
  declareActs(agent, context);
}

function declareList(parent: Command, context: Context): void {
  parent
    .command("list")
    .description("list the declared agents and the models that answer for them")
    .addHelpText("after", "\nExample:\n  $ strata agent list --folder my-agents")
    .action((_options: unknown, command: Command) =>
      inSession(context, command, async ({ app, json }) => {
        const agents = await answeringOf(app, app.runtime.agents(app.operator));
        const listed = agents.map(({ agent, model, problem }) => ({
          name: agent.name,
          version: agent.version,
          model,
          ...(problem && { problem: problem.message }),
          layers: agent.layers.length,
          tools: agent.tools.length,
          description: agent.description,
        }));
        if (json) return context.json(listed);
        for (const { name, version, model, problem, layers, tools, description } of listed) {
          const made = `${count(layers, "layer")}, ${count(tools, "tool")}`;
          context.say(
            `${context.style.bold(name)}, version ${shortVersion(version)}, answered by ${model}, ${made}`,
            ...setIn(description, "  ", context.style),
            ...(problem === undefined ? [] : [context.style.yellow(`  cannot answer yet: ${problem}`)]),
          );
        }
      }),
    );
}

/** A layer as it is declared. Text has tokens of its own; what is gathered anew each turn has not. */
interface LayerRow extends Omit<Layer, "source"> {
  readonly source: string;
  readonly tokens?: number;
}

interface Shown extends Omit<Agent, "layers" | "model"> {
  readonly model: string;
  /** That the model's window is a guess, and the key that sets it. */
  readonly guess?: string;
  /** Why the model cannot answer now. */
  readonly problem?: string;
  readonly layers: readonly LayerRow[];
  readonly file?: string;
  /** What of it waits for an operator. */
  readonly attention: readonly string[];
}

function declareShow(parent: Command, context: Context): void {
  parent
    .command("show")
    .description("show an agent: its layers with rank, scope, trust and tokens, its tools, model, budgets and lock")
    .argument("[name]", "which agent (default: the first agent)")
    .addHelpText("after", "\nExample:\n  $ strata agent show companion")
    .action((name: string | undefined, _options: unknown, command: Command) =>
      inSession(context, command, async ({ app, json }) => {
        const shown = await look(app, chosenAgent(app, name));
        if (json) context.json(shown);
        else context.say(...view(shown, context.style));
      }),
    );
}

async function look(app: App, agent: Agent): Promise<Shown> {
  const counted = await app.counterOf(agent);
  const [{ model, problem } = { model: app.modelNameOf(agent) }] = await answeringOf(app, [agent]);
  const file = app.projects.find((project) => project.agents.has(agent.name))?.file;
  const layers = agent.layers.map(({ source, ...layer }) => ({
    ...layer,
    source: sourceText(source),
    ...(source.kind === "text" ? { tokens: counted(source.text) } : {}),
  }));
  const waiting = await app.runtime.attention(app.operator, agent.name);
  const guess = app.guessedWindow(model);
  return {
    ...agent,
    model,
    layers,
    attention: waiting.flatMap(attentionLines),
    ...(guess !== undefined && { guess }),
    ...(problem && { problem: problem.message }),
    ...(file === undefined ? {} : { file }),
  };
}

function sourceText(source: Source): string {
  switch (source.kind) {
    case "text":
      return source.file ?? "strata.yaml";
    case "clock":
      return `clock, ${source.timezone}`;
    case "own":
      return source.name;
    case "recall":
    case "recent":
      return `${source.kind}, ${count(source.limit, "memory", "memories")}`;
    case "conversation":
      return `conversation, ${count(source.entries, "entry", "entries")}`;
    case "soul":
    case "skills":
    case "vitals":
    case "obligations":
    case "allowance":
      return source.kind;
    default:
      return never(source);
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

function view(agent: Shown, style: Style): readonly string[] {
  const { name, version, layers, tools, budgets, model, guess, problem, file, output } = agent;
  const rows = layers.map((layer) => [
    layer.id,
    number(layer.rank),
    layer.scope,
    layer.mutability,
    layer.trust,
    layer.tokens === undefined ? "" : number(layer.tokens),
    layer.budget === undefined ? "" : number(layer.budget),
    layer.source,
  ]);
  const locked = layers.filter(({ mutability }) => mutability === "immutable").length;
  const { rounds, calls, seconds, dollars } = budgets.turn;
  const cost = dollars === undefined ? "" : `, $${dollars}`;
  return [
    `${style.bold(name)}, version ${shortVersion(version)}`,
    ...setIn(agent.description, "", style),
    ...agent.attention.map((line) => style.yellow(line)),
    "",
    `declared ${file ?? "in a program"}`,
    `model    ${model}${problem === undefined ? "" : ` (cannot answer yet: ${problem})`}`,
    ...(agent.embedder === undefined ? [] : [`embedder ${agent.embedder}`]),
    `lock     ${count(locked, "immutable layer")}, each as it was locked`,
    `history  ${agent.history}, recall ${agent.recall}, mode ${agent.mode}`,
    `budget   ${count(budgets.total, "token")} in all, ${number(budgets.reply)} of them for the reply`,
    ...(guess === undefined ? [] : [`window   ${style.yellow(guess)}`]),
    `turn     at most ${count(rounds, "request")}, ${count(calls, "tool call")}, ${count(seconds, "second")}${cost}`,
    ...(budgets.spend === undefined ? [] : [`spend    ${spendText(budgets.spend)}`]),
    ...livingLines(agent),
    `tools    ${tools.map((tool) => toolText(tool, agent.rules)).join(", ") || "none"}`,
    ...(output === undefined ? [] : [`output   one JSON value that fits ${oneLine(JSON.stringify(output), 2_000)}`]),
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
    ...(senders === undefined ? [] : ["senders  Ethereum addresses, proven where a message is signed"]),
    ...(inbox === undefined ? [] : ["inbox    batch: a turn may answer several senders"]),
  ];
}

const spendText = ({ dollars, per }: NonNullable<Agent["budgets"]["spend"]>): string =>
  `at most $${dollars} ${per === "ever" ? "ever" : `in each UTC ${per}`}, all turns together`;

/** A tool, and what the agent's declaration adds to what the tool says of itself. */
function toolText(name: ToolName, rules: Agent["rules"]): string {
  const { approval, calls, seconds } = rules?.find(({ tool }) => tool === name) ?? {};
  const says = [
    ...(approval === true ? ["waits for a person"] : []),
    ...(calls === undefined ? [] : [`at most ${count(calls, "call")} a turn`]),
    ...(seconds === undefined ? [] : [`at most ${count(seconds, "second")} a call`]),
  ];
  return says.length === 0 ? name : `${name} (${says.join("; ")})`;
}
