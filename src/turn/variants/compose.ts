import { requestOf } from "../../compiler/index.ts";
import {
  type Agent,
  type ContactScope,
  eventId,
  issueId,
  type Mode,
  type StoredEvent,
  threadId,
  turnId,
  type Untrusted,
} from "../../protocol/index.ts";
import { coldCache } from "../loop/early-cut.ts";
import { compileFor, renewalOf } from "../loop/gather.ts";
import { pastOf, planRequest } from "../loop/plan-request.ts";
import { parametersOf, setupOf, upToDate, withOmitted } from "../loop/setup.ts";
import type { TurnParts, TurnSetup } from "../loop/steps.ts";
import type { Parts } from "../parts.ts";
import type { Composed, ComposeOptions, Conversation } from "../runtime.ts";

/** At most this many threads of a contact are searched for the conversation. */
const MOST_THREADS = 1_000;

/** The message, its conversation, and how much of the prompt is wanted. */
interface Composing extends Pick<Conversation, "channel" | "key">, ComposeOptions {
  readonly message: Untrusted;
}

/** The request that the message would lead to, in the conversation's own epoch if it has one. Sends and stores nothing. */
export async function compose(
  parts: TurnParts,
  agent: Agent,
  scope: ContactScope,
  { channel, key, message, mode, uncut = false }: Composing,
): Promise<Composed> {
  const threads = await parts.store.threads(scope, MOST_THREADS);
  const found = threads.find((one) => one.channel === channel && one.key === key);
  const thread = found && (await upToDate(parts, found));
  const setup = await setupOf(parts, thread ?? { scope, version: agent.version }, modeField(mode));
  const epoch = thread && (await parts.store.epoch(scope, thread.id));
  const turn = turnId(issueId("turn", parts.clock.real(), parts.random(10)));
  const waiting = thread === undefined ? [] : await parts.store.pending(scope, thread.id);
  const events = [...waiting, imagined(parts, message, channel, waiting.length)];
  const past = await pastOf(parts, setup, { scope, thread: thread?.id, epoch });
  const at = parts.clock.recorded();
  const cold = coldCache(setup, past, at);
  const room = uncut ? withRoom(setup) : setup;
  await parts.steps.prepare(parts, setup.agent);
  const renewal = renewalOf(epoch, setup.agent.version, setup);
  const occasion = { scope, turn, events, epoch, thread, cold, renewal };
  const { compilation, since } = await compileFor(parts, room, occasion);
  const bare = requestOf(compilation, parametersOf(setup));
  const { request } = planRequest(
    { setup, past: { ...past, ...(since !== undefined && { since }) }, requests: [] },
    compilation,
    { bare, at },
  );
  const ledger = withOmitted(setup, compilation.ledger);
  return {
    agent: setup.agent,
    model: setup.model.ref,
    wire: setup.model.wire,
    request,
    ledger,
    taint: compilation.taint,
  };
}

const modeField = (mode: Mode | undefined) => (mode === undefined ? {} : { mode });

/** Tokens for any prompt. */
const ENDLESS = Number.MAX_SAFE_INTEGER;

/** The same setup, with a window and a budget that hold everything. */
const withRoom = ({ agent, card, ...setup }: TurnSetup): TurnSetup => ({
  ...setup,
  card: { ...card, contextWindow: ENDLESS },
  agent: { ...agent, budgets: { ...agent.budgets, total: ENDLESS } },
});

/** The message as the event it would become. */
function imagined(parts: Parts, message: Untrusted, channel: string, waiting: number): StoredEvent {
  const at = parts.clock.recorded();
  return {
    id: eventId(issueId("event", at, parts.random(10))),
    thread: threadId(issueId("thread", at, parts.random(10))),
    seq: waiting + 1,
    status: "pending",
    kind: "message",
    trust: "contact",
    channel,
    content: [{ type: "text", text: message }],
    at,
  };
}
