import { randomBytes } from "node:crypto";
import { connect as connectTcp, createServer, type Socket } from "node:net";
import { afterEach, describe, expect, it, vi } from "vitest";
import { asRoot } from "../../../checks/postgres.ts";
import { databases, server, title } from "../../../tests/postgres.ts";
import { StrataError } from "../../protocol/index.ts";
import { MEMORY_LIMITS } from "../memory/memory-index.ts";
import { plain } from "../statement.ts";
import type { Tx } from "../tx.ts";
import { type Connected, connect, EVERYTHING } from "./database.ts";

const OPTIONS = { random: randomBytes, limits: MEMORY_LIMITS, patience: 900 };
const HOME = { org: "home", agent: "*", contact: "*" };

const { make, url } = databases();
const open: Connected[] = [];
afterEach(async () => {
  for (const db of open.splice(0)) await db.close();
});

async function opened(address: string): Promise<Connected> {
  const db = await connect(address, OPTIONS);
  open.push(db);
  return db;
}

/** A database with one table, of which all may be seen. */
async function withTable(): Promise<{ readonly db: Connected; readonly name: string }> {
  const name = await make();
  const db = await opened(url(name));
  await db.within(EVERYTHING).write((tx) => tx.run(plain("create table note (text text primary key)")));
  return { db, name };
}

const notes = (db: Connected): Promise<string[]> =>
  db.within(HOME).read((tx) => tx.column(plain<string>("select text from note order by text")));
const put = (text: string) => plain("insert into note values (?)", text);

/** A wish that is kept later. */
function gate(): { readonly open: () => void; readonly passed: Promise<void> } {
  let go = (): void => undefined;
  const passed = new Promise<void>((done) => {
    go = done;
  });
  return { open: go, passed };
}

