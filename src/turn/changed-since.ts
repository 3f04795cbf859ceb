import { type Compilation, clearedTail, requestOf } from "../compiler/index.ts";
import { asStrataError, type Message, type Request, sentIn } from "../protocol/index.ts";
import type { RebuiltRequest } from "../store/index.ts";
import { changedPiece } from "../wire/index.ts";
import { parametersOf } from "./setup.ts";
import type { Work } from "./work.ts";

/**
 * What of a request is not as the record has it of the thread's last turn that is done: the model, a tool, a layer, a message, or
 * what was answered then. Null where all of it still stands as it did, or nothing was sent before.
 */
export async function changedSince(work: Work, compilation: Compilation): Promise<string | null> {
  const { store } = work.parts;
  const { id, scope } = work.lease.claim.thread;
  const turns = await store.turns(scope, id);
  // The messages of a turn that failed are not sent again.
  const turn = turns.findLast(({ status, requests }) => status === "done" && requests.length > 0);
  const last = turn?.requests.findLast(({ reply }) => reply !== null);
  if (turn === undefined || last === undefined) return null;
  try {
    const before = await store.rebuild(scope, turn.id, last.n);
    if (before.wire !== work.setup.model.wire) return `the model, which was ${before.wire},`;
    return changedPiece(withReply(before), requestOf(compilation, parametersOf(work.setup))) ?? null;
  } catch (thrown) {
    if (asStrataError(thrown).code !== "record_broken") throw thrown;
    return "the record itself, as `strata verify` tells,";
  }
}

/** What had been sent, and what was answered to it. */
function withReply({ request, reply, epoch }: RebuiltRequest): Pick<Request, "prefix" | "messages"> {
  const { prefix, messages, tail } = request;
  if (reply === null || reply.parts.length === 0) return { prefix, messages };
  const cleared = clearedTail({ tail, ledger: { entries: [] } });
  const said: readonly Message[] = [{ role: "assistant", parts: reply.parts }];
  return { prefix, messages: [...messages, ...(cleared ? [cleared.message] : []), ...sentIn(epoch, said)] };
}
