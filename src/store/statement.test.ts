import { sql } from "kysely";
import { describe, expect, it } from "vitest";
import { fixed, insert, plain, query, runnable, written } from "./statement.ts";

describe("a statement for each database", () => {
  it("has numbered values on PostgreSQL, and none in its quotes and comments", () => {
    const text = `select '?', "a?" from t where x = ? /* why? */ and y = ? -- or?`;
    expect(runnable(plain(text, 1, 2), "sqlite")).toEqual({ sql: text, parameters: [1, 2] });
    const numbered = `select '?', "a?" from t where x = $1 /* why? */ and y = $2 -- or?`;
    expect(runnable(plain(text, 1, 2), "postgres")).toEqual({ sql: numbered, parameters: [1, 2] });
  });

  it("is the same for what is inserted, written by hand or built", () => {
    const inserted = insert("unit_speaker", { scope: 5, speaker: "ann", units: 1 }, "if new");
    expect(runnable(inserted, "postgres").sql).toBe(
      `insert into "unit_speaker" ("scope", "speaker", "units") values ($1, $2, $3) on conflict do nothing`,
    );
    expect(runnable(written(sql`select ${1} + ${2}`), "postgres").sql).toBe("select $1 + $2");
    const built = query.selectFrom("unit_speaker").selectAll().where("scope", "=", 5);
    expect(runnable(built, "postgres").sql).toBe(`select * from "unit_speaker" where "scope" = $1`);
    expect(runnable(built, "sqlite").sql).toBe(`select * from "unit_speaker" where "scope" = ?`);
  });

  it("may say some of it in the words of one database alone, built once for each", () => {
    const builds: string[] = [];
    const locked = fixed(({ scope }: { readonly scope: number }, dialect) => {
      builds.push(dialect);
      const found = query.selectFrom("unit_speaker").selectAll().where("scope", "=", scope);
      return dialect === "postgres" ? found.forUpdate() : found;
    });
    for (const scope of [5, 6]) {
      expect(runnable(locked({ scope }), "sqlite")).toEqual({
        sql: `select * from "unit_speaker" where "scope" = ?`,
        parameters: [scope],
      });
      expect(runnable(locked({ scope }), "postgres")).toEqual({
        sql: `select * from "unit_speaker" where "scope" = $1 for update`,
        parameters: [scope],
      });
    }
    expect(builds).toEqual(["sqlite", "postgres"]);
    const now = plain({ sqlite: "select max(?, ?)", postgres: "select greatest(?, ?)" }, 1, 2);
    expect(runnable(now, "sqlite").sql).toBe("select max(?, ?)");
    expect(runnable(now, "postgres").sql).toBe("select greatest($1, $2)");
  });
});
