import {
  type CountTokens,
  canonicalJson,
  digestOf,
  type Epoch,
  LAYER_SCOPES,
  type LayerScope,
  type LedgerEntry,
  type Prefix,
  StrataError,
  type SystemBlock,
  type ToolSchema,
  trusted,
} from "../protocol/index.ts";
import type { CompileInput } from "./compile-input.ts";
import { drafts, renderWithin, type Shares } from "./drafts.ts";
import { type Draft, type Rendered, sectionOf } from "./layers.ts";
import { fixedSection, leastSum, type Section, shareOut } from "./share-out.ts";
import { countTools } from "./tokens.ts";

/** The tools in the one order and spelling in which they are always sent: sorted by name, with canonical schemas. */
function orderTools(tools: readonly ToolSchema[]): readonly ToolSchema[] {
  return [...tools]
    .sort((a, b) => (a.name < b.name ? -1 : 1))
    .map(({ name, description, input, deferred }) => ({
      name,
      description,
      input: JSON.parse(canonicalJson(input)),
      ...(deferred && { deferred }),
    }));
}

/** The ledger's entry of the tools. */
function toolsEntry(tools: readonly ToolSchema[], count: CountTokens): LedgerEntry {
  const tokens = countTools(tools, count);
  return {
    section: "tools",
    place: "tools",
    trust: "platform",
    tokens,
    wanted: tokens,
    fate: "kept",
    version: digestOf(canonicalJson(tools)),
  };
}

/** Renders the prefix of a new epoch: one frozen block per scope, the layers of a block by rank. */
function renderPrefix(
  tools: readonly ToolSchema[],
  drafts: readonly Draft[],
  shares: Shares,
  count: CountTokens,
): { prefix: Prefix; entries: readonly LedgerEntry[] } {
  const declared = toolsEntry(tools, count);
  const room = shares.room - declared.tokens;
  const rendered = renderWithin(drafts, { ...shares, room }, { place: "system", count });
  const system = LAYER_SCOPES.flatMap((scope) => {
    const said = rendered.filter(({ layer, text }) => layer.scope === scope && text !== undefined);
    const together = said.filter(({ layer }) => !layer.apart);
    return [together, ...said.filter(({ layer }) => layer.apart).map((one) => [one])].flatMap((one) =>
      block(scope, one),
    );
  });
  return { prefix: { tools, system }, entries: [declared, ...rendered.map((one) => one.entry)] };
}

function block(scope: LayerScope, layers: readonly Rendered[]): SystemBlock[] {
  if (layers.length === 0) return [];
  return [
    {
      scope,
      text: trusted(layers.map(trustedText).join("\n\n")),
      layers: layers.map((one) => ({ layer: one.layer.id, digest: digestOf(one.text ?? "") })),
    },
  ];
}

/** Law 4 at run time: a layer whose content consists of items holds frames, and frames are never in the system prefix. */
function trustedText({ layer, text, entry }: Rendered): string {
  if ((entry.items === undefined || entry.fate === "dropped") && text !== undefined) return text;
  throw new StrataError(
    "unexpected",
    `layer ${layer.id} gathers what others wrote; give it scope turn instead of ${layer.scope}`,
  );
}

/** The inputs that a prefix is rendered from. */
export type PrefixInput = Pick<CompileInput, "agent" | "mode" | "contents" | "count" | "limit" | "tools">;

/** A prefix before anything of it is cut. */
export interface Unfit {
  readonly tools: readonly ToolSchema[];
  readonly made: readonly Draft[];
  readonly sections: readonly Section[];
}

/** Everything that the prefix would say, in the order of the prompt. */
export function prefixOf({ agent, mode, contents, count, ...input }: PrefixInput): Unfit {
  const tools = orderTools(input.tools);
  const made = drafts(agent.layers, "system", mode, contents, count);
  return { tools, made, sections: [fixedSection("tools", toolsEntry(tools, count).tokens), ...made.map(sectionOf)] };
}

/** The prefix within this many tokens. What cannot be cut takes the room it needs. */
export function prefixWithin(
  { tools, made, sections }: Unfit,
  size: number,
  { count }: Pick<PrefixInput, "count">,
): Pick<Epoch, "prefix" | "prefixEntries"> {
  const room = Math.max(size, leastSum(sections));
  const { prefix, entries } = renderPrefix(tools, made, { sections, allotment: shareOut(sections, room), room }, count);
  return { prefix, prefixEntries: entries };
}
