import { z } from "zod";
import { DONE, failureOf, type Run, WAITING } from "../../features/index.ts";
import { asStrataError, type StoredEvent, StrataError, type TurnEvent } from "../../protocol/index.ts";
import { errorBody, type OtherAnswer } from "./route.ts";
import type { StreamEvent, Turns } from "./turns.ts";

/** How a turn ended that did not fail: with `done`, or waiting for answers. */
interface TurnRunEnd {
  readonly done: Extract<TurnEvent, { type: "done" }> | null;
  readonly waiting?: Extract<TurnEvent, { type: "waiting" }>;
}

/**
 * Server-sent events, one per event and named like it. The last is `done`, `waiting` or `failed`, or there is none if nothing waited; that
 * of a run operation is `answer` or `failed`.
 */
function eventStream(events: AsyncIterable<StreamEvent>): Response {
  const headers = { "content-type": "text/event-stream; charset=utf-8", "cache-control": "no-store" };
  return new Response(ReadableStream.from(encoded(events)), { headers });
}

async function* encoded(events: AsyncIterable<StreamEvent>): AsyncGenerator<Uint8Array> {
  const encoder = new TextEncoder();
  let hasFailed = false;
  try {
    for await (const event of events) {
      hasFailed ||= event.type === "failed";
      yield encoder.encode(formatEvent(event.type, forPrograms(event)));
    }
  } catch (thrown) {
    // A run throws an error that its turn has already reported.
    if (!hasFailed)
      yield encoder.encode(formatEvent("failed", { type: "failed", ...errorBody(asStrataError(thrown)) }));
  }
}

/** JSON holds no line break, so one line of data is enough. */
const formatEvent = (type: string, data: unknown): string => `event: ${type}\ndata: ${JSON.stringify(data)}\n\n`;

function forPrograms(event: StreamEvent): unknown {
  if (event.type === "answer") return { type: "answer", ...event.answer.value };
  return event.type === "failed" ? { ...event, ...errorBody(event.error) } : event;
}

/** The alternative answer of a route that runs a turn. */
export const STREAM: OtherAnswer = {
  status: 200,
  message:
    "With `mode=stream`: the events of the turn, and of those that go on with its run, as they come; the last is `done`, `waiting` or `failed`.",
  type: "text/event-stream",
  schema: z.string(),
};

/** The input of a route that runs a turn, and its answer: the turn's end, or its events as they come. */
export const TURN_RUN = {
  query: z.strictObject({
    mode: z.enum(["wait", "stream"]).default("wait").describe("What the server answers with."),
  }),
  answer: z.object({ done: DONE.nullable(), waiting: WAITING.optional() }),
  otherwise: [STREAM],
} as const;

/** A turn that a client asked for. */
interface TurnRun {
  readonly begin: (stop: AbortSignal) => AsyncIterable<TurnEvent>;
  readonly query: z.output<typeof TURN_RUN.query>;
  readonly gone: AbortSignal;
}

/** Runs it, and answers in the requested form. `done` is null if there was nothing to run for. */
export async function turnRun(turns: Turns, { begin, query, gone }: TurnRun) {
  const events = turns.run(begin, gone);
  return query.mode === "stream" ? streamed(events) : awaitTurnEnd(events);
}

/** An error before the first event gets its own status: the stream opens with that event. */
async function streamed(events: AsyncIterable<StreamEvent>): Promise<Response> {
  const rest = events[Symbol.asyncIterator]();
  const begun = await rest.next();
  async function* all(): AsyncGenerator<StreamEvent> {
    if (begun.done !== true) yield begun.value;
    yield* { [Symbol.asyncIterator]: () => rest };
  }
  const answer = eventStream(all());
  const place = begun.value?.type === "received" ? begun.value.place : undefined;
  if (place !== undefined) answer.headers.set("queue-place", String(place));
  return answer;
}

/** The turn's successful end; undefined if there was no turn. @throws StrataError the turn's error */
async function awaitTurnEnd(events: ReadableStream<TurnEvent>): Promise<TurnRunEnd> {
  let ended: TurnRunEnd = { done: null };
  for await (const event of events) {
    if (event.type === "done") ended = { done: event };
    if (event.type === "waiting") ended = { done: null, waiting: event };
    if (event.type === "failed") throw failureOf(event);
  }
  return ended;
}

/** The alternative answers of an operation of kind `run`, instead of its value at the end. */
export const RUN_ANSWERS = (gives: z.ZodType): readonly OtherAnswer[] => [
  {
    status: 202,
    message: "The run has not ended: its state says why. Send the same again to get its answer.",
    schema: gives,
  },
  {
    status: 200,
    message: "With `Accept: text/event-stream`: the events as they come, ending in one `answer` or `failed`.",
    type: "text/event-stream",
    schema: z.string(),
  },
];

/** Answers with the events as they come, if the client accepts them, otherwise with the value. */
export async function runAnswer(
  turns: Turns,
  run: Run,
  { accept, gone }: { readonly accept: string | undefined; readonly gone: AbortSignal },
): Promise<Response> {
  const events = untilAnswered(turns, run, gone);
  if (accept?.includes("text/event-stream") === true) return streamed(events);
  for await (const event of events) {
    if (event.type !== "answer") continue;
    const { value } = event.answer;
    return Response.json(value, { status: value.state === "done" ? 200 : 202 });
  }
  throw new StrataError("turn_cancelled", "the client disconnected before the turn ended; the turn is in the record");
}

/**
 * The events of a run and its answer; after the time that the client waits, the answer so far. Then the run continues in the background.
 */
async function* untilAnswered(turns: Turns, run: Run, gone: AbortSignal): AsyncGenerator<StreamEvent> {
  // A reply that comes later is not taken: it waits in the outbox, or for the same message sent again.
  const left = new AbortController();
  const reader = turns.run((stop) => withAnswer(run.events(stop)), AbortSignal.any([gone, left.signal])).getReader();
  const { promise: late, resolve } = Promise.withResolvers<"late">();
  const timer = run.seconds === undefined ? undefined : setTimeout(resolve, run.seconds * 1_000, "late");
  try {
    let received: StoredEvent | undefined;
    for (;;) {
      // Nothing can be answered before the message is stored.
      const next = await (received === undefined ? reader.read() : Promise.race([reader.read(), late]));
      if (next === "late") {
        if (received !== undefined) yield { type: "answer", answer: run.soFar(received) };
        return;
      }
      if (next.done) return;
      if (next.value.type === "received") received = next.value.event;
      yield next.value;
    }
  } finally {
    left.abort();
    clearTimeout(timer);
    await reader.cancel();
  }
}

async function* withAnswer(events: ReturnType<Run["events"]>): AsyncGenerator<StreamEvent> {
  yield { type: "answer", answer: yield* events };
}
