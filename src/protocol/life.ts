import type { ActorId } from "./ids.ts";
import type { Role } from "./scope.ts";
import type { Trust, Untrusted } from "./trust.ts";

/**
 * The current activity of an agent that lives by itself. It waits as `idle`, `bootstrapping`, `sleeping` or `faulted`; the others are the
 * steps of a turn.
 */
export const AGENT_STATES = [
  "bootstrapping",
  "idle",
  "sleeping",
  "faulted",
  "loading context",
  "inferring",
  "executing actions",
  "persisting",
] as const;
export type AgentState = (typeof AGENT_STATES)[number];

/** The state as others see it: for a turn in another program, only that it runs, not its step. */
export const SEEN_STATES = [...AGENT_STATES, "in a turn"] as const;
export type SeenState = (typeof SEEN_STATES)[number];

/** How well an agent can pay for itself, the best first. */
export const SURVIVAL_TIERS = ["Normal", "LowCycles", "Critical"] as const;
export type SurvivalTier = (typeof SURVIVAL_TIERS)[number];

/** US dollars. At or below `low` it is LowCycles, at or below `critical` Critical, at zero it sleeps. */
export interface CreditRules {
  readonly low: number;
  readonly critical: number;
  /** Model calls of a turn while it is Critical. */
  readonly modelCalls: number;
}

/** The payment in US dollars that is suggested to operators: enough that the agent is not `LowCycles` again at once, whatever it owes. */
export const usualPayment = ({ low }: Pick<CreditRules, "low">, balance = 0): number =>
  Math.ceil(2 * low - Math.min(0, balance));

/** One payment by an operator. US dollars; negative to correct a mistake. */
export interface TopUp {
  readonly id: number;
  readonly dollars: number;
  readonly by: Role;
  readonly byId?: ActorId;
  readonly note: Untrusted;
  readonly at: number;
}

/** An agent's spendable money. US dollars. */
export interface Credits {
  readonly toppedUp: number;
  /** By all its requests since the first payment. */
  readonly spent: number;
  readonly balance: number;
  /** Spent in the last 24 hours, and in how many of these hours it had credits. */
  readonly lastDay: { readonly spent: number; readonly hours: number };
}

/** The condition of an agent at a point in time. */
export interface Vitals {
  /** US dollars left; missing if it has no credits configured. */
  readonly balance?: number;
  /** How many hours they last at the rate of the last day; missing if nothing was spent in it. */
  readonly runway?: number;
  readonly tier: SurvivalTier;
  /** Its account, and what it held when it was last read. */
  readonly wallet?: string;
  readonly native?: { readonly wei: bigint; readonly at: number };
  /** Why the last read failed, and when; missing if it succeeded. */
  readonly unread?: { readonly because: string; readonly at: number };
  /** Turns that the agent has begun, including this one. */
  readonly turn: number;
  readonly state: SeenState;
  /** Milliseconds since 1970. */
  readonly at: number;
}

/** Whether a message was signed with the key of the address that it says it is from. `claimed`: it was not signed. */
export const PROOFS = ["proven", "claimed"] as const;
export type Proof = (typeof PROOFS)[number];

/** The guard's verdict on a text that should be stored. */
export interface TextVerdict {
  readonly verdict: "pass" | "review" | "reject";
  /** A sentence for each finding. */
  readonly findings: readonly string[];
}

/** The origin of a text: whose words it has, and the lowest trust of what its writer had seen. */
export interface TextOrigin {
  readonly trust: Trust;
  readonly inputs: Trust;
}
