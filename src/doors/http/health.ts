import type { ModelRef } from "../../protocol/index.ts";

/** One agent that is served, and who answers for it. */
export interface AgentHealth {
  readonly name: string;
  readonly version: string;
  readonly model: ModelRef;
}

/** What `/health` tells anybody: that it serves, or that nothing can be kept any more, and then with status 503. */
export interface Health {
  readonly status: "ok" | "failing";
  readonly version: string;
  /** Without a token, where it fails: how to learn why. */
  readonly next?: string;
}

/** What `/health` tells the holder of a token: also what it serves. */
export interface HealthReport extends Health {
  readonly agents: readonly AgentHealth[];
  /** The data folder. */
  readonly data: string;
  /** Why it fails, in a sentence. */
  readonly because?: string;
}
