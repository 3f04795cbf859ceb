import type { MemoryId, ModelRef, Scope } from "../../../protocol/index.ts";
import { passagesOf } from "../../passages.ts";
import { toMemory } from "../../rows.ts";
import { plain } from "../../statement.ts";
import type { NewVectors, VectorState, WaitingText, WaitingTexts } from "../../vectors.ts";
import type { Connection } from "../connection.ts";
import { atMost } from "../scope.ts";
import { memoryRows } from "./memory-rows.ts";
import { countChange, type MemoryScope, memoryScope, rangeOf } from "./memory-scope.ts";
import { type VectorRange, vectorIndex } from "./vector-index.ts";

/** A model's vectors in one scope: all up to the place `done` has been looked at, the next vector stands at `next`. */
export interface ScopeModel extends VectorRange {
  readonly scope: number;
  readonly model: ModelRef;
  readonly done: number;
  readonly next: number;
  readonly serving: 0 | 1;
}

/** The model whose vectors serve in a scope. */
export function servingModel(db: Connection, { number }: Pick<MemoryScope, "number">): ScopeModel | undefined {
  return db.first(plain<ScopeModel>(`select * from vector_model where scope = ? and serving = 1`, number));
}

function scopeModel(db: Connection, { number }: MemoryScope, model: ModelRef): ScopeModel | undefined {
  return db.first(plain<ScopeModel>(`select * from vector_model where scope = ? and model = ?`, number, model));
}

export function servingModels(db: Connection, scopes: readonly Scope[]): readonly ModelRef[] {
  const serving = scopes.flatMap((scope) => {
    const own = memoryScope(db, scope);
    const found = own && servingModel(db, own);
    return found !== undefined && !vectorIndex(db).isEmpty(found) ? [found.model] : [];
  });
  return [...new Set(serving)];
}

interface StateRow {
  readonly contact: NonNullable<Scope["contact"]> | "";
  readonly model: ModelRef;
  readonly serving: number;
  readonly vectors: number;
  readonly waiting: number;
}

/** What a scope holds of a model; a scope without any has all to do. */
const STATE = `memory_scope.contact, ifnull(state.serving, 0) as serving,
  (select count(*) from vector where id >= state.number << 26 and id < (state.number + 1) << 26) as vectors,
  (select count(*) from unit join memory on memory.row = unit.memory and memory.first = unit.id
    where unit.id >= (memory_scope.number << 26) + ifnull(state.done, 0)
      and unit.id < (memory_scope.number + 1) << 26) as waiting`;

export function vectorStates(db: Connection, scope: Scope, model: ModelRef): readonly VectorState[] {
  const { org, agent, contact } = scope;
  const whose = `memory_scope.org = ? and memory_scope.agent = ? and memory_scope.contact = ifnull(?, memory_scope.contact)
    and memory_scope.units > 0 order by memory_scope.number`;
  const wanted = `select ? as model, ${STATE} from memory_scope
    left join vector_model as state on state.scope = memory_scope.number and state.model = ? where ${whose}`;
  const others = `select state.model, ${STATE} from memory_scope
    join vector_model as state on state.scope = memory_scope.number and state.model != ? and state.serving = 1
    where ${whose}`;
  return db.read(() =>
    [
      ...db.all(plain<StateRow>(wanted, model, model, org, agent, contact)),
      ...db.all(plain<StateRow>(others, model, org, agent, contact)),
    ].map(({ contact: of, serving, ...state }) => ({
      ...state,
      scope: { org, agent, contact: of === "" ? null : of },
      serving: serving === 1,
    })),
  );
}

export function waitingTexts(
  db: Connection,
  scope: Scope,
  model: ModelRef,
  memories: number,
): WaitingTexts | undefined {
  return db.read(() => {
    const own = memoryScope(db, scope);
    if (own === undefined) return undefined;
    const state = scopeModel(db, own, model);
    const from = state?.done ?? 0;
    if (from >= own.next) return undefined;
    const most = Math.max(1, atMost(memories));
    const waiting = waitingMemories(db, own, { from, most, state });
    const last = waiting.at(-1);
    const upto = last === undefined || waiting.length < most ? own.next : last.place + 1;
    return { from, upto, memories: waiting.length, texts: textsOf(db, own, waiting) };
  });
}

interface Waiting {
  readonly row: number;
  readonly place: number;
}

interface Since {
  readonly from: number;
  readonly most: number;
  readonly state: ScopeModel | undefined;
}

