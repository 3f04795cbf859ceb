import { z } from "zod";
import { DONE } from "../../features/index.ts";
import { asStrataError, type StoredEvent, StrataError, type TurnEvent } from "../../protocol/index.ts";
import type { Done } from "./answering.ts";
import { errorBody, type OtherAnswer } from "./route.ts";
import type { Turns } from "./turns.ts";

/** What a stream of server-sent events tells: the posted event as it was stored, then the turn's own events. */
type StreamEvent = { readonly type: "received"; readonly event: StoredEvent } | TurnEvent;

/**
 * Server-sent events, one per event of the turn and named like it. They end in exactly one `done` or `failed`, or in
 * nothing where nothing waited.
 */
function eventStream(events: AsyncIterable<StreamEvent>): Response {
  const headers = { "content-type": "text/event-stream; charset=utf-8", "cache-control": "no-store" };
  return new Response(ReadableStream.from(encoded(events)), { headers });
}

async function* encoded(events: AsyncIterable<StreamEvent>): AsyncGenerator<Uint8Array> {
  const encoder = new TextEncoder();
  try {
    for await (const event of events) yield encoder.encode(written(event.type, forPrograms(event)));
  } catch (thrown) {
    yield encoder.encode(written("failed", { type: "failed", ...errorBody(asStrataError(thrown)) }));
  }
}

/** JSON holds no line break, so one line of data is enough. */
const written = (type: string, data: unknown): string => `event: ${type}\ndata: ${JSON.stringify(data)}\n\n`;

function forPrograms(event: StreamEvent): unknown {
  return event.type === "failed" ? { ...event, ...errorBody(event.error) } : event;
}

/** What a route that runs a turn may answer with instead. */
export const STREAM: OtherAnswer = {
  status: 200,
  says: "With `mode=stream`: the turn's events as they come, ending in one `done` or `failed`.",
  type: "text/event-stream",
  schema: z.string(),
};

/** What is asked of a route that runs a turn, and what it answers: the turn's end, or its events as they come. */
export const TURN_RUN = {
  query: z.strictObject({
    mode: z.enum(["wait", "stream"]).default("wait").describe("What the server answers with."),
  }),
  answer: z.object({ done: DONE.nullable() }),
  otherwise: [STREAM],
} as const;

/** A turn that a client asked for. */
interface TurnRun {
  readonly begin: (stop: AbortSignal) => AsyncIterable<TurnEvent>;
  readonly query: z.output<typeof TURN_RUN.query>;
  readonly gone: AbortSignal;
}

/** Runs it, and answers as it was wished. `done` is null where there was nothing to run for. */
export async function turnRun(turns: Turns, { begin, query, gone }: TurnRun) {
  const events = turns.run(begin, gone);
  return query.mode === "stream" ? streamed(events, []) : { done: await endOf(events) };
}

/** What goes wrong before the turn begins is answered with its own status: the stream opens with the first event. */
export async function streamed(events: ReadableStream<TurnEvent>, before: readonly StreamEvent[]): Promise<Response> {
  const rest = events[Symbol.asyncIterator]();
  const begun = await rest.next();
  async function* told(): AsyncGenerator<StreamEvent> {
    yield* before;
    if (begun.done !== true) yield begun.value;
    yield* { [Symbol.asyncIterator]: () => rest };
  }
  return eventStream(told());
}

/** The turn's good end; nothing where there was no turn. @throws StrataError what the turn failed of */
export async function endOf(events: ReadableStream<TurnEvent>): Promise<Done | null> {
  let done: Done | null = null;
  for await (const event of events) {
    if (event.type === "done") done = event;
    if (event.type === "failed") throw failureOf(event);
  }
  return done;
}

/** The failure with its turn, so that a client can look at the record. */
function failureOf({ turn, error }: Extract<TurnEvent, { type: "failed" }>): StrataError {
  return new StrataError(error.traits, error.message, { ...error.details, turn }, error);
}
