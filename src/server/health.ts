/** One agent that is served, and who answers for it. */
export interface AgentHealth {
  readonly name: string;
  readonly version: string;
  readonly model: string;
}

/** What `/health` tells: that it serves, and what. */
export interface HealthReport {
  readonly status: "ok";
  readonly version: string;
  readonly agents: readonly AgentHealth[];
  /** The data folder. */
  readonly data: string;
}
