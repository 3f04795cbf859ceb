import type { Command } from "commander";
import type { App } from "../../app.ts";
import { layerId, TEXT_LIMITS } from "../../protocol/index.ts";
import { proposalsLine } from "../agent/attention.ts";
import type { Context } from "../shell/context.ts";
import { agentWords, type OfAgent, ofAgent, onAgent, shortTerms } from "../shell/on-agent.ts";
import { count, number, printable, type Style } from "../shell/style.ts";
import { table } from "../shell/table.ts";
import { type Given, keyOf, LAYER, nameOf, type OfText, skilled, texted, textOf, why } from "../shell/text-options.ts";
import { editedLine } from "../shell/text-view.ts";
import { declareDecide, declareProposals } from "./layer-proposals.ts";
import { declareActivate, declareDiff, declareHistory, declareRollback } from "./layer-versions.ts";

type LayerView = Awaited<ReturnType<App["runtime"]["layers"]>>[number];

/** `strata layer …`: what an agent is told, and what of it was edited. */
export function declareLayer(program: Command, context: Context): void {
  const layer = program
    .command("layer")
    .description(
      "list and show an agent's layers; edit those that may be, look at their versions, decide about proposals",
    )
    .addHelpText("after", "\nExample:\n  $ strata layer list sovereign");
  shortTerms(layer);
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
    .action((named: string | undefined, options: OfAgent, command: Command) =>
      onAgent(context, { command, named, options }, async ({ app, agent }) => {
        const layers = await app.runtime.layers(app.operator, agent.name);
        const [attention] = await app.runtime.attention(app.operator, agent.name);
        const passed = passedLines(attention?.passedOver ?? [], agentWords(app, agent), context.style);
        return { json: layers, lines: [...listLines(agent.name, layers, context.style), ...passed] };
      }),
    );
}

/** Edited texts that the declaration has passed over, also of layers that are declared no more, each with the next step. */
function passedLines(passed: NonNullable<LayerView["passedOver"]>, agent: string, style: Style): readonly string[] {
  return passed.map(({ layer, part, n, state }) => {
    const [name, skill] = part === undefined ? [layer, ""] : [`${layer}/${part}`, ` --skill ${part}`];
    const says =
      state === "displaced"
        ? `is displaced and not sent; \`strata layer rollback ${layer}${skill}${agent}\` puts it away`
        : `is sent and outdated; \`strata layer diff ${layer} 0 ${n}${skill}${agent}\` compares`;
    return style.yellow(`${name}: version ${n} ${says}`);
  });
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
  const stored = layers.filter(({ source, text }) => source === undefined && text !== undefined);
  const characters = stored.reduce((sum, one) => sum + (one.characters ?? 0), 0);
  const waiting = layers.reduce((sum, { proposals }) => sum + proposals, 0);
  const room = roomLine(characters, layers);
  return [
    `${style.bold(agent)}, ${count(layers.length, "layer")} in the order of the prompt`,
    "",
    ...table(COLUMNS, layers.map(row), style),
    "",
    characters > TEXT_LIMITS.stored && isEdited(layers) ? style.yellow(room) : style.dim(room),
    ...(waiting === 0 ? [] : [style.yellow(proposalsLine(waiting, agent))]),
  ];
}

const isEdited = (layers: readonly LayerView[]): boolean =>
  layers.some(({ mutability, source }) => mutability === "versioned" && source === undefined);

/** Where nobody may edit a text, they may have as many as they are declared with. */
function roomLine(characters: number, layers: readonly LayerView[]): string {
  if (!isEdited(layers)) return `${count(characters, "character")} in all texts of the prefix`;
  const room = `${number(characters)} of ${count(TEXT_LIMITS.stored, "character")} that all texts of the prefix may have`;
  return characters <= TEXT_LIMITS.stored ? room : `${room}: an edit may not make them more`;
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
  ofAgent(parent.command("show").argument(...LAYER))
    .description("show one layer: the text that is sent of it now, and whose words they are")
    .addHelpText("after", "\nExample:\n  $ strata layer show 6")
    .action((word: string, named: string | undefined, options: OfAgent, command: Command) =>
      onAgent(context, { command, named, options }, async ({ app, agent }) => {
        const layer = await app.runtime.layer(app.operator, agent.name, layerId(word));
        const passed = passedLines(layer.passedOver ?? [], agentWords(app, agent), context.style);
        return { json: layer, lines: view(agent.name, layer, { passed, style: context.style }) };
      }),
    );
}

interface Around {
  /** What is told of edits that the declaration has passed over. */
  readonly passed: readonly string[];
  readonly style: Style;
}

function view(agent: string, layer: LayerView, { passed, style }: Around): readonly string[] {
  const { id, rank, mutability, scope, version, wordsOf, characters, proposals, source, text } = layer;
  const made = version === undefined ? "" : version === 0 ? ", as declared" : `, version ${version}`;
  const size = characters === undefined ? "" : `, ${count(characters, "character")}`;
  const nothing =
    source === undefined || version !== undefined ? "It says nothing." : `Filled anew each turn: ${source}.`;
  return [
    `${style.bold(id)}, rank ${rank}, ${mutability}${made}`,
    `words of the ${wordsOf}, scope ${scope}${size}`,
    ...(proposals === 0 ? [] : [style.yellow(proposalsLine(proposals, agent))]),
    ...passed,
    "",
    text === undefined ? style.dim(nothing) : printable(text),
  ];
}

type Editing = Given & OfText;

function declareEdit(parent: Command, context: Context): void {
  skilled(texted(parent.command("edit").argument(...LAYER)))
    .description("give a versioned layer another text, active from the next turn on; every version is kept")
    .option("--line <text>", "the line that stands for it where a mode shows its layer as one line")
    .addHelpText("after", '\nExample:\n  $ strata layer edit 6 --file loop.md --reason "shorter steps"')
    .action((word: string, named: string | undefined, options: Editing, command: Command) => {
      const line = options.line === undefined ? {} : { line: options.line };
      const edit = { ...keyOf(word, options), text: textOf(context, options), ...line, reason: why(options) };
      return onAgent(context, { command, named, options }, async ({ app, agent }) => {
        const version = await app.runtime.editText(app.operator, agent.name, edit);
        const skill = version.part === undefined ? "" : ` --skill ${version.part}`;
        const back = `\`strata layer rollback ${version.layer}${skill}${agentWords(app, agent)}\` takes it back.`;
        return { json: version, lines: editedLine(version, { name: nameOf(version), back, style: context.style }) };
      });
    });
}
