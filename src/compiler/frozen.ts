import {
  type CountTokens,
  type Epoch,
  type EpochReason,
  type FrozenMemory,
  type LedgerEntry,
  layerHeading,
  lowestTrust,
  type TranscriptMessage,
  trusted,
} from "../protocol/index.ts";
import { transcriptWithoutReasoning } from "./cut.ts";
import { frameItem, inTime } from "./layers.ts";
import { withoutRecalled } from "./shown-layers.ts";
import { countMessage } from "./tokens.ts";
import { ALL_MEMORIES, SOME_MEMORIES } from "./wording.ts";

/** Frozen memory in an epoch: its message, and its entry of the ledger. */
export interface Frozen {
  readonly message: TranscriptMessage | undefined;
  readonly entry: LedgerEntry;
}

/** Law 4: framed, in a user message, and never in the prefix. The oldest comes first. */
export function renderFrozen({ layer, items, others = 0, because }: FrozenMemory, count: CountTokens): Frozen {
  const base = { section: layer.id, place: "transcript", rank: layer.rank, scope: "thread" } as const;
  if (items.length === 0)
    return {
      message: undefined,
      entry: { ...base, trust: layer.trust, tokens: 0, wanted: 0, fate: "empty", because },
    };
  const frames = inTime(items).map(frameItem).join("\n");
  // The platform writes the heading and the line under it; everything after that is framed.
  const text = trusted(`${layerHeading(layer)}\n${others === 0 ? ALL_MEMORIES : SOME_MEMORIES}\n${frames}`);
  const message = { role: "user", parts: [{ type: "text", text }] } as const;
  const trust = lowestTrust([layer.trust, ...items.map((item) => item.trust)]);
  const tokens = countMessage(message, count);
  const shown = { shown: items.length, of: items.length + others, memories: items.map(({ id }) => id), because };
  return {
    // Counted in its own entry, with the prefix: a cut removes nothing of it.
    message: { message, trust, tokens: 0, turn: null },
    entry: { ...base, trust, tokens, wanted: tokens, fate: "kept", items: shown },
  };
}

interface Remembering {
  readonly memory?: FrozenMemory;
  readonly count: CountTokens;
}

/** The memories frozen at the start of a first epoch: all of them, or none if they do not fit beside the rest. */
export function frozenWithin(room: number, { memory, count }: Remembering): Frozen | undefined {
  const frozen = memory && renderFrozen(memory, count);
  if (frozen === undefined || frozen.entry.tokens <= Math.max(room, 0)) return frozen;
  const { items, ...line } = frozen.entry;
  return { message: undefined, entry: { ...line, tokens: 0, fate: "dropped", because: "budget" } };
}

/**
 * The restarted epoch, with the current memories at its start and without those that were recalled in it, which can be recalled again.
 * Reasoning that a provider refused is not sent again; if reasoning is bound to the old beginning, it is left out, too.
 */
export function begunAnew(
  epoch: Epoch,
  { memory, count, binds }: Remembering & { readonly binds?: boolean },
  reason: EpochReason,
): Epoch {
  const shown = withoutRecalled(epoch.transcript, count);
  const transcript = binds ? transcriptWithoutReasoning(shown, count) : shown;
  return {
    ...withFrozen({ ...epoch, transcript }, memory && renderFrozen(memory, count)),
    n: epoch.n + 1,
    reason: epoch.reason === "refused" && reason !== "model" ? "refused" : reason,
  };
}

/** Splits an epoch's transcript: the message frozen at its start, if there is one, and all the rest. */
export function apart({ prefixEntries, transcript }: Pick<Epoch, "prefixEntries" | "transcript">): {
  readonly frozen: readonly TranscriptMessage[];
  readonly rest: readonly TranscriptMessage[];
} {
  const stands = prefixEntries.some((entry) => isFrozen(entry) && entry.tokens > 0);
  return stands ? { frozen: transcript.slice(0, 1), rest: transcript.slice(1) } : { frozen: [], rest: transcript };
}

/** The epoch with other memories at its start, or with none. */
export function withFrozen<E extends Pick<Epoch, "prefixEntries" | "transcript">>(epoch: E, frozen?: Frozen): E {
  const { rest } = apart(epoch);
  const prefix = epoch.prefixEntries.filter((entry) => !isFrozen(entry));
  return {
    ...epoch,
    prefixEntries: frozen === undefined ? prefix : [...prefix, frozen.entry],
    transcript: frozen?.message === undefined ? rest : [frozen.message, ...rest],
  };
}

const isFrozen = ({ place }: LedgerEntry): boolean => place === "transcript";
