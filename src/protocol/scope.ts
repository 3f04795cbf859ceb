import { StrataError } from "./errors.ts";
import { type ActorId, type AgentName, actorId, type ContactId, contactId, type OrgId } from "./ids.ts";
import { TRUSTS, type Trust } from "./trust.ts";

/** The owner of data: every read and write of thread, memory or conversation data names one. `contact: null` is the agent itself. */
export interface Scope {
  readonly org: OrgId;
  readonly agent: AgentName;
  readonly contact: ContactId | null;
}

/** A scope that names its contact: what a thread belongs to. */
export interface ContactScope extends Scope {
  readonly contact: ContactId;
}

/** The contact of an agent's self-started turns: no one outside. Messages cannot be posted as this contact. */
export const SELF: ContactId = contactId("~self");

/** A channel on which a feature opens threads by itself. It lists them in `channels` of its `FEATURE`; a record keeps the name for ever. */
export interface OwnChannel {
  readonly name: string;
  /**
   * What its threads hold, for the error when a caller is refused there: the channel takes no messages, and no one waits there for a reply.
   * If omitted, people may talk there.
   */
  readonly holds?: string;
  /** Each of its threads answers a call of another turn: its text is not a message, and is in no log and no memory. */
  readonly answersCalls?: true;
}

/** The prefix of contacts for turns that handle messages of several senders. */
const INBOX = "~inbox";

/** The most senders that such a turn may have. */
export const BATCH_SENDERS = 5;

/** The contact of one such turn, and of no other: so its record goes when any of its senders is erased. */
export const batchContact = (id: string): ContactId => contactId(`${INBOX}:${id}`);

/** Whether the data is of a turn that handles messages of several senders. */
export const isBatch = ({ contact }: { readonly contact: string | null }): boolean =>
  contact?.startsWith(`${INBOX}:`) ?? false;

/** The prefix of erased contacts' pseudonyms. */
const ERASED = "~erased";

/** The pseudonym of an erased contact, in rows with counts and costs. The id is random: it does not lead back to the name. */
export const erasedContact = (id: string): ContactId => contactId(`${ERASED}:${id}`);

/** Whether it is the pseudonym of an erased contact. */
export const isErased = (contact: ContactId): boolean => contact.startsWith(`${ERASED}:`);

/** Whether a contact is no one outside. Messages cannot be posted as such a contact. */
export const isReserved = (contact: ContactId): boolean =>
  contact === SELF || contact === INBOX || contact.startsWith(`${INBOX}:`) || isErased(contact);

/** Where memories of a thread are kept: those of the agent's own turns are the agent's own. */
export function memoryScope<S extends Scope>(scope: S): Scope {
  return scope.contact === SELF ? { ...scope, contact: null } : scope;
}

/** The roles of actors, the most powerful first. */
export const ROLES = ["platform", "operator", "member", "agent", "contact", "auditor"] as const;
export type Role = (typeof ROLES)[number];

/** The caller. `agent` and `contact` limit the actor's access; if omitted, the actor has access to the whole organization. */
export interface Actor {
  readonly org: OrgId;
  /** Kept with what they do, so that the record says who it was. */
  readonly id: ActorId;
  readonly role: Role;
  readonly agent?: AgentName;
  readonly contact?: ContactId;
}

/** The author of an act, as it is stored. Rows from before ids were stored have only the role. */
export interface DoneBy {
  readonly by: Role;
  readonly byId?: ActorId;
}

/** The stored part of an actor. Not a contact's id: links survive an erasure, and the row's scope already says which contact it was. */
export const doneBy = ({ id, role }: Pick<Actor, "id" | "role">): DoneBy => ({
  by: role,
  ...(role !== "contact" && !id.startsWith("contact:") && { byId: id }),
});

/** Whoever sits at this machine: the command line, and programs that embed Strata. */
export const LOCAL_OPERATOR: ActorId = actorId("local:operator");

/** Whoever holds the operator's token of the HTTP server. */
export const TOKEN_OPERATOR: ActorId = actorId("token:operator");

/** The program itself: its background work. */
export const PROGRAM: ActorId = actorId("program:strata");

/**
 * The actions that need permission. `view`: a thread and what was said on it, cut to what the actor may know; `read`: all that is kept;
 * `explain`: also what a model was sent, and why; `decide`: what becomes of what an agent wants to say.
 */
