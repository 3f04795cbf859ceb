import { type ActiveTexts, activeText, inPromptOrder, type Layer, never, type Source } from "../../protocol/index.ts";
import type { LayerView, SkillView } from "../agent-doors.ts";
import type { Desk } from "./desk.ts";
import { activeTexts, layerOf } from "./editable-text.ts";
import { skillsOf } from "./skills.ts";

/** All layers of the agent in the order of the prompt, each with what is sent of it now. */
export async function layerViews(desk: Desk): Promise<readonly LayerView[]> {
  const layers = inPromptOrder(desk.agent.layers);
  return Promise.all(layers.map(await lookOver(desk)));
}

/** One of them, by its id or its rank. @throws StrataError `text_not_found`, `invalid_input` for a rank of several */
export async function layerView(desk: Desk, word: Layer["id"]): Promise<LayerView> {
  const layer = layerOf(desk.agent, word);
  const view = await lookOver(desk);
  return view(layer);
}

/** Reads once what was edited, for a look at any layer. */
async function lookOver(desk: Desk): Promise<(layer: Layer) => Promise<LayerView>> {
  const active = await activeTexts(desk);
  const counts = await desk.parts.store.proposalCounts(desk.owner);
  return (layer) => {
    const waiting = counts.filter((one) => one.layer === layer.id);
    return viewOf(desk, { layer, active, proposals: waiting.reduce((sum, { proposals }) => sum + proposals, 0) });
  };
}

interface Seen {
  readonly layer: Layer;
  readonly active: ActiveTexts;
  readonly proposals: number;
}

async function viewOf(desk: Desk, { layer, active, proposals }: Seen): Promise<LayerView> {
  const { id, rank, mutability, scope, trust, source } = layer;
  const named = sourceName(source);
  const base = { id, rank, mutability, scope, trust, proposals, ...(named !== undefined && { source: named }) };
  if (source.kind === "skills") {
    return { ...base, wordsOf: trust, ...sized(skillsText(await skillsOf(desk, layer))) };
  }
  if (mutability !== "versioned") {
    return { ...base, wordsOf: trust, ...sized(source.kind === "text" ? source.text : undefined) };
  }
  const { version, text, wordsOf } = activeText(desk.agent, { layer }, active);
  return { ...base, version: version ?? 0, wordsOf, ...sized(text) };
}

const sized = (text: string | undefined): Pick<LayerView, "text" | "characters"> =>
  text === undefined ? {} : { text, characters: text.length };

/** What stands in the prompt of them, line by line. */
function skillsText(skills: readonly SkillView[]): string | undefined {
  const enabled = skills.filter((skill) => skill.enabled);
  return enabled.length === 0 ? undefined : enabled.map(({ name, text }) => `- ${name}: ${text}`).join("\n");
}

function sourceName(source: Source): string | undefined {
  switch (source.kind) {
    case "text":
      return undefined;
    case "own":
      return source.name;
    case "clock":
    case "recall":
    case "soul":
    case "skills":
    case "vitals":
    case "obligations":
    case "conversation":
    case "recent":
    case "allowance":
      return source.kind;
    default:
      return never(source);
  }
}
