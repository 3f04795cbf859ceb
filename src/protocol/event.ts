import type { EventId, ThreadId, TurnId } from "./ids.ts";
import type { Proof } from "./life.ts";
import type { EventPart } from "./message.ts";
import type { Trust, Untrusted } from "./trust.ts";

/** What can happen to an agent. `approval`: what a person decided about a call, and what came of it. */
export const EVENT_KINDS = [
  "message",
  "call-ended",
  "instruction",
  "scheduled",
  "peer",
  "warning",
  "approval",
] as const;
export type EventKind = (typeof EVENT_KINDS)[number];

const OUTSIDE: readonly EventKind[] = ["message", "call-ended"];

/** Deny by default. What the platform says of itself (`approval`, `warning`, `peer`) no door takes from anybody else. */
const MAY_SAY: Readonly<Record<Trust, readonly EventKind[]>> = {
  platform: EVENT_KINDS,
  operator: [...OUTSIDE, "instruction", "scheduled"],
  member: OUTSIDE,
  agent: OUTSIDE,
  contact: OUTSIDE,
};

/**
 * Whether an event of that kind can be somebody's word.
 * @param instructions `members`: they may instruct the agent as well
 */
export function maySay(trust: Trust, kind: EventKind, instructions?: "members" | "operators"): boolean {
  return MAY_SAY[trust].includes(kind) || (trust === "member" && kind === "instruction" && instructions === "members");
}

/** Something to handle, as a door hands it in. The door stamps `kind` and `trust`; content never does. */
export interface NewEvent {
  readonly kind: EventKind;
  readonly trust: Trust;
  readonly channel: string;
  /** The channel's own id for it; sent twice, it is stored once. One that is proven and one that is not are never the same. */
  readonly externalId?: string;
  /** Where senders are addresses: whether a signature shows that it is theirs. The door stamps it. */
  readonly proof?: Proof;
  /** How the sender calls themself: a claim, shown as data. */
  readonly name?: Untrusted;
  readonly content: readonly EventPart[];
  /** Milliseconds since 1970: when it happened, by the channel's word. */
  readonly at: number;
}

/** An event with the proof of its sender, where senders are addresses: what they signed says `messageToSign` of the guard. */
export interface SignedEvent extends NewEvent {
  /** 0x and hexadecimal digits. */
  readonly signature?: string;
}

/** `withdrawn`: an operator took it back before a turn could handle it. */
export type EventStatus = "pending" | "consumed" | "withdrawn";

/** An event on its thread, in the order received. */
export interface StoredEvent extends NewEvent {
  readonly id: EventId;
  readonly thread: ThreadId;
  readonly seq: number;
  readonly status: EventStatus;
  readonly turn?: TurnId;
}
