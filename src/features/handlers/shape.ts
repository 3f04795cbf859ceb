import { z } from "zod";
import type { Agent, Json } from "../../protocol/index.ts";
import type { Slot } from "../../store/index.ts";
import type { ModelCall, RunningTurn, StepAnswer } from "../../turn/index.ts";
import { payloadIn, peerAnswer } from "../peers/index.ts";
import { HANDLER_FAILED } from "./errors.ts";

/** What a handler gets. It is all that it can see. */
export interface HandlerInput {
  readonly payload: Json;
  readonly metadata: HandlerMetadata;
  /** What was said before on its thread, the oldest first. */
  readonly history: readonly HandlerSlot[];
}

export interface HandlerMetadata {
  readonly thread_id: string;
  /** The contact or the agent that sent the payload. */
  readonly from_id: string;
  readonly own_name: string;
  /** `Text` for words, which come as `{ text }`. */
  readonly payload_type: string;
  /** The call that the payload answers, where the handler had forwarded something. */
  readonly answers?: string;
}

export interface HandlerSlot {
  readonly from_id: string;
  readonly to_id: string;
  readonly index: number;
  /** ISO 8601. */
  readonly time: string;
  readonly payload: Json;
}

/** How much of its thread a handler sees: the newest slots, up to so many and so many characters. */
const MOST_SLOTS = 1_000;
const MOST_HISTORY = 400_000;

/** What the handler of this turn gets. */
export async function inputOf(turn: RunningTurn, { events }: ModelCall): Promise<HandlerInput> {
  const { thread } = turn.lease.claim;
  const event = events.at(-1);
  const { type, payload } = payloadIn(event ?? { content: [] });
  const asked = thread.parties?.initiator ?? thread.scope.contact;
  const slots = await turn.parts.store.slots(thread.scope, thread.id, { limit: MOST_SLOTS });
  return {
    payload,
    metadata: {
      thread_id: thread.id,
      from_id: event?.kind === "answer" && event.name !== undefined ? event.name : asked,
      own_name: turn.setup.agent.name,
      payload_type: type,
      ...(event?.answers !== undefined && { answers: event.answers }),
    },
    history: newest(slots.filter(({ turn: of }) => of !== turn.lease.claim.turn)),
  };
}

function newest(slots: readonly Slot[]): readonly HandlerSlot[] {
  const kept: HandlerSlot[] = [];
  let characters = 0;
  for (const { from, to, index, at, text, payload } of slots.toReversed()) {
    characters += text.length;
    if (characters > MOST_HISTORY) break;
    kept.push({ from_id: from, to_id: to, index, time: new Date(at).toISOString(), payload: payload ?? text });
  }
  return kept.reverse();
}

const RETURNED = z.union([z.null(), z.strictObject({ payload: z.json(), to: z.string().min(1).max(64).optional() })]);

/** JSON that is nested deeper than this is no answer. */
const DEEPEST = 64;

/**
 * What a handler returned, as the turn's answer.
 * @throws StrataError `handler_failed` for anything but a payload or nothing, `invalid_input` for a peer or a payload that is not declared
 */
export async function answerOf(agent: Agent, returned: string): Promise<StepAnswer> {
  const refuse = (why: string): never => {
    throw HANDLER_FAILED.of(`${agent.name}'s handler returned ${why}; return { payload }, { payload, to } or nothing`, {
      reason: "returned",
    });
  };
  if (depthOf(returned) > DEEPEST) return refuse(`JSON that is nested deeper than ${DEEPEST} levels`);
  const { data, success } = RETURNED.safeParse(JSON.parse(returned));
  if (!success) return refuse(returned.length > 200 ? `${returned.slice(0, 200)}…` : returned);
  if (data === null) return await peerAnswer(agent, null);
  const { payload, to } = data;
  return await peerAnswer(agent, { payload, ...(to !== undefined && { to }) });
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
