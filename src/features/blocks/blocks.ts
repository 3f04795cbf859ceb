import { checkNewText, flagged } from "../../guard/index.ts";
import {
  BLOCKS,
  isBlock,
  lowestTrust,
  type NewText,
  type TextKey,
  type TextPlace,
  type TextPointer,
  type TextVersion,
  type Trust,
} from "../../protocol/index.ts";
import type { AgentOwner, Store } from "../../store/index.ts";
import { contentProblem } from "../memories/index.ts";
import { GONE, readBy } from "./wording.ts";

/** What blocks are about: the agent's view of its role, facts about the business, a person's preferences. */
export const LABELS = ["PersonaBelief", "BusinessFacts", "Preferences"] as const;
export type Label = (typeof LABELS)[number];

/** How much an agent may keep: characters of a block, blocks of a label, and of one call's changes. */
export const BLOCK_LIMITS = { text: 1_000, blocks: 20, changes: 5 } as const;

/** Which block of an agent. */
export interface BlockName {
  readonly label: Label;
  readonly name: string;
}

export const keyOf = ({ label, name }: BlockName): TextKey & { readonly part: string } => ({
  layer: BLOCKS,
  part: `${label}/${name}`,
});

/** A block in its present state. */
export interface Block extends BlockName {
  readonly text: string;
  /** A person saved it: the agent does not change it. */
  readonly readOnly: boolean;
  readonly version: TextVersion;
}

/** No prompt holds blocks: they have one place for ever. */
export const PLACE: TextPlace = { rank: 1_000, source: "text" };

/** The blocks among an agent's active texts, by label and name. */
export const blocksAmong = (active: readonly TextVersion[]): readonly Block[] =>
  active
    .filter((version) => isBlock(version) && version.text !== GONE)
    .flatMap((version) => {
      const [label, name = ""] = (version.part ?? "").split("/");
      const known = LABELS.find((one) => one === label);
      return known === undefined
        ? []
        : [{ label: known, name, text: version.text, readOnly: version.by !== "agent", version }];
    })
    .sort((a, b) => LABELS.indexOf(a.label) - LABELS.indexOf(b.label) || (a.name < b.name ? -1 : 1));

/** A block's trust: an approved one also carries the trust of what its writer had read. */
export const trustOfBlock = ({ version: { trust, inputs } }: Pick<Block, "version">): Trust =>
  lowestTrust([trust, inputs]);

/** The active versions of all other blocks, as a new version of this one names them. */
export const besideOf = (all: readonly TextPointer[], { part }: Pick<TextKey, "part">): readonly TextPointer[] =>
  all.filter((one) => isBlock(one) && one.part !== part);

/** The text as a block, or why it cannot be one: the rest of a sentence. */
export async function checkBlock(text: string) {
  if (text === GONE) return { problem: "is how a deleted block looks; delete it instead" } as const;
  const problem = contentProblem(text);
  if (problem !== undefined) return { problem };
  const checked = await checkNewText({ kind: "block", text, longest: BLOCK_LIMITS.text });
  return checked.problem === undefined ? checked : { problem: `is refused: ${checked.problem}` };
}

/** Law 6: a change with outside input waits for an operator, and so does one that the guard wants reviewed. */
export function whyProposed(taint: Trust, { verdict, findings }: NewText["verdict"]): string | undefined {
  if (lowestTrust([taint, "agent"]) !== "agent") return readBy(taint);
  return verdict === "pass" ? undefined : flagged(findings);
}

/** The block with its pointer, as the store has it. */
export async function blockNow(
  store: Pick<Store, "activeTexts" | "textPointers">,
  owner: AgentOwner,
): Promise<{ readonly blocks: readonly Block[]; readonly pointers: readonly TextPointer[] }> {
  const [active, pointers] = await Promise.all([store.activeTexts(owner), store.textPointers(owner)]);
  return { blocks: blocksAmong(active), pointers };
}
