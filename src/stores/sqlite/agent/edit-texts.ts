import {
  type ContactId,
  type ContactScope,
  canonicalJson,
  type Digest,
  type NewText,
  type OrgId,
  type Role,
  SELF,
  StrataError,
  type TextKey,
  type TextMove,
  type TextPointer,
  type TextVersion,
} from "../../../protocol/index.ts";
import type { AgentOwner, MoveRequest, TextDecision } from "../../agent-store.ts";
import { toTextMove } from "../../rows.ts";
import { append } from "../chain.ts";
import type { Connection } from "../connection.ts";
import { keepOwn, keepShared, scopeKey } from "../pieces.ts";
import { insert, query } from "../statement.ts";
import {
  columnKey,
  columnsOf,
  decides,
  findVersion,
  type MoveRow,
  makesVersion,
  movesOfVersion,
  newestMove,
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
  const kept = edit.status === "kept" && isOverActive(edit, stands) && isBesideThem(db, key, edit.beside);
  // It may say what the contact said: until an operator has approved it, it goes when the contact goes.
  const contact = kept ? null : contactOf(whose);
  const keep = keeper(db, whose, contact);
  const { by, turn = null, trust, inputs, parent, verdict, place } = edit;
  if (contact !== null) closeOlder(db, { ...whose, contact }, { key, by, at });
  const n = newestVersion(db, key) + 1;
  record(db, key, {
    ...{ kind: kept ? "edited" : "proposed", n, was: stands, stands: kept ? n : stands, by, turn, at, contact },
    reason: keep(edit.reason),
    text: keep(edit.text),
    line: edit.line === undefined ? null : keep(edit.line),
    findings: keep(JSON.stringify(verdict.findings)),
    verdict: verdict.verdict,
    ...{ trust, inputs, parent },
    ...{ rank: place?.rank ?? null, source: place?.source ?? null, declared: place?.declared ?? null },
  });
  return there(db, key, n);
}

/** Who took a text away meant it: an agent does not put it back unasked. */
function isOverActive({ parent, by }: NewText, stands: number | null): boolean {
  return stands === null ? by !== "agent" : stands === parent;
}

