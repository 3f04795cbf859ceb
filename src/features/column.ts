import { z } from "zod";
import type { Allowed, Clock, ContactScope, Scope, ThreadId, TurnId } from "../protocol/index.ts";
import { featureApi, type Runtime } from "../turn/index.ts";
import { list } from "./fields.ts";
import type { Operation } from "./operation.ts";
import { THREAD } from "./shapes.ts";

/** The actor, the place, and the clock. */
interface Looking {
  readonly runtime: Runtime;
  readonly actor: Allowed<"view">;
  readonly clock: Clock;
}

/** A thread or a turn, as the answer has it. */
interface ScopedItem<Id extends string> {
  readonly id: Id;
  readonly scope: ContactScope;
}

/** A field that a feature adds to each thread of `thread list`, or to `turn show`. */
export interface Column<Id extends string, Schema extends z.ZodType = z.ZodType> {
  /** The name of the answer's field. */
  readonly name: string;
  /** The field's content, with its sentence for the doors' pages. */
  readonly schema: Schema;
  /** The values by id, read at once for rows of one agent, whose `scope` has no contact. An absent row has no value. */
  readonly read: (
    looking: Looking,
    scope: Scope,
    rows: readonly ScopedItem<Id>[],
  ) => Promise<ReadonlyMap<string, z.output<Schema> & {}>>;
  /** What people read; a column that is empty everywhere is omitted. */
  readonly show: (value: z.output<Schema>) => string;
}

/** The columns of features, grouped by the place that shows them. */
export interface Columns {
  readonly threads: readonly Column<ThreadId>[];
  readonly turns: readonly Column<TurnId>[];
}

/** Declares a column of `thread list`. */
export const threadColumn = <Schema extends z.ZodType>(own: Column<ThreadId, Schema>): Column<ThreadId> => column(own);

/** Declares a line of `turn show`. */
export const turnColumn = <Schema extends z.ZodType>(own: Column<TurnId, Schema>): Column<TurnId> => column(own);

const column = <Id extends string, Schema extends z.ZodType>(own: Column<Id, Schema>): Column<Id> => ({
  ...own,
  show: (value) => own.show(own.schema.parse(value)),
});

/** The fields that a runtime's features add. */
export const COLUMNS = featureApi<Columns>("columns");

export const columnsOf = (features: readonly { readonly columns?: Partial<Columns> }[]): Columns => ({
  threads: features.flatMap(({ columns }) => columns?.threads ?? []),
  turns: features.flatMap(({ columns }) => columns?.turns ?? []),
});

/** The rows with the fields of all columns. Each column is read once for all rows of an agent. */
export async function withColumns<Id extends string, R extends ScopedItem<Id>>(
  columns: readonly Column<Id>[],
  looking: Looking,
  rows: readonly R[],
): Promise<readonly R[]> {
  const fields = new Map<string, Record<string, unknown>>(rows.map(({ id }) => [id, {}]));
  for (const own of Map.groupBy(rows, ({ scope }) => `${scope.org} ${scope.agent}`).values()) {
    const [first] = own;
    if (first === undefined) continue;
    for (const { name, read } of columns)
      for (const [id, value] of await read(looking, { ...first.scope, contact: null }, own))
        Object.assign(fields.get(id) ?? {}, { [name]: value });
  }
  return rows.map((row) => ({ ...row, ...fields.get(row.id) }));
}

/** The cells of a row, in the order of the columns. */
export const cellsOf = (columns: readonly Pick<Column<never>, "name" | "show">[], row: object): readonly string[] =>
  columns.map(({ name, show }) => {
    const value: unknown = Reflect.get(row, name);
    return value === undefined ? "" : show(value);
  });

/** A thread with more fields, also as a field of an answer or in a list there; undefined for anything else. */
function withThreadFields(schema: unknown, fields: z.ZodRawShape): z.ZodType | undefined {
  if (schema === THREAD) return THREAD.extend(fields);
  if (schema instanceof z.ZodOptional) return withThreadFields(schema.unwrap(), fields)?.optional();
  if (schema instanceof z.ZodReadonly) return withThreadFields(schema.unwrap(), fields);
  if (!(schema instanceof z.ZodArray)) return undefined;
  const row = withThreadFields(schema.element, fields);
  return row && list(row);
}

/** The operation, whose answer names the fields of the columns, too. */
export function givingColumns(operation: Operation, all: Columns): Operation {
  if (operation.kind !== "value" || operation.columns === undefined || !(operation.gives instanceof z.ZodObject))
    return operation;
  const { gives, columns, list: rows } = operation;
  const fields = Object.fromEntries(all[columns].map(({ name, schema }) => [name, schema.optional()]));
  if (columns === "threads" && gives !== THREAD) {
    const named = Object.entries(gives.shape).flatMap(([name, field]) => {
      const more = withThreadFields(field, fields);
      return more === undefined ? [] : [[name, field.description ? more.describe(field.description) : more] as const];
    });
    return { ...operation, gives: gives.extend(Object.fromEntries(named)) };
  }
  if (rows === undefined) return { ...operation, gives: gives.extend(fields) };
  const row: unknown = gives.shape[rows].unwrap().element;
  return row instanceof z.ZodObject
    ? { ...operation, gives: gives.extend({ [rows]: list(row.extend(fields)) }) }
    : operation;
}
