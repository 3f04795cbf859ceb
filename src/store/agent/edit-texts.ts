import {
  type ContactId,
  type ContactScope,
  canonicalJson,
  type Digest,
  type NewText,
  type OrgId,
  SELF,
  StrataError,
  type TextKey,
  type TextMove,
  type TextPointer,
  type TextVersion,
  textDecided,
  textName,
  textOvertaken,
  type VersionKey,
} from "../../protocol/index.ts";
import type { AgentOwner, MoveRequest, TextDecision } from "../agent-store.ts";
import { keepOwn, keepShared, scopeKey } from "../record/pieces.ts";
import { toTextKey, toTextMove } from "../rows.ts";
import { query } from "../statement.ts";
import type { Tx } from "../tx.ts";
import { supersede, waitingBeside } from "./proposals.ts";
import {
  columnKey,
  columnsOf,
  decides,
  findVersion,
  isTainted,
  isWish,
  type MoveRow,
  makesVersion,
  movesOfVersion,
  type NewMove,
  NO_VERSION,
  pointerOf,
  pointersOf,
  recordMove,
  statusOf,
  type TextColumns,
  textAt,
} from "./texts.ts";

/** Keeps a version that an operator wrote. */
export async function editText(tx: Tx, owner: AgentOwner, edit: NewText, at: number): Promise<TextVersion> {
  return addVersion(tx, owner, edit, at);
}

/** The same inside a write transaction, also for what a contact's turn wrote. */
export async function addVersion(
  tx: Tx,
  whose: AgentOwner | ContactScope,
  edit: NewText,
  at: number,
): Promise<TextVersion> {
  const key = columnsOf(whose, edit);
  const stands = await pointerOf(tx, key);
  if (edit.status === "kept" && isOverActive(edit, stands) && (await isBesideThem(tx, key, edit.beside))) {
    return make(tx, key, {
      ...facts(edit, at),
      ...(await keepAll(tx, whose, edit, null)),
      kind: "edited",
      was: stands,
    });
  }
  const made = facts(edit, at);
  // It may say what the contact said: until an operator has approved it, it goes when the contact goes.
  const contact = isTainted(edit.inputs) ? contactOf(whose) : null;
  const older = edit.by === "agent" && isWish(made) ? await waitingBeside(tx, key, contact) : [];
  for (const one of older) {
    if (await isSameEdit(tx, one, edit)) return there(tx, key, one.n);
  }
  await supersede(tx, older, { n: (await newestVersion(tx, key)) + 1, at });
  return make(tx, key, { ...made, ...(await keepAll(tx, whose, edit, contact)), kind: "proposed", was: stands });
}

/** A row that makes a version, before it is known which. */
type Made = Omit<NewMove, "n" | "stands">;

async function make(tx: Tx, key: TextColumns, made: Made): Promise<TextVersion> {
  const n = (await newestVersion(tx, key)) + 1;
  await recordMove(tx, key, { ...made, n, stands: made.kind === "edited" ? n : made.was });
  return there(tx, key, n);
}

function facts({ by, byId, turn, trust, inputs, parent, verdict: { verdict }, place }: NewText, at: number) {
  const { rank, source, declared = null } = place;
  return { by, by_id: byId ?? null, turn: turn ?? null, at, trust, inputs, parent, verdict, rank, source, declared };
}

/** Its texts, kept with the contact whose they are, or as shared ones. */
async function keepAll(tx: Tx, whose: AgentOwner, { reason, text, line, verdict }: NewText, contact: ContactId | null) {
  const keep = await keeper(tx, whose, contact);
  return {
    contact,
    reason: await keep(reason),
    text: await keep(text),
    line: line === undefined ? null : await keep(line),
    findings: await keep(JSON.stringify(verdict.findings)),
  };
}

/** Whether a proposal says the same over the same. */
async function isSameEdit(tx: Tx, row: MoveRow, { text, line, parent, inputs, place }: NewText): Promise<boolean> {
  const { rank, source, declared } = row;
  return (
    (await textAt(tx, row, row.text)) === text &&
    (await textAt(tx, row, row.line)) === (line ?? null) &&
    row.parent === parent &&
    row.inputs === inputs &&
    canonicalJson({ rank, source, declared }) === canonicalJson({ declared: null, ...place })
  );
}

/** Who took a text away meant it: an agent does not put it back unasked. */
function isOverActive({ parent, by }: NewText, stands: number | null): boolean {
  return stands === null ? by !== "agent" : stands === parent;
}

/** Limits are of all layers or all skills together: whoever measured with others that moved since has measured nothing. */
async function isBesideThem(tx: Tx, key: TextColumns, beside: readonly TextPointer[]): Promise<boolean> {
  const now = (await pointersOf(tx, key)).filter(({ layer, part }) =>
    key.part === "" ? part === undefined && layer !== key.layer : layer === key.layer && part !== key.part,
  );
  return placesOf(key, beside) === placesOf(key, now);
}

