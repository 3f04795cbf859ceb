import { checkSignature, senderAddress } from "../guard/index.ts";
import {
  type Action,
  type Actor,
  type Agent,
  authorize,
  type ContactId,
  type ContactScope,
  type EventPart,
  isReserved,
  type NewEvent,
  type Scope,
  type SignedEvent,
  StrataError,
  untrusted,
} from "../protocol/index.ts";
import type { AgentBook } from "./parts.ts";

/**
 * The contact under which an agent knows who writes to it.
 * @throws StrataError `invalid_id` for what is no address where senders are addresses, `not_allowed` for the agent's own
 */
export async function contactFor(agent: Agent, contact: ContactId): Promise<ContactId> {
  checkOutside({ agent: agent.name, contact });
  return agent.senders === "ethereum" ? senderAddress(contact) : contact;
}

/**
 * The scope under which is kept what a door asks for: where senders are addresses, one that is written otherwise is the same. What
 * is no address may be a contact of the time before they were.
 * @throws StrataError `invalid_id` for an address whose checksum is wrong
 */
export async function knownScope<S extends Scope>({ all }: AgentBook, scope: S): Promise<S> {
  const { org, agent, contact } = scope;
  if (contact === null || !ADDRESS.test(contact)) return scope;
  const isAddress = all.some((one) => one.org === org && one.name === agent && one.senders === "ethereum");
  return isAddress ? { ...scope, contact: await senderAddress(contact) } : scope;
}

const ADDRESS = /^0x[0-9a-f]{40}$/i;

/**
 * The same, for what the actor may do there.
 * @throws StrataError `not_allowed`, `invalid_id`
 */
export async function reach(agents: AgentBook, actor: Actor, { scope, action }: Reached): Promise<Scope> {
  const known = await knownScope(agents, scope);
  authorize(actor, action, known);
  return known;
}

/** Whose data, and what for. */
export interface Reached {
  readonly scope: Scope;
  readonly action: Action;
}

/**
 * Lets nobody write on the threads of an agent's own turns, which hold no word of a contact, and of those over several senders.
 * @throws StrataError `not_allowed`
 */
export function checkOutside({ agent, contact }: Pick<ContactScope, "agent" | "contact">): void {
  if (!isReserved(contact)) return;
  const says = `${contact} stands for ${agent} itself, and nobody writes as it; \`strata life tick\` begins a turn of its own`;
  throw new StrataError("not_allowed", says, { contact });
}

/**
 * The event as it is kept: there where senders are addresses, with whether it is proven to be theirs.
 * @throws StrataError `signature_invalid`, `invalid_input` for a signature that cannot be checked
 */
export async function stampProof(
  agent: Agent | undefined,
  { org, contact }: ContactScope,
  { signature, proof: _, ...event }: SignedEvent,
): Promise<NewEvent> {
  if (agent?.senders !== "ethereum" || event.kind !== "message" || event.trust !== "contact") {
    if (signature === undefined) return event;
    const says = "only messages of contacts to an agent with `senders: ethereum` are signed";
    throw new StrataError("invalid_input", `${says}; leave the signature out`);
  }
  // A thread of before senders were addresses goes on with nobody who has none.
  await contactFor(agent, contact);
  // The address stands before what the sender claims beside it.
  const name = untrusted(event.name === undefined ? contact : `${contact} ${event.name}`);
  if (signature === undefined) return { ...event, name, proof: "claimed" };
  // In more than one line, the end of the id could as well be the beginning of the text.
  if (event.externalId === undefined || /[\r\n]/.test(event.externalId)) {
    const says = "a signed message needs an external id of one line, which is signed with it, so that it counts once";
    throw new StrataError("invalid_input", says);
  }
  const text = event.content.map((part) => (part.type === "text" ? part.text : notText(part))).join("\n");
  await checkSignature(contact, { to: `${org}/${agent.name}`, id: event.externalId, text }, signature);
  return { ...event, name, proof: "proven" };
}

function notText({ type }: EventPart): never {
  const says = `a signature is of text alone, and this message has a part of type ${type}; send that without a signature`;
  throw new StrataError("invalid_input", says, { type });
}
