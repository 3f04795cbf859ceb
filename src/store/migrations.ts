import type { Sql } from "./statement.ts";

/** One step of the schema. Kept for ever and never edited: databases in the world were made by it. */
export interface Migration {
  readonly number: number;
  readonly name: string;
  /** One text for both databases, or one for each. */
  readonly statements: readonly Sql[];
}

/**
 * The steps of both databases from the seventeenth on, declared once: SQLite has sixteen of its own before, and PostgreSQL begins with
 * what they add up to. A new table says in PostgreSQL whose its rows are, too: `postgres/row-security.ts`.
 */
export const SHARED: readonly Migration[] = [];
