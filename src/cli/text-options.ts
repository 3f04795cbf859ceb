import type { Command } from "commander";
import type { App } from "../app.ts";
import { type Agent, type Layer, layerId, StrataError, type TextKey, untrusted } from "../protocol/index.ts";
import type { Context } from "./context.ts";
import { readInput } from "./files.ts";
import { chosenAgent } from "./session.ts";

/** Whose. */
export interface OfAgent {
  readonly agent?: string;
}

/** Which text of a layer, and why something is done with it. */
export interface Chosen extends OfAgent {
  readonly skill?: string;
  readonly reason: string;
}

/** A new text, typed or in a file. */
export interface Given extends OfAgent {
  readonly file?: string;
  readonly text?: string;
  readonly line?: string;
  readonly reason: string;
}

export const ofAgent = (command: Command): Command =>
  command.option("--agent <name>", "which agent (default: the first agent)");

/** What stands in the record where nobody says why. */
const NO_REASON = "no reason given";

export const reasoned = (command: Command): Command =>
  ofAgent(command).option("--reason <text>", "why, for the record", NO_REASON);

/** The same for layers that hold several texts. */
export const choosing = (command: Command): Command =>
  reasoned(command).option("--skill <name>", "which skill, where the layer holds skills");

/** The options of a command that takes a text. */
export const texted = (command: Command): Command =>
  reasoned(command)
    .option("--file <file>", "the file with the new text; this or --text")
    .option("--text <text>", "the new text itself");

/** @throws StrataError `invalid_input` for no text or two, `file_not_found` */
export function textOf({ terminal }: Context, { file, text }: Given): string {
  if (file !== undefined && text === undefined) return readInput(file, terminal.cwd).text;
  if (text !== undefined && file === undefined) return text;
  const what = text === undefined ? "no text was given" : "two texts were given";
  throw new StrataError("invalid_input", `${what}: name a file with --file, or write it behind --text`);
}

/** A layer by its id, or by its rank where that is the rank of one layer alone. @throws StrataError `invalid_id` */
export function layerNamed({ layers }: Agent, word: string): Layer["id"] {
  const id = layerId(word);
  if (layers.some((layer) => layer.id === id) || !/^\d+$/.test(word)) return id;
  const [first, ...more] = layers.filter(({ rank }) => rank === Number(word));
  return first !== undefined && more.length === 0 ? first.id : id;
}

/** The agent that is meant, and which of its texts. */
export function textAt(app: App, word: string, { agent, skill }: OfAgent & { readonly skill?: string }) {
  const chosen = chosenAgent(app, agent);
  const layer = layerNamed(chosen, word);
  const key: TextKey = skill === undefined ? { layer } : { layer, part: skill };
  return { agent: chosen, key };
}

export const why = ({ reason }: { readonly reason: string }) => untrusted(reason);

/** A text's name in a sentence. */
export const nameOf = ({ layer, part }: TextKey): string => part ?? layer;

/** How the next command names the agent: not at all where it is the first. */
export function agentWords(app: App, agent: Agent): string {
  return chosenAgent(app, undefined).name === agent.name ? "" : ` --agent ${agent.name}`;
}
