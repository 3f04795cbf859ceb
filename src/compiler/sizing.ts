import type { Agent, Epoch } from "../protocol/index.ts";
import type { Unfit } from "./prefix.ts";
import { leastSum, type Section, wantedSum } from "./share-out.ts";

/** The conversation may claim at most this share of what may be sent, however large `budgets.history` is. */
const MOST_CLAIMED = 1 / 2;

/** The claim of a running conversation if its agent declares no `history`. */
const USUAL_CLAIM = 1 / 4;

type History = Pick<Agent["budgets"], "history">;

/** Tokens that a running conversation may claim: its `history`, or its share. */
export const claimOf = ({ history }: History, limit: number): number =>
  history === undefined ? Math.ceil(limit * USUAL_CLAIM) : Math.min(history, Math.floor(limit * MOST_CLAIMED));

/**
 * Tokens that a prefix leaves to the conversation from its first sizing on: what the agent declares as `history`, as far as layers beyond
 * their budgets can give way.
 */
export function claimAhead(sections: readonly Section[], budgets: Agent["budgets"], limit: number): number {
  if (budgets.history === undefined) return 0;
  return Math.max(0, Math.min(claimOf(budgets, limit), limit - protectedSum(sections, budgets) - eighthOf(limit)));
}

/** Tokens that are left for a message that is not known yet. */
const eighthOf = (limit: number): number => Math.min(Math.ceil(limit / 8), 2_000);

/** What a prefix must leave room for. */
interface Beside {
  readonly hasTail: boolean;
  /** Tokens that the conversation claims. */
  readonly claim: number;
  /** Tokens of its soft budget plus those of the tools; infinite without a budget. */
  readonly ceiling: number;
  /** Whether a prefix of this many tokens takes nothing away from what comes after it. */
  readonly isRoomBeside: (size: number) => boolean;
}

/** The number of sizes that a prefix beyond its soft budget may have. */
const STEPS = 32;

/** If layers must be cut, this share of the limit stays free for the turn's tool calls and their results. */
export const MARGIN = 1 / 32;

/**
 * Sizes in tokens that a prefix may have; the first that leaves enough room is taken. It is whole if everything fits, and otherwise has one
 * of a few sizes, whatever the first message contains, so that the threads of an agent send the same bytes. Live layers need room, too, and
 * the conversation has its claim before it has begun. The soft budget limits the prefix only if there is no room beyond it.
 */
export function sizesFor(
  limit: number,
  needed: number,
  { hasTail, claim, ceiling, isRoomBeside }: Beside,
): readonly number[] {
  const room = limit - claim;
  if (needed <= room) return [room];
  const most = hasTail ? [] : [room - Math.min(Math.ceil(limit / 20), 2_000)];
  const sizes = [...most, room - eighthOf(limit), room - Math.ceil(limit / 4), room - Math.ceil(limit / 2), 0];
  const steps = Array.from({ length: STEPS }, (_, n) => Math.floor((limit * (STEPS - n)) / STEPS));
  const beyond = steps.find((size) => isRoomBeside(size));
  const within = sizes.map((size) => Math.max(0, Math.min(size, ceiling)));
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

/** Tokens that the prefix may have if not everything fits. Those of the tools are added, because they are always sent whole. */
export function ceilingOf({ system }: Pick<Agent["budgets"], "system">, sections: readonly Section[]): number {
  const tools = sections.find(({ id }) => id === "tools")?.wanted ?? 0;
  return system === undefined ? Number.POSITIVE_INFINITY : tools + system;
}

/** The size of a prefix that is rendered for a running conversation before it is known what the turn says. */
export const sizeWhileRunning = ({ sections }: Unfit, budgets: Agent["budgets"], limit: number): number =>
  limit - Math.max(Math.ceil(limit / 4), claimAhead(sections, budgets, limit) + eighthOf(limit));

/** The tokens sent besides the prefix and the conversation. */
interface SentBeside {
  readonly limit: number;
  /** The turn's own messages and the live layers. */
  readonly beside: number;
  readonly budgets: Agent["budgets"];
}

/**
 * The size of a prefix that makes room for a running conversation: its claim is left free beside what this turn says, but the layers keep
 * what their budgets and `system` give them. Layers without a budget keep what they must.
 */
export function sizeAnew({ sections }: Unfit, { limit, beside, budgets }: SentBeside): number {
  const step = limit / STEPS;
  const free = limit - Math.min(beside, limit / 2) - limit * MARGIN - claimOf(budgets, limit);
  const size = Math.floor(Math.floor(free / step) * step);
  return Math.max(size, protectedSum(sections, budgets));
}

/** Tokens that the conversation does not take from the layers: what their budgets and `system` give them, and what they must have. */
function protectedSum(sections: readonly Section[], budgets: Agent["budgets"]): number {
  const within = sections.map(({ wanted, minimum, cuttable, budget = budgets.system === undefined ? 0 : wanted }) =>
    cuttable ? Math.min(wanted, Math.max(budget, minimum)) : wanted,
  );
  const sum = within.reduce((all, tokens) => all + tokens, 0);
  return Math.max(leastSum(sections), Math.min(sum, ceilingOf(budgets, sections)));
}

/**
 * Whether the running prefix can stay although it could be resized to this size: it takes no more, and would gain little. A prefix that
 * stays is still in the provider's cache.
 */
export function canStay({ prefixEntries }: Pick<Epoch, "prefixEntries">, unfit: Unfit, size: number): boolean {
  const tokens = prefixEntries.reduce((sum, one) => sum + (one.place === "transcript" ? 0 : one.tokens), 0);
  const most = Math.min(size, wantedSum(unfit.sections));
  return tokens <= size && (tokens >= most || size - tokens <= size / 8);
}
