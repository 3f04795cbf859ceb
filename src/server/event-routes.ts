import { z } from "zod";
import {
  type Actor,
  type SignedEvent,
  type StoredEvent,
  StrataError,
  type Trust,
  trustOf,
  type Untrusted,
} from "../protocol/index.ts";
import type { Runtime } from "../runtime/index.ts";
import { answering, type Done } from "./answering.ts";
import { DONE, EVENT } from "./answers.ts";
import { FIELDS, NOTHING } from "./fields.ts";
import { type Route, route } from "./route.ts";
import { endOf, STREAM, streamed, TURN_RUN, turnRun } from "./turn-run.ts";

const THREAD_PATH = z.strictObject({ id: FIELDS.thread });

const BODY = z.strictObject({
  text: FIELDS.text,
  name: FIELDS.name.optional(),
  externalId: FIELDS.externalId.optional(),
  signature: FIELDS.signature.optional(),
  kind: FIELDS.kind,
  trust: FIELDS.trust,
});

/** Something happens on a thread: post it, answer it, stop the answer. */
export const EVENT_ROUTES: readonly Route[] = [
  route({
    method: "post",
    url: "/v1/threads/{id}/events",
    says: "Stores an event on the thread; waits for the turn that answers it, streams that turn, or lets the event wait.",
    path: THREAD_PATH,
    query: z.strictObject({
      mode: z.enum(["queue", "wait", "stream"]).default("wait").describe("When to answer, and with what."),
    }),
    body: BODY,
    answer: z.object({ event: EVENT, done: DONE }),
    otherwise: [
      { status: 202, says: "With `mode=queue`: stored; `run` answers it.", schema: z.object({ event: EVENT }) },
      STREAM,
    ],
    handle: async ({ runtime, turns, clock }, { actor, path, query, body, gone }) => {
      const thread = await runtime.thread(actor, path.id);
      const event = first(await runtime.post(actor, thread, [newEvent(thread, spokenBy(actor, body), clock())]));
      if (query.mode === "queue") return Response.json({ event }, { status: 202 });
      const events = turns.run((stop) => answering(runtime, { actor, event, stop }), gone);
      if (query.mode === "stream") return streamed(events, [{ type: "received", event }]);
      const done = orNothing(await endOf(events));
      // As it is now, and not as it waited.
      const taken = (await runtime.turn(actor, done.turn)).events.find(({ id }) => id === event.id);
      return { event: taken ?? event, done };
    },
  }),
  route({
    method: "post",
    url: "/v1/threads/{id}/run",
    says: "One turn over the thread's waiting events; `done` is null when nothing waits.",
    path: THREAD_PATH,
    body: NOTHING,
    ...TURN_RUN,
    handle: async ({ runtime, turns }, { actor, path, query, gone }) => {
      const thread = await runtime.thread(actor, path.id);
      return turnRun(turns, { begin: (signal) => runtime.run(actor, thread, { signal }), query, gone });
    },
  }),
  route({
    method: "post",
    url: "/v1/threads/{id}/cancel",
    says: "Stops the turn that runs on the thread, also that of another program, which hears of it within seconds; its events keep waiting.",
    path: THREAD_PATH,
    query: NOTHING,
    body: NOTHING,
    answer: z.object({ cancelled: z.boolean().describe("False where it runs none.") }),
    handle: async ({ runtime }, { actor, path: { id } }) => ({ cancelled: await runtime.cancel(actor, id) }),
  }),
  route({
    method: "post",
    url: "/v1/threads/{id}/withdraw",
    says: "Takes back the events that wait on the thread: no turn will handle them.",
    path: THREAD_PATH,
    query: NOTHING,
    body: NOTHING,
    answer: z.object({ withdrawn: z.array(EVENT).readonly() }),
    handle: async ({ runtime }, { actor, path: { id } }) => ({ withdrawn: await runtime.withdraw(actor, id) }),
  }),
];

type Body = z.output<typeof BODY>;

/** A contact's words reach the server through a channel of the operator's; instructions are the operator's own. */
function spokenBy(actor: Actor, { trust, ...body }: Body): Body & { readonly trust: Trust } {
  const isOwn = body.kind === "instruction" || body.kind === "scheduled";
  return { ...body, trust: trust ?? (isOwn ? trustOf(actor) : "contact") };
}

function newEvent(
  { channel }: Awaited<ReturnType<Runtime["thread"]>>,
  { text, name, externalId, signature, kind, trust }: ReturnType<typeof spokenBy>,
  at: number,
): SignedEvent {
  return {
    kind,
    trust,
    channel,
    content: [textOf(text)],
    at,
    ...(name === undefined ? {} : { name }),
    ...(externalId === undefined ? {} : { externalId }),
    ...(signature === undefined ? {} : { signature }),
  };
}

const textOf = (text: Untrusted) => ({ type: "text", text }) as const;

function orNothing(done: Done | null): Done {
  if (done !== null) return done;
  throw new StrataError("turn_cancelled", "the client left before the turn ended; the turn is in the record");
}

function first(events: readonly StoredEvent[]): StoredEvent {
  const [event] = events;
  if (event !== undefined) return event;
  throw new StrataError("store_failed", "the store gave back nothing for the event; post it again");
}
