import {
  type AgentName,
  type Allowed,
  doneBy,
  isBlock,
  StrataError,
  type TextMove,
  type TextVersion,
  textDecided,
  textOvertaken,
  type Untrusted,
} from "../../protocol/index.ts";
import type { Position } from "../../store/index.ts";
import { type AgentAccess, accessTo, accessToEach, featureApi, type Parts, recordAct } from "../../turn/index.ts";
import { checkedReason, standsAlready, textRefused, versionOf } from "../texts/index.ts";
import { BLOCK_LIMITS, type Block, type BlockName, besideOf, blockNow, checkBlock, keyOf, PLACE } from "./blocks.ts";
import { GONE } from "./wording.ts";

/** A change of a block that an agent wants, which waits for an operator. */
export type BlockProposal = TextVersion & { readonly agent: AgentName; readonly link: number };

/** What people do with an agent's memory blocks. */
export interface BlockApi {
  /** @throws StrataError `agent_not_found` */
  blocks(actor: Allowed<"read">, agent: AgentName): Promise<readonly Block[]>;
  /** @throws StrataError `text_not_found` */
  block(actor: Allowed<"read">, agent: AgentName, of: BlockName): Promise<Block>;
  /** Saves one; from then on it is a person's. @throws StrataError `text_refused` */
  setBlock(actor: Allowed<"operate">, agent: AgentName, of: BlockName, given: NewBlock): Promise<TextVersion>;
  /** @throws StrataError `text_not_found` */
  deleteBlock(actor: Allowed<"operate">, agent: AgentName, of: BlockName, reason: Untrusted): Promise<TextMove>;
  /** What waits, oldest first; reading it is recorded. */
  proposals(
    actor: Allowed<"read">,
    agent: AgentName | undefined,
    limit: number,
    after?: Position,
  ): Promise<readonly BlockProposal[]>;
  /** @throws StrataError `text_not_found`, `text_decided`, `text_refused` */
  decide(actor: Allowed<"operate">, agent: AgentName, of: BlockName, choice: BlockChoice): Promise<TextVersion>;
}

export interface NewBlock {
  readonly text: string;
  readonly reason: Untrusted;
}

/** A word about a version that waits. */
export interface BlockChoice {
  readonly n: number;
  readonly verdict: "approved" | "rejected";
  readonly reason: Untrusted;
  /** The active version that it replaces, if it was written for another. */
  readonly over?: number | undefined;
}

/** The functions of memory blocks, as `runtime.use` gives them. */
export const BLOCK_API = featureApi<BlockApi>("blocks");

export function blockApi(parts: Parts): BlockApi {
  return {
    blocks: async (actor, agent) => (await blockNow(parts.store, accessTo(parts, actor, agent).owner)).blocks,
    block: async (actor, agent, of) => existing(accessTo(parts, actor, agent), of),
    setBlock: async (actor, agent, of, given) => setBlock(accessTo(parts, actor, agent), of, given),
    deleteBlock: async (actor, agent, of, reason) => deleteBlock(accessTo(parts, actor, agent), of, reason),
    proposals: async (actor, agent, limit, after) => {
      const each = accessToEach(parts, actor, agent).map((access) => waitingProposals(access, limit, after));
      return (await Promise.all(each))
        .flat()
        .sort((a, b) => a.link - b.link)
        .slice(0, limit);
    },
    decide: async (actor, agent, of, choice) => decideBlock(accessTo(parts, actor, agent), of, choice),
  };
}

const blockOf = (blocks: readonly Block[], { label, name }: BlockName): Block | undefined =>
  blocks.find((one) => one.label === label && one.name === name);

async function existing(access: AgentAccess, of: BlockName): Promise<Block> {
  const found = blockOf((await blockNow(access.parts.store, access.owner)).blocks, of);
  if (found === undefined) throw noSuchBlock(access, of);
  return found;
}

function noSuchBlock({ agent }: AgentAccess, { label, name }: BlockName): StrataError {
  const message = `${agent.name} has no memory block ${label} ${name}; \`strata block list ${agent.name}\` shows those there are`;
  return new StrataError("text_not_found", message, { agent: agent.name, label, name });
}

