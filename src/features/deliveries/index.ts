/** An agent's replies and their delivery: the outbox, replies delivered by other means, and replies that Strata sends itself. */

import { z } from "zod";
import { count, minute, oneLine, printable, type Style, setIn } from "../../print/index.ts";
import type { AgentName } from "../../protocol/index.ts";
import { isCalled, type RunningTurn } from "../../turn/index.ts";
import type { Job, JobWorld, Task } from "../../work/index.ts";
import type { Feature } from "../feature.ts";
import { FIELDS, given, list, NEXT, nextAfter, PAGE, TIME } from "../fields.ts";
import { operation } from "../operation.ts";
import { DELIVERY_API, type DeliveryApi, deliveryApi } from "./api.ts";
import { DELIVERY, UNDELIVERED } from "./columns.ts";
import { KEYS } from "./config.ts";
import type { DeliveryPorts } from "./deliver.ts";
import { DELIVER_AFTER, isOwnReport, OUTBOX_STORE, STATES, STATUSES } from "./store.ts";

export { DELIVERY_API, type DeliveryApi } from "./api.ts";
export type { Delivery, DeliveryPorts, SendDelivery } from "./deliver.ts";
export { isSigned, signedHeaders } from "./signature.ts";
export { isOwnReport, OUTBOX_STORE, queueReply } from "./store.ts";
export { sendDelivery } from "./webhook.ts";

const MESSAGE = z
  .object({
    id: z.string(),
    contact: z.string().describe("`~self`: nobody, for it is the agent's report of a turn that it began itself"),
    thread: z.string(),
    turn: z.string(),
    channel: z.string(),
    text: z.string(),
    status: z.enum(STATUSES),
    state: z
      .enum(STATES)
      .describe(
        "how far it came: `sent` if the receiver of `deliver` took it and nobody has said that it arrived; a draft's own states, such as `edited` and `discarded`, are those of `draft.list`",
      ),
    line: z.string().optional().describe("the line by which it leaves"),
    at: TIME,
  })
  .meta({ id: "OutboxMessage" });

const listReplies = operation({
  name: "outbox.list",
  does: "List an agent's replies, newest first, and whether they were delivered; without `status` also what it reported of turns that it began itself. This access is recorded.",
  may: "read",
  at: "GET /v1/agents/{agent}/outbox",
  takes: z.strictObject({
    agent: FIELDS.agent,
    status: z
      .enum([...STATES, "undeliverable"])
      .transform((word) => (word === "undeliverable" ? "failed" : word))
      .optional()
      .describe("only with this `state`; `undeliverable` is another word for `failed` (default: all)"),
    ...PAGE,
  }),
  gives: z.object({ messages: list(MESSAGE), ...NEXT }),
  list: "messages",
  command: { examples: ["outbox list --status undeliverable"], opens: "record" },
  run: async ({ runtime }, { agent, status, limit, after }, { actor }) => {
    const messages = await runtime.use(DELIVERY_API).outbox(actor, agent, {
      limit,
      ...given("state", status),
      ...given("after", after),
    });
    return { messages, ...nextAfter(messages, limit, ({ at, id }) => ({ at, id })) };
  },
  show: ({ messages }, { style, given: { agent } }) => {
    if (messages.length === 0) return [`There is no such message of ${agent}.`];
    return [...messages.flatMap((one) => saidLines(one, style)), style.dim(count(messages.length, "message"))];
  },
});

const delivered = operation({
  name: "outbox.delivered",
  does: "Mark a reply as delivered: one that waits and was delivered by other means, so that it is not sent, or one that was sent and has arrived. False if that is known.",
  may: "operate",
  at: "POST /v1/agents/{agent}/outbox/{id}/delivered",
  takes: z.strictObject({ agent: FIELDS.agent, id: FIELDS.message }),
  gives: z.object({ delivered: z.boolean() }),
  command: { words: ["id"], examples: ["outbox delivered out_01jd8k3v5x9m2q7r4t6w8y0zab"], opens: "record" },
  run: async ({ runtime }, { agent, id }, { actor }) => ({
    delivered: await runtime.use(DELIVERY_API).delivered(actor, agent, id),
  }),
  show: (answer, { given: { agent, id } }) => [
    answer.delivered ? `${id} counts as delivered.` : `${id} is not waiting at ${agent}, nor was it only sent.`,
  ],
});

