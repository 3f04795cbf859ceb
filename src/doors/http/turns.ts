import { setTimeout as pause } from "node:timers/promises";
import type { RunAnswer, RunEvent } from "../../features/index.ts";
import { StrataError, type TurnEvent } from "../../protocol/index.ts";

/** The content of a stream of server-sent events: the message as stored, the events of turns, and the value of a run at its end. */
export type StreamEvent = RunEvent | { readonly type: "answer"; readonly answer: RunAnswer };

/** The turns and decisions that a server runs. They continue when their client leaves, and stop when the server does. */
export interface Turns {
  /**
   * Runs to the end, whether its events are read or not. Read slowly, they wait here and not in the turn.
   * @param gone aborted when the client has left: then its `done` is not taken, and the reply does not count as delivered
   */
  readonly run: <Event extends StreamEvent>(
    begin: (stop: AbortSignal) => AsyncIterable<Event>,
    gone: AbortSignal,
  ) => ReadableStream<Event>;
  /** Work beside the turns whose end must be written down. */
  readonly attend: <T>(begin: (stop: AbortSignal) => Promise<T>) => Promise<T>;
  /** A request on its way to its answer, which may still begin a turn. */
  readonly answer: (request: Promise<Response>) => Promise<Response>;
  /**
   * Lets what runs go on for that many milliseconds, then stops it, as `turn_cancelled`; resolves when each has ended. From then on
   * nothing begins.
   */
  readonly close: (drain: number) => Promise<void>;
}

/** No turn yet. `watch` also receives every event of every turn. */
export function openTurns(watch: (event: TurnEvent) => void = () => undefined): Turns {
  const stop = new AbortController();
  const running = new Set<Promise<unknown>>();
  const asked = new Set<Promise<unknown>>();
  let isClosed = false;
  const checkOpen = (): void => {
    if (isClosed) throw stopping();
  };
  return {
    answer: (request) => {
      const answered = request.catch(() => undefined).finally(() => asked.delete(answered));
      asked.add(answered);
      return request;
    },
    attend: async (begin) => {
      checkOpen();
      const work = begin(stop.signal);
      // The caller handles a failure; the end of the server only waits.
      const ended = work.catch(() => undefined).finally(() => running.delete(ended));
      running.add(ended);
      return work;
    },
    run: <Event extends StreamEvent>(begin: (stop: AbortSignal) => AsyncIterable<Event>, gone: AbortSignal) => {
      checkOpen();
      const start = (to: ReadableStreamDefaultController<Event>): void => {
        const ended = feed(watched(begin(stop.signal), watch), to, gone).finally(() => running.delete(ended));
        running.add(ended);
      };
      return new ReadableStream({ start });
    },
    close: async (drain) => {
      const all = async (): Promise<void> => {
        while (asked.size + running.size > 0) await Promise.all([...asked, ...running]);
      };
      await Promise.race([all(), pause(drain, undefined, { ref: false })]);
      stop.abort();
      isClosed = true;
      while (running.size > 0) await Promise.all(running);
    },
  };
}

/** The answer of a server that is being stopped to new requests. */
export const stopping = (): StrataError =>
  new StrataError("server_stopping", "the server is being stopped; send this again once it has been started");

async function* watched<Event extends StreamEvent>(
  events: AsyncIterable<Event>,
  watch: (event: TurnEvent) => void,
): AsyncGenerator<Event> {
  for await (const event of events) {
    if (event.type !== "received" && event.type !== "busy" && event.type !== "answer") watch(event);
    yield event;
  }
}

/** Never throws: errors are reported to the reader, if there still is one. */
async function feed<Event extends StreamEvent>(
  events: AsyncIterable<Event>,
  to: ReadableStreamDefaultController<Event>,
  gone: AbortSignal,
): Promise<void> {
  try {
    for await (const event of events) {
      if (gone.aborted && event.type === "done") break;
      offer(() => to.enqueue(event));
    }
    offer(() => to.close());
  } catch (thrown) {
    offer(() => to.error(thrown));
  }
}

/** A reader who left has closed the stream; nothing can be put into it any more. */
function offer(put: () => void): void {
  try {
    put();
  } catch (thrown) {
    if (!(thrown instanceof TypeError)) throw thrown;
  }
}
