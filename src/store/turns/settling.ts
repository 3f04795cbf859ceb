import type { ContactScope, Digest, ThreadId, TurnId } from "../../protocol/index.ts";

/** What every write of a turn's commit needs to know: whose it is and under which key its texts are digested. */
export interface Settling {
  readonly scope: ContactScope;
  readonly thread: ThreadId;
  readonly turn: TurnId;
  readonly key: Uint8Array;
  /** The digests of texts that are kept already, as most of a turn's are at once. */
  readonly kept: ReadonlyMap<string, Digest>;
}
