import { z } from "zod";
import { clean } from "../../guard/index.ts";
import {
  isBlock,
  isoSecond,
  lowestTrust,
  type NewText,
  SELF,
  type TextPointer,
  type Tool,
  type ToolContext,
  type ToolOutcome,
  trusted,
  untrusted,
} from "../../protocol/index.ts";
import { type AgentOwner, EDIT_TEXT, type Store } from "../../store/index.ts";
import { answered, answeredAs, defineTool, refused } from "../../turn/tools/index.ts";
import { forgetMemory, newestMemories, saveMemory } from "../memories/index.ts";
import {
  BLOCK_LIMITS,
  type Block,
  besideOf,
  blockNow,
  checkBlock,
  keyOf,
  LABELS,
  PLACE,
  trustOfBlock,
  whyProposed,
} from "./blocks.ts";
import {
  badText,
  blockThere,
  changedTwice,
  contentWanted,
  GONE,
  idWanted,
  noSuchBlock,
  notUpdated,
  proposed,
  sameText,
  savedByPerson,
  textWanted,
  tooMany,
  WORDING,
  willChange,
} from "./wording.ts";

type Reads = Pick<Store, "activeTexts" | "textPointers" | "textVersions" | "memories" | "memory" | "searchMemories">;

/** The tools by which an agent keeps its beliefs: its own blocks, and the memories of the contact it talks with. */
export const blockTools = (store: Reads): readonly Tool[] => [
  readMyMemory(store),
  updateMyMemory(store),
  readContactMemory(store),
  updateContactMemory(store),
];

const ownerOf = ({ scope: { org, agent } }: ToolContext): AgentOwner => ({ org, agent });

const LABEL = z.enum(LABELS);

function readMyMemory(store: Reads): Tool {
  return defineTool({
    name: "read_my_memory",
    description:
      "Shows your long-term memory, the same in all conversations: blocks under the labels PersonaBelief (your part), " +
      "BusinessFacts and Preferences. None of it is shown to you unless you ask.",
    input: z.object({ label: LABEL.optional().describe("Only this label.") }),
    effect: "none",
    trust: "contact",
    returnsMemories: true,
    run: async ({ label }, context) => {
      const { blocks } = await blockNow(store, ownerOf(context));
      const wanted = blocks.filter((one) => label === undefined || one.label === label);
      const trust = lowestTrust(["agent", ...wanted.map(trustOfBlock)]);
      return answeredAs(trust, wanted.length === 0 ? WORDING.none : wanted.map(renderBlock).join("\n"));
    },
  });
}

/** One line from the platform, then the text, indented: no line of the text starts where a platform line does. */
function renderBlock(block: Block): string {
  const { label, name, text, readOnly, version } = block;
  const labels = [label, name, `since ${isoSecond(version.at).slice(0, 10)}`, trustOfBlock(block)];
  const line = [...labels, ...(readOnly ? [WORDING.readOnly] : [])].join(" · ");
  return `- ${line}\n  ${clean(untrusted(text)).replaceAll("\n", "\n  ")}`;
}

const CHANGE = z.object({
  op: z.enum(["add", "update", "delete"]),
  label: LABEL,
  name: z
    .string()
    .regex(/^[a-z0-9](?:[a-z0-9._-]{0,38}[a-z0-9])?$/, "1 to 40 of a-z, 0-9, '.', '_' and '-'")
    .describe("The block's short name, as `delivery-area`."),
  text: z
    .string()
    .optional()
    .describe(`All that the block says, at most ${BLOCK_LIMITS.text} characters; left out to delete it.`),
});
type BlockChange = z.output<typeof CHANGE>;

function updateMyMemory(store: Reads): Tool {
  return defineTool({
    name: "update_my_memory",
    description:
      "Adds, updates or deletes blocks of your own long-term memory: what holds in all conversations, and nothing about one " +
      "contact. What a person saved is read_only. If the turn has a contact's text, your changes become proposals to your operator.",
    input: z.object({
      changes: z.array(CHANGE).min(1).max(BLOCK_LIMITS.changes).describe("All of them are made, or none."),
      reason: z.string().max(200).optional().describe("Why."),
    }),
    effect: "store",
    // Its answers quote labels and names alone.
    trust: "agent",
    hidesSecrets: true,
    run: async ({ changes, reason = "The agent called update_my_memory." }, context) => {
      const state = await startBlockPlan(store, context);
      const says: string[] = [];
      const edits: NewText[] = [];
      for (const change of changes) {
        const made = await planned(change, { ...state, reason, context });
        if ("problem" in made) return refused(notUpdated(made.problem));
        says.push(made.message);
        edits.push(made.edit);
        state.seen.add(keyOf(change).part);
        if (made.edit.status === "kept") await state.stands(made.edit);
      }
      return answered(
        says.join("\n"),
        edits.map((edit) => EDIT_TEXT.plan({ edit })),
      );
    },
  });
}

/** The blocks as they will be after the turn's calls so far. */
interface BlockPlan {
  readonly blocks: Map<string, Block>;
  pointers: readonly TextPointer[];
  /** Those that the turn has changed already. */
  readonly seen: Set<string>;
  /** Takes an edit for made, so that the next one is measured beside it. */
  stands(edit: NewText): Promise<void>;
}

