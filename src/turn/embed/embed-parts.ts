import type { Agent, Embedder, ModelRef } from "../../protocol/index.ts";
import type { Store } from "../../store/index.ts";

/** What vectors are made and searched with. */
export interface EmbedParts {
  readonly store: Store;
  /** As they are declared now: who has an embedder, and which. */
  readonly agents: () => readonly Agent[];
  /** @throws StrataError `model_unknown`, `secret_missing`, … */
  readonly embedderOf: (ref: ModelRef) => Embedder;
  /** Real time. */
  readonly wall: () => number;
}