describe.skipIf(server === undefined)(title("a PostgreSQL database"), () => {
  it("gives whole numbers, sums, bytes and truth as SQLite does", async () => {
    const db = await opened(url(await make()));
    const asked = `select 9007199254740991::bigint as most, sum(n) as sum, ?::float8 as part, '\\x00ff'::bytea as bytes,
      true as yes, null as nothing from generate_series(1, 3) as n`;
    const [row] = await db.within(HOME).read((tx) => tx.all(plain<object>(asked, 0.5)));
    const bytes = Uint8Array.of(0, 255);
    expect(row).toEqual({ most: Number.MAX_SAFE_INTEGER, sum: 6, part: 0.5, bytes, yes: 1, nothing: null });
    const larger = db.within(HOME).read((tx) => tx.all(plain("select 9007199254740992::bigint")));
    await expect(larger).rejects.toMatchObject({ code: "store_failed" });
  });

  it("undoes all of a change that throws", async () => {
    const { db } = await withTable();
    const change = db.within(HOME).write(async (tx) => {
      await tx.run(put("one"));
      throw new Error("no");
    });
    await expect(change).rejects.toMatchObject({ code: "unexpected" });
    expect(await notes(db)).toEqual([]);
  });

  it("tells what failed first, although nobody waited for its answer, and keeps nothing", async () => {
    const { db } = await withTable();
    const twice = async (tx: Tx): Promise<void> => {
      await tx.run(put("one"));
      await tx.run(put("one"));
      await tx.run(put("two"));
    };
    const atItsEnd = db.within(HOME).write(twice);
    await expect(atItsEnd).rejects.toMatchObject({ code: "store_failed", details: { code: "23505" } });
    const withTheNext = db.within(HOME).write(async (tx) => {
      await twice(tx);
      return tx.column(plain("select text from note"));
    });
    await expect(withTheNext).rejects.toMatchObject({ code: "store_failed", details: { code: "23505" } });
    const inLong = db.within(HOME).write(async (tx) => {
      await twice(tx);
      for (let n = 0; n < 450; n++) await tx.run(put(`more ${n}`));
    });
    await expect(inLong).rejects.toMatchObject({ details: { code: "23505" } });
    expect(await notes(db)).toEqual([]);
    // Its own refusal comes before the error of a statement that was not awaited.
    const refused = db.within(HOME).write(async (tx) => {
      await tx.run(put("three"));
      throw new StrataError("lease_lost", "no");
    });
    await expect(refused).rejects.toMatchObject({ code: "lease_lost" });
    await db.within(HOME).write((tx) => tx.run(put("four")));
    expect(await notes(db)).toEqual(["four"]);
  });

  it("tells how many rows were changed, in the order of the statements", async () => {
    const { db } = await withTable();
    const counts = await db.within(HOME).write(async (tx) => {
      const [added, seen, gone] = await Promise.all([
        tx.changed(put("one")),
        tx.column(plain("select text from note")),
        tx.changed(plain("delete from note")),
      ]);
      return [added, seen, gone, await tx.changed(plain("delete from note"))];
    });
    expect(counts).toEqual([1, ["one"], 1, 0]);
  });

  it("lets one at a time write in an organization, and each sees what was committed before it", async () => {
    const { db, name } = await withTable();
    const other = await opened(url(name));
    const add = (by: Connected) =>
      by.within(HOME).write(async (tx) => {
        const [count = 0] = await tx.column(plain<number>("select count(*) from note"));
        await tx.run(put(`note ${String(count).padStart(2, "0")}`));
      });
    await Promise.all(Array.from({ length: 40 }, (_, n) => add(n % 2 === 0 ? db : other)));
    expect(await notes(db)).toEqual(Array.from({ length: 40 }, (_, n) => `note ${String(n).padStart(2, "0")}`));
  });

  it("lets another organization write meanwhile, and readers read what was there", async () => {
    const { db } = await withTable();
    const { open: go, passed } = gate();
    const slow = db.within(HOME).write(async (tx) => {
      await tx.run(put("slow"));
      await passed;
    });
    await db.within({ ...HOME, org: "away" }).write((tx) => tx.run(put("quick")));
    expect(await notes(db)).toEqual(["quick"]);
    go();
    await slow;
    expect(await notes(db)).toEqual(["quick", "slow"]);
  });

  it("keeps a reader's snapshot from its first look on, and takes no change from it", async () => {
    const { db } = await withTable();
    const seen = await db.within(HOME).read(async (tx) => {
      const before = await tx.column(plain("select text from note"));
      await db.within(HOME).write((writing) => writing.run(put("new")));
      return [before, await tx.column(plain("select text from note"))];
    });
    expect(seen).toEqual([[], []]);
    await expect(db.within(HOME).read((tx) => tx.run(put("no")))).rejects.toMatchObject({ code: "store_failed" });
  });

  it("tells a writer who waited too long that others were at the same data", async () => {
    const { db } = await withTable();
    const { open: begun, passed } = gate();
    const long = db.within(HOME).write(async (tx) => {
      await tx.run(put("long"));
      begun();
      await tx.run(plain("select pg_sleep(1.5)"));
    });
    await passed;
    const waiting = db.within(HOME).write((tx) => tx.run(put("waits")));
    await expect(waiting).rejects.toMatchObject({
      code: "store_busy",
      message: expect.stringContaining("took too long"),
    });
    await db.within({ ...HOME, org: "other" }).write((tx) => tx.run(put("other")));
    await long;
    expect(await notes(db)).toEqual(["long", "other"]);
  });

  it("undoes what a program had begun that stands still in a change: others continue, and when it wakes it begins again", async () => {
    const { db } = await withTable();
    const [standing, waking] = [gate(), gate()];
    const seen: string[][] = [];
    const still = db.within(HOME).write(async (tx) => {
      seen.push(await tx.column(plain("select text from note")));
      await tx.run(put("still"));
      standing.open();
      await waking.passed;
      await tx.run(put("late"));
    });
    await standing.passed;
    await db.within(HOME).write((tx) => tx.run(put("goes on")));
    waking.open();
    await still;
    expect(seen).toEqual([[], ["goes on"]]);
    expect(await notes(db)).toEqual(["goes on", "late", "still"]);
  });

  it("does a change again whose connection broke before it was committed", async () => {
    const { db } = await withTable();
    let tries = 0;
    await db.within(HOME).write(async (tx) => {
      await tx.run(put("once"));
      tries++;
      if (tries === 1) await tx.run(plain("select pg_terminate_backend(pg_backend_pid())"));
    });
    expect(tries).toBe(2);
    expect(await notes(db)).toEqual(["once"]);
  });

  it("asks the server whether a change came through whose connection broke under the commit, and does it once", async () => {
    const { db, name } = await withTable();
    const asked = new URL(url(name));
    const path = `${asked.searchParams.get("host")}/.s.PGSQL.${asked.port}`;
    let cuts = 0;
    const proxy = createServer((socket) => forward(socket, path, () => cuts++ === 0));
    await new Promise<void>((ready) => proxy.listen(0, "127.0.0.1", ready));
    const address = proxy.address();
    const port = typeof address === "object" && address !== null ? address.port : 0;
    const { pathname } = asked;
    const through = await opened(`postgres://strata@127.0.0.1:${port}${pathname}`);
    let tries = 0;
    await through.within(HOME).write(async (tx) => {
      tries++;
      await tx.run(put("kept"));
    });
    expect(cuts).toBeGreaterThan(0);
    expect(tries).toBe(1);
    expect(await notes(db)).toEqual(["kept"]);
    proxy.close();
  });
});

