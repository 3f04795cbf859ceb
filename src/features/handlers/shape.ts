import { z } from "zod";
import { type Agent, isMedia, type Json, type StoredEvent } from "../../protocol/index.ts";
import type { Slot } from "../../store/index.ts";
import type { ModelCall, RunningTurn, StepAnswer } from "../../turn/index.ts";
import { HANDLER_FAILED } from "./errors.ts";

/** What a handler gets. It is all that it can see. */
export interface HandlerInput {
  readonly payload: Json;
  readonly metadata: { readonly thread_id: string; readonly from_id: string; readonly own_name: string };
  /** What was said before on its thread, the oldest first. */
  readonly history: readonly HandlerSlot[];
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
  const slots = await turn.parts.store.slots(thread.scope, thread.id, { limit: MOST_SLOTS });
  return {
    payload: payloadOf(events.at(-1)),
    metadata: {
      thread_id: thread.id,
      from_id: thread.scope.contact,
      own_name: turn.setup.agent.name,
    },
    history: newest(slots.filter(({ turn: of }) => of !== turn.lease.claim.turn)),
  };
}

function newest(slots: readonly Slot[]): readonly HandlerSlot[] {
  const kept: HandlerSlot[] = [];
  let characters = 0;
  for (const { from, to, index, at, text } of slots.toReversed()) {
    characters += text.length;
    if (characters > MOST_HISTORY) break;
    kept.push({ from_id: from, to_id: to, index, time: new Date(at).toISOString(), payload: text });
  }
  return kept.reverse();
}

/** A payload as it was sent; of words, the words. */
function payloadOf(event: StoredEvent | undefined): Json {
  const parts = event?.content ?? [];
  const payload = parts.find((part) => part.type === "payload");
  if (payload !== undefined) return payload.payload;
  return parts.flatMap((part) => (isMedia(part) || part.type === "payload" ? [] : [part.text])).join("\n");
}

const RETURNED = z.union([z.null(), z.strictObject({ payload: z.json(), to: z.string().min(1).max(64).optional() })]);

/** JSON that is nested deeper than this is no answer. */
const DEEPEST = 64;

/**
 * What a handler returned, as the turn's answer.
 * @throws StrataError `handler_failed` for anything but `{ payload }` or nothing
 */
export function answerOf(agent: Agent, returned: string): StepAnswer {
  const refuse = (why: string): never => {
    throw HANDLER_FAILED.of(`${agent.name}'s handler returned ${why}; return { payload }, or nothing`, {
      reason: "returned",
    });
  };
  if (depthOf(returned) > DEEPEST) return refuse(`JSON that is nested deeper than ${DEEPEST} levels`);
  const { data, success } = RETURNED.safeParse(JSON.parse(returned));
  if (!success) return refuse(returned.length > 200 ? `${returned.slice(0, 200)}…` : returned);
  if (data === null) return { text: "" };
  if (data.to !== undefined) return refuse(`\`to: ${data.to}\`, and handlers cannot forward to peers yet`);
  return { text: typeof data.payload === "string" ? data.payload : JSON.stringify(data.payload) };
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
