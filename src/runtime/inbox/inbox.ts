import {
  type Agent,
  asStrataError,
  BATCH_SENDERS,
  batchContact,
  isBatch,
  issueId,
  type TurnEvent,
  threadId,
} from "../../protocol/index.ts";
import type { Thread } from "../../stores/index.ts";
import { shownSender } from "../../tools/index.ts";
import { deskOf } from "../admin/desk.ts";
import type { AgentDoors } from "../agent-doors.ts";
import { keepVersion } from "../cast.ts";
import { CONSOLIDATION } from "../consolidate/consolidate-thread.ts";
import { checkPaid, type Run } from "../life/tick.ts";
import type { TurnParts } from "../purse.ts";
import type { RunOptions } from "../run-options.ts";

/** Where turns of several senders are. */
const CHANNEL = "inbox";

/** Another worker may take what was just found; what is left is looked for so often. */
const TRIES = 5;

/** The door to turns over whatever waits, for operators. */
export function inboxDoors(parts: () => TurnParts, run: Run): Pick<AgentDoors, "runInbox"> {
  return {
    async *runInbox(actor, name, options = {}) {
      const { agent } = deskOf(parts(), actor, name);
      yield* runInbox(parts(), agent, { run, options });
    },
  };
}

/** One turn over what waits for longest: of one sender, or of several where the agent's inbox is so. Nothing where nothing waits. */
async function* runInbox(
  parts: TurnParts,
  agent: Agent,
  { run, options }: { readonly run: Run; readonly options: RunOptions },
): AsyncGenerator<TurnEvent> {
  for (let tries = 1; ; tries++) {
    const thread = await nextThread(parts, agent);
    if (thread === undefined) return;
    if (isBatch(thread.scope)) await checkPaid(parts, agent);
    let began = false;
    try {
      for await (const event of run(thread, options)) {
        began = true;
        yield event;
      }
      return;
    } catch (thrown) {
      if (began || tries >= TRIES || asStrataError(thrown).code !== "thread_busy") throw thrown;
    }
  }
}

async function nextThread(parts: TurnParts, agent: Agent): Promise<Thread | undefined> {
  const { org, name, version, inbox } = agent;
  const [at, now] = [parts.clock(), parts.wall()];
  await keepVersion(parts, agent);
  const id = threadId(issueId("thread", now, parts.random(10)));
  const most = inbox === "batch" ? BATCH_SENDERS : 1;
  const opening = {
    id,
    contact: batchContact(id),
    channel: CHANNEL,
    version,
    most,
    nameOf: shownSender,
    except: CONSOLIDATION,
  };
  return parts.store.openBatch({ org, agent: name }, { ...opening, at, now, alive: parts.alive });
}
