import type { Command } from "commander";
import type { App } from "../app.ts";
import { StrataError, TEXT_LIMITS } from "../protocol/index.ts";
import type { Context } from "./context.ts";
import { declareDecide, declareProposals } from "./layer-proposals.ts";
import { declareActivate, declareDiff, declareHistory, declareRollback } from "./layer-versions.ts";
import { chosenAgent, inSession } from "./session.ts";
import { count, number, printable, type Style } from "./style.ts";
import { table } from "./table.ts";
import {
  agentWords,
  type Given,
  layerNamed,
  nameOf,
  type OfAgent,
  ofAgent,
  textAt,
  texted,
  textOf,
  why,
} from "./text-options.ts";
import { editedLine } from "./text-view.ts";

export type LayerView = Awaited<ReturnType<App["runtime"]["layers"]>>[number];

/** Only looked at or edited: no module is needed for it. */
const RECORD = { recordOnly: true } as const;

/** `strata layer …`: what an agent is told, and what of it was edited. */
export function declareLayer(program: Command, context: Context): void {
  const layer = program
    .command("layer")
    .description(
      "list and show an agent's layers; edit those that may be, look at their versions, decide about proposals",
    )
    .addHelpText("after", "\nExample:\n  $ strata layer list --agent sovereign");
  declareList(layer, context);
  declareShow(layer, context);
  declareEdit(layer, context);
  declareHistory(layer, context);
  declareDiff(layer, context);
  declareActivate(layer, context);
  declareRollback(layer, context);
  declareProposals(layer, context);
  declareDecide(layer, context, "approve");
  declareDecide(layer, context, "reject");
}

function declareList(parent: Command, context: Context): void {
  ofAgent(parent.command("list"))
    .description("list all layers in the order of the prompt: which nobody may change, which were edited, and by whom")
    .addHelpText("after", "\nExample:\n  $ strata layer list")
    .action((options: OfAgent, command: Command) =>
      inSession(
        context,
        command,
        async ({ app, json }) => {
          const agent = chosenAgent(app, options.agent);
          const layers = await app.runtime.layers(app.operator, agent.name);
          if (json) context.json(layers);
          else context.say(...listLines(agent.name, layers, context.style));
        },
        RECORD,
      ),
    );
}

const COLUMNS = [
  { head: "layer" },
  { head: "rank", right: true },
  { head: "kind" },
  { head: "version", right: true },
  { head: "words of" },
  { head: "characters", right: true },
  { head: "proposals", right: true },
  { head: "source" },
] as const;

function listLines(agent: string, layers: readonly LayerView[], style: Style): readonly string[] {
  const [head = "", ...rows] = table(COLUMNS, layers.map(row));
  const stored = layers.filter(({ source, text }) => source === undefined && text !== undefined);
  const characters = stored.reduce((sum, one) => sum + (one.characters ?? 0), 0);
  const waiting = layers.reduce((sum, { proposals }) => sum + proposals, 0);
  const room = `${number(characters)} of ${count(TEXT_LIMITS.stored, "character")} that all texts of the prefix may have`;
  return [
    `${style.bold(agent)}, ${count(layers.length, "layer")} in the order of the prompt`,
    "",
    style.dim(head),
    ...rows,
    "",
    style.dim(room),
    ...(waiting === 0 ? [] : [style.yellow(`${count(waiting, "proposal")} waiting: \`strata layer proposals\``)]),
  ];
}

const row = ({
  id,
  rank,
  mutability,
  version,
  wordsOf,
  characters,
  proposals,
  source,
}: LayerView): readonly string[] => [
  id,
  number(rank),
  mutability,
  version === undefined ? "" : number(version),
  wordsOf,
  characters === undefined ? "" : number(characters),
  proposals === 0 ? "" : number(proposals),
  source ?? "",
];

function declareShow(parent: Command, context: Context): void {
  ofAgent(parent.command("show"))
    .description("show one layer: the text that is sent of it now, and whose words they are")
    .argument("<layer>", "the layer, by its id or its rank")
    .addHelpText("after", "\nExample:\n  $ strata layer show 6")
    .action((word: string, options: OfAgent, command: Command) =>
      inSession(
        context,
        command,
        async ({ app, json }) => {
          const shown = await layerView(app, word, options);
          if (json) context.json(shown);
          else context.say(...view(shown, context.style));
        },
        RECORD,
      ),
    );
}

/** @throws StrataError `text_not_found` */
export async function layerView(app: App, word: string, options: OfAgent): Promise<LayerView> {
  const agent = chosenAgent(app, options.agent);
  const id = layerNamed(agent, word);
  const layers = await app.runtime.layers(app.operator, agent.name);
  const found = layers.find((layer) => layer.id === id);
  if (found !== undefined) return found;
  const message = `${agent.name} has no layer ${JSON.stringify(word)}; \`strata layer list\` shows them`;
  throw new StrataError("text_not_found", message, { layer: word });
}

function view(layer: LayerView, style: Style): readonly string[] {
  const { id, rank, mutability, scope, version, wordsOf, characters, proposals, source, text } = layer;
  const made = version === undefined ? "" : version === 0 ? ", as declared" : `, version ${version}`;
  const size = characters === undefined ? "" : `, ${count(characters, "character")}`;
  const nothing =
    source === undefined || version !== undefined ? "It says nothing." : `Filled anew each turn: ${source}.`;
  return [
    `${style.bold(id)}, rank ${rank}, ${mutability}${made}`,
    `words of the ${wordsOf}, scope ${scope}${size}`,
    ...(proposals === 0 ? [] : [style.yellow(`${count(proposals, "proposal")} waiting: \`strata layer proposals\``)]),
    "",
    text === undefined ? style.dim(nothing) : printable(text),
  ];
}

function declareEdit(parent: Command, context: Context): void {
  texted(parent.command("edit"))
    .description("give a versioned layer another text, active from the next turn on; every version is kept")
    .argument("<layer>", "the layer, by its id or its rank")
    .option("--line <text>", "the line that stands for it where a mode shows its layer as one line")
    .addHelpText("after", '\nExample:\n  $ strata layer edit 6 --file loop.md --reason "shorter steps"')
    .action((word: string, options: Given, command: Command) =>
      inSession(
        context,
        command,
        async ({ app, json }) => {
          const { agent, key } = textAt(app, word, options);
          const text = textOf(context, options);
          const line = options.line === undefined ? {} : { line: options.line };
          const edit = { ...key, text, ...line, reason: why(options) };
          const version = await app.runtime.editText(app.operator, agent.name, edit);
          if (json) return context.json(version);
          const back = `\`strata layer rollback ${key.layer}${agentWords(app, agent)}\` takes it back.`;
          context.say(...editedLine(version, nameOf(key), back));
        },
        RECORD,
      ),
    );
}
