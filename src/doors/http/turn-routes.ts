import { z } from "zod";
import { EXPLAINED, TURN } from "../../features/index.ts";
import { StrataError } from "../../protocol/index.ts";
import { FIELDS, NOTHING } from "./fields.ts";
import { type Route, route } from "./route.ts";
import { TURN_RUN, turnRun } from "./turn-run.ts";

const REQUEST_PATH = z.strictObject({ id: FIELDS.turn, n: FIELDS.request });

/** The record: what was sent, why, and what came of it. */
export const TURN_ROUTES: readonly Route[] = [
  route({
    method: "get",
    url: "/v1/turns/{id}",
    says: "One turn as recorded: its events, its requests with their ledgers, its end.",
    path: z.strictObject({ id: FIELDS.turn }),
    query: NOTHING,
    body: NOTHING,
    answer: TURN,
    handle: ({ runtime }, { actor, path: { id } }) => runtime.turn(actor, id),
  }),
  route({
    method: "post",
    url: "/v1/turns/{id}/regenerate",
    says: "Answers the turn's events once more, on a fork from before it; the turn stays as it is. `done` names the new turn. A turn whose events still wait is refused, and without `again` one that called what acts outside or whose second reply would be sent by itself.",
    path: z.strictObject({ id: FIELDS.turn }),
    body: z.strictObject({
      again: z
        .boolean()
        .default(false)
        .describe(
          "Also where the turn called tools that act outside, which may act again, or its sender would be sent a second reply.",
        ),
    }),
    ...TURN_RUN,
    handle: ({ runtime, turns }, { actor, path: { id }, query, body: { again }, gone }) =>
      turnRun(turns, { begin: (signal) => runtime.regenerate(actor, id, { signal, again }), query, gone }),
  }),
  route({
    method: "get",
    url: "/v1/turns/{id}/requests/{n}",
    says: "One request of the turn, explained: each piece's fate and cost, the taint, and the request itself.",
    path: REQUEST_PATH,
    query: NOTHING,
    body: NOTHING,
    answer: EXPLAINED,
    handle: async ({ runtime }, { actor, path: { id, n } }) => {
      const { request, wire } = await runtime.rebuilt(actor, id, n);
      const turn = await runtime.turn(actor, id);
      const sent = turn.requests.find((one) => one.n === n);
      if (sent === undefined) throw new StrataError("turn_not_found", `${id} has no request ${n}`, { turn: id, n });
      const { ledger, taint, reply, dollars, at, milliseconds } = sent;
      const tokens = ledger.tokens;
      return { turn: id, n, wire, request, ledger, taint, tokens, reply, dollars, at, milliseconds };
    },
  }),
  route({
    method: "get",
    url: "/v1/turns/{id}/requests/{n}/wire",
    says: "The exact HTTP body of that request, byte for byte as the provider's package sends it.",
    path: REQUEST_PATH,
    query: NOTHING,
    body: NOTHING,
    answer: z.unknown(),
    handle: async ({ runtime, bodyOf }, { actor, path: { id, n } }) => {
      const { request, wire } = await runtime.rebuilt(actor, id, n);
      return new Response(await bodyOf(request, wire), { headers: { "content-type": "application/json" } });
    },
  }),
];
