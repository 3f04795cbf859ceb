import {
  type Agent,
  type Allowed,
  ANSWER_KIND,
  authorize,
  type CallId,
  type ContactScope,
  eventId,
  isAllowed,
  isMedia,
  issueId,
  type Json,
  LONGEST_MESSAGE,
  maySay,
  type NewEvent,
  OUTSIDE_KINDS,
  type PayloadPart,
  partText,
  type SignedEvent,
  StrataError,
  TRUSTS,
  threadId,
  trustOf,
  withArticle,
} from "../../protocol/index.ts";
import type { AlsoStored, Thread, ThreadOpening } from "../../store/index.ts";
import { agentNamed, scopeOf, scopeOfThread } from "../access.ts";
import { keepVersion } from "../loop/setup.ts";
import type { Steps } from "../loop/steps.ts";
import type { Parts } from "../parts.ts";
import { checkOfRecording, checkRecorded } from "../recording/recording.ts";
import type { Conversation, Runtime } from "../runtime.ts";
import { type Arrival, arrivalOn } from "./arrival.ts";
import { checkTalk } from "./own-channels.ts";
import { checkOutside, contactFor, stampProof } from "./senders.ts";

/** The years that four digits can tell, in milliseconds since 1970. */
const EARLIEST = Date.parse("0001-01-01T00:00:00Z");
const LATEST = Date.parse("9999-12-31T23:59:59.999Z");

/** The steps that incoming messages go through; features can add their own. */
type Receiving = Parts & { readonly steps: Pick<Steps, "admit"> };

/** The conversation's thread, created if missing; pinned to the agent's declared version. */
export async function openThread(
  parts: Receiving,
  actor: Allowed<"view">,
  conversation: Conversation,
): Promise<Thread> {
  const { scope, opening } = await openingOf(parts, actor, conversation);
  return parts.store.openThread(scope, opening);
}

/** The same, and stores the events on it, in one. */
export async function openAndPost(
  parts: Receiving,
  actor: Allowed<"view">,
  conversation: Conversation,
  events: readonly SignedEvent[],
  also?: AlsoStored,
): ReturnType<Runtime["openAndPost"]> {
  const { agent, scope, opening } = await openingOf(parts, actor, { ...conversation, first: events });
  checkOfRecording(opening, events);
  checkOutside(scope);
  const answer = events.find(({ answers }) => answers !== undefined);
  if (answer !== undefined)
    throw new StrataError("invalid_input", "an answer to a call is posted on the call's thread");
  return parts.store.openAndReceive(scope, opening, await stampedFor(parts, { agent, scope }, events), also);
}

async function openingOf(
  parts: Receiving,
  actor: Allowed<"view">,
  conversation: Conversation,
): Promise<{ readonly agent: Agent; readonly scope: ContactScope; readonly opening: ThreadOpening }> {
  const agent = agentNamed(parts, actor, conversation.agent);
  const scope = { ...scopeOf(actor, conversation), contact: await contactFor(agent, conversation.contact) };
  authorize(actor, scope);
  checkTalk(parts, conversation);
  checkRecorded(conversation);
  for (const event of conversation.first ?? []) {
    checkEvent(actor, event, agent);
    await stampProof(agent, scope, event);
  }
  const { channel, key, first: events = [] } = conversation;
  await parts.steps.admit(parts, { agent, scope, actor, opens: { channel, key }, events });
  await keepVersion(parts, agent);
  const id = threadId(issueId("thread", parts.clock.real(), parts.random(10)));
  return { agent, scope, opening: { id, channel, key, version: agent.version, at: parts.clock.recorded() } };
}

/** Stores the events on the thread, all or none. */
export async function post(
  parts: Receiving,
  actor: Allowed<"view">,
  thread: Thread,
  events: readonly SignedEvent[],
  also?: AlsoStored,
): ReturnType<Runtime["post"]> {
  const { scope, stamped } = await checkedFor(parts, actor, thread, events);
  return parts.store.receive(scope, thread.id, stamped, also);
}

/** @throws StrataError if they may not be posted there */
async function checkedFor(
  parts: Receiving,
  actor: Allowed<"view">,
  thread: Thread,
  events: readonly SignedEvent[],
): Promise<{ readonly scope: ContactScope; readonly stamped: Awaited<ReturnType<typeof stampedFor>> }> {
  const scope = scopeOfThread(actor, thread);
  checkTalk(parts, thread);
  checkOfRecording(thread, events);
  checkOutside(scope);
  const agent = parts.agents.all.find(({ org, name }) => org === scope.org && name === scope.agent);
  for (const event of events) {
    checkEvent(actor, event, agent);
    if (event.answers !== undefined) await checkAnswer(parts, actor, thread, event.answers);
  }
  if (agent !== undefined) await parts.steps.admit(parts, { agent, scope, actor, thread, events });
  return { scope, stamped: await stampedFor(parts, { agent, scope }, events) };
}

/** The same, except that nothing is stored yet. */
export async function arrivalOf(
  parts: Receiving,
  actor: Allowed<"view">,
  thread: Thread,
  events: readonly SignedEvent[],
  also?: AlsoStored,
): Promise<Arrival> {
  const { scope, stamped } = await checkedFor(parts, actor, thread, events);
  return arrivalOn(parts.store, { scope, id: thread.id }, stamped, also);
}

