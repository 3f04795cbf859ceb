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

/** The contact of an agent's own turns: nobody outside. Nobody can post a message as this contact. */
export const SELF: ContactId = contactId("~self");

/** The channel of runs by the clock, each on a thread of its own. Their contact is `SELF`, and their replies are for the operator. */
export const SCHEDULE = "schedule";

/** The prefix of contacts for turns that handle messages of several senders. */
const INBOX = "~inbox";

/** The most senders that such a turn may have. */
export const BATCH_SENDERS = 5;

/** The contact of one such turn, and of no other: so its record goes when any of its senders is erased. */
export const batchContact = (id: string): ContactId => contactId(`${INBOX}:${id}`);

/** Whether the data is of a turn that handles messages of several senders. */
export const isBatch = ({ contact }: { readonly contact: string | null }): boolean =>
  contact?.startsWith(`${INBOX}:`) ?? false;

/** What the pseudonyms of erased contacts begin with. */
const ERASED = "~erased";

/** The pseudonym of an erased contact, in rows with counts and costs. The id is random: it does not lead back to the name. */
export const erasedContact = (id: string): ContactId => contactId(`${ERASED}:${id}`);

/** Whether it is the pseudonym of an erased contact. */
export const isErased = (contact: ContactId): boolean => contact.startsWith(`${ERASED}:`);

/** Whether a contact is nobody outside. Nobody can post a message as such a contact. */
export const isReserved = (contact: ContactId): boolean =>
  contact === SELF || contact === INBOX || contact.startsWith(`${INBOX}:`) || isErased(contact);

/** Where memories of a thread are kept: those of the agent's own turns are the agent's own. */
export function memoryScope<S extends Scope>(scope: S): Scope {
  return scope.contact === SELF ? { ...scope, contact: null } : scope;
}

/** The roles of actors, the most powerful first. */
export const ROLES = ["platform", "operator", "member", "agent", "contact", "auditor"] as const;
export type Role = (typeof ROLES)[number];

/** Who asks. `agent` and `contact` limit the actor's access; left out, the actor has access to the whole organization. */
export interface Actor {
  readonly org: OrgId;
  /** Kept with what they do, so that the record says who it was. */
  readonly id: ActorId;
  readonly role: Role;
  readonly agent?: AgentName;
  readonly contact?: ContactId;
}

/** Whoever sits at this machine: the command line, and programs that embed Strata. */
export const LOCAL_OPERATOR: ActorId = actorId("local:operator");

/** Whoever holds the operator's token of the HTTP server. */
export const TOKEN_OPERATOR: ActorId = actorId("token:operator");

/** The program itself: its background work. */
export const PROGRAM: ActorId = actorId("program:strata");

/** The actions that need permission. */
export const ACTIONS = ["post", "run", "read", "explain", "operate"] as const;
export type Action = (typeof ACTIONS)[number];

/** Deny by default: an action not named here is refused. */
const MAY: Readonly<Record<Role, readonly Action[]>> = {
  platform: ACTIONS,
  operator: ACTIONS,
  member: ["post", "run", "read"],
  agent: ["read"],
  contact: ["post", "run"],
  auditor: ["read", "explain"],
};

/** How far the actor's words are trusted. The CLI and the HTTP server cannot claim more. */
export function trustOf({ role }: Pick<Actor, "role">): Trust {
  return TRUSTS.find((trust) => trust === role) ?? "contact";
}

/** Whether the actor has access to everything in `scope`. */
export function reaches(actor: Actor, scope: Scope): boolean {
  return (
    actor.org === scope.org &&
    (actor.agent === undefined || actor.agent === scope.agent) &&
    (actor.contact === undefined || actor.contact === scope.contact)
  );
}

/** Whether the actor's role permits the action. */
export const may = (actor: Actor, action: Action): boolean => MAY[actor.role].includes(action);

/** The role in a sentence. */
export const withArticle = (role: Role): string => `${/^[aeiou]/.test(role) ? "an" : "a"} ${role}`;

/**
 * Checks that the actor may do it.
 * @throws StrataError `not_allowed`
 */
export function authorize(actor: Actor, action: Action, scope: Scope): void {
  if (may(actor, action) && reaches(actor, scope)) return;
  const whose = `${scope.org}/${scope.agent}/${scope.contact ?? "-"}`;
  throw new StrataError(
    "not_allowed",
    `${withArticle(actor.role)} may not ${action} in ${whose}; ask an operator of ${scope.org} to do it`,
    { role: actor.role, action, scope: whose },
  );
}
