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
    .map(({ name, description, input }) => ({ name, description, input: JSON.parse(canonicalJson(input)) }));
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

/** Law 4 at run time: a layer whose content consists of items holds frames, and frames never stand in the system prefix. */
function trustedText({ layer, text, entry }: Rendered): string {
  if (entry.items === undefined && text !== undefined) return text;
  throw new StrataError(
    "unexpected",
    `layer ${layer.id} gathers what others wrote; give it scope turn instead of ${layer.scope}`,
  );
}

/** What a prefix is rendered from. */
type PrefixInput = Pick<CompileInput, "agent" | "mode" | "contents" | "count" | "limit" | "tools">;

/** A prefix before anything of it is cut. */
interface Unfit {
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

/** What a prefix must leave room for. */
interface Beside {
  readonly hasTail: boolean;
  /** Tokens of its soft budget plus those of the tools; infinite without a budget. */
  readonly ceiling: number;
  /** Whether a prefix of this many tokens takes nothing away from what comes after it. */
  readonly isRoomBeside: (size: number) => boolean;
}

/** The number of sizes that a prefix beyond its soft budget may have. */
const STEPS = 32;

/**
 * Sizes in tokens that a prefix may have; the first that leaves enough room is taken. It is whole if everything fits, and otherwise has one
 * of a few sizes, whatever the first message says, so that the threads of an agent send the same bytes. Live layers need room, too. The
 * soft budget limits it only if there is no room beyond it.
 */
export function sizesFor(limit: number, needed: number, { hasTail, ceiling, isRoomBeside }: Beside): readonly number[] {
  if (needed <= limit) return [limit];
  const eighth = limit - Math.min(Math.ceil(limit / 8), 2_000);
  const most = hasTail ? [] : [limit - Math.min(Math.ceil(limit / 20), 2_000)];
  const sizes = [...most, eighth, limit - Math.ceil(limit / 4), limit - Math.ceil(limit / 2), 0];
  const steps = Array.from({ length: STEPS }, (_, n) => Math.floor((limit * (STEPS - n)) / STEPS));
  const beyond = steps.find((size) => isRoomBeside(size));
  const within = sizes.map((size) => Math.min(size, ceiling));
  return beyond === undefined || beyond <= ceiling ? within : [beyond, ...within];
}

/**
 * The same if the size must not depend on the message: a quarter of the limit is always left for it. If several events do not fit there,
 * fewer are taken into the turn. For a single one that cannot be cut that far, the prefix is cut further: to half of the limit or its soft
 * budget, then as far as it can be.
 */
export function sizesAlone(limit: number, events: number, ceiling: number): readonly number[] {
  const usual = limit - Math.ceil(limit / 4);
  return events > 1 ? [usual] : [usual, Math.min(limit - Math.ceil(limit / 2), ceiling), 0];
}