async function startBlockPlan(store: Reads, context: ToolContext): Promise<BlockPlan> {
  const owner = ownerOf(context);
  const now = await blockNow(store, owner);
  const blocks = new Map(now.blocks.map((one) => [keyOf(one).part, one]));
  const state: BlockPlan = {
    blocks,
    pointers: now.pointers,
    seen: new Set(),
    stands: async ({ layer, part = "", text }) => {
      const [newest] = await store.textVersions(owner, { key: { layer, part }, limit: 1 });
      const moved = { layer, part, stands: (newest?.n ?? 0) + 1 };
      state.pointers = [...besideOf(state.pointers, { part }), moved];
      if (text === GONE) blocks.delete(part);
    },
  };
  for (const { write } of context.pending ?? []) {
    const edit = EDIT_TEXT.read(write)?.edit;
    if (edit?.part === undefined || !isBlock(edit)) continue;
    state.seen.add(edit.part);
    if (edit.status === "kept") await state.stands(edit);
  }
  return state;
}

interface BlockEditContext extends BlockPlan {
  readonly reason: string;
  readonly context: ToolContext;
}

/** The edit that a change requires, with its answer; or why nothing is changed. */
async function planned(
  { op, text, ...of }: BlockChange,
  around: BlockEditContext,
): Promise<{ readonly problem: string } | { readonly message: string; readonly edit: NewText }> {
  const { blocks, pointers, seen, context } = around;
  const key = keyOf(of);
  const block = `${of.label} ${of.name}`;
  const now = blocks.get(key.part);
  if (seen.has(key.part)) return { problem: changedTwice(block) };
  if (op === "add" && now !== undefined) return { problem: blockThere(block) };
  if (op !== "add" && now === undefined) return { problem: noSuchBlock(block) };
  if (now?.readOnly === true) return { problem: savedByPerson(block, now.version.by) };
  if (op !== "delete" && text === undefined) return { problem: textWanted(op) };
  const ofLabel = [...blocks.values(), ...seen].filter((one) =>
    typeof one === "string" ? one.startsWith(`${of.label}/`) && !blocks.has(one) : one.label === of.label,
  );
  if (op === "add" && ofLabel.length >= BLOCK_LIMITS.blocks) return { problem: tooMany(of.label, BLOCK_LIMITS.blocks) };
  const checked = op === "delete" ? DELETED : await checkBlock(text ?? "");
  if (checked.problem !== undefined) return { problem: badText(block, checked.problem) };
  if (now?.text === checked.text) return { problem: sameText(block) };
  const because = whyProposed(context.taint, checked.verdict);
  const pointer = pointers.find((one) => one.layer === key.layer && one.part === key.part);
  const edit: NewText = {
    ...key,
    text: checked.text,
    status: because === undefined ? "kept" : "proposed",
    trust: "agent",
    inputs: context.taint,
    by: "agent",
    turn: context.turn,
    reason: untrusted(around.reason),
    verdict: checked.verdict,
    parent: pointer?.stands ?? 0,
    place: PLACE,
    beside: besideOf(pointers, key),
  };
  return { message: because === undefined ? willChange(block) : proposed(block, because), edit };
}

const DELETED = { problem: undefined, text: trusted(GONE), verdict: { verdict: "pass", findings: [] } } as const;

function readContactMemory(store: Reads): Tool {
  return defineTool({
    name: "read_contact_memory",
    description: "Shows the newest facts that you keep about this contact, with their ids.",
    input: z.object({ limit: z.int().min(1).max(50).default(20).describe("Maximum number of facts.") }),
    effect: "none",
    trust: "contact",
    returnsMemories: true,
    run: ({ limit }, context) =>
      context.scope.contact === SELF ? refused(notUpdated(WORDING.noContact)) : newestMemories(store, limit, context),
  });
}

const CONTACT_CHANGE = z.object({
  op: z.enum(["save", "replace", "forget"]),
  text: z
    .string()
    .min(1)
    .max(4_000)
    .optional()
    .describe("To save or replace: one full sentence, with names and dates."),
  id: z
    .string()
    .regex(/^mem_[0-9a-hjkmnp-tv-z]{26}$/, "an id from read_contact_memory, mem_…")
    .optional()
    .describe("To replace or forget: the fact's id. A replaced fact is kept with its time."),
});

function updateContactMemory(store: Reads): Tool {
  const calls = { store, search: "read_contact_memory" };
  return defineTool({
    name: "update_contact_memory",
    description: "Saves, replaces or forgets facts about this contact. No other contact's conversation shows them.",
    input: z.object({
      changes: z.array(CONTACT_CHANGE).min(1).max(BLOCK_LIMITS.changes).describe("All of them are made, or none."),
    }),
    effect: "store",
    // Its answers are sentences of the platform's.
    trust: "platform",
    run: async ({ changes }, context) => {
      if (context.scope.contact === SELF) return refused(notUpdated(WORDING.noContact));
      const made: ToolOutcome[] = [];
      for (const change of changes) {
        const { op, text, id } = change;
        if (op !== "save" && id === undefined) return refused(notUpdated(idWanted));
        if (op !== "forget" && text === undefined) return refused(notUpdated(contentWanted));
        const outcome =
          op === "forget"
            ? await forgetMemory(calls, id ?? "", context)
            : await saveMemory(calls, { content: text ?? "", ...(op === "replace" && { supersedes: id }) }, context);
        if (outcome.failed) return outcome;
        made.push(outcome);
      }
      return answered(
        made.map(({ text }) => text).join("\n"),
        made.flatMap(({ writes = [] }) => writes),
      );
    },
  });
}
