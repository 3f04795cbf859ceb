import { z } from "zod";
import { type Agent, asStrataError, type Json } from "../../protocol/index.ts";
import { senderOf, type WholeHistoryEntry } from "../../store/index.ts";
import type { ModelCall, RunningTurn, StepAnswer } from "../../turn/index.ts";
import { answerIn, type HandlerOutput, payloadIn, peerAnswer, peerOf } from "../peers/index.ts";
import { HANDLER_FAILED } from "./errors.ts";

/** A handler's input, which is all that it can see. */
export interface HandlerInput {
  readonly payload: Json;
  readonly metadata: HandlerMetadata;
  /** The thread's earlier messages, oldest first. */
  readonly history: readonly HandlerSlot[];
}

export interface HandlerMetadata {
  readonly thread_id: string;
  /** Who sent the payload: the contact, an agent, or another sender that `kind` explains. */
  readonly from_id: string;
  readonly own_name: string;
  /**
   * `message`: from outside. `peer`: an agent asks, or tells something before it answers. `answer`: an agent answers. Others, such as
   * `warning`, are the platform's or an operator's.
   */
  readonly kind: string;
  /** `Text` for words, which come as `{ text }`. */
  readonly payload_type: string;
  /** The call that the payload answers, if the handler had forwarded something. */
  readonly answers?: string;
  /** There is no answer; the payload is a `Text` that says only that. */
  readonly failed?: true;
}

/** A message, a forward or an answer: `from_id` and `to_id` name its sender and receiver. */
export interface HandlerSlot {
  readonly from_id: string;
  readonly to_id: string;
  /** As in the metadata; `reply` for its own replies, and `peer` for what it forwarded. */
  readonly kind: string;
  /** Its place among the newest 1,000. */
  readonly index: number;
  /** ISO 8601. */
  readonly time: string;
  readonly payload: Json;
  readonly payload_type: string;
  /** A peer had no answer. */
  readonly failed?: true;
}

/** How much of its thread a handler sees: the newest slots, up to this number and this many characters. */
const MOST_SLOTS = 1_000;
const MOST_HISTORY = 400_000;

/** The input of this turn's handler. */
export async function inputOf(turn: RunningTurn, call: ModelCall): Promise<HandlerInput> {
  const { thread, open } = turn.lease.claim;
  const whose = { thread_id: thread.id, own_name: turn.setup.agent.name };
  const history = newestHistory(
    await turn.parts.store.wholeHistory(thread.scope, thread.id, MOST_SLOTS),
    turn.setup.agent,
  );
  // A refused forward comes back in the same turn, without a peer being asked.
  const refused = ran.has(turn) ? refusedIn(call) : undefined;
  ran.add(turn);
  if (refused !== undefined) return { payload: NOT_ASKED, metadata: { ...whose, ...refused }, history };
  // A peer's updates beside its answer are in the history.
  const event = call.events.findLast(({ kind }) => kind !== "peer") ?? call.events.at(-1);
  const { type, payload } = event?.failed ? NO_ANSWER : payloadIn(event ?? { content: [] });
  const said = event ?? { kind: "message", trust: "contact" };
  // Whoever was asked, also where the platform says that there is no answer.
  const asked = open.find(({ id }) => id === event?.answers);
  return {
    payload,
    metadata: {
      ...whose,
      from_id: asked ? peerOf(asked.tool) : senderOf(said, { contact: thread.scope.contact, ...thread }).name,
      kind: said.kind,
      payload_type: type,
      ...(event?.answers !== undefined && { answers: event.answers }),
      ...(event?.failed && { failed: true }),
    },
    history,
  };
}

/** In place of a sentence that tells a model how to go on. */
const NO_ANSWER = { type: "Text", payload: { text: "There is no answer; the platform's record says why." } } as const;

const NOT_ASKED = { text: "It was not asked; the platform's record says why." };

/** Turns in which a handler has run. */
const ran = new WeakSet<RunningTurn>();

function refusedIn({ request }: ModelCall): Omit<HandlerMetadata, "thread_id" | "own_name"> | undefined {
  const last = request.messages.at(-1);
  const result = last?.role === "tool" ? last.parts[0] : undefined;
  return (
    result && { from_id: peerOf(result.tool), kind: "answer", payload_type: "Text", answers: result.id, failed: true }
  );
}

function newestHistory(entries: readonly WholeHistoryEntry[], agent: Agent): readonly HandlerSlot[] {
  let characters = 0;
  const cut =
    entries.findLastIndex(({ text }) => {
      characters += text.length;
      return characters > MOST_HISTORY;
    }) + 1;
  return entries.slice(cut).map((entry, i) => {
    const { from, to, kind, at, failed } = entry;
    const time = new Date(at).toISOString();
    return {
      from_id: from,
      to_id: to,
      kind,
      index: cut + i,
      time,
      ...payloadOf(entry, agent),
      ...(failed && { failed }),
    };
  });
}

/** The same as the handler got, or returned. */
function payloadOf(
  { kind, text, payload, payloadType = "Text", failed }: WholeHistoryEntry,
  agent: Agent,
): Pick<HandlerSlot, "payload" | "payload_type"> {
  if (failed) return { payload: NO_ANSWER.payload, payload_type: NO_ANSWER.type };
  if (payload !== undefined) return { payload, payload_type: payloadType };
  const answer = kind === "reply" ? answerIn(agent, text) : undefined;
  return { payload: answer?.payload ?? { text }, payload_type: answer?.type ?? "Text" };
}

const RETURNED = z.union([z.null(), z.strictObject({ payload: z.json(), to: z.string().min(1).max(64).optional() })]);

/** JSON nested deeper than this is not accepted as an answer. */
const DEEPEST = 64;

/**
 * What a handler returned.
 * @throws StrataError `handler_failed` for anything but nothing, or a payload and perhaps a receiver
 */
export function outputIn(agent: string | undefined, returned: string): HandlerOutput {
  const refuse = (why: string): never => {
    const whose = agent === undefined ? "the" : `${agent}'s`;
    const message = `${whose} handler returned ${why}; return { payload }, { payload, to } or nothing`;
    throw HANDLER_FAILED.of(message, { reason: "returned" });
  };
  if (depthOf(returned) > DEEPEST) return refuse(`JSON that is nested deeper than ${DEEPEST} levels`);
  const { data, success } = RETURNED.safeParse(JSON.parse(returned));
  if (!success) return refuse(returned.length > 200 ? `${returned.slice(0, 200)}…` : returned);
  if (data === null) return null;
  const { payload, to } = data;
  return { payload, ...(to !== undefined && { to }) };
}

/**
 * The same as the turn's answer.
 * @throws StrataError `handler_failed` also for a payload that does not match, or a peer that is not declared
 */
export async function answerOf(agent: Agent, returned: string): Promise<StepAnswer> {
  const output = outputIn(agent.name, returned);
  try {
    return await peerAnswer(agent, output);
  } catch (thrown) {
    // Whoever wrote the message did nothing wrong.
    const { code, message } = asStrataError(thrown);
    if (code !== "invalid_input") throw thrown;
    throw HANDLER_FAILED.of(`${agent.name}'s handler returned what cannot be sent: ${message}`, { reason: "returned" });
  }
}

/** How deep the brackets of a JSON text are nested. */
function depthOf(json: string): number {
  let depth = 0;
  let deepest = 0;
  for (const [token] of json.matchAll(/"(?:[^"\\]|\\.)*"|[[\]{}]/g)) {
    if (token === "[" || token === "{") deepest = Math.max(deepest, ++depth);
    else if (token === "]" || token === "}") depth--;
  }
  return deepest;
}
