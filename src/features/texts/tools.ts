import { z } from "zod";
import { checkNewText, type PrefixSize, prefixSize } from "../../guard/index.ts";
import {
  type Agent,
  activeText,
  idsOf,
  type Layer,
  layersNamed,
  lowestTrust,
  type NewText,
  placeOf,
  TEXT_LIMITS,
  type TextLimits,
  type TextVerdict,
  type TextVersion,
  type Tool,
  type ToolContext,
  type ToolOutcome,
  type ToolReader,
  type ToolSchema,
  type Trust,
  USUAL_TEXT_LIMITS,
  untrusted,
} from "../../protocol/index.ts";
import { type AgentOwner, EDIT_TEXT, type Store } from "../../store/index.ts";
import { answered, defineTool, refused, shown } from "../../turn/tools/index.ts";
import { textLimitsOf } from "./config.ts";
import {
  editable,
  flaggedByGuard,
  namesNoLayer,
  noSuchLayer,
  notChanged,
  notDeclared,
  notEditable,
  proposalWaits,
  proposed,
  sharedRank,
  taintedBy,
  refused as textRefused,
  unchanged,
  willChange,
} from "./wording.ts";

/** What is needed to check a text before it changes. */
interface Texts {
  readonly store: Pick<Store, "activeTexts" | "proposals">;
  /** The agent as declared now. */
  readonly agentOf: (owner: AgentOwner) => Agent | undefined;
}

/** The tool by which an agent changes a layer of its own prompt. */
export function promptTools(texts: Texts): readonly Tool[] {
  return [updatePromptLayer(texts)];
}

function updatePromptLayer(texts: Texts): Tool {
  // Whatever it names, the answer says which layers there are.
  const tool = editTool(texts, z.unknown().optional(), USUAL_TEXT_LIMITS);
  const schemaFor = ({ layers, ...rest }: ToolReader): ToolSchema =>
    editTool(texts, layerIdOf(layers), textLimitsOf(rest)).schema;
  return { ...tool, schema: schemaFor({ layers: [] }), schemaFor, waiting: (agent) => proposalsOf(texts, agent) };
}

/** At most this many waiting texts are listed: agents rarely have more editable layers. */
const MOST_WAITING = 20;

/** The agent's own proposals that are still undecided. */
async function proposalsOf(
  { store }: Texts,
  { org, name, layers }: Pick<Agent, "org" | "name" | "layers">,
): Promise<readonly string[]> {
  const waiting = await store.proposals({ org, agent: name }, { own: true, limit: MOST_WAITING });
  return waiting.flatMap(({ layer: id, n }) => {
    const layer = layers.find((one) => one.id === id);
    return layer ? [proposalWaits(rankedName(layer), n)] : [];
  });
}

/** What names a layer that may be changed: numbers have bounds and no list, which not all providers take of numbers. */
function layerIdOf(layers: readonly Layer[]): z.ZodType {
  const editable = layers.filter(isEditable).toSorted((one, other) => one.rank - other.rank);
  const [first] = editable;
  const last = editable.at(-1);
  if (first === undefined || last === undefined)
    return z.union([z.int(), z.string().min(1).max(64)]).describe("The layer's number or name.");
  return z
    .union([z.int().min(first.rank).max(last.rank), z.enum(editable.map(({ id }) => id))])
    .describe(`The layer's number or name: ${editable.map(rankedName).join(", ")}.`);
}

function editTool(texts: Texts, layerId: z.ZodType, most: TextLimits): Tool {
  return defineTool({
    name: "update_prompt_layer",
    description:
      "Replaces the whole text of one of your versioned layers, from the next turn on. No other layer can be changed, and no " +
      "text may weaken the layers above it. At most once per turn. If the turn has a contact's text, it becomes a proposal to your operator.",
    input: z.object({
      layer_id: layerId,
      content: z
        .string()
        .describe(
          `Its complete new text: at most ${most.layer} characters, and ${most.total} together with all other layers.`,
        ),
      line: z
        .string()
        .optional()
        .describe(
          `One line that replaces it when the prompt must be short, at most ${TEXT_LIMITS.line} characters. Left out, the reviewed line stays.`,
        ),
      reason: z.string().max(200).optional().describe("Why."),
    }),
    effect: "store",
    // Its answers quote the agent's own text.
    trust: "agent",
    limits: { calls: 1 },
    hidesSecrets: true,
    states: ["executing actions"],
    run: async ({ layer_id, content, line, reason }, context) => {
      const { org, agent: name } = context.scope;
      const agent = texts.agentOf({ org, agent: name });
      if (agent === undefined) return refused(notChanged(notDeclared(name)));
      const found = layerOf(agent, layer_id);
      if (found.problem !== undefined) return refused(notChanged(found.problem));
      const active = await texts.store.activeTexts({ org, agent: name });
      return edit({ agent, layer: found.layer, active }, { content, line, reason }, context);
    },
  });
}

