import type { Agent } from "./agent.ts";
import { digestOf } from "./json.ts";
import type { Layer } from "./layer.ts";
import type { TextKey, TextPlace, TextPointer, TextVersion } from "./text-version.ts";
import { type Trust, type Trusted, trusted } from "./trust.ts";

/** Which versions of an agent's texts are active, as read from the store. */
export interface ActiveTexts {
  readonly versions: readonly TextVersion[];
  readonly pointers: readonly TextPointer[];
}

/** A text as it is sent. */
export interface ActiveText {
  /** The version that is sent, 0 for the declared text; null if nothing is sent. */
  readonly version: number | null;
  /** Where its pointer is. Differs from the version that is sent if that was written for another place. */
  readonly stands: number | null;
  readonly text?: Trusted;
  readonly line?: Trusted;
  readonly textTrust: Trust;
  /** Version 0; missing if no text is declared. */
  readonly declared?: Trusted;
}

/** The current text of an editable layer or of a part of one: the active version, the declared text, or none. Pure. */
export function activeText(
  agent: Agent,
  { layer, part }: { readonly layer: Layer; readonly part?: string | undefined },
  { versions, pointers }: ActiveTexts,
): ActiveText {
  const isIt = (one: TextKey): boolean => one.layer === layer.id && one.part === part;
  const declared = declaredText(agent, layer, part);
  const found = versions.find(isIt);
  const pointer = pointers.find(isIt);
  const stands = found?.n ?? (pointer === undefined ? 0 : pointer.stands);
  const base = { stands, textTrust: layer.trust, ...(declared !== undefined && { declared }) };
  if (found !== undefined && isInPlace(layer, found)) {
    const { n, text, line, trust } = found;
    return { ...base, version: n, text, textTrust: trust, ...(line !== undefined && { line }) };
  }
  // A version written for another place leaves this one's declared text in use, and so does one written between two reads of the store.
  const isDeclared = pointer?.stands === 0 || (pointer?.stands !== null && standsAtFirst(agent, part));
  if (!isDeclared || declared === undefined) return { ...base, version: null };
  return { ...base, version: 0, text: declared, ...(layer.line && { line: layer.line }) };
}

/** A skill that is sent. */
export interface ActiveSkill {
  readonly name: string;
  readonly text: Trusted;
  /** 0 for the text that is declared or in a folder. */
  readonly version: number;
  readonly textTrust: Trust;
}

/** The enabled skills, by name: declared ones that were neither changed nor disabled, and those that operators wrote. Pure. */
export function activeSkills(agent: Agent, layer: Layer, active: ActiveTexts): readonly ActiveSkill[] {
  return skillNames(agent, layer, active).flatMap((name) => {
    const { text, version, textTrust } = activeText(agent, { layer, part: name }, active);
    return text === undefined ? [] : [{ name, text, version: version ?? 0, textTrust }];
  });
}

/** The names of all skills that are declared or were ever edited. */
export function skillNames(
  { skills = [] }: Agent,
  layer: Layer,
  { versions, pointers }: ActiveTexts,
): readonly string[] {
  const known: readonly TextKey[] = [...versions, ...pointers];
  const parts = known.flatMap(({ layer: id, part }) => (id === layer.id && part !== undefined ? [part] : []));
  return [...new Set([...skills.map(({ name }) => name), ...parts])].sort();
}

/** Skills as the prompt shows them: each is one list item, with all further lines of its text indented. */
export function skillsText(skills: readonly ActiveSkill[]): Trusted {
  // Each of them was trusted before; their names are slugs.
  return trusted(skills.map(({ name, text }) => `- ${name}: ${setIn(text.trim())}`).join("\n"));
}

const setIn = (text: string): string => text.split(LINE_END).join("\n  ").replace(/^ +$/gmu, "");

/** Any kind of line end. */
const LINE_END = /\r\n|[\n\v\f\r\u0085\u2028\u2029]/u;

/** What `strata.yaml` declares for it. */
export function declaredText(agent: Agent, { source }: Layer, part: string | undefined): Trusted | undefined {
  if (source.kind === "soul") return agent.soul;
  if (source.kind === "skills") return agent.skills?.find(({ name }) => name === part)?.text;
  return source.kind === "text" ? source.text : undefined;
}

/** Whether the declared text is active until the pointer is first moved. */
export function standsAtFirst({ skills = [] }: Agent, part: string | undefined): boolean {
  return part === undefined || skills.some(({ name, enabled }) => name === part && enabled);
}

/** The place of a new text. */
export function placeOf(agent: Agent, layer: Layer, part: string | undefined): TextPlace {
  const declared = declaredText(agent, layer, part);
  return {
    rank: layer.rank,
    source: layer.source.kind,
    ...(declared !== undefined && { declared: digestOf(declared) }),
  };
}

/**
 * Whether a text was written for the current rank and kind of its layer, and the layer may still be edited: a matching id alone
 * is not enough (law 2).
 */
export function isInPlace({ mutability, rank, source }: Layer, { place }: Pick<TextVersion, "place">): boolean {
  return mutability === "versioned" && place.rank === rank && place.source === source.kind;
}

/** The versions that are sent: those written for the current place of their layer. */
export function inPlace<V extends Pick<TextVersion, "layer" | "place">>(
  layers: readonly Layer[],
  versions: readonly V[],
): readonly V[] {
  return versions.filter((one) => layers.some((layer) => layer.id === one.layer && isInPlace(layer, one)));
}