export const ACTIONS = ["view", "post", "run", "read", "explain", "decide", "operate"] as const;
export type Action = (typeof ACTIONS)[number];

/** Deny by default: an action not named here is refused. */
const MAY = {
  platform: ACTIONS,
  operator: ACTIONS,
  member: ["view", "post", "run", "read", "decide"],
  agent: ["view", "read"],
  contact: ["view", "post", "run"],
  auditor: ["view", "read", "explain"],
} as const satisfies Readonly<Record<Role, readonly Action[]>>;

type RolesFor<A extends Action> = { [R in Role]: A extends (typeof MAY)[R][number] ? R : never }[Role];

/** What every role that may do this may do, too. */
type Implied<A extends Action> = A extends Action
  ? { [B in Action]: RolesFor<A> extends RolesFor<B> ? B : never }[Action]
  : never;

declare const ALLOWED: unique symbol;

/**
 * Somebody whose role may do this, and all that whoever may do this may do: `Allowed<"operate">` may do everything, and anybody is
 * `Allowed<"view">`. Whose data it is, the function asks. Made by `allow` alone.
 */
export type Allowed<A extends Action> = Actor & { readonly [ALLOWED]: { readonly [B in Implied<A>]: true } };

/** Marks an actor whose role was checked, where types do not: for programs in JavaScript. */
const CHECKED = Symbol("checked");

/**
 * The actor, once its role was checked. Operations do it before they parse anything; a program that calls the runtime's functions
 * does it first.
 * @throws StrataError `not_allowed`
 */
export function allow<A extends Action>(actor: Actor, ...actions: readonly [A, ...A[]]): Allowed<A> {
  // Not enumerable: a copy with another role is an unchecked actor.
  const checked = Object.defineProperty({ ...actor }, CHECKED, { value: true });
  if (mayAll(checked, actions)) return checked;
  const message = `${withArticle(actor.role)} may not ${actions.join(" and ")} in ${actor.org}; ask an operator of ${actor.org} to do it`;
  throw new StrataError("not_allowed", message, { role: actor.role, action: actions.join() });
}

const mayAll = <A extends Action>(actor: Actor, actions: readonly A[]): actor is Allowed<A> =>
  actions.every((action) => may(actor, action));

/** Whether an actor who may do one thing may do another, too. */
export const isAllowed = <A extends Action>(actor: Allowed<"view">, action: A): actor is Allowed<"view"> & Allowed<A> =>
  may(actor, action);

/** How far the actor's words are trusted. The CLI and the HTTP server cannot claim more. */
export function trustOf({ role }: Pick<Actor, "role">): Trust {
  return TRUSTS.find((trust) => trust === role) ?? "contact";
}

/**
 * Whether the actor has access to everything in `scope`. A contact has access to its own alone.
 * @throws StrataError `not_allowed` for an actor whose role was not checked
 */
export function reaches(actor: Allowed<"view">, scope: Scope): boolean {
  if (!(CHECKED in actor)) {
    const message =
      "the actor's role was not checked: call an operation, or make the actor with `allow(actor, action)` first";
    throw new StrataError("not_allowed", message, { role: actor.role });
  }
  return (
    actor.org === scope.org &&
    (actor.agent === undefined || actor.agent === scope.agent) &&
    (actor.contact === undefined ? actor.role !== "contact" : actor.contact === scope.contact)
  );
}

/** Whether the actor's role permits the action. */
export const may = ({ role }: Pick<Actor, "role">, action: Action): boolean => MAY[role].some((one) => one === action);

/** The role in a sentence. */
export const withArticle = (role: Role): string => `${/^[aeiou]/.test(role) ? "an" : "a"} ${role}`;

/**
 * Checks whose data it is.
 * @throws StrataError `not_allowed`
 */
export function authorize(actor: Allowed<"view">, scope: Scope): void {
  if (reaches(actor, scope)) return;
  const whose = `${scope.org}/${scope.agent}/${scope.contact ?? "-"}`;
  throw new StrataError(
    "not_allowed",
    `${withArticle(actor.role)} with access to ${reachOf(actor)} has none to ${whose}; ask an operator of ${scope.org}`,
    { role: actor.role, scope: whose },
  );
}

const reachOf = ({ org, agent, contact }: Actor): string =>
  agent === undefined && contact === undefined ? org : `${org}/${agent ?? "*"}/${contact ?? "*"}`;
