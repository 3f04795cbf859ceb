import { asStrataError, type StoredEvent, type TurnEvent } from "../../protocol/index.ts";
import { errorBody } from "./error-response.ts";

/** What a stream of server-sent events tells: the posted event as it was stored, then the turn's own events. */
export type StreamEvent = { readonly type: "received"; readonly event: StoredEvent } | TurnEvent;

/**
 * Server-sent events, one per event of the turn and named like it. They end in exactly one `done` or `failed`, or in
 * nothing where nothing waited.
 */
export function eventStream(events: AsyncIterable<StreamEvent>): Response {
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
