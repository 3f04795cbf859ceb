import {
  type Agent,
  isMedia,
  type Json,
  type NewEvent,
  partText,
  StrataError,
  toolName,
} from "../../protocol/index.ts";
import type { StepAnswer } from "../../turn/index.ts";
import { ASK } from "./config.ts";
import { answerTypeOf, JSON_OBJECT, misfitOf, payloadFinding } from "./payload.ts";

/**
 * The output of an agent that answers without a model: a payload for one declared peer, whose answer becomes a new event on the thread; a
 * payload for the caller, as the response; or nothing, which ends the turn without a reply.
 */
export type HandlerOutput = { readonly payload: Json; readonly to?: string } | null;

/** What was sent: the payload, or a `Text` if the message was words. */
export function payloadIn({ content }: Pick<NewEvent, "content">): {
  readonly type: string;
  readonly payload: Json;
} {
  const part = content.find(({ type }) => type === "payload");
  if (part?.type === "payload") return { type: part.payloadType, payload: part.payload };
  const words = content.flatMap((one) => (isMedia(one) ? [] : [partText(one)]));
  return { type: "Text", payload: { text: words.join("\n") } };
}

/** The peer that a tool asks. */
export const peerOf = (tool: string): string => tool.slice(ASK.length);

/**
 * What a handler returned, as an answer in place of the model's: a peer is asked by its tool.
 * @throws StrataError `invalid_input` for a peer that is not declared, or a payload that does not match
 */
export async function peerAnswer(agent: Agent, output: HandlerOutput): Promise<StepAnswer> {
  if (output === null) return { text: "" };
  const { payload, to } = output;
  if (to === undefined) return { text: responseOf(agent, payload) };
  const edge = agent.peers?.find(({ name }) => name === to);
  if (edge === undefined) {
    const known = agent.peers?.map(({ name }) => `\`${name}\``).join(", ") ?? "no other agent";
    throw new StrataError("invalid_input", `\`to\` names ${JSON.stringify(to)}, and ${agent.name} may ask ${known}`, {
      to,
    });
  }
  const finding = await payloadFinding(edge.payload, payload);
  if (finding !== undefined)
    throw new StrataError("invalid_input", `${to} does not accept this payload: ${finding}`, { to });
  return { text: "", calls: [{ tool: toolName(`${ASK}${to}`), input: JSON_OBJECT.parse(payload) }] };
}

/** A reply in the type of its agent's answers; undefined for words, such as what it replied before its `output` was declared or changed. */
export function answerIn(
  { output }: Agent,
  reply: string,
): { readonly type: string; readonly payload: Json } | undefined {
  const type = answerTypeOf({ ...(output && { answers: output }) });
  if (output === undefined || type === undefined) return undefined;
  try {
    const payload: Json = JSON.parse(reply);
    return misfitOf(output, payload) === undefined ? { type, payload } : undefined;
  } catch {
    return undefined;
  }
}

/** As the agent's `output` says; without it, words unchanged and everything else as JSON. */
function responseOf({ name, output }: Agent, payload: Json): string {
  if (output === undefined && typeof payload === "string") return payload;
  const finding = output && misfitOf(output, payload);
  if (finding !== undefined)
    throw new StrataError("invalid_input", `${name}'s answer does not match its \`output\`: ${finding}`, {
      agent: name,
    });
  return JSON.stringify(payload);
}