type FoundLayer = { readonly problem: string } | { readonly problem?: never; readonly layer: Layer };

/** By name, or by a rank that no other layer shares. */
function layerOf({ layers }: Agent, wanted: unknown): FoundLayer {
  const isName = typeof wanted === "number" || typeof wanted === "string";
  if (!isName) return { problem: namesNoLayer(shown(wanted), editableOf(layers)) };
  const found = layersNamed(layers, String(wanted));
  const [layer] = found;
  if (layer === undefined) return { problem: noSuchLayer(shown(wanted), editableOf(layers)) };
  if (found.length > 1) return { problem: sharedRank(String(wanted), idsOf(found), editableOf(layers)) };
  if (isEditable(layer)) return { layer };
  return { problem: notEditable(rankedName(layer), layer.mutability, editableOf(layers)) };
}

const isEditable = ({ mutability, source, editors }: Layer): boolean =>
  mutability === "versioned" && source.kind === "text" && editors !== "operators";

const editableOf = (layers: readonly Layer[]): string => editable(layers.filter(isEditable).map(rankedName));

const rankedName = ({ rank, id }: Layer): string => `${rank} (${id})`;

interface EditableLayer {
  readonly agent: Agent;
  readonly layer: Layer;
  readonly active: readonly TextVersion[];
}

async function edit(
  { agent, layer, active }: EditableLayer,
  {
    content,
    line,
    reason = "The agent called update_prompt_layer.",
  }: { readonly content: string; readonly line: string | undefined; readonly reason: string | undefined },
  context: ToolContext,
): Promise<ToolOutcome> {
  const size = prefixSize({ layers: agent.layers, limits: textLimitsOf(agent), active, layer: layer.id });
  const checked = await checkNewText({ kind: "layer", text: content, line, ...size });
  if (checked.problem !== undefined) return refused(notChanged(textRefused(rankedName(layer), checked.problem)));
  const { verdict, ...text } = checked;
  const now = activeText(agent, { layer }, { versions: active, pointers: [] });
  if (now.text === text.text && now.line === (text.line ?? now.line))
    return refused(notChanged(unchanged(rankedName(layer))));
  const because = whyProposed(context.taint, verdict);
  const version: NewText = {
    layer: layer.id,
    ...text,
    status: because === undefined ? "kept" : "proposed",
    trust: "agent",
    inputs: context.taint,
    by: "agent",
    turn: context.turn,
    reason: untrusted(reason),
    verdict,
    parent: now.stands ?? 0,
    place: placeOf(agent, layer, undefined),
    beside: active
      .filter((one) => one.layer !== layer.id && one.part === undefined)
      .map((one) => ({ layer: one.layer, stands: one.n })),
  };
  const message = because === undefined ? keptText(layer, text.text, size) : proposed(rankedName(layer), because);
  return answered(message, [EDIT_TEXT.plan({ edit: version })]);
}

/** Law 6: a change with outside input waits for an operator, and so does one that the guard wants reviewed. */
function whyProposed(taint: Trust, { verdict, findings }: TextVerdict): string | undefined {
  if (lowestTrust([taint, "agent"]) !== "agent") return taintedBy(taint);
  return verdict === "pass" ? undefined : flaggedByGuard(findings);
}

function keptText(layer: Layer, text: string, { beside, limits }: PrefixSize): string {
  const left = Math.max(0, limits.total - beside - text.length);
  return willChange(rankedName(layer), text.length, left);
}
