import { asStrataError, type CountTokens, type Epoch, type Ledger, type LedgerEntry } from "../protocol/index.ts";
import { withEarlierIn } from "./cut.ts";
import { folded } from "./edits.ts";
import { type PrefixInput, prefixOf, prefixWithin } from "./prefix.ts";
import { canStay, claimOf, sizeAnew } from "./sizing.ts";
import { transcriptSum } from "./tokens.ts";

/** What a running epoch's prefix can be rendered from now, and whether its texts have changed since it was rendered. */
export interface PrefixNow {
  readonly input: PrefixInput;
  readonly changed: boolean;
}

/** A request in progress, whose prefix may be resized. */
interface ResizableRequest {
  readonly prefixNow?: PrefixNow;
  readonly ledger: Pick<Ledger, "limit">;
}

/**
 * The epoch with its prefix as it is rendered now, in the size that leaves the conversation its claim beside the `live` sections of this
 * turn. The same epoch if that changes nothing.
 */
export function sizedAnew(
  { prefixNow, ledger: { limit } }: ResizableRequest,
  epoch: Epoch,
  live: readonly LedgerEntry[],
  count: CountTokens,
): Epoch {
  if (prefixNow === undefined) return epoch;
  const unfit = prefixOf(prefixNow.input);
  const frozen = epoch.prefixEntries.filter(({ place }) => place === "transcript");
  const beside = [...live, ...frozen].reduce((sum, { tokens }) => sum + tokens, 0);
  const size = sizeAnew(unfit, { limit, beside, budgets: prefixNow.input.agent.budgets });
  if (!prefixNow.changed && canStay(epoch, unfit, size)) return epoch;
  try {
    return folded(epoch, prefixWithin(unfit, size, { count }), count);
  } catch (thrown) {
    // A required layer does not fit into its share of this size: the prefix stays unchanged.
    if (asStrataError(thrown).code !== "budget_too_small") throw thrown;
    return epoch;
  }
}

/**
 * The epoch of a conversation that is no longer than it may claim, if it has room: perhaps with less of what earlier cuts have left,
 * because that gives way before the conversation itself does. Otherwise undefined.
 */
export function withinClaim(
  { prefixNow, ledger: { limit } }: ResizableRequest,
  epoch: Epoch,
  room: number,
  count: CountTokens,
): Epoch | undefined {
  if (prefixNow === undefined) return undefined;
  const { tokens, turns } = transcriptSum(epoch.transcript);
  const claim = claimOf(prefixNow.input.agent.budgets, limit);
  if (turns.tokens > claim) return undefined;
  if (tokens <= room) return epoch;
  const released = withEarlierIn(epoch, room, Math.max(claim - turns.tokens, 0), count);
  return transcriptSum(released.transcript).tokens <= room ? released : undefined;
}
