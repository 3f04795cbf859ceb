/** The response cache: the same question again gets the same reply, without a call of the model. */
import {
  canonicalJson,
  type Digest,
  dayLine,
  digestOf,
  isoSecond,
  looksLikeOurs,
  type Message,
} from "../../protocol/index.ts";
import type { AnswerStep, ModelCall, RunningTurn } from "../../turn/index.ts";
import type { Feature } from "../feature.ts";
import { KEYS } from "./config.ts";
import { RESPONSES, RESPONSES_STORE } from "./store.ts";

export const FEATURE: Feature = {
  name: "responses",
  keys: KEYS,
  operations: [],
  store: RESPONSES_STORE,
  steps: {
    answer: {
      by: "response cache",
      isCache: true,
      effect: "none",
      answer: async (turn, call) => {
        if (!isCached(turn)) return undefined;
        const { store, clock } = turn.parts;
        const wanted = { asked: askedBy(turn, call), at: clock.recorded() };
        const text = await store.part(RESPONSES_STORE).response(turn.lease.claim.thread.scope, wanted);
        return text === undefined ? undefined : { text };
      },
      answered: async (turn, call, { parts, finish }) => {
        const { responseCache } = turn.setup.agent;
        const text = parts.flatMap((part) => (part.type === "text" ? part.text : [])).join("\n\n");
        const isWhole = finish === "stop" && text !== "" && parts.every(({ type }) => type !== "call");
        if (responseCache === undefined || !isCached(turn) || !isWhole) return;
        const at = turn.parts.clock.recorded();
        const until = at + responseCache.seconds * 1_000;
        const fresh = { asked: askedBy(turn, call), text, at, until };
        RESPONSES.put(turn.extras, [...(RESPONSES.of(turn) ?? []), fresh]);
      },
    } satisfies AnswerStep,
  },
};

/** A reply to several senders belongs to none of them alone. */
const isCached = ({ setup, lease }: RunningTurn): boolean =>
  setup.agent.responseCache !== undefined && lease.claim.batchMembers === undefined;

/**
 * Everything that is sent, the model and the version of the agent; but not the times of the messages. An agent that reads the time gets a
 * different question each time.
 */
function askedBy({ setup }: RunningTurn, { request, events }: ModelCall): Digest {
  const instants = events.map(({ at }) => at);
  const messages = request.messages.map((message) => undated(message, instants));
  const tail = request.tail.map((part) => ({ ...part, text: undatedText(part.text, instants) }));
  const { version } = setup.agent;
  return digestOf(
    canonicalJson({ version, model: setup.model.ref, wire: setup.model.wire, request: { ...request, messages, tail } }),
  );
}

function undated(message: Message, instants: readonly number[]): object {
  if (message.role !== "user") return message;
  const parts = message.parts.map((part) =>
    part.type === "text" ? { ...part, text: undatedText(part.text, instants) } : part,
  );
  return { ...message, parts };
}

/** Only headers and day lines of frames are changed: no line of a content looks like one. */
function undatedText(text: string, instants: readonly number[]): string {
  const days = instants.map(dayLine);
  const times = instants.map((at) => ` ${isoSecond(at).slice(11, 16)}Z]`);
  const plain = (line: string): string => {
    const time = looksLikeOurs(line) ? times.find((one) => line.endsWith(one)) : undefined;
    return time === undefined ? line : `${line.slice(0, -time.length)}]`;
  };
  return text
    .split("\n")
    .filter((line) => !days.includes(line))
    .map(plain)
    .join("\n");
}
