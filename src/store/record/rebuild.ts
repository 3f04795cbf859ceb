import { type ContactScope, keyedDigest, type Scope, StrataError, sentIn, type TurnId } from "../../protocol/index.ts";
import type { RebuiltRequest } from "../records.ts";
import { toMessage, toTail } from "../rows.ts";
import { query } from "../statement.ts";
import type { Row } from "../tables.ts";
import { findEpoch, messagesOf, toEpoch } from "../turns/epochs.ts";
import { ownMessages, readRequest } from "../turns/requests.ts";
import { foundTurn } from "../turns/turns.ts";
import type { Tx } from "../tx.ts";
import { broken, knownKey, ownText, present } from "./pieces.ts";
import { turnLink } from "./turn-link.ts";

/**
 * Rebuilds a past request from its pieces. Every text is checked against its digest and the turn against its link, so the result is exactly
 * what was sent, byte for byte, or an error.
 */
export async function rebuild(tx: Tx, scope: Scope, id: TurnId, n: number): Promise<RebuiltRequest> {
  const turn = await foundTurn(tx, scope, id);
  const row = await foundRequest(tx, turn, n);
  await linked(tx, turn);
  const epochRow = await findEpoch(tx, turn, turn.thread, row.epoch);
  if (!epochRow) throw broken(`epoch ${row.epoch} of thread ${turn.thread} is not in the record`, row.tail);
  const base = await messagesOf(tx, turn, turn.thread, { epoch: row.epoch, count: row.base });
  const own = (await ownMessages(tx, turn)).slice(0, row.own);
  const texts = [...base, ...own, { piece: row.tail, text: await ownText(tx, turn, row.tail) }];
  const checked = await sound(tx, turn, texts);
  const epoch = await toEpoch(tx, epochRow, base);
  const { breakpoints, parameters, reply, ledger } = await readRequest(tx, row);
  const messages = sentIn(epoch, checked.slice(0, -1).map(toMessage));
  const tail = toTail(checked.at(-1) ?? "[]");
  const compare = reply === null ? ledger.compare : reply.compared;
  const asked = { breakpoints, parameters, ...(compare !== undefined && { compare }) };
  const request = { prefix: epoch.prefix, messages, tail, ...asked };
  return { request, reply, wire: turn.wire ?? turn.model ?? "", epoch };
}

async function foundRequest(tx: Tx, turn: Row<"turn">, n: number): Promise<Row<"request">> {
  const wanted = { org: turn.org, agent: turn.agent, contact: turn.contact, turn: turn.id, n };
  const row = await tx.first(
    query
      .selectFrom("request")
      .selectAll()
      .where((eb) => eb.and(wanted)),
  );
  if (row) return row;
  const why = turn.status === "running" ? "it still runs, and its requests are recorded when it ends" : "it made fewer";
  throw new StrataError("turn_not_found", `turn ${turn.id} has no request ${n}: ${why}`, { turn: turn.id, n });
}

/** Checks that the turn's rows give the body that was linked when it ended. */
async function linked(tx: Tx, turn: Row<"turn">): Promise<void> {
  const wanted = { org: turn.org, seq: turn.link ?? 0 };
  const link = await tx.first(
    query
      .selectFrom("chain")
      .select("body")
      .where((eb) => eb.and(wanted)),
  );
  if (link?.body === (await turnLink(tx, turn))) return;
  throw new StrataError(
    "record_broken",
    `turn ${turn.id} was changed after it was recorded: run \`strata verify\` where the data is`,
    {
      turn: turn.id,
    },
  );
}

type Named = { readonly piece: Row<"piece">["digest"]; readonly text: string | null };

/** Reads the texts, each checked by its keyed digest. */
async function sound(tx: Tx, scope: ContactScope, texts: readonly Named[]): Promise<readonly string[]> {
  const whole = texts.map(({ text }, i) => present(text, i === texts.length - 1 ? "its tail" : `its message ${i + 1}`));
  const key = await knownKey(tx, scope);
  for (const [i, { piece }] of texts.entries()) {
    if (key && keyedDigest(key, whole[i] ?? "") === piece) continue;
    throw broken(`the text ${piece} was changed after it was recorded`, piece);
  }
  return whole;
}