/** From a place on, those that have no vector: each stands where its first unit does. */
function waitingMemories(db: Connection, own: MemoryScope, { from, most, state }: Since): readonly Waiting[] {
  const range = rangeOf(own);
  const number = state?.number ?? -1;
  return db.all(
    plain<Waiting>(
      `select memory.row, unit.id - ? as place from unit
       join memory on memory.row = unit.memory and memory.first = unit.id
       where unit.id >= ? and unit.id < ? and not exists (select 1 from vector
         where vector.memory = memory.row and vector.id >= ? << 26 and vector.id < (? + 1) << 26)
       order by unit.id limit ?`,
      ...[range.from, range.from + from, range.to, number, number, most],
    ),
  );
}

/** A memory is found by its tags too. */
function textsOf(db: Connection, own: MemoryScope, waiting: readonly Waiting[]): readonly WaitingText[] {
  const rows = JSON.stringify(waiting.map(({ row }) => row));
  const found = memoryRows(db, own, `memory.row in (select value from json_each(?)) order by memory.row`, rows);
  return found.map(toMemory).flatMap(({ id: memory, content, tags }) => {
    const text = tags.length === 0 ? content : `${content}\n${tags.join(", ")}`;
    return passagesOf(text).map((passage, part) => ({ memory, part, text: passage }));
  });
}

export function saveVectors(db: Connection, scope: Scope, model: ModelRef, made: NewVectors): void {
  db.write(() => {
    const own = memoryScope(db, scope);
    if (own === undefined) return;
    const state = readied(db, own, model, made.vectors[0]?.values.length);
    const rows = rowsOf(db, own, made, state.dimensions);
    vectorIndex(db).upsert(state, state.next, rows);
    // What came between was not looked at by whoever made these.
    const done = made.from <= state.done ? Math.max(state.done, made.upto) : state.done;
    const passed = plain<never>(`update vector_model set next = next + ?, done = ? where number = ?`);
    db.run({ ...passed, parameters: [rows.length, done, state.number] });
    const isComplete = done >= own.next && state.serving === 0;
    if (isComplete) serve(db, own, state);
    if (isComplete || rows.length > 0) countChange(db, own, {});
  });
}

/** The model in the scope; anew where its vectors have another length than they had. */
function readied(db: Connection, own: MemoryScope, model: ModelRef, dimensions = 0): ScopeModel {
  const known = scopeModel(db, own, model);
  if (known !== undefined && (dimensions === 0 || known.dimensions === dimensions)) return known;
  if (known === undefined) {
    const serving = servingModel(db, own) === undefined ? 1 : 0;
    db.run(
      plain(
        `insert into vector_model (scope, model, dimensions, done, next, serving) values (?, ?, ?, 0, 0, ?)`,
        ...[own.number, model, dimensions, serving],
      ),
    );
  } else {
    vectorIndex(db).delete(known);
    db.run(
      plain(`update vector_model set dimensions = ?, done = 0, next = 0 where number = ?`, dimensions, known.number),
    );
  }
  return (
    scopeModel(db, own, model) ?? { number: 0, scope: own.number, model, dimensions, done: 0, next: 0, serving: 0 }
  );
}

/** Those whose memory is still there: what was forgotten while its vector was made gets none. */
function rowsOf(db: Connection, own: MemoryScope, { vectors }: NewVectors, dimensions: number) {
  const ids = JSON.stringify(vectors.map(({ memory }) => memory));
  const known = db.all(
    plain<{ readonly id: MemoryId; readonly row: number }>(
      `select id, row from memory where scope = ? and id in (select value from json_each(?)) and first is not null`,
      ...[own.number, ids],
    ),
  );
  const byId = new Map(known.map(({ id, row }) => [id, row]));
  return vectors.flatMap(({ memory: id, part, values }) => {
    const memory = byId.get(id);
    return memory === undefined || values.length !== dimensions ? [] : [{ memory, part, values }];
  });
}

/** All is there: from now on this model serves, and the others go. */
function serve(db: Connection, own: MemoryScope, { number }: ScopeModel): void {
  db.run(plain(`update vector_model set serving = (number = ?) where scope = ?`, number, own.number));
  forgetModels(db, own, `number != ?`, number);
}

export function dropVectors(db: Connection, scope: Scope, model: ModelRef): void {
  const own = memoryScope(db, scope);
  const which = `model != ? and serving = 0`;
  // Asked for after each turn, and mostly for nothing.
  if (own === undefined || models(db, own, which, model).length === 0) return;
  db.write(() => forgetModels(db, own, which, model));
}

function models(db: Connection, { number }: MemoryScope, which: string, value: string | number): readonly ScopeModel[] {
  return db.all(plain<ScopeModel>(`select * from vector_model where scope = ? and ${which}`, number, value));
}

function forgetModels(db: Connection, own: MemoryScope, which: string, value: string | number): void {
  for (const model of models(db, own, which, value)) {
    vectorIndex(db).delete(model);
    db.run(plain(`delete from vector_model where number = ?`, model.number));
  }
}
