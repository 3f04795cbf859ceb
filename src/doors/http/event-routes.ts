import { z } from "zod";
import { DONE, EVENT, FIELDS, line } from "../../features/index.ts";
import {
  type Allowed,
  OUTSIDE_KINDS,
  type SignedEvent,
  type StoredEvent,
  StrataError,
  TRUSTS,
  type Trust,
  trustOf,
  type Untrusted,
  untrusted,
} from "../../protocol/index.ts";
import type { Runtime } from "../../turn/index.ts";
import { answering, type Done } from "./answering.ts";
import { type Route, route } from "./route.ts";
import { endOf, STREAM, streamed } from "./turn-run.ts";

const THREAD_PATH = z.strictObject({ id: FIELDS.thread });

/** How the turn that answers shall be run, beside what was said. */
const WISH = z.strictObject({
  mode: FIELDS.mode.optional(),
  settings: z
    .record(z.string().min(1).max(64), z.string().max(20_000).nullable())
    .optional()
    .describe(
      "settings of the conversation that are set first, by name, as the thinking level: as `POST /v1/threads/{id}/settings/{name}` sets them; null takes one back to its default",
    ),
});

const SAID = z.strictObject({
  text: z
    .string()
    .regex(/\S/, "a text that says something")
    .describe("what was said; at most as many characters as the agent's `budgets.message` allows (default 100,000)")
    .transform(untrusted),
  name: line().describe("the name that the sender uses; shown to the agent as a claim").transform(untrusted).optional(),
  externalId: line().describe("the sender's own id for the event: if it is sent twice, it is stored once").optional(),
  signature: z
    .string()
    .max(2_000)
    .describe(
      "for agents with `senders: ethereum`: the sender's personal signature (EIP-191), 0x and hexadecimal digits, of `Strata message to ORGANIZATION/AGENT`, a line `id: ` and the `externalId`, an empty line and the text",
    )
    .optional(),
  kind: z.enum(OUTSIDE_KINDS).default("message").describe("what happened"),
  trust: z
    .enum(TRUSTS)
    .optional()
    .describe(
      "who speaks; never higher than the token's own trust; default `contact`, for an instruction or a scheduled event the token's own",
    ),
});

const BODY = SAID.extend(WISH.shape);

/** Something happens on a thread: post it, answer it, stop the answer. */
export const EVENT_ROUTES: readonly Route[] = [
  route({
    method: "post",
    url: "/v1/threads/{id}/events",
    says: "Post an event to a thread; wait for the turn that answers it, stream that turn, or leave the event waiting.",
    may: "post",
    path: THREAD_PATH,
    query: z.strictObject({
      mode: z.enum(["queue", "wait", "stream"]).default("wait").describe("When the server answers, and with what."),
    }),
    body: BODY,
    answer: z.object({ event: EVENT, done: DONE }),
    otherwise: [
      { status: 202, says: "With `mode=queue`: stored; `run` answers it.", schema: z.object({ event: EVENT }) },
      STREAM,
    ],
    handle: async ({ runtime, turns, clock }, { actor, path, query, body: { mode, settings = {}, ...body }, gone }) => {
      const thread = await runtime.thread(actor, path.id);
      if (mode !== undefined && query.mode === "queue") throw new StrataError("invalid_input", NO_RUN, { mode });
      for (const [name, value] of Object.entries(settings)) await runtime.setSetting(actor, thread.id, { name, value });
      const said = newEvent(thread, spokenBy(actor, body), clock.recorded());
      const event = first(await runtime.post(actor, thread, [said], { handed: query.mode === "queue" }));
      if (query.mode === "queue") return Response.json({ event }, { status: 202 });
      const events = turns.run((stop) => answering(runtime, { actor, event, stop, mode }), gone);
      if (query.mode === "stream") return streamed(events, [{ type: "received", event }]);
      const done = orNothing(await endOf(events));
      // As it is now, and not as it waited.
      return { event: (await runtime.ended(actor, event)).event, done };
    },
  }),
];

const NO_RUN =
  "`mode` in the body is about the turn that is run now, and with `?mode=queue` none is: leave one of them out, and name it when you run the thread";

type Body = z.output<typeof SAID>;

/** A contact's words reach the server through a channel of the operator's; instructions are the operator's own. */
function spokenBy(actor: Allowed<"view">, { trust, ...body }: Body): Body & { readonly trust: Trust } {
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
  throw new StrataError("turn_cancelled", "the client disconnected before the turn ended; the turn is in the record");
}

function first(events: readonly StoredEvent[]): StoredEvent {
  const [event] = events;
  if (event !== undefined) return event;
  throw new StrataError("store_failed", "the store gave back nothing for the event; post it again");
}