/**
 * A client that talks with the agent answers the calls that wait for it. Only the called agent or the deciding person can answer the
 * others.
 */
async function checkAnswer(
  { store }: Parts,
  actor: Allowed<"view">,
  { id, scope }: Thread,
  answers: CallId,
): Promise<void> {
  if (actor.contact !== scope.contact && !isAllowed(actor, "operate")) {
    const sentence = `${withArticle(actor.role)} may not answer for ${scope.contact}: the contact or an operator answers ${answers}`;
    throw new StrataError("not_allowed", sentence, { call: answers });
  }
  const call = await store.callLeftOpen(scope, id, answers);
  // If there is none, the store reports it.
  if (call === undefined || call.waitsFor === "client") return;
  const whom = call.waitsFor === "agent" ? "another agent, whose own answer it gets" : "the decision of a person";
  throw new StrataError("not_allowed", `${answers} waits for ${whom}; it cannot be answered here`, { call: answers });
}

/** As they are stored: with what their signatures prove, and with ids. */
async function stampedFor(
  parts: Parts,
  { agent, scope }: { readonly agent: Agent | undefined; readonly scope: ContactScope },
  events: readonly SignedEvent[],
) {
  const signed = await Promise.all(events.map((event) => stampProof(agent, scope, event)));
  return signed.map((event) => ({ ...event, id: eventId(issueId("event", parts.clock.real(), parts.random(10))) }));
}

function checkEvent(actor: Allowed<"view">, event: SignedEvent, agent: Agent | undefined): void {
  const own = trustOf(actor);
  if (TRUSTS.indexOf(event.trust) < TRUSTS.indexOf(own)) {
    throw new StrataError(
      "not_allowed",
      `${withArticle(actor.role)} may not speak as ${event.trust}; post the event as ${own} or less`,
      { trust: event.trust },
    );
  }
  if ((event.kind === ANSWER_KIND) !== (event.answers !== undefined)) throw notTheirs(event);
  // The author decides the trust, and no one can claim more trust than they have.
  if (event.answers === undefined && !maySay(event.trust, event.kind, agent?.instructions)) throw notTheirs(event);
  if (!Number.isSafeInteger(event.at) || event.at < EARLIEST || event.at > LATEST) {
    const form = "whole milliseconds since 1970, within the years 1 to 9999";
    throw new StrataError("invalid_input", `an event's time is ${form}; this one says ${event.at}`, { at: event.at });
  }
  for (const part of event.content) if (part.type === "payload") checkPayload(part);
  const length = event.content.reduce((sum, part) => sum + (isMedia(part) ? 0 : partText(part).length), 0);
  const most = agent?.budgets.message ?? LONGEST_MESSAGE;
  // A picture needs no words beside it.
  const isEmpty = length === 0 && !event.content.some(isMedia);
  if (!isEmpty && length <= most) return;
  const [limit, found] = [most, length].map((one) => one.toLocaleString("en-US"));
  const next = length > most ? "; send less at once, or let `budgets.message` in strata.yaml allow more" : "";
  const message = `an event has 1 to ${limit} characters; this one has ${found}${next}`;
  throw new StrataError("invalid_input", message, { length, most });
}

/** A type is a name, like that of a class or a schema; it appears in the frame beside the payload. */
const PAYLOAD_TYPE = /^[\p{L}_][\p{L}\p{N}_.:/-]{0,99}$/u;

/** What nests deeper would break whoever walks it later. */
const DEEPEST_PAYLOAD = 32;

function checkPayload({ payloadType, payload }: PayloadPart): void {
  if (!PAYLOAD_TYPE.test(payloadType)) {
    const form = "1 to 100 letters, digits, `_`, `.`, `:`, `/` or `-`, the first a letter or `_`";
    const message = `a payload's type is ${form}; this one is ${JSON.stringify(payloadType.slice(0, 120))}`;
    throw new StrataError("invalid_input", message, { payloadType });
  }
  let level: readonly Json[] = [payload];
  for (let depth = 0; level.length > 0; depth++) {
    if (depth > DEEPEST_PAYLOAD) {
      const message = `the payload ${payloadType} is nested deeper than ${DEEPEST_PAYLOAD} levels; send less nesting`;
      throw new StrataError("invalid_input", message, { payloadType });
    }
    level = level.flatMap((value) => (value !== null && typeof value === "object" ? Object.values(value) : []));
  }
}

function notTheirs({ kind, trust }: NewEvent): StrataError {
  const theirs = OUTSIDE_KINDS.filter((one) => maySay(trust, one)).map((one) => `\`${one}\``);
  const next =
    kind === "instruction" || kind === "scheduled"
      ? `post it with \`trust: operator\` as an operator${kind === "instruction" ? ", or let members instruct the agent with `instructions: members` in strata.yaml" : ""}`
      : "only the platform posts such events";
  const message = `an event of kind \`${kind}\` cannot come from ${withArticle(trust)}, who may post ${theirs.join(", ")}; ${next}`;
  return new StrataError("not_allowed", message, { kind, trust });
}
