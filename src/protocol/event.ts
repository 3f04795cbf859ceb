import type { Brand } from "./brand.ts";
import { StrataError } from "./errors.ts";
import type { CallId, EventId, ThreadId, TurnId } from "./ids.ts";
import type { Proof } from "./life.ts";
import type { EventPart } from "./message.ts";
import type { Trust, Untrusted } from "./trust.ts";

/** The kinds that people and programs may post. The list is closed, because `MAY_SAY` decides for each kind who may. */
export const OUTSIDE_KINDS = ["message", "call-ended", "instruction", "scheduled"] as const;
export type OutsideKind = (typeof OUTSIDE_KINDS)[number];

/** A kind of event that only the platform posts, such as `approval`. The feature that posts it makes it with `ownKind`. */
export type OwnKind = Brand<string, "OwnKind">;

/** The kinds of events of an agent. */
export type EventKind = OutsideKind | OwnKind;

/** Kinds of frames that hold no event. */
export const CONTEXT_KINDS = ["memory", "data", "result", "summary", "earlier"] as const;

/** The form of a kind. A frame's header is recognised by it, so the frames of a new kind cannot be forged either. */
export const KIND_FORM = "[a-z][a-z-]{0,30}";

/** @throws StrataError `invalid_id` for a name without that form, or one with another meaning */
export function ownKind(name: string): OwnKind {
  const others: readonly string[] = [...OUTSIDE_KINDS, ...CONTEXT_KINDS, "reply"];
  if (new RegExp(`^${KIND_FORM}$`).test(name) && !others.includes(name)) return name as OwnKind;
  const message = others.includes(name)
    ? "that name has another meaning"
    : "its name is 1 to 31 lower-case letters and hyphens";
  throw new StrataError("invalid_id", `${JSON.stringify(name)} cannot be a kind of event: ${message}`, { kind: name });
}

/** The answer to an open call. It becomes the call's result, or where that has one already, a message of this kind. */
export const ANSWER_KIND = ownKind("answer");

const OUTSIDE: readonly EventKind[] = ["message", "call-ended"];

/** Deny by default. */
const MAY_SAY: Readonly<Record<Exclude<Trust, "platform">, readonly EventKind[]>> = {
  operator: OUTSIDE_KINDS,
  member: OUTSIDE,
  agent: OUTSIDE,
  contact: OUTSIDE,
};

/**
 * Whether an actor of that trust may post an event of that kind.
 * @param instructions `members`: they may instruct the agent, too
 */
export function maySay(trust: Trust, kind: EventKind, instructions?: "members" | "operators"): boolean {
  if (trust === "platform") return true;
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
  /** Where the sender wrote from, as the channel says: a number or an address, shown as data. */
  readonly number?: Untrusted;
  /** The line of the organization that it came to, by the id that is declared: replies leave by it. */
  readonly line?: string;
  /** Set if its text is already in the thread's history: it makes no entry there, and no memory. */
  readonly inHistory?: true;
  readonly content: readonly EventPart[];
  /** When it happened, according to the channel: milliseconds since 1970. */
  readonly at: number;
}

/**
 * An event as a door passes it in: with the proof of its sender, where senders are addresses (what they signed says `messageToSign` of
 * the guard), or with the call that it answers.
 */
export interface SignedEvent extends NewEvent, Pick<AnswerFields, "answers" | "failed"> {
  /** 0x and hexadecimal digits. */
  readonly signature?: string;
}

/**
 * `pending`: a turn may begin for it. `held`: its thread waits for something else first. `along`: it goes with the next turn, and begins none.
 * `withdrawn`: an operator took it back before a turn could handle it.
 */
export const EVENT_STATUSES = ["pending", "held", "along", "consumed", "withdrawn"] as const;
export type EventStatus = (typeof EVENT_STATUSES)[number];

/** Whether no turn has handled it yet. */
export const isUntaken = ({ status }: Pick<StoredEvent, "status">): boolean =>
  status === "pending" || status === "held" || status === "along";

/** How far a call may go with its caller's limits, or has gone. */
export interface CallLimits {
  readonly modelCalls: number;
  readonly toolCalls: number;
  readonly dollars: number;
}

/**
 * How much of its caller's limits an open call may use: of the money, if that is limited, and the seconds that each run for it may take.
 */
export type ReservedLimits = Omit<CallLimits, "dollars"> &
  Partial<Pick<CallLimits, "dollars">> & { readonly seconds?: number };

/** An event's information on the open call that it answers: whether that failed, and how much of the caller's limits it used. */
export interface AnswerFields {
  readonly answers?: CallId;
  readonly failed?: true;
  readonly used?: CallLimits;
}

/** An event on its thread, in the order received. */
export interface StoredEvent extends NewEvent, AnswerFields {
  readonly id: EventId;
  readonly thread: ThreadId;
  readonly seq: number;
  readonly status: EventStatus;
  readonly turn?: TurnId;
}
