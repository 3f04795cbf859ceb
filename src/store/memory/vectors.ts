import type { MemoryId, ModelRef, Scope } from "../../protocol/index.ts";
import type { NewVectors, VectorState, WaitingText, WaitingTexts } from "../memory-store.ts";
import { toMemory } from "../rows.ts";
import { atMost, plain } from "../statement.ts";
import { inOrder, type Tx } from "../tx.ts";
import { memoryRows } from "./memory-rows.ts";
import { countChange, type MemoryScope, memoryScope, rangeOf } from "./memory-scope.ts";
import { type VectorRange, vectorIndex } from "./vector-index.ts";

/** A model's vectors in one scope: everything up to the place `done` has been examined, and the next vector gets the place `next`. */
interface ScopeModel extends VectorRange {
  readonly scope: number;
  readonly model: ModelRef;
  readonly done: number;
  readonly next: number;
  readonly serving: 0 | 1;
}

/** The model whose vectors serve in a scope. */
export async function servingModel(tx: Tx, { number }: Pick<MemoryScope, "number">): Promise<ScopeModel | undefined> {
  return tx.first(plain<ScopeModel>(`select * from vector_model where scope = ? and serving = 1`, number));
}

async function scopeModel(tx: Tx, { number }: MemoryScope, model: ModelRef): Promise<ScopeModel | undefined> {
  return tx.first(plain<ScopeModel>(`select * from vector_model where scope = ? and model = ?`, number, model));
}

export async function servingModels(tx: Tx, scopes: readonly Scope[]): Promise<readonly ModelRef[]> {
  const serving = (
    await inOrder(scopes, async (scope) => {
      const own = await memoryScope(tx, scope);
      const found = own && (await servingModel(tx, own));
      return found !== undefined && !(await vectorIndex(tx).isEmpty(found)) ? [found.model] : [];
    })
  ).flat();
  return [...new Set(serving)];
}

interface StateRow {
  readonly contact: NonNullable<Scope["contact"]> | "";
  readonly model: ModelRef;
  readonly serving: number;
  readonly vectors: number;
  readonly waiting: number;
}

/** The state of a model in a scope; if it has none there, everything is still to be done. */
const STATE = `memory_scope.contact, ifnull(state.serving, 0) as serving,
  (select count(*) from vector where id >= state.number << 26 and id < (state.number + 1) << 26) as vectors,
  (select count(*) from unit join memory on memory.row = unit.memory and memory.first = unit.id
    where unit.id >= (memory_scope.number << 26) + ifnull(state.done, 0)
      and unit.id < (memory_scope.number + 1) << 26) as waiting`;

export async function vectorStates(tx: Tx, scope: Scope, model: ModelRef): Promise<readonly VectorState[]> {
  const { org, agent, contact } = scope;
  const whose = `memory_scope.org = ? and memory_scope.agent = ? and memory_scope.contact = ifnull(?, memory_scope.contact)
    and memory_scope.units > 0 order by memory_scope.number`;
  const wanted = `select ? as model, ${STATE} from memory_scope
    left join vector_model as state on state.scope = memory_scope.number and state.model = ? where ${whose}`;
  const others = `select state.model, ${STATE} from memory_scope
    join vector_model as state on state.scope = memory_scope.number and state.model != ? and state.serving = 1
    where ${whose}`;
  return [
    ...(await tx.all(plain<StateRow>(wanted, model, model, org, agent, contact))),
    ...(await tx.all(plain<StateRow>(others, model, org, agent, contact))),
  ].map(({ contact: of, serving, ...state }) => ({
    ...state,
    scope: { org, agent, contact: of === "" ? null : of },
    serving: serving === 1,
  }));
}

