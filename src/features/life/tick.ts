import {
  type Agent,
  type ContactScope,
  eventId,
  issueId,
  SELF,
  type TurnEvent,
  threadId,
  untrusted,
} from "../../protocol/index.ts";
import type { Thread } from "../../store/index.ts";
import type { Run, RunOptions } from "../../turn/index.ts";
import { keepVersion } from "../../turn/index.ts";
import { ownerOf } from "./credits.ts";
import { type LifeParts, recordState } from "./record.ts";
import { LIFE_STORE } from "./store.ts";
import { OCCASION, waited } from "./wording.ts";

/** The channel of an agent's own turns. */
const TICK = "tick";

/** How one of its own turns is run. `due`: which one it is, so that several programs post it only once. */
interface Ticking {
  readonly run: Run;
  readonly options: RunOptions;
  readonly due?: string;
}

/**
 * One of the agent's own turns. If an earlier one failed, its input is taken up again instead of a new occasion.
 * @throws StrataError before the start: `out_of_credits`, `thread_busy` if one is running
 */
export async function* tick(parts: LifeParts, agent: Agent, { run, options, due }: Ticking): AsyncGenerator<TurnEvent> {
  const thread = await ownThread(parts, agent);
  if (!(await parts.store.isDue(thread.scope, thread.id))) {
    const at = parts.clock.recorded();
    const waiting = await waitingFor(parts, agent);
    const message = waiting === 0 ? OCCASION : `${OCCASION} ${waited(waiting)}`;
    const occasion = {
      id: eventId(issueId("event", parts.clock.real(), parts.random(10))),
      kind: "scheduled",
      trust: "platform",
      channel: TICK,
      ...(due !== undefined && { externalId: due }),
      content: [{ type: "text", text: untrusted(message) }],
      at,
    } as const;
    await parts.store.receive(thread.scope, thread.id, [occasion]);
  }
  yield* run(thread, options);
}

/** How many messages wait, if no layer tells the agent. */
const waitingFor = async ({ store }: LifeParts, agent: Agent): Promise<number> =>
  agent.layers.some(({ source }) => source.kind === "obligations") ? 0 : store.inboxCount(ownerOf(agent));

/** Its own turns begin by the same rule as all others, one at a time. */
const ownTurn = (agent: Agent) => ({ agent, alone: SELF, waits: async () => true });

/**
 * Records that one of its own turns begins now, whether or not it is due. @throws StrataError `thread_busy` if one is running,
 * `out_of_credits`
 */
export async function claimNow(parts: LifeParts, agent: Agent): Promise<void> {
  await parts.steps.checkStart(parts, ownTurn(agent));
  const tickedAt = parts.clock.recorded();
  await recordState(parts, ownerOf(agent), (record) => ({
    state: record?.state ?? "bootstrapping",
    ...(record?.because !== undefined && { because: record.because }),
    tickedAt,
  }));
}

/** When the agent's own next turn is due, judging by when the last began; the first is due at once. Undefined if it has none. */
export function dueAt({ life }: Agent, tickedAt: number | undefined, now: number): number | undefined {
  if (life?.tick === undefined) return undefined;
  return tickedAt === undefined ? now : tickedAt + life.tick * 60_000;
}

/**
 * Claims the due turn for this program; of several that look, one gets it. Nothing if none is due, or one is running. Without credits it
 * stays due.
 * @throws StrataError `out_of_credits`
 */
export async function claimDue(parts: LifeParts, agent: Agent): Promise<string | undefined> {
  const now = parts.clock.recorded();
  const owner = ownerOf(agent);
  const isDue = (tickedAt: number | undefined): boolean => {
    const at = dueAt(agent, tickedAt, now);
    return at !== undefined && at <= now;
  };
  if (!isDue((await parts.store.part(LIFE_STORE).life(owner))?.tickedAt)) return undefined;
  const because = await parts.steps.refusal(parts, ownTurn(agent));
  if (because?.code === "thread_busy") return undefined;
  if (because !== undefined) throw because;
  let due: string | undefined;
  await recordState(parts, owner, (record) => {
    due = undefined;
    if (!isDue(record?.tickedAt)) return undefined;
    due = `after ${record?.tickedAt ?? "none"}`;
    const because = record?.because === undefined ? {} : { because: record.because };
    return { state: record?.state ?? "bootstrapping", ...because, tickedAt: now };
  });
  return due;
}

/**
 * The thread of its own turns. A new declaration begins a new thread, so that its own turns always follow the declaration. Input left by a
 * failed turn on an older thread is withdrawn, since those threads no longer run.
 */
async function ownThread(parts: LifeParts, agent: Agent): Promise<Thread> {
  const { org, name, version } = agent;
  const scope: ContactScope = { org, agent: name, contact: SELF };
  const at = parts.clock.recorded();
  await keepVersion(parts, agent);
  const id = threadId(issueId("thread", parts.clock.real(), parts.random(10)));
  const own = await parts.store.openThread(scope, { id, channel: TICK, key: version, version, at });
  await takeBack(parts, own);
  return own;
}

/** How many older threads are searched: each declaration withdraws what the previous one left. */
const OLDER = 20;

async function takeBack({ store, clock, alive }: LifeParts, { scope, id }: Thread): Promise<void> {
  const older = (await store.threads(scope, OLDER)).filter(
    (one) => one.channel === TICK && one.id !== id && one.forkedFrom === undefined,
  );
  for (const { id: thread } of older) {
    if (!(await store.isDue(scope, thread))) continue;
    await store.withdraw(scope, thread, { now: clock.real(), at: clock.recorded(), alive });
  }
}