/** @throws StrataError `text_refused` */
async function passed(access: AgentAccess, of: BlockName, text: string) {
  const { blocks, pointers } = await blockNow(access.parts.store, access.owner);
  const key = keyOf(of);
  const ofLabel = blocks.filter(({ label, name }) => label === of.label && name !== of.name);
  if (text !== GONE && ofLabel.length >= BLOCK_LIMITS.blocks) {
    const problem = `${of.label} may have ${BLOCK_LIMITS.blocks} blocks and has them; delete one first`;
    throw textRefused(access, key, problem);
  }
  const active = pointers.find((one) => isBlock(one) && one.part === key.part)?.stands ?? 0;
  return { key, active, now: blockOf(blocks, of), beside: besideOf(pointers, key) };
}

async function setBlock(access: AgentAccess, of: BlockName, { text, reason }: NewBlock): Promise<TextVersion> {
  const { parts, owner, actor } = access;
  const { key, active, now, beside } = await passed(access, of, text);
  const checked = await checkBlock(text);
  if (checked.problem !== undefined) throw textRefused(access, key, `it ${checked.problem}`);
  // A person adopts what the agent saved by writing it again.
  if (now?.readOnly === true && now.text === checked.text) throw standsAlready(access, key, "says that");
  const edit = {
    ...key,
    text: checked.text,
    status: "kept",
    trust: "operator",
    inputs: "operator",
    ...doneBy(actor),
    reason: checkedReason(reason),
    verdict: checked.verdict,
    parent: active,
    place: PLACE,
    beside,
  } as const;
  return parts.store.editText(owner, edit, parts.clock.recorded());
}

async function deleteBlock(access: AgentAccess, of: BlockName, reason: Untrusted): Promise<TextMove> {
  const { parts, owner, actor } = access;
  await existing(access, of);
  const word = { ...doneBy(actor), reason: checkedReason(reason), at: parts.clock.recorded() };
  return parts.store.moveText(owner, keyOf(of), { to: null, kind: "disabled", ...word });
}

/** The proposals about blocks: those about layers and skills are passed over. */
async function waitingProposals(
  access: AgentAccess,
  limit: number,
  from?: Position,
): Promise<readonly BlockProposal[]> {
  const { parts, owner } = access;
  const found: BlockProposal[] = [];
  for (let after = from; ; ) {
    const page = await parts.store.proposals(owner, { limit, after });
    found.push(...page.filter(isBlock).map((one) => ({ ...one, agent: owner.agent })));
    const last = page.at(-1);
    if (last === undefined || page.length < limit || found.length >= limit) break;
    after = { at: last.link, id: "" };
  }
  const shown = found.slice(0, limit);
  // It may be a contact's words, out of a turn with them.
  if (shown.length > 0) await recordAct(access, "read proposals", `proposals: ${shown.length}`);
  return shown;
}

async function decideBlock(access: AgentAccess, of: BlockName, choice: BlockChoice): Promise<TextVersion> {
  const { n, verdict, over } = choice;
  const { parts, owner, actor } = access;
  const reason = checkedReason(choice.reason);
  const version = await versionOf(access, keyOf(of), n);
  if (version.status !== "proposed" || version.text === "") throw textDecided(access.agent.name, version);
  const word = { ...doneBy(actor), reason, at: parts.clock.recorded(), ...(over !== undefined && { over }) };
  const key = { ...keyOf(of), n };
  if (verdict === "rejected") return parts.store.decideText(owner, key, { ...word, verdict });
  const { active, beside } = await passed(access, of, version.text);
  if (active !== (over ?? version.parent)) throw textOvertaken(access.agent.name, { ...version, over }, active);
  const checked = version.text === GONE ? undefined : await checkBlock(version.text);
  if (checked?.problem !== undefined) throw textRefused(access, keyOf(of), `it ${checked.problem}`);
  // It stays the agent's, with the trust of its input: no approval turns a contact's words into an operator's.
  return parts.store.decideText(owner, key, { ...word, verdict, beside });
}
