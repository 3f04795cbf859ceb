import {
  type ActiveText,
  type ActiveTexts,
  type Agent,
  activeText,
  BLOCKS,
  idsOf,
  type Layer,
  layersNamed,
  layerWith,
  StrataError,
  suggestion,
  type TextKey,
} from "../../protocol/index.ts";
import type { AgentAccess } from "../../turn/index.ts";

/** An editable text in its present state. */
export interface EditableText extends ActiveText {
  readonly key: TextKey;
  readonly layer: Layer;
  readonly kind: "layer" | "soul" | "skill";
}

export async function activeTexts({ parts: { store }, owner }: AgentAccess): Promise<ActiveTexts> {
  const [versions, pointers] = await Promise.all([store.activeTexts(owner), store.textPointers(owner)]);
  return { versions, pointers };
}

/** @throws StrataError `text_not_found`, `text_refused` for a layer that is not editable */
export async function editableText(access: AgentAccess, key: TextKey): Promise<EditableText> {
  const layer = editableLayer(access.agent, key);
  const now = activeText(access.agent, { layer, part: key.part }, await activeTexts(access));
  return { ...now, key, layer, kind: kindOf(layer) };
}

/** Whether operators may change the text, as its layer is declared now. */
export const isEditable = ({ layers }: Agent, { layer: id, part }: TextKey): boolean =>
  layers.some(
    (one) => one.id === id && one.mutability === "versioned" && one.source.kind !== "files" && isPart(one, part),
  );

/** What kind of text an editable layer holds. */
function kindOf({ source }: Layer): EditableText["kind"] {
  if (source.kind === "soul") return "soul";
  return source.kind === "skills" ? "skill" : "layer";
}

/** The layer of a text that an operator may change. */
function editableLayer(agent: Agent, { layer: id, part }: TextKey): Layer {
  const layer = layerOf(agent, id);
  if (layer.mutability !== "versioned") {
    const why =
      layer.mutability === "immutable"
        ? "is immutable: it changes only with a new text in its file and a new lock"
        : "is filled in each turn, so it cannot be edited";
    throw new StrataError("text_refused", `the layer ${id} of ${agent.name} ${why}`, { layer: id });
  }
  if (layer.source.kind === "files") {
    const next = "edit the files themselves; `strata file list` names them";
    throw new StrataError("text_refused", `the layer ${id} of ${agent.name} is filled from files: ${next}`, {
      layer: id,
    });
  }
  checkPart(agent, layer, part);
  return layer;
}

const isPart = (layer: Layer, part: string | undefined): boolean =>
  (kindOf(layer) === "skill") === (part !== undefined);

/** Only a layer of skills has parts, and it has nothing else. @throws StrataError `text_not_found` */
export function checkPart(agent: Agent, layer: Layer, part: string | undefined): void {
  if (isPart(layer, part)) return;
  const next = part === undefined ? "name the skill, with `--skill NAME` or as `skill`" : "name only the layer";
  const message = `the layer ${layer.id} of ${agent.name} holds ${part === undefined ? "skills" : "no skills"}: ${next}`;
  throw new StrataError("text_not_found", message, { layer: layer.id, ...(part !== undefined && { part }) });
}

/**
 * Resolves the text to its layer's id: an operator may name a layer by its rank if no other shares it. The name of a layer that is no
 * longer declared is unchanged: its proposals may still be rejected.
 * @throws StrataError `invalid_input` for a rank of several layers
 */
export function textNamed<K extends TextKey>(agent: Agent, key: K): K {
  const [layer] = layersMeant(agent, key.layer);
  return layer === undefined ? key : { ...key, layer: layer.id };
}

/** One at most. @throws StrataError `invalid_input` for a rank of several layers */
function layersMeant({ name, layers }: Agent, word: string): readonly Layer[] {
  const found = layersNamed(layers, word);
  if (found.length < 2) return found;
  const message = `${word} is the rank of several layers of ${name}: ${idsOf(found)}; name one by its id`;
  throw new StrataError("invalid_input", message, { agent: name, layer: word });
}

/** By its id, or by its rank if no other layer shares it. @throws StrataError `text_not_found`, `invalid_input` */
export function layerOf(agent: Agent, id: Layer["id"]): Layer {
  const [layer] = layersMeant(agent, id);
  if (layer !== undefined) return layer;
  if (id === BLOCKS) {
    const sentence = `memory blocks stand in no layer of ${agent.name}: use \`strata block\` or \`/v1/agents/${agent.name}/blocks\``;
    throw new StrataError("text_not_found", sentence, { layer: id });
  }
  const near = suggestion(
    id,
    agent.layers.map((one) => one.id),
  );
  throw new StrataError("text_not_found", `${agent.name} has no layer ${JSON.stringify(id)}${near}`, { layer: id });
}

/** The layer that holds the agent's skills. @throws StrataError `text_not_found` */
export const skillsLayer = (agent: Agent): Layer => layerWith(agent, "skills");