/** Limits are of all layers or all skills together: whoever measured with others that moved since has measured nothing. */
function isBesideThem(db: Connection, key: TextColumns, beside: readonly TextPointer[] | undefined): boolean {
  if (beside === undefined) return true;
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

/** Keeps texts with the contact whose they are, or as shared ones. */
function keeper(db: Connection, { org, agent }: AgentOwner, contact: ContactId | null): (text: string) => Digest {
  if (contact === null) return (text) => keepShared(db, org, text);
  const scope = { org, agent, contact };
  const key = scopeKey(db, scope);
  return (text) => keepOwn(db, scope, key, text);
}

const pointerOf = (db: Connection, key: TextColumns): number | null => {
  const last = newestMove(db, key);
  return last ? last.stands : 0;
};

function newestVersion(db: Connection, key: TextColumns): number {
  const newest = query
    .selectFrom("text_move")
    .select((eb) => eb.fn.coalesce(eb.fn.max("n"), eb.lit(0)).as("n"))
    .where((eb) => eb.and(key));
  return db.first(newest)?.n ?? 0;
}

/** A row and its link. */
function record(db: Connection, key: TextColumns, done: Omit<MoveRow, keyof TextColumns | "seq" | "link">): MoveRow {
  const seq = (newestMove(db, key)?.seq ?? 0) + 1;
  const facts = { ...key, seq, ...done };
  const row = { ...facts, link: append(db, key.org, textLink(facts)).seq };
  db.run(insert("text_move", row));
  return row;
}

/** What the link of a row says: all of it but whose its texts are, and those by digest only. */
export function textLink(row: Omit<MoveRow, "link">): string {
  const { agent, layer, part, seq, kind, n, was, stands, by, turn, at } = row;
  const { reason, text, line, findings, verdict, trust, inputs, parent, rank, source, declared } = row;
  const made = { text, line, findings, verdict, trust, inputs, parent, rank, source, declared };
  return canonicalJson({ text: { agent, layer, part, seq, kind, n, was, stands, by, turn, at, reason, ...made } });
}

function there(db: Connection, key: TextColumns, n: number): TextVersion {
  const version = findVersion(db, key, n);
  if (version) return version;
  throw new StrataError("unexpected", `version ${n} of ${nameOf(key)} vanished inside its own transaction: report it`);
}

const NOTHING = {
  ...{ contact: null, turn: null, text: null, line: null, findings: null },
  ...{ verdict: null, trust: null, inputs: null, parent: null, rank: null, source: null, declared: null },
} as const;

/** An operator's word: of two that decide, the second is told that it is decided. */
export function decideText(
  db: Connection,
  owner: AgentOwner,
  { n, ...of }: TextKey & { readonly n: number },
  { verdict, over, by, reason, at, beside }: TextDecision,
): TextVersion {
  return db.write(() => {
    const key = columnsOf(owner, of);
    const made = inStatus(db, key, n, "proposed");
    const stands = pointerOf(db, key);
    const approved = verdict === "approved";
    if (approved && stands !== null && stands !== made.parent && stands !== over) throw overtaken(key, made, stands);
    if (approved) checkBeside(db, key, beside);
    record(db, key, {
      ...NOTHING,
      ...{ kind: verdict, n, was: stands, stands: approved ? n : stands, by, at },
      reason: keepShared(db, owner.org, reason),
      ...(approved && made.contact !== null && textsAnew(db, owner.org, made)),
    });
    return there(db, key, n);
  });
}

/** @throws StrataError `text_decided` */
function checkBeside(db: Connection, key: TextColumns, beside: readonly TextPointer[] | undefined): void {
  if (isBesideThem(db, key, beside)) return;
  const says = `another text of ${key.agent} was changed while the size of ${nameOf(key)} was looked at, so nothing was changed`;
  throw new StrataError("text_decided", `${says}: do it again`, { agent: key.agent, text: nameOf(key) });
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
  if (!made) {
    const says = `${nameOf(key)} of ${key.agent} has no version ${n}: list its versions`;
    throw new StrataError("text_not_found", says, { agent: key.agent, text: nameOf(key), n });
  }
  const status = statusOf(made, rows.find(decides));
  if (status === wanted) return made;
  const says = `version ${n} of ${nameOf(key)} is ${status} and not ${wanted}, so nothing was changed`;
  throw new StrataError("text_decided", `${says}: list its versions`, { agent: key.agent, n, status });
}

const nameOf = ({ layer, part }: TextColumns): string => (part === "" ? layer : `${layer}/${part}`);

function overtaken(key: TextColumns, { n, parent }: MoveRow, stands: number): StrataError {
  const says = `version ${n} of ${nameOf(key)} was written over version ${parent ?? 0}, and version ${stands} is active by now`;
  const next = `look at both and approve it over version ${stands}, or reject it`;
  return new StrataError("text_decided", `${says}: ${next}`, { agent: key.agent, n, parent, active: stands });
}

/** Puts the pointer on a version that is kept, on the declared text, or on nothing. */
export function moveText(db: Connection, owner: AgentOwner, of: TextKey, request: MoveRequest): TextMove {
  const { to, kind, by, reason, at, beside } = request;
  return db.write(() => {
    const key = columnsOf(owner, of);
    if (to !== null && to !== 0) inStatus(db, key, to, "kept");
    checkBeside(db, key, beside);
    const was = pointerOf(db, key);
    const why = keepShared(db, owner.org, reason);
    const row = record(db, key, { ...NOTHING, kind, n: to ?? was ?? 0, was, stands: to, by, at, reason: why });
    return toTextMove(row, reason);
  });
}

/** What a contact's turns proposed and nobody decided goes with the contact. Part of an erasure, before its texts go. */
export function closeProposals(db: Connection, scope: ContactScope, by: Role, at: number): void {
  close(db, openProposals(db, scope), { by, at, why: "the contact in whose turn it was written was erased" });
}

interface Closing {
  readonly by: Role;
  readonly at: number;
  readonly why: string;
}

/** Of a text, one proposal waits out of a contact's turns: the newest. */
function closeOlder(
  db: Connection,
  scope: ContactScope,
  { key, ...how }: Omit<Closing, "why"> & { readonly key: TextColumns },
): void {
  const older = openProposals(db, scope).filter(({ layer, part }) => layer === key.layer && part === key.part);
  close(db, older, { ...how, why: "a newer one out of a turn with the same contact takes its place" });
}

function openProposals(db: Connection, { org, agent, contact }: ContactScope): readonly MoveRow[] {
  const proposed = { org, agent, contact, kind: "proposed" } as const;
  const rows = query
    .selectFrom("text_move")
    .selectAll()
    .where((eb) => eb.and(proposed))
    .orderBy("link");
  return db.all(rows).filter((row) => !movesOfVersion(db, row, row.n).some(decides));
}

function close(db: Connection, rows: readonly MoveRow[], { by, at, why }: Closing): void {
  for (const { org, agent, layer, part, n } of rows) {
    const key = { org, agent, layer, part };
    const stands = pointerOf(db, key);
    const reason = keepShared(db, org, why);
    record(db, key, { ...NOTHING, kind: "rejected", n, was: stands, stands, by, at, reason });
  }
}
