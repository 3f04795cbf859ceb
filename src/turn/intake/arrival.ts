import { asStrataError, type StoredEvent } from "../../protocol/index.ts";
import type { AlsoStored, ArrivingEvent, Claimed, ClaimRequest, Store, Thread } from "../../store/index.ts";

/**
 * Events that were checked and are not stored yet: a turn that begins with them stores them in the commit of its claim. Where none begins,
 * they are stored alone.
 */
export interface Arrival {
  /** Stores them, unless that was done. All or none. Resolves once they are on the disk. */
  readonly stored: () => Promise<readonly StoredEvent[]>;
  /** The same in one commit with the claim, which may come before it is on the disk: nothing of the turn is shown before `stored`. Undefined where they are stored alone, and the thread is still to be claimed. */
  readonly claimed: (request: ClaimRequest) => Promise<Claimed | undefined>;
}

export function arrivalOn(
  store: Store,
  { scope, id }: Pick<Thread, "scope" | "id">,
  events: readonly ArrivingEvent[],
  also?: AlsoStored,
): Arrival {
  let done: Promise<readonly StoredEvent[]> | undefined;
  const stored: Arrival["stored"] = () => {
    done ??= store.receive(scope, id, events, also);
    return done;
  };
  return {
    stored,
    claimed: async (request) => {
      if (done !== undefined) return undefined;
      const both = store.receiveAndClaim(scope, id, events, request, also);
      done = both.then(async (kept) => {
        await kept.onDisk;
        return kept.events;
      });
      done.catch(() => undefined);
      try {
        return (await both).claimed;
      } catch (thrown) {
        if (IN_DOUBT.includes(asStrataError(thrown).code)) throw thrown;
        done = undefined;
        await stored();
        return undefined;
      }
    },
  };
}

/** After these, it is not known whether the events are stored. */
const IN_DOUBT: readonly string[] = ["store_busy", "store_failed", "unexpected"];
