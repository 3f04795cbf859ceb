import type { Command } from "commander";
import { layerId, StrataError, type TextKey, untrusted } from "../../protocol/index.ts";
import type { Context } from "./context.ts";
import { readInput } from "./files.ts";
import { type OfAgent, ofAgent } from "./on-agent.ts";

/** Whose, and why something is done. */
export interface Reasoned extends OfAgent {
  readonly reason: string;
}

/** Which text of a layer. */
export interface OfText extends OfAgent {
  readonly skill?: string;
}

/** Which text of a layer, and why something is done with it. */
export interface Chosen extends OfText, Reasoned {}

/** A new text, typed or in a file. */
export interface Given extends Reasoned {
  readonly file?: string;
  readonly text?: string;
  readonly line?: string;
}

/** The argument that names a layer. */
export const LAYER = ["<layer>", "the layer, by its id or its rank"] as const;

/** What stands in the record where nobody says why. */
const NO_REASON = "no reason given";

export const reasoned = (command: Command): Command =>
  ofAgent(command).option("--reason <text>", "why, for the record", NO_REASON);

/** Layers that hold several texts say which. */
export const skilled = (command: Command): Command =>
  command.option("--skill <name>", "which skill, where the layer holds skills");

export const ofText = (command: Command): Command => skilled(ofAgent(command));
export const choosing = (command: Command): Command => skilled(reasoned(command));

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

/** Which text is meant; the runtime knows a layer by its id or its rank. @throws StrataError `invalid_id` */
export function keyOf(word: string, { skill }: Pick<OfText, "skill"> = {}): TextKey {
  const layer = layerId(word);
  return skill === undefined ? { layer } : { layer, part: skill };
}

export const why = ({ reason }: Reasoned) => untrusted(reason);

/** A text's name in a sentence. */
export const nameOf = ({ layer, part }: TextKey): string => part ?? layer;
