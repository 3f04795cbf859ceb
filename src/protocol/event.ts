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

/** Deny by default. Only the platform itself posts `approval`, `warning` and `peer`. */
const MAY_SAY: Readonly<Record<Trust, readonly EventKind[]>> = {
  platform: EVENT_KINDS,
  operator: [...OUTSIDE, "instruction", "scheduled"],
  member: OUTSIDE,
  agent: OUTSIDE,
  contact: OUTSIDE,
};

/**
 * Whether somebody of that trust may post an event of that kind.
 * @param instructions `members`: they may instruct the agent, too
 */
export function maySay(trust: Trust, kind: EventKind, instructions?: "members" | "operators"): boolean {
  return MAY_SAY[trust].includes(kind) || (trust === "member" && kind === "instruction" && instructions === "members");
}

/** Something to handle, as the CLI or the HTTP server passes it in. They set `kind` and `trust`; the content never does. */
export interface NewEvent {
  readonly kind: EventKind;
  readonly trust: Trust;
  readonly channel: string;
  /** The channel's own id for it; sent twice, it is stored once. A proven and an unproven one are never the same. */
  readonly externalId?: string;
  /** If senders are addresses: whether a signature proves the sender. Set by the HTTP server or the CLI, never by the content. */
  readonly proof?: Proof;
  /** The name that the sender claims, shown as data. */
  readonly name?: Untrusted;
  readonly content: readonly EventPart[];
  /** When it happened, according to the channel: milliseconds since 1970. */
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
