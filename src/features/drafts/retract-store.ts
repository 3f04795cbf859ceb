import type { EventId } from "../../protocol/index.ts";
import { append, owner, plain, type Retracting, type Tx } from "../../store/index.ts";
import { DECISION } from "./config.ts";
import { type DraftTable, insert, linkOf, query } from "./decision-store.ts";

/** Decisions about drafts that were removed. */
export async function draftsDerived(tx: Tx, retracting: Retracting): Promise<void> {
  for (const { scope, whole } of retracting.lineages()) {
    const { org, agent, contact } = scope;
    const events = plain<EventId>(TOLD, DECISION, org, agent, contact, JSON.stringify([...whole]));
    retracting.addNotices(scope, await tx.column(events));
  }
}

const TOLD = `select event.id from draft join draft_act on draft_act.org = draft.org and draft_act.agent = draft.agent
    and draft_act.contact = draft.contact and draft_act.draft = draft.id
  join event on event.org = draft.org and event.agent = draft.agent and event.contact = draft.contact and event.thread = draft.thread
    and event.at = draft_act.at and event.kind = ?
  where draft.org = ? and draft.agent = ? and draft.contact = ? and draft.turn in (select value from json_each(?))`;

/** Drafts of turns that are removed completely: they can no longer be decided, and the drafts they replaced wait again. */
export async function retractDrafts(tx: Tx, retracting: Retracting): Promise<void> {
  const { n, by, byId, at } = retracting;
  for (const { scope, whole } of retracting.lineages()) {
    const { org, agent, contact } = scope;
    const rows = await tx.all(plain<DraftTable>(DRAFTS_OF, org, agent, contact, JSON.stringify([...whole])));
    for (const { id, thread, status } of rows) {
      retracting.drop(scope, { table: "draft_act", column: "draft", value: id });
      const isOpen = status === "open";
      if (isOpen) {
        const nothing = { outbox: null, position: null, piece: null, note: null } as const;
        const act = {
          ...owner(scope),
          draft: id,
          thread,
          verdict: "discarded",
          ...nothing,
          by,
          by_id: byId ?? null,
          at,
        } as const;
        await tx.run(insert("draft_act", { ...act, link: (await append(tx, org, linkOf(act))).seq }));
      }
      await tx.run(
        query
          .updateTable("draft")
          .set({ retracted: n, ...(isOpen && { status: "discarded" as const }) })
          .where((eb) => eb.and({ ...owner(scope), id })),
      );
    }
    if (rows.length > 0) await tx.run(plain(WAITS_AGAIN, org, agent, contact));
  }
}

const DRAFTS_OF = `select * from draft where org = ? and agent = ? and contact = ? and retracted is null
  and turn in (select value from json_each(?))`;

/** A newer draft of the same thread and line that is not gone. */
export const NEWER = `select 1 from draft as newer where newer.org = draft.org and newer.agent = draft.agent and newer.contact = draft.contact
  and newer.thread = draft.thread and coalesce(newer.line, '') = coalesce(draft.line, '') and newer.retracted is null
  and (newer.at, newer.id) > (draft.at, draft.id)`;

const WAITS_AGAIN = `update draft set status = 'open' where org = ? and agent = ? and contact = ? and status = 'superseded'
  and retracted is null and not exists (${NEWER})`;
