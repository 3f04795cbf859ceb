import { frameResult } from "../../compiler/index.ts";
import {
  ANSWER_KIND,
  type CallLimits,
  type CallPart,
  type CountTokens,
  callId,
  eventId,
  issueId,
  type Json,
  lowestTrust,
  type ResultPart,
  type StoredEvent,
  StrataError,
  type ToolContext,
  type ToolName,
  type ToolOutcome,
  type TranscriptMessage,
  type Trust,
  untrusted,
  type WaitsFor,
} from "../../protocol/index.ts";
import type { Caller, Claim, ForCaller, NewOpenCall, OpenCall, Start } from "../../store/index.ts";
import type { Parts } from "../parts.ts";
import { askedFailed, CANCELLED, NO_ANSWER, NOT_YET } from "../wording.ts";
import type { Ending } from "./steps.ts";

/**
 * Calls whose answers come later, as a turn sees them: those that it leaves open when it ends `waiting`, and those that an earlier turn
 * of its run has left open, each of which gets a result before all else.
 */

/** What a tool says of a call whose answer comes later: the turn ends `waiting`, and its run goes on with the answer. */
export interface LaterAnswer {
  readonly waitsFor: WaitsFor;
  /** Whether other messages wait until it is answered. Default: while an agent is asked. */
  readonly keeps?: boolean;
  /** After so many seconds of real time it is answered with a sentence. Default: never. */
  readonly seconds?: number;
  /** What it may use of the run's limits. */
  readonly reserved?: CallLimits;
  /** Threads that begin with the turn's commit, and answer the call: `caller` goes into their openings. */
  readonly starts?: (caller: Caller) => readonly Start[];
}

const laterAnswers = new WeakMap<ToolContext, LaterAnswer>();

/** The outcome of a tool whose answer comes later. The tool itself has no effect outside: what begins elsewhere begins with the commit. */
export function answersLater(context: ToolContext, later: LaterAnswer): ToolOutcome {
  laterAnswers.set(context, later);
  return { text: untrusted(""), failed: false };
}

/** What the tool said in this call, if its answer comes later. */
export const laterIn = (context: ToolContext): LaterAnswer | undefined => laterAnswers.get(context);

/** A call that the turn leaves open, with what begins for it. */
export interface LeftOpen {
  readonly open: NewOpenCall;
  readonly starts: readonly Start[];
}

export function leftOpen(
  { clock, random }: Parts,
  { thread }: Claim,
  { id: call, tool }: CallPart,
  later: LaterAnswer,
): LeftOpen {
  const now = clock.real();
  const id = callId(issueId("call", now, random(10)));
  const { waitsFor, keeps = waitsFor === "agent", seconds, reserved, starts } = later;
  const due = seconds === undefined ? {} : { due: now + Math.ceil(seconds * 1_000) };
  return {
    open: { id, call, tool, waitsFor, keeps, ...due, ...(reserved && { reserved }) },
    starts: starts?.({ thread: thread.id, agent: thread.scope.agent, call: id }) ?? [],
  };
}

/** The events of a claim: the results of its open calls, and what is said besides. */
export function partedEvents({ open, events }: Pick<Claim, "open" | "events">): {
  readonly answers: ReadonlyMap<OpenCall["id"], StoredEvent>;
  readonly others: readonly StoredEvent[];
} {
  const answers = new Map<OpenCall["id"], StoredEvent>();
  for (const { id } of open) {
    const answer = events.find((event) => event.answers === id);
    if (answer !== undefined) answers.set(id, answer);
  }
  const used = new Set([...answers.values()].map(({ id }) => id));
  return { answers, others: events.filter(({ id }) => !used.has(id)) };
}

/** What a result is framed with: the tokens that all of them may take, how they are counted, and what the model's API takes. */
interface Framing {
  readonly room: number;
  readonly count: CountTokens;
  readonly countMessage: (message: TranscriptMessage["message"]) => number;
  readonly at: number;
  readonly takes?: readonly string[] | undefined;
}