export async function waitingTexts(
  tx: Tx,
  scope: Scope,
  model: ModelRef,
  memories: number,
): Promise<WaitingTexts | undefined> {
  const own = await memoryScope(tx, scope);
  if (own === undefined) return undefined;
  const state = await scopeModel(tx, own, model);
  const from = state?.done ?? 0;
  if (from >= own.next) return undefined;
  const most = Math.max(1, atMost(memories));
  const waiting = await waitingMemories(tx, own, { from, most, state });
  const last = waiting.at(-1);
  const upto = last === undefined || waiting.length < most ? own.next : last.place + 1;
  return { from, upto, memories: waiting.length, texts: await textsOf(tx, own, waiting) };
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

/** The memories from a place on that have no vector; each counts at the place of its first unit. */
async function waitingMemories(tx: Tx, own: MemoryScope, { from, most, state }: Since): Promise<readonly Waiting[]> {
  const range = rangeOf(own);
  const number = state?.number ?? -1;
  return tx.all(
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

/** The tags are part of the text, because a memory is found by them, too. */
async function textsOf(tx: Tx, own: MemoryScope, waiting: readonly Waiting[]): Promise<readonly WaitingText[]> {
  const rows = JSON.stringify(waiting.map(({ row }) => row));
  const found = await memoryRows(
    tx,
    own,
    `memory.row in (select cast(value as bigint) from json_each(?)) order by memory.row`,
    rows,
  );
  return found.map(toMemory).flatMap(({ id: memory, content, tags }) => {
    const text = tags.length === 0 ? content : `${content}\n${tags.join(", ")}`;
    return passagesOf(text).map((passage, part) => ({ memory, part, text: passage }));
  });
}

export async function saveVectors(tx: Tx, scope: Scope, model: ModelRef, made: NewVectors): Promise<void> {
  const own = await memoryScope(tx, scope);
  if (own === undefined) return;
  const state = await readied(tx, own, model, made.vectors[0]?.values.length);
  const rows = await vectorRows(tx, own, made, state.dimensions);
  await vectorIndex(tx).upsert(state, state.next, rows);
  // Whoever made these vectors did not examine what came in between.
  const done = made.from <= state.done ? Math.max(state.done, made.upto) : state.done;
  const passed = plain<never>(`update vector_model set next = next + ?, done = ? where number = ?`);
  await tx.run({ ...passed, parameters: [rows.length, done, state.number] });
  const isComplete = done >= own.next && state.serving === 0;
  if (isComplete) await serve(tx, own, state);
  if (isComplete || rows.length > 0) await countChange(tx, own, {});
}

/** The model's state in the scope. It begins again if its vectors now have another length. */
async function readied(tx: Tx, own: MemoryScope, model: ModelRef, dimensions = 0): Promise<ScopeModel> {
  const known = await scopeModel(tx, own, model);
  if (known !== undefined && (dimensions === 0 || known.dimensions === dimensions)) return known;
  if (known === undefined) {
    const serving = (await servingModel(tx, own)) === undefined ? 1 : 0;
    await tx.run(
      plain(
        `insert into vector_model (scope, model, dimensions, done, next, serving) values (?, ?, ?, 0, 0, ?)`,
        ...[own.number, model, dimensions, serving],
      ),
    );
  } else {
    await vectorIndex(tx).delete(known);
    await tx.run(
      plain(`update vector_model set dimensions = ?, done = 0, next = 0 where number = ?`, dimensions, known.number),
    );
  }
  return (
    (await scopeModel(tx, own, model)) ?? {
      number: 0,
      scope: own.number,
      model,
      dimensions,
      done: 0,
      next: 0,
      serving: 0,
    }
  );
}

/** The rows for memories that still exist: one that was forgotten while its vector was made gets none. */
async function vectorRows(tx: Tx, own: MemoryScope, { vectors }: NewVectors, dimensions: number) {
  const ids = JSON.stringify(vectors.map(({ memory }) => memory));
  const known = await tx.all(
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

/** This model is complete: from now on it serves, and the others are deleted. */
async function serve(tx: Tx, own: MemoryScope, { number }: ScopeModel): Promise<void> {
  await tx.run(
    plain(
      `update vector_model set serving = case when number = ? then 1 else 0 end where scope = ?`,
      number,
      own.number,
    ),
  );
  await forgetModels(tx, own, `number != ?`, number);
}

const UNUSED = `model != ? and serving = 0`;

/** Whether there is anything to delete. It is asked after each turn, mostly in vain, so it waits for no writer. */
export async function hasUnusedVectors(tx: Tx, scope: Scope, model: ModelRef): Promise<boolean> {
  const own = await memoryScope(tx, scope);
  return own !== undefined && (await models(tx, own, UNUSED, model)).length > 0;
}

export async function dropVectors(tx: Tx, scope: Scope, model: ModelRef): Promise<void> {
  const own = await memoryScope(tx, scope);
  if (own) await forgetModels(tx, own, UNUSED, model);
}

async function models(
  tx: Tx,
  { number }: MemoryScope,
  which: string,
  value: string | number,
): Promise<readonly ScopeModel[]> {
  return tx.all(plain<ScopeModel>(`select * from vector_model where scope = ? and ${which}`, number, value));
}

async function forgetModels(tx: Tx, own: MemoryScope, which: string, value: string | number): Promise<void> {
  for (const model of await models(tx, own, which, value)) {
    await vectorIndex(tx).delete(model);
    await tx.run(plain(`delete from vector_model where number = ?`, model.number));
  }
}

/** The most characters of a text that gets one vector: a longer one says too many things to lie near any of them. */
const LONGEST = 1_500;

/** Only in this last part of a passage, the end of a sentence is searched for. */
const LOOKED_THROUGH = 500;

/** No memory has more vectors than this; the rest of it is found by its words. */
const MOST = 32;

/** The passages that get a vector each, in order, at sentence ends if possible. None for a text without a word. Pure. */
function passagesOf(text: string): readonly string[] {
  const passages: string[] = [];
  for (let from = 0; from < text.length && passages.length < MOST; ) {
    const to = findPassageEnd(text, from);
    const passage = text.slice(from, to).trim();
    if (/[\p{L}\p{N}]/u.test(passage)) passages.push(passage);
    from = to;
  }
  return passages;
}

/** The end of a passage: after a sentence, otherwise after a word, otherwise anywhere, but never inside a character. */
function findPassageEnd(text: string, from: number): number {
  const last = from + LONGEST;
  if (last >= text.length) return text.length;
  const tail = text.slice(last - LOOKED_THROUGH, last);
  const after = [/^[\s\S]*[.!?。！？\n]/u, /^[\s\S]*\s/u].map((end) => end.exec(tail)?.[0].length ?? 0);
  const found = after.find((length) => length > 0);
  if (found !== undefined) return last - LOOKED_THROUGH + found;
  return /[\ud800-\udbff]/.test(text.charAt(last - 1)) ? last - 1 : last;
}
