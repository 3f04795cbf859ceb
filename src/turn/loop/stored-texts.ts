import {
  type ActiveTexts,
  type Agent,
  activeSkills,
  activeText,
  asStrataError,
  type Layer,
  type LayerContent,
  type LayerId,
  lowestTrust,
  skillsText,
} from "../../protocol/index.ts";
import type { Parts } from "../parts.ts";
import { type GatherContext, gather, type StoredSources } from "../sources/index.ts";

/** The texts of the prefix as they are now, by layer, and a note if they could not be read. */
export interface StoredTexts {
  readonly contents: ReadonlyMap<LayerId, LayerContent>;
  readonly notes: readonly { readonly layer: LayerId; readonly message: string }[];
  /** When the newest of them was written. */
  readonly since?: number;
  /** The edited texts; undefined if they could not be read, or no text may be edited. */
  readonly active?: ActiveTexts;
}

/** The same if nothing was ever edited. */
export const declaredTexts = (agent: Agent): StoredTexts["contents"] =>
  contentsOf(agent, editable(agent), { versions: [], pointers: [] });

const editable = ({ layers }: Agent): readonly Layer[] =>
  layers.filter(({ scope, mutability }) => scope !== "turn" && mutability === "versioned");

interface TextsOptions {
  /** Whether an epoch is running. It continues unchanged if its texts cannot be read. */
  readonly isRunning: boolean;
}

/**
 * Reads which texts of the agent are active: of its versioned layers, its soul and its skills. The store is asked once a turn, and not at
 * all for an agent without such layers. If it fails, the declared texts are sent, without skills, because one may have been disabled, and a
 * running epoch stays unchanged (law 13).
 */
export async function storedTexts(
  { store }: Pick<Parts, "store">,
  agent: Agent,
  { isRunning }: TextsOptions,
): Promise<StoredTexts> {
  const layers = editable(agent);
  const [first] = layers;
  if (first === undefined) return { contents: new Map(), notes: [] };
  const owner = { org: agent.org, agent: agent.name };
  const hasSkills = layers.some(({ source }) => source.kind === "skills");
  try {
    const [versions, pointers] = await Promise.all([
      store.activeTexts(owner),
      hasSkills ? store.textPointers(owner) : [],
    ]);
    const contents = contentsOf(agent, layers, { versions, pointers });
    // Texts of none of its layers, as memory blocks are, change no request.
    const sent = versions.filter(({ layer }) => layers.some(({ id }) => id === layer));
    const since = sent.reduce((last, { at }) => Math.max(last, at), 0);
    return { contents, notes: [], active: { versions, pointers }, ...(since > 0 && { since }) };
  } catch (thrown) {
    const message = `which texts are active could not be read, so the declared ones stand${hasSkills ? ", and no skill" : ""}: ${asStrataError(thrown).message}`;
    const contents = isRunning ? new Map() : withoutSkills(agent, layers);
    return { contents, notes: [{ layer: first.id, message }] };
  }
}

/**
 * The same with the layers of the prefix that features fill. They have the same deadline as sources of live layers; one that fails or is
 * late leaves its layer empty and a running epoch unchanged (law 13).
 */
export async function withStored(
  agent: Agent,
  texts: StoredTexts,
  { stored, isRunning, context }: TextsOptions & { readonly stored: StoredSources; readonly context: GatherContext },
): Promise<StoredTexts> {
  const layers = editable(agent).filter(({ source }) => stored[source.kind] !== undefined);
  if (layers.length === 0) return texts;
  const { contents, notes } = await gather(agent, layers, { ...context, live: stored });
  const failed = new Set(notes.map(({ layer }) => layer));
  const given = [...texts.contents, ...contents].filter(([layer]) => !(isRunning && failed.has(layer)));
  return { ...texts, contents: new Map(given), notes: [...texts.notes, ...notes] };
}

function withoutSkills(agent: Agent, layers: readonly Layer[]): StoredTexts["contents"] {
  const none: LayerContent = { kind: "empty", because: "which skills are enabled could not be read" };
  const skills = layers.filter(({ source }) => source.kind === "skills");
  return new Map([...declaredTexts(agent), ...skills.map(({ id }) => [id, none] as const)]);
}

const contentsOf = (agent: Agent, layers: readonly Layer[], active: ActiveTexts): StoredTexts["contents"] =>
  new Map(layers.map((layer) => [layer.id, storedContent(agent, layer, active)]));

function storedContent(agent: Agent, layer: Layer, active: ActiveTexts): LayerContent {
  if (layer.source.kind === "skills") return skillsOf(agent, layer, active);
  const { version, text, textTrust: trust, line } = activeText(agent, { layer }, active);
  if (version === null || text === undefined) return { kind: "empty", because: "nothing is declared" };
  if (version === 0) return { kind: "text", text };
  return { kind: "text", text, trust, version, ...(line !== undefined && { line }) };
}

function skillsOf(agent: Agent, layer: Layer, active: ActiveTexts): LayerContent {
  const skills = activeSkills(agent, layer, active);
  if (skills.length === 0) return { kind: "empty", because: "no skill is enabled" };
  return { kind: "text", text: skillsText(skills), trust: lowestTrust(skills.map(({ textTrust }) => textTrust)) };
}
