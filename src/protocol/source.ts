import type { StoredEvent } from "./event.ts";
import type { ContactScope } from "./scope.ts";
import type { Trust, Untrusted } from "./trust.ts";

/** What a source of one's own may know of the turn. */
export interface SourceContext {
  readonly scope: ContactScope;
  /** What the turn is about. */
  readonly events: readonly StoredEvent[];
  /** The thread's time, milliseconds since 1970. */
  readonly at: number;
  /** Aborted when the turn ends or the source is late. */
  readonly signal: AbortSignal;
  /** A value named under `secrets` of strata.yaml. What a source gives is searched for it. @throws StrataError `secret_missing` */
  secret(name: string): string;
}

/** One piece of what a source found. `at` (milliseconds since 1970): when it was so; left out, now. */
export interface SourceItem {
  readonly text: Untrusted;
  readonly at?: number;
}

/** A layer's source of one's own. All it gives stands in the prompt inside frames (law 4), which tell its `trust`. */
export interface OwnSource {
  readonly name: string;
  /** Whose words it gives. `contact` unless nobody outside can have written them. */
  readonly trust: Trust;
  /** The most fitting first: the last are left out where there is no room; in the prompt they stand oldest first. No items: the layer is empty. What it throws makes the layer empty and leaves a note (law 13). */
  give(context: SourceContext): Promise<readonly SourceItem[]>;
}

/** The secrets that strata.yaml names, and nothing that shows them. */
export interface Vault {
  /** @throws StrataError `secret_missing` */
  secret(name: string): string;
  /** The text with every value of a secret or a key replaced by its name. */
  hide(text: string): string;
  /** How many characters of a text that is still coming may be taken as they are: what stands behind them may be the beginning of a value. */
  settled(text: string): number;
}
