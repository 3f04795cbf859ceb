import { checkSignature, senderAddress } from "../../guard/index.ts";
import {
  type Agent,
  type Allowed,
  authorize,
  type ContactId,
  type ContactScope,
  type EventPart,
  isErased,
  isReserved,
  type Scope,
  type SignedEvent,
  StrataError,
  untrusted,
} from "../../protocol/index.ts";
import type { AgentBook, Parts } from "../parts.ts";

/**
 * The contact as which an agent knows a sender.
 * @throws StrataError `invalid_id` for an invalid address where senders are addresses, `not_allowed` for the agent's own
 */
export async function contactFor(agent: Agent, contact: ContactId): Promise<ContactId> {
  checkOutside({ agent: agent.name, contact });
  return agent.senders === "ethereum" ? senderAddress(contact) : contact;
}

/** The fields that decide the scope under which something is stored. */
type ScopeParts = Pick<Parts, "agents" | "store">;

/**
 * The scopes under which data is stored: if senders are addresses, one that is written in another case is the same contact. A contact that
 * is not an address may date from before senders were addresses, for at least one of the agents.
 * @throws StrataError `invalid_id` for an address with a wrong checksum, and for an invalid address that no agent can know
 */
export async function knownScopes<S extends Scope>(parts: ScopeParts, scopes: readonly S[]): Promise<readonly S[]> {
  const known = await Promise.all(scopes.map((scope) => asAddress(parts.agents, scope)));
  for (const scope of known) if (!isNoAddress(parts.agents, scope) || (await hasData(parts, scope))) return known;
  const [contact] = known.map((scope) => scope.contact);
  if (typeof contact === "string") await senderAddress(contact);
  return known;
}

/** The same for one scope. @throws StrataError as `knownScopes` */
export async function knownScope<S extends Scope>(parts: ScopeParts, scope: S): Promise<S> {
  const [known = scope] = await knownScopes(parts, [scope]);
  return known;
}

/** The scope for new data: only of contacts that may write to the agent today. @throws StrataError as `contactFor` */
export async function writableScope({ all }: AgentBook, scope: Scope): Promise<Scope> {
  const agent = all.find(({ org, name }) => org === scope.org && name === scope.agent);
  if (agent === undefined || scope.contact === null) return scope;
  return { ...scope, contact: await contactFor(agent, scope.contact) };
}

const ADDRESS = /^0x[0-9a-f]{40}$/i;

const hasAddresses = ({ all }: AgentBook, { org, agent }: Scope): boolean =>
  all.some((one) => one.org === org && one.name === agent && one.senders === "ethereum");

async function asAddress<S extends Scope>(agents: AgentBook, scope: S): Promise<S> {
  const { contact } = scope;
  if (contact === null || !ADDRESS.test(contact) || !hasAddresses(agents, scope)) return scope;
  return { ...scope, contact: await senderAddress(contact) };
}

const isNoAddress = (agents: AgentBook, scope: Scope): boolean =>
  scope.contact !== null && !isReserved(scope.contact) && !ADDRESS.test(scope.contact) && hasAddresses(agents, scope);

async function hasData({ store }: ScopeParts, scope: Scope): Promise<boolean> {
  return (await store.threads(scope, 1)).length > 0 || (await store.memoryStats(scope)).length > 0;
}

/**
 * The scope under which data is stored, if the actor has access to it.
 * @throws StrataError `not_allowed`, `invalid_id`
 */
export async function reach(parts: ScopeParts, actor: Allowed<"view">, scope: Scope): Promise<Scope> {
  const asked = await asAddress(parts.agents, scope);
  // Authorize first: no caller may learn what is stored about other callers' contacts.
  authorize(actor, asked);
  return knownScope(parts, asked);
}

/**
 * Prevents messages on the threads of self-started turns and of turns with several senders.
 * @throws StrataError `not_allowed`
 */
export function checkOutside({ agent, contact }: Pick<ContactScope, "agent" | "contact">): void {
  if (!isReserved(contact)) return;
  if (isErased(contact)) {
    const gone = `${contact} is the pseudonym of an erased contact of ${agent}, and nobody can write as it; write under the contact's own name, as a new contact`;
    throw new StrataError("not_allowed", gone, { contact });
  }
  const message = `${contact} is ${agent} itself, and nobody can write as it; \`strata life tick ${agent}\` or \`POST /v1/agents/${agent}/life/tick\` begins a turn of its own`;
  throw new StrataError("not_allowed", message, { contact });
}

/**
 * The event as it is stored: if senders are addresses, with whether a signature proves that it is theirs.
 * @throws StrataError `signature_invalid`, `invalid_input` for a signature that cannot be checked
 */
export async function stampProof(
  agent: Agent | undefined,
  { org, contact }: ContactScope,
  { signature, proof: _, ...event }: SignedEvent,
): Promise<Omit<SignedEvent, "signature">> {
  if (agent?.senders !== "ethereum" || event.kind !== "message" || event.trust !== "contact") {
    if (signature === undefined) return event;
    const message = "only messages of contacts to an agent with `senders: ethereum` are signed";
    throw new StrataError("invalid_input", `${message}; leave the signature out`);
  }
  // A contact without an address cannot continue a thread from the time before senders were addresses.
  await contactFor(agent, contact);
  // The address comes before the sender's own claims.
  const name = untrusted(event.name === undefined ? contact : `${contact} ${event.name}`);
  if (signature === undefined) return { ...event, name, proof: "claimed" };
  // With line breaks, the end of the id could be read as the beginning of the text.
  if (event.externalId === undefined || /[\r\n]/.test(event.externalId)) {
    const message =
      "a signed message needs an external id of one line, which is signed with it, so that it counts once";
    throw new StrataError("invalid_input", message);
  }
  const text = event.content.map((part) => (part.type === "text" ? part.text : notText(part))).join("\n");
  await checkSignature(contact, { to: `${org}/${agent.name}`, id: event.externalId, text }, signature);
  return { ...event, name, proof: "proven" };
}

function notText({ type }: EventPart): never {
  const message = `a signature is of text alone, and this message has a part of type ${type}; send that without a signature`;
  throw new StrataError("invalid_input", message, { type });
}
