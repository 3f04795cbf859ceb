import type { AgentName, Digest } from "../../protocol/index.ts";
import { keepShared } from "../record/pieces.ts";
import { plain } from "../statement.ts";
import type { Row } from "../tables.ts";
import type { Retracting, Tx, WithdrawnVersion } from "../tx.ts";
import { findVersion, movesOfVersion, NO_VERSION, newestMove, recordMove, type TextColumns } from "./texts.ts";

const WITHDRAWN = "it was made from an event that was retracted";

/** The versions of texts that an agent made in these turns. */
export async function findMadeVersions(tx: Tx, all: Retracting): Promise<void> {
  for (const { scope, turns } of all.lineages()) {
    const made = `select * from text_move where org = ? and agent = ? and turn in (select value from json_each(?))`;
    for (const { agent, layer, part, n } of await tx.all(
      plain<Row<"text_move">>(made, scope.org, scope.agent, JSON.stringify([...turns])),
    ))
      all.withdraw({ agent, layer, part, n });
  }
}

/** What versions of blocks and skills say that go, by agent: whoever asks for one with a tool has it in the conversation. */
export async function withdrawnParts(tx: Tx, all: Retracting): Promise<ReadonlyMap<AgentName, readonly string[]>> {
  const found = new Map<AgentName, readonly string[]>();
  for (const { agent, layer, part, n } of all.withdrawn) {
    if (part === "") continue;
    const version = await findVersion(tx, { org: all.org, agent, layer, part }, n);
    if (version !== undefined) found.set(agent, [...(found.get(agent) ?? []), version.text]);
  }
  return found;
}

/** Versions of texts go: one that waits is rejected, and where one is active, the version before it is. Gives the shared texts that went. */
export async function withdrawVersions(tx: Tx, all: Retracting): Promise<readonly Digest[]> {
  const gone: Digest[] = [];
  const reason = await keepShared(tx, all.org, WITHDRAWN);
  const { by, byId, at } = all;
  const doing = { by, by_id: byId ?? null, at, reason };
  for (const { agent, layer, part, n } of all.withdrawn) {
    const key: TextColumns = { org: all.org, agent, layer, part };
    const rows = await movesOfVersion(tx, key, n);
    const version = await findVersion(tx, key, n);
    const stands = (await newestMove(tx, key))?.stands ?? null;
    if (version?.status === "proposed")
      await recordMove(tx, key, { ...NO_VERSION, ...doing, kind: "rejected", n, was: stands, stands });
    if (stands === n) {
      const to = await versionBefore(tx, key, n, all.withdrawn);
      await recordMove(tx, key, { ...NO_VERSION, ...doing, kind: "rolled back", n, was: n, stands: to });
    }
    for (const row of rows) {
      const texts = [row.text, row.line, row.reason, row.findings];
      if (row.contact !== null) all.blank({ org: all.org, agent, contact: row.contact }, texts);
      else
        for (const text of [row.text, row.line, ...(row.text === null ? [] : [row.reason])])
          if (text !== null) gone.push(text);
    }
  }
  return blankShared(tx, all, gone);
}

/** The newest version that was active before, and was not withdrawn; 0: the declared text. */
async function versionBefore(
  tx: Tx,
  key: TextColumns,
  n: number,
  withdrawn: readonly WithdrawnVersion[],
): Promise<number> {
  const stood = `select stands from text_move where org = ? and agent = ? and layer = ? and part = ? and stands is not null and stands < ?
    order by seq desc`;
  const gone = new Set(
    withdrawn
      .filter(({ agent, layer, part }) => agent === key.agent && layer === key.layer && part === key.part)
      .map((one) => one.n),
  );
  const found = await tx.column(plain<number>(stood, key.org, key.agent, key.layer, key.part, n));
  for (const one of found) {
    if (one === 0) return 0;
    if (!gone.has(one) && (await findVersion(tx, key, one))?.text !== "") return one;
  }
  return 0;
}

/** Shared texts that no row of a version names any more. */
async function blankShared(tx: Tx, all: Retracting, texts: readonly Digest[]): Promise<readonly Digest[]> {
  const gone: Digest[] = [];
  for (const digest of new Set(texts)) {
    const named = `select agent, layer, part, n from text_move where org = ? and contact is null and (text = ? or line = ? or reason = ?)`;
    const rows = await tx.all(plain<WithdrawnVersion>(named, all.org, digest, digest, digest));
    const isLive = rows.some(
      (row) =>
        !all.withdrawn.some(
          (one) => one.agent === row.agent && one.layer === row.layer && one.part === row.part && one.n === row.n,
        ),
    );
    if (!isLive) gone.push(digest);
  }
  const put = `update shared_piece set text = '', retracted = ? where org = ? and digest in (select value from json_each(?))`;
  if (gone.length > 0) await tx.run(plain(put, all.n, all.org, JSON.stringify(gone)));
  return gone;
}