/** A layer uses its declared text until its pointer moves; a skill may be declared and point to nothing. */
function placesOf({ part }: TextColumns, pointers: readonly TextPointer[]): string {
  const moved = pointers.filter(({ stands }) => part !== "" || stands !== 0);
  return canonicalJson(moved.map((pointer) => [columnKey(pointer), pointer.stands]).toSorted());
}

function contactOf(whose: AgentOwner | ContactScope): ContactId | null {
  return "contact" in whose && whose.contact !== SELF ? whose.contact : null;
}

async function keeper(
  tx: Tx,
  { org, agent }: AgentOwner,
  contact: ContactId | null,
): Promise<(text: string) => Promise<Digest>> {
  if (contact === null) return (text) => keepShared(tx, org, text);
  const scope = { org, agent, contact };
  const key = await scopeKey(tx, scope);
  return (text) => keepOwn(tx, scope, key, text);
}

async function newestVersion(tx: Tx, key: TextColumns): Promise<number> {
  const newest = query
    .selectFrom("text_move")
    .select((eb) => eb.fn.coalesce(eb.fn.max("n"), eb.lit(0)).as("n"))
    .where((eb) => eb.and(key));
  return (await tx.first(newest))?.n ?? 0;
}

async function there(tx: Tx, key: TextColumns, n: number): Promise<TextVersion> {
  const version = await findVersion(tx, key, n);
  if (version) return version;
  const message = `version ${n} of ${textName(toTextKey(key))} vanished inside its own transaction: report it`;
  throw new StrataError("unexpected", message);
}

/** An operator's decision: of two that decide, the second gets an error that it is already decided. */
export async function decideText(
  tx: Tx,
  owner: AgentOwner,
  { n, ...of }: VersionKey,
  decision: TextDecision,
): Promise<TextVersion> {
  const key = columnsOf(owner, of);
  const made = await inStatus(tx, key, n, "proposed");
  const was = await pointerOf(tx, key);
  const { verdict: kind, by, byId, reason, at } = decision;
  const word = {
    ...NO_VERSION,
    kind,
    n,
    was,
    by,
    by_id: byId ?? null,
    at,
    reason: await keepShared(tx, owner.org, reason),
  };
  if (decision.verdict === "rejected") {
    await recordMove(tx, key, { ...word, stands: was });
    return there(tx, key, n);
  }
  const { over } = decision;
  // If the text was withdrawn since, the version was not compared with that state.
  const active = was ?? 0;
  if (active !== (over ?? made.parent)) {
    throw textOvertaken(key.agent, { ...of, n, parent: made.parent ?? 0, over }, active);
  }
  await checkBeside(tx, key, decision.beside);
  await recordMove(tx, key, {
    ...word,
    stands: n,
    ...(made.contact !== null && (await textsAnew(tx, owner.org, made))),
  });
  return there(tx, key, n);
}

/** @throws StrataError `text_decided` */
async function checkBeside(tx: Tx, key: TextColumns, beside: readonly TextPointer[]): Promise<void> {
  if (await isBesideThem(tx, key, beside)) return;
  const name = textName(toTextKey(key));
  const message = `another text of ${key.agent} was changed while the size of ${name} was looked at, so nothing was changed`;
  throw new StrataError("text_decided", `${message}: do it again`, { agent: key.agent, ...toTextKey(key) });
}

async function textsAnew(tx: Tx, org: OrgId, made: MoveRow): Promise<Pick<MoveRow, "text" | "line">> {
  const line = await textAt(tx, made, made.line);
  return {
    text: await keepShared(tx, org, (await textAt(tx, made, made.text)) ?? ""),
    line: line === null ? null : await keepShared(tx, org, line),
  };
}

/** @throws StrataError `text_not_found`, `text_decided` */
async function inStatus(tx: Tx, key: TextColumns, n: number, wanted: "kept" | "proposed"): Promise<MoveRow> {
  const rows = await movesOfVersion(tx, key, n);
  const made = rows.find(makesVersion);
  const of = toTextKey(key);
  if (!made) {
    const message = `${textName(of)} of ${key.agent} has no version ${n}: list its versions`;
    throw new StrataError("text_not_found", message, { agent: key.agent, ...of, n });
  }
  const status = statusOf(made, rows.find(decides));
  if (status === wanted) return made;
  throw textDecided(key.agent, { ...of, n, status });
}

/** Puts the pointer on a version that is kept, on the declared text, or on nothing. */
export async function moveText(tx: Tx, owner: AgentOwner, of: TextKey, request: MoveRequest): Promise<TextMove> {
  const { to, kind, by, byId, reason, at } = request;
  const key = columnsOf(owner, of);
  if (to !== null && to !== 0) await inStatus(tx, key, to, "kept");
  if (to !== null) await checkBeside(tx, key, request.beside);
  const was = await pointerOf(tx, key, request.atFirst);
  const why = await keepShared(tx, owner.org, reason);
  const row = await recordMove(tx, key, {
    ...NO_VERSION,
    kind,
    n: to ?? was ?? 0,
    was,
    stands: to,
    by,
    by_id: byId ?? null,
    at,
    reason: why,
  });
  return toTextMove(row, reason);
}