/** At most this many replies of an agent are sent at the same time, each of another conversation. */
const SIDE_BY_SIDE = 4;

/** Sends replies of agents with `deliver`. Refused ones are due again later, by the record. */
const replies: Job = {
  name: "deliveries.replies",
  due: async (world) => {
    const sending = world.runtime.agents(world.operator).filter(({ deliver }) => deliver !== undefined);
    const found = await Promise.all(
      sending.map(async ({ name }) => {
        const { due, next } = await world.runtime.use(DELIVERY_API).deliveriesDue(world.operator, name, SIDE_BY_SIDE);
        return { next, tasks: Array.from({ length: due }, (_, n) => sendingOf(world, name, n)) };
      }),
    );
    const times = found.flatMap(({ next }) => next ?? []);
    return { tasks: found.flatMap(({ tasks }) => tasks), next: times.length === 0 ? undefined : Math.min(...times) };
  },
};

/** One after the other until none is due: which conversation's, the record says, so that no two send for the same. */
const sendingOf = ({ runtime, operator }: JobWorld, agent: AgentName, n: number): Task => ({
  agent,
  key: `replies of ${agent}, ${n}`,
  trouble: `Replies of ${agent} could not be sent`,
  async *run(signal) {
    for await (const { outbox, failed, again } of runtime.use(DELIVERY_API).deliverDue(operator, agent, signal)) {
      if (signal.aborted) return;
      const next = again ? "it is tried again" : "it was tried too many times and stays in the outbox";
      if (failed === undefined) yield { about: outbox, message: "", isOver: true };
      else yield { about: outbox, message: `Reply ${outbox} of ${agent} was not accepted (${failed}); ${next}.` };
    }
  },
});

export const FEATURE: Feature<DeliveryPorts> = {
  name: "deliveries",
  needs: ["schedules"],
  keys: KEYS,
  steps: {
    onStart: async (turn) => DELIVER_AFTER.put(turn.extras, () => deliverAfter(turn)),
    // A message that stays marked as waiting is shown again.
    onReplyRead: async ({ parts, lease: { claim } }) => {
      const { scope } = claim.thread;
      await parts.store.part(OUTBOX_STORE).deliver(scope, { turn: claim.turn }, parts.clock.recorded());
    },
  },
  store: OUTBOX_STORE,
  columns: { threads: [UNDELIVERED], turns: [DELIVERY] },
  operations: [listReplies, delivered],
  jobs: [replies],
  open: (world) => ({ api: ({ parts }) => DELIVERY_API.open(deliveryApi(parts, world)) }),
};

/** Within how many milliseconds a reader of the turn takes its `done`, and a caller that waits for another's turn finds the reply. */
const LISTENS = 60_000;
const FINDS = 3_000;

/** From when the outbox may deliver a reply that is committed now: a client that is reading it must not get it twice. */
function deliverAfter(turn: RunningTurn): number | "never" | "nobody" {
  if (isCalled(turn)) return "nobody";
  if (turn.replyTo === "nobody") return "never";
  return turn.parts.clock.real() + (turn.replyTo === "outbox" ? FINDS : LISTENS);
}

type Outgoing = Awaited<ReturnType<DeliveryApi["outbox"]>>[number];

/** How many characters of a message are shown; `--json` has all of it. */
const BEGINNING = 200;

function saidLines(one: Outgoing, style: Style): readonly string[] {
  const { contact, id, at, text, thread } = one;
  const state = one.state === "failed" ? style.yellow("undeliverable") : one.state;
  const to = `to ${style.cyan(printable(contact))} ${style.dim(`· ${minute(at)} ·`)} ${state}`;
  return [
    isOwnReport(one) ? `in a turn of its own ${style.dim(`· ${minute(at)}`)}` : to,
    ...setIn(oneLine(text, BEGINNING), "  ", style),
    style.dim(`  ${id} on ${thread}`),
  ];
}

/** That messages could not be delivered, and how to see them. */
export const undeliverableLine = (n: number, agent: string): string =>
  `${count(n, "message")} of ${agent} could not be delivered: \`strata outbox list ${agent} --status undeliverable\` shows ${n === 1 ? "it" : "them"}`;