/** The message with the results of the calls that an earlier turn left open; nothing where it left none. Each call has exactly one. */
export function resultsOf(
  claim: Pick<Claim, "open" | "events" | "turn" | "continues">,
  { room, count, countMessage, at, takes }: Framing,
): readonly TranscriptMessage[] {
  const { open } = claim;
  if (open.length === 0) return [];
  const { answers } = partedEvents(claim);
  const share = Math.floor(room / open.length);
  const trusts: Trust[] = [];
  const parts = open.map((call): ResultPart => {
    const answer = answers.get(call.id);
    const said = answer === undefined ? withoutAnswer(call, at) : saidBy(answer);
    trusts.push(said.trust);
    return frameResult({ id: call.call, tool: call.tool }, { ...said, ...(takes && { takes }) }, share, count);
  });
  const message = { role: "tool", parts } as const;
  return [
    { message, trust: lowestTrust(trusts), tokens: countMessage(message), turn: claim.continues?.id ?? claim.turn },
  ];
}

type Said = Pick<ToolOutcome, "text" | "failed" | "media"> & { readonly trust: Trust; readonly at: number };

function saidBy({ content, trust, at, failed }: StoredEvent): Said {
  const texts = content.flatMap((part) =>
    part.type === "text" ? [part.text] : part.type === "payload" ? [canonicalText(part.payload)] : [],
  );
  const media = content.flatMap((part) => (part.type === "image" || part.type === "file" ? [part] : []));
  return { text: untrusted(texts.join("\n")), failed: failed === true, trust, at, ...(media.length > 0 && { media }) };
}

const canonicalText = (payload: Json): string => JSON.stringify(payload);

/** Providers demand a result for each call: the platform's sentence, where nobody has answered. */
const withoutAnswer = ({ state }: OpenCall, at: number): Said => ({
  text: untrusted(state === "cancelled" ? CANCELLED : NOT_YET),
  failed: true,
  trust: "platform",
  at,
});

/** Errors after which a turn is tried again by itself: whoever called its thread goes on waiting. */
const TRIED_AGAIN: readonly string[] = [
  "turn_cancelled",
  "lease_lost",
  "store_busy",
  "store_failed",
  "rate_limited",
  "model_failed",
];

/** How a turn on a called thread ends for its caller: with its answer, or with a sentence where there is none. */
export function forCaller(
  { clock, random }: Parts,
  { thread }: Claim,
  ending: Ending,
  { trust, used }: { readonly trust: Trust; readonly used: CallLimits },
): ForCaller | undefined {
  if (thread.caller === undefined || ending.status === "waiting") return undefined;
  if (ending.status === "failed" && TRIED_AGAIN.includes(ending.error.code)) return undefined;
  const says = ending.status === "failed" ? askedFailed(ending.error.message) : ending.reply;
  const answer = {
    id: eventId(issueId("event", clock.real(), random(10))),
    kind: ANSWER_KIND,
    trust: says === null ? "platform" : trust,
    channel: thread.channel,
    name: untrusted(thread.scope.agent),
    content: [{ type: "text", text: untrusted(says ?? NO_ANSWER) }],
    at: clock.recorded(),
    used,
    ...((ending.status === "failed" || says === null) && { failed: true as const }),
  } as const;
  return { way: ending.status === "failed" || says === null ? "ends" : "responds", answer };
}

/** The tools whose answers are waited for, for a sentence. */
export const toolsIn = (calls: readonly { readonly tool: ToolName }[]): string =>
  [...new Set(calls.map(({ tool }) => tool))].join(", ");

/** @throws StrataError where a tool that acts outside says that its answer comes later: run again, it would act again */
export function checkLater(tool: { readonly schema: { readonly name: ToolName }; readonly effect: string }): void {
  if (tool.effect !== "external") return;
  const says = `${tool.schema.name} acts outside and says that its answer comes later: let it begin what it begins with the turn's commit`;
  throw new StrataError("unexpected", says, { tool: tool.schema.name });
}
