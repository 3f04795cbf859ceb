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
} from "../../../protocol/index.ts";
import type { AgentOwner, MoveRequest, TextDecision } from "../../agent-store.ts";
import { toTextKey, toTextMove } from "../../rows.ts";
import { query } from "../../statement.ts";
import type { Connection } from "../connection.ts";
import { keepOwn, keepShared, scopeKey } from "../pieces.ts";
import { supersede, waitingBeside } from "./proposals.ts";
import { type NewMove, NO_VERSION, pointerOf, recordMove } from "./record-move.ts";
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
  pointersOf,
  statusOf,
  type TextColumns,
  textAt,
} from "./texts.ts";

/** Keeps a version that an operator wrote. */
export function editText(db: Connection, owner: AgentOwner, edit: NewText, at: number): TextVersion {
  return db.write(() => addVersion(db, owner, edit, at));
}

/** The same inside a write transaction, also for what a contact's turn wrote. */
export function addVersion(db: Connection, whose: AgentOwner | ContactScope, edit: NewText, at: number): TextVersion {
  const key = columnsOf(whose, edit);
  const stands = pointerOf(db, key);
  if (edit.status === "kept" && isOverActive(edit, stands) && isBesideThem(db, key, edit.beside)) {
    return make(db, key, { ...facts(edit, at), ...kept(db, whose, edit, null), kind: "edited", was: stands });
  }
  const made = facts(edit, at);
  // It may say what the contact said: until an operator has approved it, it goes when the contact goes.
  const contact = isTainted(edit.inputs) ? contactOf(whose) : null;
  const older = edit.by === "agent" && isWish(made) ? waitingBeside(db, key, contact) : [];
  const same = older.find((one) => isSame(db, one, edit));
  if (same) return there(db, key, same.n);
  supersede(db, older, { n: newestVersion(db, key) + 1, at });
  return make(db, key, { ...made, ...kept(db, whose, edit, contact), kind: "proposed", was: stands });
}

/** A row that makes a version, before it is known which. */
type Made = Omit<NewMove, "n" | "stands">;

function make(db: Connection, key: TextColumns, made: Made): TextVersion {
  const n = newestVersion(db, key) + 1;
  recordMove(db, key, { ...made, n, stands: made.kind === "edited" ? n : made.was });
  return there(db, key, n);
}

function facts({ by, turn, trust, inputs, parent, verdict: { verdict }, place }: NewText, at: number) {
  const { rank, source, declared = null } = place;
  return { by, turn: turn ?? null, at, trust, inputs, parent, verdict, rank, source, declared };
}

/** Its texts, kept with the contact whose they are, or as shared ones. */
function kept(db: Connection, whose: AgentOwner, { reason, text, line, verdict }: NewText, contact: ContactId | null) {
  const keep = keeper(db, whose, contact);
  return {
    contact,
    reason: keep(reason),
    text: keep(text),
    line: line === undefined ? null : keep(line),
    findings: keep(JSON.stringify(verdict.findings)),
  };
}

