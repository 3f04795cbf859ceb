import {
  type CountTokens,
  canonicalJson,
  digestOf,
  LAYER_SCOPES,
  type LayerScope,
  type LedgerEntry,
  type Prefix,
  StrataError,
  type SystemBlock,
  type ToolSchema,
  trusted,
} from "../protocol/index.ts";
import { renderWithin, type Shares } from "./drafts.ts";
import type { Draft, Rendered } from "./layers.ts";
import { countTools } from "./tokens.ts";

/** The tools in the one order and spelling they are ever sent in: sorted by name, their schemas canonical. */
export function orderTools(tools: readonly ToolSchema[]): readonly ToolSchema[] {
  return [...tools]
    .sort((a, b) => (a.name < b.name ? -1 : 1))
    .map(({ name, description, input }) => ({ name, description, input: JSON.parse(canonicalJson(input)) }));
}

/** The ledger's line of the tools. */
export function toolsEntry(tools: readonly ToolSchema[], count: CountTokens): LedgerEntry {
  const tokens = countTools(tools, count);
  return {
    piece: "tools",
    place: "tools",
    trust: "platform",
    tokens,
    wanted: tokens,
    fate: "kept",
    version: digestOf(canonicalJson(tools)),
  };
}

/** Renders the prefix of a new epoch: one frozen block per scope, the layers of a block by rank. */
export function renderPrefix(
  tools: readonly ToolSchema[],
  drafts: readonly Draft[],
  shares: Shares,
  count: CountTokens,
): { prefix: Prefix; entries: readonly LedgerEntry[] } {
  const declared = toolsEntry(tools, count);
  const room = shares.room - declared.tokens;
  const rendered = renderWithin(drafts, { ...shares, room }, { place: "system", count });
  const system = LAYER_SCOPES.flatMap((scope) => block(scope, rendered));
  return { prefix: { tools, system }, entries: [declared, ...rendered.map((one) => one.entry)] };
}

function block(scope: LayerScope, rendered: readonly Rendered[]): SystemBlock[] {
  const layers = rendered.filter((one) => one.layer.scope === scope && one.text !== undefined);
  if (layers.length === 0) return [];
  return [
    {
      scope,
      text: trusted(layers.map(trustedText).join("\n\n")),
      layers: layers.map((one) => ({ layer: one.layer.id, digest: digestOf(one.text ?? "") })),
    },
  ];
}

/** Law 4 at run time: a layer whose content came in items holds frames, and frames never stand in the system prefix. */
function trustedText({ layer, text, entry }: Rendered): string {
  if (entry.items === undefined && text !== undefined) return text;
  throw new StrataError(
    "unexpected",
    `layer ${layer.id} gathers what others wrote; give it scope turn instead of ${layer.scope}`,
  );
}
