import { type ContactScope, keyedDigest, type Scope, StrataError, sentIn, type TurnId } from "../../protocol/index.ts";
import { toMessage, toTail } from "../rows.ts";
import { query } from "../statement.ts";
import type { RebuiltRequest } from "../store.ts";
import type { Row } from "../tables.ts";
import type { Connection } from "./connection.ts";
import { findEpoch, messagesOf, toEpoch } from "./epochs.ts";
import { broken, knownKey, ownText, present } from "./pieces.ts";
import { ownMessages, readRequest } from "./requests.ts";
import { turnLink } from "./turn-link.ts";
import { foundTurn } from "./turns.ts";

/**
 * A past request from the pieces it was made of. Every text is checked against its digest and the turn against its link:
 * what comes back was sent, byte for byte, or nothing comes back.
 */
export function rebuild(db: Connection, scope: Scope, id: TurnId, n: number): RebuiltRequest {
  return db.read(() => {
    const turn = foundTurn(db, scope, id);
    const row = foundRequest(db, turn, n);
    linked(db, turn);
    const epochRow = findEpoch(db, turn, turn.thread, row.epoch);
    if (!epochRow) throw broken(`epoch ${row.epoch} of thread ${turn.thread} is not in the record`, row.tail);
    const base = messagesOf(db, turn, turn.thread, { epoch: row.epoch, count: row.base });
    const own = ownMessages(db, turn, id).slice(0, row.own);
    const texts = [...base, ...own, { piece: row.tail, text: ownText(db, turn, row.tail) }];
    const checked = sound(db, turn, texts);
    const epoch = toEpoch(db, epochRow, base);
    const { marks, parameters, reply } = readRequest(db, row);
    const messages = sentIn(epoch, checked.slice(0, -1).map(toMessage));
    const tail = toTail(checked.at(-1) ?? "[]");
    const request = { prefix: epoch.prefix, messages, tail, marks, parameters };
    return { request, reply, wire: turn.wire ?? turn.model ?? "", epoch };
  });
}

function foundRequest(db: Connection, turn: Row<"turn">, n: number): Row<"request"> {
  const wanted = { org: turn.org, agent: turn.agent, contact: turn.contact, turn: turn.id, n };
  const row = db.first(
    query
      .selectFrom("request")
      .selectAll()
      .where((eb) => eb.and(wanted)),
  );
  if (row) return row;
  const why = turn.status === "running" ? "it still runs, and its requests are recorded when it ends" : "it made fewer";
  throw new StrataError("turn_not_found", `turn ${turn.id} has no request ${n}: ${why}`, { turn: turn.id, n });
}

/** The turn's rows must give the body that was linked when it ended. */
function linked(db: Connection, turn: Row<"turn">): void {
  const wanted = { org: turn.org, seq: turn.link ?? 0 };
  const link = db.first(
    query
      .selectFrom("chain")
      .select("body")
      .where((eb) => eb.and(wanted)),
  );
  if (link?.body === turnLink(db, turn)) return;
  throw new StrataError(
    "record_broken",
    `turn ${turn.id} was changed after it was recorded: run \`strata verify\` where the data is`,
    {
      turn: turn.id,
    },
  );
}

type Named = { readonly piece: Row<"piece">["digest"]; readonly text: string | null };

/** The texts, each proved by its keyed digest. */
function sound(db: Connection, scope: ContactScope, texts: readonly Named[]): readonly string[] {
  const whole = texts.map(({ text }, i) => present(text, i === texts.length - 1 ? "its tail" : `its message ${i + 1}`));
  const key = knownKey(db, scope);
  for (const [i, { piece }] of texts.entries()) {
    if (key && keyedDigest(key, whole[i] ?? "") === piece) continue;
    throw broken(`the text ${piece} was changed after it was recorded`, piece);
  }
  return whole;
}
