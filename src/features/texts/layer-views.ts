import {
  type ActiveTexts,
  type Agent,
  activeSkills,
  activeText,
  inPromptOrder,
  isBlock,
  isInPlace,
  type Layer,
  placeOf,
  type Source,
  skillsText,
  type TextVersion,
} from "../../protocol/index.ts";
import type { AgentAccess } from "../../turn/index.ts";
import type { LayerView, PassedOver } from "./api-types.ts";
import { keyOf } from "./check-text.ts";
import { activeTexts, layerOf } from "./editable-text.ts";

/** How a new declaration affects texts that were edited before it. Pure. */
export function passedOver(agent: Agent, active: readonly TextVersion[]): readonly PassedOver[] {
  return active.flatMap((version) => {
    if (isBlock(version)) return [];
    const state = passedOverState(agent, version);
    return state === undefined ? [] : [{ ...keyOf(version), n: version.n, state }];
  });
}

function passedOverState(agent: Agent, version: TextVersion): PassedOver["state"] | undefined {
  const layer = agent.layers.find(({ id }) => id === version.layer);
  if (layer === undefined || !isInPlace(layer, version)) return "displaced";
  return placeOf(agent, layer, version.part).declared === version.place.declared ? undefined : "outdated";
}

/** All layers of the agent in the order of the prompt, each with what is sent of it now. */
export async function layerViews(access: AgentAccess): Promise<readonly LayerView[]> {
  const layers = inPromptOrder(access.agent.layers);
  return layers.map(await lookOver(access));
}

/** One of them, by its id or its rank. @throws StrataError `text_not_found`, `invalid_input` for a rank of several */
export async function layerView(access: AgentAccess, word: Layer["id"]): Promise<LayerView> {
  const layer = layerOf(access.agent, word);
  const view = await lookOver(access);
  return view(layer);
}

/** Reads the edits once, for views of any layer. */
async function lookOver(access: AgentAccess): Promise<(layer: Layer) => LayerView> {
  const active = await activeTexts(access);
  const counts = await access.parts.store.proposalCounts(access.owner);
  return (layer) => {
    const waiting = counts.filter((one) => one.layer === layer.id);
    return toLayerView(access.agent, {
      layer,
      active,
      proposals: waiting.reduce((sum, { proposals }) => sum + proposals, 0),
    });
  };
}

interface Seen {
  readonly layer: Layer;
  readonly active: ActiveTexts;
  readonly proposals: number;
}

function toLayerView(agent: Agent, { layer, active, proposals }: Seen): LayerView {
  const { mutability, trust, source } = layer;
  const base = baseOf(agent, { layer, active, proposals });
  if (source.kind === "skills") {
    const skills = activeSkills(agent, layer, active);
    return { ...base, textTrust: trust, ...sized(skills.length === 0 ? undefined : skillsText(skills)) };
  }
  if (mutability !== "versioned") {
    return { ...base, textTrust: trust, ...sized(source.kind === "text" ? source.text : undefined) };
  }
  const { version, text, textTrust } = activeText(agent, { layer }, active);
  return { ...base, version: version ?? 0, textTrust, ...sized(text) };
}

function baseOf(agent: Agent, { layer, active, proposals }: Seen): Omit<LayerView, "textTrust"> {
  const { id, rank, mutability, editors, scope, trust } = layer;
  const source = sourceName(layer.source);
  const passed = passedOver(agent, active.versions).filter((one) => one.layer === id);
  return {
    id,
    rank,
    mutability,
    scope,
    trust,
    proposals,
    ...(editors !== undefined && { editors }),
    ...(source !== undefined && { source }),
    ...(passed.length > 0 && { passedOver: passed }),
  };
}

const sized = (text: string | undefined): Pick<LayerView, "text" | "characters"> =>
  text === undefined ? {} : { text, characters: text.length };

function sourceName(source: Source): string | undefined {
  if (source.kind === "text") return undefined;
  return source.kind === "own" ? source.name : source.kind;
}