/** Passes all on, and cuts the wire once the server has been told to commit and before its answer is through. */
function forward(socket: Socket, path: string, shallCut: () => boolean): void {
  const upstream = connectTcp(path);
  let isCut = false;
  upstream.on("data", (data) => {
    if (!isCut) socket.write(data);
  });
  socket.on("data", (data) => {
    if (/\0commit\0|Q....commit\0/s.test(data.toString("latin1")) && shallCut()) {
      isCut = true;
      upstream.write(data, () => setTimeout(() => socket.destroy(), 50));
    } else upstream.write(data);
  });
  for (const one of [socket, upstream]) one.on("error", () => undefined);
  socket.on("close", () => upstream.end());
  upstream.on("close", () => socket.end());
}

const SECRET = "s3cret-word";

describe.skipIf(server?.rootUrl === undefined)(title("a PostgreSQL that cannot be used says why:"), () => {
  /** An address over TCP, where passwords are asked for. */
  const over = (database: string, user: string, password = SECRET, port = new URL(url("x")).port): string =>
    `postgres://${user}:${password}@127.0.0.1:${port}/${database}`;
  const root = async (...statements: readonly string[]): Promise<void> => {
    if (server === undefined) return;
    await asRoot(server, async (client) => {
      for (const statement of statements) await client.query(statement);
    });
  };
  const role = async (name: string, more = ""): Promise<void> =>
    root(`drop role if exists ${name}`, `create role ${name} login password '${SECRET}' ${more}`);
  /** Opens it and writes, as the store would. */
  const said = async (address: string, statement = "create table made (id int)"): Promise<string> => {
    try {
      const db = await opened(address);
      await db.within(EVERYTHING).write((tx) => tx.run(plain(statement)));
      return "nothing";
    } catch (thrown) {
      const told = thrown instanceof Error && "code" in thrown ? `${thrown.code}: ${thrown.message}` : String(thrown);
      expect(JSON.stringify([told, thrown])).not.toContain(SECRET);
      return told;
    }
  };

  it("nobody listens there", async () => {
    expect(await said(over("x", "strata", SECRET, "1"))).toMatch(
      /^store_failed: PostgreSQL at 127\.0\.0\.1:1 cannot be reached/,
    );
  });

  it("the password is wrong", async () => {
    await role("known");
    expect(await said(over("postgres", "known", `not-${SECRET}`))).toMatch(
      /^store_failed: .* refused the password of user known, or has no such user/,
    );
  });

  it("the address has no password", async () => {
    await role("known");
    expect(await said(over("postgres", "known", ""))).toMatch(
      /^store_failed: .* asks for a password of user known, and there is none: put it into the address/,
    );
  });

  it("it is not encrypted, or a certificate cannot be read; the driver's own warning is not shown", async () => {
    const warned = vi.spyOn(process, "emitWarning");
    const address = over("postgres", "known");
    expect(await said(`${address}?sslmode=require`)).toMatch(/^store_failed: .* encrypted .* write sslmode=disable/);
    expect(warned).not.toHaveBeenCalled();
    warned.mockRestore();
    expect(await said(`${address}?sslmode=verify-full&sslrootcert=/no/such.pem`)).toMatch(
      /^store_failed: .* certificate or key that cannot be read \(.*\/no\/such\.pem/,
    );
  });

  it("there is no such database", async () => {
    await role('"the reader"');
    const address = over("no-where", "the%20reader");
    const told = await said(address);
    expect(told).toMatch(/^store_failed: .* has no database no-where: create it/);
    // Doing what the error message suggests works.
    await root(/`(.*)`/.exec(told)?.[1] ?? "");
    expect(await said(address)).toBe("nothing");
    await root('drop database "no-where" with (force)', 'drop role "the reader"');
  });

  it("the user has no rights there", async () => {
    await role("guest");
    await root("create database closed");
    const address = over("closed", "guest");
    const told = await said(address);
    expect(told).toMatch(/^store_failed: user guest lacks rights on the database/);
    await root(/`(.*)`/.exec(told)?.[1] ?? "");
    expect(await said(address)).toBe("nothing");
    // Who owns a database does not own the tables of others in it.
    await role("other");
    expect(await said(address.replace("guest:", "other:"), "insert into made values (1)")).toMatch(
      /^store_failed: user other has no rights on tables of the database .*: connect as the user that owns them/,
    );
    await root("drop database closed with (force)");
  });

  it("no connection is left", async () => {
    await role("many", "connection limit 0");
    expect(await said(over("postgres", "many"))).toMatch(/^store_busy: .* has no connection left .*role "many"/);
  });

  it("it only lets read", async () => {
    await role("looker");
    await root("alter role looker set default_transaction_read_only = on");
    const name = await make();
    expect(await said(over(name, "looker"))).toMatch(/^store_failed: .* is read-only/);
  });

  it("the database keeps text in another encoding", async () => {
    await root("create database latin encoding 'LATIN1' template template0 locale 'C'");
    await role("latiner");
    const told = await said(over("latin", "latiner"));
    expect(told).toMatch(/^store_failed: the database latin at 127\.0\.0\.1:\d+ keeps text as LATIN1/);
    await root(/`(.*)`/.exec(told)?.[1] ?? "");
    expect(await said(over("latin_utf8", "latiner"))).toBe("nothing");
    await root("drop database latin", "drop database latin_utf8 with (force)");
  });

  it("it is too old, as it answers itself when it is asked", async () => {
    const asked = new URL(url(await make()));
    const path = `${asked.searchParams.get("host")}/.s.PGSQL.${asked.port}`;
    const proxy = createServer((socket) => {
      const upstream = connectTcp(path);
      socket.pipe(upstream);
      // The answer alone is another's: all else is the server's own.
      upstream.on("data", (data) =>
        socket.write(data.toString("latin1").replace(/(?<=\0\x06)1[5-9]\d{4}/g, "140012"), "latin1"),
      );
      for (const one of [socket, upstream]) one.on("error", () => undefined);
      socket.on("close", () => upstream.end());
      upstream.on("close", () => socket.end());
    });
    await new Promise<void>((ready) => proxy.listen(0, "127.0.0.1", ready));
    const address = proxy.address();
    const port = typeof address === "object" && address !== null ? address.port : 0;
    const there = `127.0.0.1:${port}`;
    expect(await said(`postgres://strata@${there}${asked.pathname}`)).toBe(
      `store_failed: PostgreSQL at ${there} is version 14, and Strata needs 15 or newer: update it, or name another server`,
    );
    proxy.close();
  });

  it("the address is none", async () => {
    for (const none of ["postgres:nonsense here", "postgres:///strata", `postgres://ann:${SECRET}#1@db/strata`])
      expect(await said(none)).toMatch(/^config_invalid: the address of the store is not a URL with a host: .*%23/);
  });
});
