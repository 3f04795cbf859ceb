import { z } from "zod";
import { APPROVAL_STATUSES } from "../protocol/index.ts";
import { APPROVAL } from "./answers.ts";
import { FIELDS, NOTHING } from "./fields.ts";
import { type Route, route } from "./route.ts";

const PATH = z.strictObject({ id: FIELDS.approval });

/** Tool calls that wait for a person. */
export const APPROVAL_ROUTES: readonly Route[] = [
  route({
    method: "get",
    url: "/v1/approvals",
    says: "Calls of tools that wait or waited for a person, newest first: of all agents, of one, or of one contact with it.",
    path: NOTHING,
    query: z.strictObject({
      agent: FIELDS.agent.optional(),
      contact: FIELDS.contact.optional(),
      status: z.enum(APPROVAL_STATUSES).optional().describe("Only those; left out, all."),
      limit: FIELDS.limit,
    }),
    body: NOTHING,
    answer: z.object({ approvals: z.array(APPROVAL).readonly() }),
    handle: async ({ runtime }, { actor, query: { agent, contact, status, limit } }) => {
      const statuses = status && [status];
      return { approvals: await runtime.newestApprovals(actor, { agent, contact, statuses, limit }) };
    },
  }),
  route({
    method: "get",
    url: "/v1/approvals/{id}",
    says: "One such call: what was asked for, who decided, what came of it.",
    path: PATH,
    query: NOTHING,
    body: NOTHING,
    answer: APPROVAL,
    handle: ({ runtime }, { actor, path: { id } }) => runtime.approval(actor, id),
  }),
  route({
    method: "post",
    url: "/v1/approvals/{id}",
    says: "Approves a waiting call, which runs it now and once, or denies it; `settled` closes one that was approved and whose end is not known. An event then waits on its thread; `run` lets the agent tell.",
    path: PATH,
    query: NOTHING,
    body: z.strictObject({
      verdict: z.enum(["approved", "denied", "settled"]).describe("What shall become of it."),
      note: FIELDS.content
        .optional()
        .describe("A word about it; the agent is told it of a denial, and of a settled call, which needs one."),
    }),
    answer: APPROVAL,
    handle: ({ runtime, turns }, { actor, path: { id }, body: { verdict, note } }) =>
      turns.attend((signal) => runtime.decide(actor, id, { verdict, signal, ...(note === undefined ? {} : { note }) })),
  }),
];
