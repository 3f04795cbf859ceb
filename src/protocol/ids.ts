import type { Brand } from "./brand.ts";
import { StrataError } from "./errors.ts";

/** An organization: a slug, `home`. */
export type OrgId = Brand<string, "OrgId">;
/** An agent's name inside its organization: a slug, `companion`. */
export type AgentName = Brand<string, "AgentName">;
/** The person outside that an agent talks to, by the channel's name for them: 1 to 200 characters, one line. */
export type ContactId = Brand<string, "ContactId">;
/** Who acts, by kind and name: `member:ann`, `key:ci`, `token:operator`, `local:operator`, `program:strata`. */
export type ActorId = Brand<string, "ActorId">;
/** A layer's name inside its agent: a slug. */
export type LayerId = Brand<string, "LayerId">;
/** A tool's name as providers accept it: letters, digits, `_` and `-`, at most 64. */
export type ToolName = Brand<string, "ToolName">;
/** One conversation, issued by the platform: `thr_…`. */
export type ThreadId = Brand<string, "ThreadId">;
/** One run over a thread's waiting events: `trn_…`. */
export type TurnId = Brand<string, "TurnId">;
/** Something that was received: `evt_…`. */
export type EventId = Brand<string, "EventId">;
/** One memory: `mem_…`. */
export type MemoryId = Brand<string, "MemoryId">;
/** One outgoing message: `out_…`. */
export type OutboxId = Brand<string, "OutboxId">;
/** One tool call that waits for a person: `apr_…`. */
export type ApprovalId = Brand<string, "ApprovalId">;
/** One key of the HTTP server: `key_…`. It names the key in lists and records, and opens nothing. */
export type KeyId = Brand<string, "KeyId">;
/** One reply that waits for a person: `drf_…`. */
export type DraftId = Brand<string, "DraftId">;

/** One call whose answer comes later: `cal_…`. The provider's own id for it may repeat. */
export type CallId = Brand<string, "CallId">;

const SLUG = /^[a-z0-9](?:[a-z0-9._-]{0,62}[a-z0-9])?$/;
const TOOL = /^[A-Za-z0-9_-]{1,64}$/;
/** A member of the organization, a key, a token, whoever sits at this machine, the program itself, an agent, a contact. */
const ACTOR_KINDS = ["member", "key", "token", "local", "program", "agent", "contact"] as const;
const ACTOR = new RegExp(`^(?:${ACTOR_KINDS.join("|")}):\\P{C}{1,200}$`, "u");
const ISSUED = {
  thread: "thr",
  turn: "trn",
  event: "evt",
  memory: "mem",
  outbox: "out",
  approval: "apr",
  draft: "drf",
  call: "cal",
  key: "key",
} as const;

/** The kinds of ids that only the platform issues. */
export type IssuedKind = keyof typeof ISSUED;

function checkForm<T extends string>(text: string, good: boolean, what: string, form: string): T {
  if (!good)
    throw new StrataError("invalid_id", `${JSON.stringify(text)} is not ${what}: it must be ${form}`, { text });
  return text as T;
}

const slug = <T extends string>(text: string, what: string): T =>
  checkForm<T>(
    text,
    SLUG.test(text),
    what,
    "1 to 64 of a-z, 0-9, '.', '_' and '-', starting and ending with a letter or digit",
  );

const AFTER_KIND = /^_[0-9a-hjkmnp-tv-z]{26}$/;

const issued = <T extends string>(text: string, kind: IssuedKind): T =>
  checkForm<T>(
    text,
    text.startsWith(ISSUED[kind]) && AFTER_KIND.test(text.slice(3)),
    `${"aeo".includes(kind.charAt(0)) ? "an" : "a"} ${kind} id`,
    `'${ISSUED[kind]}_' and 26 characters, as Strata issued it`,
  );

/** Whether a text is an id that the platform issues, of any kind. Such an id opens nothing. */
export const isIssuedId = (text: string): boolean =>
  Object.values(ISSUED).some((kind) => text.startsWith(kind)) && AFTER_KIND.test(text.slice(3));

export const orgId = (text: string): OrgId => slug(text, "an organization");
export const agentName = (text: string): AgentName => slug(text, "an agent name");
export const layerId = (text: string): LayerId => slug(text, "a layer id");
/** A skill has no separate kind of id: its name is a text's part. */
export const skillName = (text: string): string => slug(text, "a skill's name");
export const toolName = (text: string): ToolName =>
  checkForm(text, TOOL.test(text), "a tool name", "1 to 64 letters, digits, '_' and '-'");
export const contactId = (text: string): ContactId =>
  checkForm(
    text,
    text.length > 0 && text.length <= 200 && text.trim() === text && !/\p{C}/u.test(text),
    "a contact",
    "1 to 200 visible characters without a line break or outer blanks",
  );
export const actorId = (text: string): ActorId =>
  checkForm(
    text,
    ACTOR.test(text) && text.trim() === text,
    "an actor's id",
    `a kind (${ACTOR_KINDS.join(", ")}), ':' and a name of 1 to 200 visible characters`,
  );
export const threadId = (text: string): ThreadId => issued(text, "thread");
export const turnId = (text: string): TurnId => issued(text, "turn");
export const eventId = (text: string): EventId => issued(text, "event");
export const memoryId = (text: string): MemoryId => issued(text, "memory");
export const outboxId = (text: string): OutboxId => issued(text, "outbox");
export const callId = (text: string): CallId => issued(text, "call");
export const approvalId = (text: string): ApprovalId => issued(text, "approval");
export const keyId = (text: string): KeyId => issued(text, "key");
export const draftId = (text: string): DraftId => issued(text, "draft");

const ALPHABET = "0123456789abcdefghjkmnpqrstvwxyz";

/**
 * The text of a new id: a ULID, so that ids sort by the time they were issued. Pure.
 * @param at milliseconds since 1970
 * @param random 10 random bytes, from the caller
 */
export function issueId(kind: IssuedKind, at: number, random: Uint8Array): string {
  let time = "";
  for (let rest = Math.trunc(at), place = 0; place < 10; place++, rest = Math.floor(rest / 32)) {
    time = ALPHABET.charAt(rest % 32) + time;
  }
  let bits = 0n;
  for (const byte of random.subarray(0, 10)) bits = (bits << 8n) | BigInt(byte);
  let chance = "";
  for (let place = 0; place < 16; place++, bits >>= 5n) chance = ALPHABET.charAt(Number(bits & 31n)) + chance;
  return `${ISSUED[kind]}_${time}${chance}`;
}

/** When an id was issued, milliseconds since 1970. */
export function issuedAt(id: string): number {
  const time = id.slice(-26, -16);
  return [...time].reduce((sum, letter) => sum * 32 + ALPHABET.indexOf(letter), 0);
}
