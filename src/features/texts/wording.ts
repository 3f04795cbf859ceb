/** The sentences about edits of an agent's own prompt that a model reads. `tests/house/golden/wording.txt` lists them all. */
import { flagged } from "../../guard/index.ts";

export const notChanged = (because: string): string => `Not changed: ${because}`;
export const notDeclared = (agent: string): string => `${agent} is no longer declared.`;
/** `layer` is its number and name, `known` the last sentence of these. */
export const namesNoLayer = (value: string, known: string): string =>
  `"layer_id" is ${value} and names no layer. ${known}`;
export const noSuchLayer = (value: string, known: string): string => `there is no layer ${value}. ${known}`;
export const sharedRank = (rank: string, layers: string, known: string): string =>
  `${rank} is the rank of several layers: ${layers}. ${known}`;
export const notEditable = (layer: string, because: keyof typeof NOT_EDITABLE, known: string): string =>
  `layer ${layer} ${NOT_EDITABLE[because]}. ${known}`;
const NOT_EDITABLE = {
  immutable: "is immutable and cannot change at run time",
  live: "is filled again each turn",
  versioned: "is changed by operators only",
} as const;
export const editable = (layers: readonly string[]): string =>
  layers.length === 0 ? "No layer can be changed." : `Those that can be changed: ${layers.join(", ")}.`;

export const refused = (layer: string, problem: string): string =>
  `the text for layer ${layer} was refused: ${problem}.`;
export const unchanged = (layer: string): string => `layer ${layer} already has this text.`;

export const willChange = (layer: string, characters: number, left: number): string =>
  `Layer ${layer} changes when this turn ends; if another edit lands first, yours becomes a proposal to your operator. It has ${characters} characters, and all texts of the prefix together have ${left} left.`;
export const proposed = (layer: string, because: string): string =>
  `Proposed, not changed: layer ${layer} stays as it is until an operator approves the new text, because ${because}.`;
export const taintedBy = (trust: string): string => `this turn has read text of a ${trust}`;
export const flaggedByGuard = (findings: readonly string[]): string => flagged(findings);

/** In the tail, of each proposal that nobody has decided about. */
export const proposalWaits = (layer: string, version: number): string =>
  `your version ${version} of layer ${layer} is waiting for your operator`;
