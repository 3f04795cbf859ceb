import type { StoredEvent } from "./event.ts";
import type { ContactScope } from "./scope.ts";
import type { Trust, Untrusted } from "./trust.ts";

/** The information about the turn that an operator's own source gets. */
export interface SourceContext {
  readonly scope: ContactScope;
  /** The turn's subject. */
  readonly events: readonly StoredEvent[];
  /** The thread's time, milliseconds since 1970. */
  readonly at: number;
  /** Aborted when the turn ends or the source is late. */
  readonly signal: AbortSignal;
  /** A value named under `secrets` in strata.yaml. It is removed from what the source returns. @throws StrataError `secret_missing` */
  secret(name: string): string;
}

/** One item of a source's result. `at` (milliseconds since 1970): when it was true; if omitted, now. */
export interface SourceItem {
  readonly text: Untrusted;
  readonly at?: number;
}

/** An operator's own source for a layer. The prompt shows everything it returns in frames (law 4) with its `trust`. */
export interface OwnSource {
  readonly name: string;
  /** Whose words it returns. `contact`, unless no one outside can have written them. */
  readonly trust: Trust;
  /**
   * The best items first: the last ones are left out if there is no room; the prompt shows them oldest first. No items: the layer is empty.
   * If it throws, the layer is empty, with a note (law 13).
   */
  load(context: SourceContext): Promise<readonly SourceItem[]>;
}

/** The secrets that strata.yaml names, and nothing that shows them. */
export interface Vault {
  /** @throws StrataError `secret_missing` */
  secret(name: string): string;
  /** The text with every value of a secret or a key replaced by its name. */
  hide(text: string): string;
  /** How many characters of a text that is still arriving can be used: the rest may be the beginning of a secret value. */
  settled(text: string): number;
}