/** Whether a proposal says the same over the same. */
function isSame(db: Connection, row: MoveRow, { text, line, parent, inputs, place }: NewText): boolean {
  const { rank, source, declared } = row;
  return (
    textAt(db, row, row.text) === text &&
    textAt(db, row, row.line) === (line ?? null) &&
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
function isBesideThem(db: Connection, key: TextColumns, beside: readonly TextPointer[]): boolean {
  const now = pointersOf(db, key).filter(({ layer, part }) =>
    key.part === "" ? part === undefined && layer !== key.layer : layer === key.layer && part !== key.part,
  );
  return placesOf(key, beside) === placesOf(key, now);
}

/** A layer stands on its declared text until its pointer moves; a skill may be declared and stand on nothing. */
function placesOf({ part }: TextColumns, pointers: readonly TextPointer[]): string {
  const moved = pointers.filter(({ stands }) => part !== "" || stands !== 0);
  return canonicalJson(moved.map((pointer) => [columnKey(pointer), pointer.stands]).toSorted());
}

function contactOf(whose: AgentOwner | ContactScope): ContactId | null {
  return "contact" in whose && whose.contact !== SELF ? whose.contact : null;
}

function keeper(db: Connection, { org, agent }: AgentOwner, contact: ContactId | null): (text: string) => Digest {
  if (contact === null) return (text) => keepShared(db, org, text);
  const scope = { org, agent, contact };
  const key = scopeKey(db, scope);
  return (text) => keepOwn(db, scope, key, text);
}

function newestVersion(db: Connection, key: TextColumns): number {
  const newest = query
    .selectFrom("text_move")
    .select((eb) => eb.fn.coalesce(eb.fn.max("n"), eb.lit(0)).as("n"))
    .where((eb) => eb.and(key));
  return db.first(newest)?.n ?? 0;
}

function there(db: Connection, key: TextColumns, n: number): TextVersion {
  const version = findVersion(db, key, n);
  if (version) return version;
  const says = `version ${n} of ${textName(toTextKey(key))} vanished inside its own transaction: report it`;
  throw new StrataError("unexpected", says);
}

/** An operator's word: of two that decide, the second is told that it is decided. */
export function decideText(
  db: Connection,
  owner: AgentOwner,
  { n, ...of }: VersionKey,
  decision: TextDecision,
): TextVersion {
  return db.write(() => {
    const key = columnsOf(owner, of);
    const made = inStatus(db, key, n, "proposed");
    const was = pointerOf(db, key);
    const { verdict: kind, by, reason, at } = decision;
    const word = { ...NO_VERSION, kind, n, was, by, at, reason: keepShared(db, owner.org, reason) };
    if (decision.verdict === "rejected") {
      recordMove(db, key, { ...word, stands: was });
      return there(db, key, n);
    }
    const { over } = decision;
    // What was taken away since is no text that anybody compared with.
    const active = was ?? 0;
    if (active !== (over ?? made.parent)) {
      throw textOvertaken(key.agent, { ...of, n, parent: made.parent ?? 0, over }, active);
    }
    checkBeside(db, key, decision.beside);
    recordMove(db, key, { ...word, stands: n, ...(made.contact !== null && textsAnew(db, owner.org, made)) });
    return there(db, key, n);
  });
}

/** @throws StrataError `text_decided` */
function checkBeside(db: Connection, key: TextColumns, beside: readonly TextPointer[]): void {
  if (isBesideThem(db, key, beside)) return;
  const name = textName(toTextKey(key));
  const says = `another text of ${key.agent} was changed while the size of ${name} was looked at, so nothing was changed`;
  throw new StrataError("text_decided", `${says}: do it again`, { agent: key.agent, ...toTextKey(key) });
}

function textsAnew(db: Connection, org: OrgId, made: MoveRow): Pick<MoveRow, "text" | "line"> {
  const line = textAt(db, made, made.line);
  return {
    text: keepShared(db, org, textAt(db, made, made.text) ?? ""),
    line: line === null ? null : keepShared(db, org, line),
  };
}

/** @throws StrataError `text_not_found`, `text_decided` */
function inStatus(db: Connection, key: TextColumns, n: number, wanted: "kept" | "proposed"): MoveRow {
  const rows = movesOfVersion(db, key, n);
  const made = rows.find(makesVersion);
  const of = toTextKey(key);
  if (!made) {
    const says = `${textName(of)} of ${key.agent} has no version ${n}: list its versions`;
    throw new StrataError("text_not_found", says, { agent: key.agent, ...of, n });
  }
  const status = statusOf(made, rows.find(decides));
  if (status === wanted) return made;
  throw textDecided(key.agent, { ...of, n, status });
}

/** Puts the pointer on a version that is kept, on the declared text, or on nothing. */
export function moveText(db: Connection, owner: AgentOwner, of: TextKey, request: MoveRequest): TextMove {
  const { to, kind, by, reason, at } = request;
  return db.write(() => {
    const key = columnsOf(owner, of);
    if (to !== null && to !== 0) inStatus(db, key, to, "kept");
    if (to !== null) checkBeside(db, key, request.beside);
    const was = pointerOf(db, key, request.atFirst);
    const why = keepShared(db, owner.org, reason);
    const row = recordMove(db, key, { ...NO_VERSION, kind, n: to ?? was ?? 0, was, stands: to, by, at, reason: why });
    return toTextMove(row, reason);
  });
}
