import { z } from "zod";
import {
  agentName,
  callId,
  eventId,
  issueId,
  lowestTrust,
  ownKind,
  StrataError,
  TRUSTS,
  type Trust,
  threadId,
  untrusted,
} from "../../protocol/index.ts";
import type { Caller } from "../call-records.ts";
import { owner, query } from "../statement.ts";
import { writeKind } from "../write-kind.ts";
import { addEvents } from "./events.ts";
import { callLeftOpen } from "./open-calls.ts";
import { findThread } from "./threads.ts";

const WORD = ownKind("peer");

/** A called thread's interim message to its caller. */
interface TellCaller {
  readonly kind: "tell-caller";
  readonly caller: Caller;
  /** Who tells it, and on which channel. */
  readonly name: string;
  readonly channel: string;
  readonly text: string;
  readonly trust: Trust;
}

/**
 * An event on the caller's thread, of the same contact. It answers no call: while the caller waits it is held, and comes with the answer.
 * Where the call is closed it begins a turn; where that was cancelled it waits for the next message, as a late answer does.
 */
export const TELL_CALLER = writeKind<TellCaller>({
  kind: "tell-caller",
  schema: z.strictObject({
    kind: z.literal("tell-caller"),
    caller: z.strictObject({
      thread: z.string().transform(threadId),
      agent: z.string().transform(agentName),
      call: z.string().transform(callId),
    }),
    name: z.string(),
    channel: z.string(),
    text: z.string(),
    trust: z.enum(TRUSTS),
  }),
  newId: (at, random) => issueId("event", at, random(10)),
  limited: (write, most) => ({ ...write, trust: lowestTrust([write.trust, ...most]) }),
  hidden: (write, hide) => ({ ...write, text: hide(write.text) }),
  apply: async (tx, { caller, name, channel, text, trust }, { scope: { org, contact }, at, id }) => {
    if (id === undefined) throw new StrataError("invalid_input", "a caller is told something without an id: issue one");
    const to = { org, agent: caller.agent, contact };
    // If it is erased, there is no reader left.
    if ((await findThread(tx, to, caller.thread))?.erased_link !== null) return [];
    const said = { kind: WORD, trust, channel, name: untrusted(name), at } as const;
    const content = [{ type: "text", text: untrusted(text) }] as const;
    await addEvents(tx, to, caller.thread, [{ ...said, id: eventId(id), content }]);
    if ((await callLeftOpen(tx, to, caller.thread, caller.call))?.state !== "cancelled") return [];
    await tx.run(
      query
        .updateTable("event")
        .set({ status: "along" })
        .where((eb) => eb.and({ ...owner(to), id: eventId(id) })),
    );
    return [];
  },
});
