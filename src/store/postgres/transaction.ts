import { createHash } from "node:crypto";
import type { PoolClient } from "pg";
import { StrataError } from "../../protocol/index.ts";
import type { MemoryIndex } from "../memory/memory-index.ts";
import { type Ready, runnable, type Statement } from "../statement.ts";
import type { StorePart, Tx } from "../tx.ts";
import { postgresMemoryIndex } from "./memory-index.ts";
import { storable } from "./values.ts";

/** What it gives store functions besides queries. */
interface TxOptions extends Pick<Tx, "random" | "limits"> {
  readonly parts?: readonly StorePart[];
}

/** Statements that are sent without waiting for an answer: then one is waited for, so that a long row of them does not fill the memory. */
const MOST_AHEAD = 200;

/**
 * One transaction. Statements go out at once, also before those that were sent earlier are answered; the server runs them in that order. So
 * what does not depend on each other, and every `run`, costs one round trip together.
 */
export class PostgresTx implements Tx {
  readonly dialect = "postgres";
  readonly random: Tx["random"];
  readonly limits: Tx["limits"];
  readonly index: MemoryIndex;
  readonly parts: readonly StorePart[];
  readonly #client: PoolClient;
  #isOver = false;
  #failure: { readonly thrown: unknown } | undefined;
  #ahead = 0;

  constructor(client: PoolClient, { random, limits, parts = [] }: TxOptions) {
    this.parts = parts;
    this.random = random;
    this.limits = limits;
    this.#client = client;
    this.index = postgresMemoryIndex(this);
  }

  async all<R>(statement: Statement<R>): Promise<R[]> {
    return asRows<R>((await this.answered(this.#use().query(toPgQuery(statement)))).rows);
  }

  async first<R>(statement: Statement<R>): Promise<R | undefined> {
    return (await this.all(statement))[0];
  }

  async column<V>(statement: Ready<V>): Promise<V[]> {
    const { rows } = await this.answered(this.#use().query<unknown[]>({ ...toPgQuery(statement), rowMode: "array" }));
    return columnOf<V>(rows);
  }

  async run(statement: Statement<unknown>): Promise<void> {
    const answer = this.sent(this.#use().query(toPgQuery(statement)));
    if (++this.#ahead % MOST_AHEAD === 0) await this.answered(answer);
    else if (this.#failure !== undefined) throw this.#failure.thrown;
  }

  async changed(statement: Statement<unknown>): Promise<number> {
    return (await this.answered(this.#use().query(toPgQuery(statement)))).rowCount ?? 0;
  }

  get hasRun(): boolean {
    return this.#ahead > 0;
  }

  /** For an answer that is not awaited yet: its error is reported with a later one. */
  sent<T>(answer: Promise<T>): Promise<T> {
    answer.catch((thrown: unknown) => {
      this.#failure ??= { thrown };
    });
    return answer;
  }

  /** An answer, and with it all before it. @throws what failed first: the server refuses all that follows */
  async answered<T>(answer: Promise<T>): Promise<T> {
    const given = await answer.catch((thrown: unknown) => {
      throw this.failed(thrown);
    });
    if (this.#failure !== undefined) throw this.#failure.thrown;
    return given;
  }

  failed(thrown: unknown): unknown {
    return this.#failure === undefined ? thrown : this.#failure.thrown;
  }

  end(): void {
    this.#isOver = true;
  }

  #use(): PoolClient {
    if (!this.#isOver) return this.#client;
    const message = "a transaction asked something after its end; nothing of that was written: please report it";
    throw new StrataError("unexpected", message);
  }
}

function toPgQuery(statement: Statement<unknown>): { text: string; values: unknown[]; name?: string } {
  const { sql, parameters } = runnable(statement, "postgres");
  const name = nameOfText(sql);
  return { text: sql, values: parameters.map(storable), ...(name !== undefined && { name }) };
}

/** The query builder derived R from the tables' types: the rows have this shape because typed queries wrote them. */
function asRows<R>(rows: unknown): R[] {
  return rows as R[];
}

/** As for rows: a typed query knows the type of its column. */
function columnOf<V>(rows: unknown): V[] {
  return (rows as [V][]).map(([value]) => value);
}

const names = new Map<string, string>();

/** The number of different statements is small; further ones are not prepared. */
const MOST_PREPARED = 600;

/** The name under which a connection prepares a text once. */
function nameOfText(text: string): string | undefined {
  const known = names.get(text);
  if (known !== undefined || names.size >= MOST_PREPARED) return known;
  const name = `strata_${createHash("sha256").update(text).digest("base64url").slice(0, 24)}`;
  names.set(text, name);
  return name;
}
