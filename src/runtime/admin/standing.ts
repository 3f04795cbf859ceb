import {
  type Agent,
  type Layer,
  StrataError,
  suggestion,
  type TextKey,
  type TextPointer,
  type TextVersion,
  type Trust,
  type Trusted,
} from "../../protocol/index.ts";
import type { Desk } from "./desk.ts";

/** A text that may be edited, as it stands now. */
export interface Standing {
  readonly key: TextKey;
  readonly layer: Layer;
  readonly kind: "layer" | "soul" | "skill";
  /** The active version, 0 for the declared text; null where nothing stands there. */
  readonly version: number | null;
  /** What stands there; of a skill that is disabled, nothing. */
  readonly text?: Trusted;
  readonly line?: Trusted;
  readonly wordsOf: Trust;
  /** Version 0; none where nothing is declared. */
  readonly declared?: Trusted;
}

/** What is active of an agent's texts. */
export interface ActiveTexts {
  readonly versions: readonly TextVersion[];
  readonly pointers: readonly TextPointer[];
}

export async function activeTexts({ parts: { store }, owner }: Desk): Promise<ActiveTexts> {
  const [versions, pointers] = await Promise.all([store.activeTexts(owner), store.textPointers(owner)]);
  return { versions, pointers };
}

/** @throws StrataError `text_not_found`, `text_refused` for a layer that nobody edits */
export async function standing(desk: Desk, key: TextKey): Promise<Standing> {
  const layer = editable(desk.agent, key);
  return standingIn(desk.agent, { layer, key }, await activeTexts(desk));
}

/** The same where it is known what is active. */
export function standingIn(
  agent: Agent,
  { layer, key }: { readonly layer: Layer; readonly key: TextKey },
  { versions, pointers }: ActiveTexts,
): Standing {
  const kind = kindOf(layer);
  const declared = declaredText(agent, layer, key.part);
  const base = { key, layer, kind, ...(declared !== undefined && { declared }) };
  const found = versions.find((one) => isOf(one, key));
  if (found !== undefined) {
    const { n, text, line, trust } = found;
    return { ...base, version: n, text, wordsOf: trust, ...(line !== undefined && { line }) };
  }
  const pointer = pointers.find((one) => isOf(one, key));
  const stands = pointer === undefined ? standsAtFirst(agent, key) : pointer.stands === 0;
  if (!stands || declared === undefined) return { ...base, version: null, wordsOf: layer.trust };
  return { ...base, version: 0, text: declared, wordsOf: layer.trust, ...(layer.line && { line: layer.line }) };
}

export const isOf = (one: TextKey, key: TextKey): boolean => one.layer === key.layer && one.part === key.part;

/** What kind of text an editable layer holds. */
function kindOf({ source }: Layer): Standing["kind"] {
  if (source.kind === "soul") return "soul";
  return source.kind === "skills" ? "skill" : "layer";
}

/** Whether its declared text is active before anybody has moved the pointer. */
export function standsAtFirst({ skills = [] }: Agent, { part }: TextKey): boolean {
  return part === undefined || skills.some(({ name, enabled }) => name === part && enabled);
}

function declaredText(agent: Agent, { source }: Layer, part: string | undefined): Trusted | undefined {
  if (source.kind === "soul") return agent.soul;
  if (source.kind === "skills") return agent.skills?.find(({ name }) => name === part)?.text;
  return source.kind === "text" ? source.text : undefined;
}

/** The layer of a text that an operator may change. */
function editable(agent: Agent, { layer: id, part }: TextKey): Layer {
  const layer = layerOf(agent, id);
  if (layer.mutability !== "versioned") {
    const why =
      layer.mutability === "immutable"
        ? "is immutable: only another release of its text and a new lock change it"
        : "is filled anew each turn, and nobody edits it";
    throw new StrataError("text_refused", `the layer ${id} of ${agent.name} ${why}`, { layer: id });
  }
  checkPart(agent, layer, part);
  return layer;
}

/** Only a layer of skills has parts, and it has nothing else. @throws StrataError `text_not_found` */
export function checkPart(agent: Agent, layer: Layer, part: string | undefined): void {
  if ((kindOf(layer) === "skill") === (part !== undefined)) return;
  const next =
    part === undefined ? "name the skill that you mean" : "name the layer alone; `strata layer list` shows them";
  const message = `the layer ${layer.id} of ${agent.name} holds ${part === undefined ? "skills" : "no skills"}: ${next}`;
  throw new StrataError("text_not_found", message, { layer: layer.id, ...(part !== undefined && { part }) });
}

/** @throws StrataError `text_not_found` */
export function layerOf(agent: Agent, id: Layer["id"]): Layer {
  const layer = agent.layers.find((one) => one.id === id);
  if (layer !== undefined) return layer;
  const near = suggestion(
    id,
    agent.layers.map((one) => one.id),
  );
  throw new StrataError("text_not_found", `${agent.name} has no layer ${JSON.stringify(id)}${near}`, { layer: id });
}

/** The layer that holds the agent's skills. @throws StrataError `text_not_found` */
export function skillsLayer(agent: Agent): Layer {
  const layer = agent.layers.find(({ source }) => source.kind === "skills");
  if (layer !== undefined) return layer;
  const message = `${agent.name} has no skills: no layer of it in strata.yaml says \`source: skills\``;
  throw new StrataError("text_not_found", message, { agent: agent.name });
}
