import { frame } from "../../guard/index.ts";
import {
  asStrataError,
  type ContactId,
  isKept,
  lowestTrust,
  ownKind,
  type Spoken,
  spoken,
  type Trust,
  untrusted,
} from "../../protocol/index.ts";
import type { TurnRecord } from "../../store/index.ts";
import { handledOf, soleReply, unansweredOf } from "../variants/batch-turn.ts";
import { notSent, sentInstead } from "../wording.ts";
import type { Ending, OutgoingReply, OutgoingStep } from "./steps.ts";
import { add, type TurnState } from "./turn-state.ts";

/** Whether features may change or withhold what is said in this turn: then only operators see words before the commit. */
export const isHeld = (state: TurnState): boolean => stepsFor(state).length > 0;

function stepsFor({ parts, setup, lease, replyTo }: TurnState): readonly OutgoingStep[] {
  // What an agent answers another, or a recording says, is not sent out.
  return replyTo === "nobody" ? [] : parts.steps.outgoing(setup.agent, lease.claim.thread);
}

/**
 * What is sent in place of the model's text: the end of the turn, and in a turn with several senders each reply. The transcript keeps the
 * model's own words, as they were sent (law 1); what the agent must know about the difference is appended.
 */
export async function withOutgoing(state: TurnState, ending: Ending): Promise<Ending> {
  const steps = stepsFor(state);
  if (!isKept(ending) || steps.length === 0) return ending;
  try {
    // The reply to the only sender is the ending's.
    for (const [to, text] of soleReply(state) === undefined ? state.replies : []) {
      const left = await out(state, steps, { text, to, waits: false });
      if (left === null) state.replies.delete(to);
      else state.replies.set(to, left);
    }
    const to = receiverOf(state);
    if (ending.reply === null || to === undefined) return ending;
    const waits = ending.status === "waiting";
    return { ...ending, reply: await out(state, steps, { text: ending.reply, to, waits }) };
  } catch (thrown) {
    return { status: "failed", error: asStrataError(thrown) };
  }
}

/** Who gets the turn's own text: no one in a turn with several senders, who each have their own reply. */
function receiverOf(state: TurnState): ContactId | undefined {
  if (unansweredOf(state) === undefined) return state.lease.claim.thread.scope.contact;
  const [only, ...others] = handledOf(state);
  return others.length === 0 ? only?.thread.scope.contact : undefined;
}

/** Passes one reply through all steps; also returns the agent's note about it. Null: it is not sent. */
async function out(
  state: TurnState,
  steps: readonly OutgoingStep[],
  reply: Omit<OutgoingReply, "trust">,
): Promise<Spoken | null> {
  const trust = lowestTrust(readBy(state));
  let text = reply.text;
  let isTold = false;
  for (const { by, outgoing } of steps) {
    const did = await outgoing(state, { ...reply, text, trust });
    if (did === undefined) continue;
    if ("withheld" in did) {
      state.outgoing.push({ by, did: "withheld", because: did.withheld, ...(did.drafted && { drafted: true }) });
      tell(state, reply, { sentence: notSent(did.withheld), from: ["platform"] });
      return null;
    }
    if (did.text === text) continue;
    state.outgoing.push({ by, did: "changed", ...(did.told && { told: true }) });
    text = spoken(did.text);
    isTold ||= did.told;
  }
  if (isTold) tell(state, reply, { sentence: sentInstead(text), from: [trust] });
  return text;
}

const WARNING = ownKind("warning");

/**
 * Appended to the model's text, in a frame: the next request has it where the conversation grows. Only results may follow open calls:
 * there, the turn that continues adds the note.
 */
function tell(state: TurnState, { waits }: Pick<OutgoingReply, "waits">, note: Note): void {
  const { setup, lease, parts } = state;
  if (waits || setup.agent.history === "log" || lease.claim.batchMembers !== undefined) return;
  const { message, trust } = warning(note, parts.clock.recorded());
  add(state, message, trust);
}

/** What the agent is told of its reply, and the trust of everything that it quotes. The platform's own words quote nothing. */
interface Note {
  readonly sentence: string;
  readonly from: readonly Trust[];
}

/** The trust of the messages that the turn handles, and of all that it has read. */
const readBy = ({ lease, requests, answered }: TurnState): readonly Trust[] => [
  ...lease.claim.events.map(({ trust }) => trust),
  ...reachedBy([...requests, ...answered]),
];

/** What went out may repeat whatever the turn has read. */
const reachedBy = (read: readonly { readonly taint: Trust }[]): readonly Trust[] => [
  "agent",
  ...read.map(({ taint }) => taint),
];

function warning({ sentence, from }: Note, at: number) {
  const trust = lowestTrust(from);
  const text = frame({ kind: WARNING, trust, at }, untrusted(sentence));
  return { message: { role: "user", parts: [{ type: "text", text }] }, trust } as const;
}

/**
 * The note that a continuing turn adds after the results: that what the model said before it waited was not sent, and why, or what was sent
 * instead.
 */
export function toldOf(before: TurnRecord | undefined, at: number): readonly ReturnType<typeof warning>[] {
  if (before?.end?.status !== "waiting") return [];
  const { reply } = before.end;
  const did = before.steps?.outgoing ?? [];
  const because = did.find((one) => one.did === "withheld")?.because;
  if (because !== undefined) return [warning({ sentence: notSent(because), from: ["platform"] }, at)];
  if (reply === null || !did.some(({ told }) => told)) return [];
  return [warning({ sentence: sentInstead(reply), from: reachedBy(before.requests) }, at)];
}
