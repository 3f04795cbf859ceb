import { execFile } from "node:child_process";
import { randomBytes } from "node:crypto";
import { existsSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { promisify } from "node:util";
import { describe, expect, it } from "vitest";
import { findPrograms } from "../../checks/postgres.ts";
import { openApp, recordFile } from "../../src/app.ts";
import { databases, server, title } from "../postgres.ts";
import { jsonLines, place, project, strata } from "./strata.ts";

const { make, url } = databases();
const SECRET = `pass-${randomBytes(6).toString("hex")}`;

/** A new database, and its address with a password in it. */
async function address(): Promise<string> {
  const plain = new URL(url(await make()));
  if (plain.password === "") plain.password = SECRET;
  return plain.href;
}

const TALK = "My name is Ann and I like jasmine tea.\nWhat is my name?\n";
const slots = async (cwd: string, env = {}): Promise<unknown> => {
  const { out } = await strata(["thread", "list", "--json"], { cwd, env });
  return jsonLines<readonly { readonly turns: number }[]>(out)[0];
};

describe.skipIf(server === undefined)(title("a store on PostgreSQL"), () => {
  it("is one line of strata.yaml: chat, memory, explain and verify work as they do on a file, and none is made", async () => {
    const cwd = project((yaml) => `${yaml}\nstore: ${"$"}{STRATA_DATABASE}\n`);
    const env = { STRATA_DATABASE: await address() };
    const chat = await strata(["chat", "companion"], { cwd, env, input: TALK });
    expect(chat).toMatchObject({ code: 0 });
    expect(existsSync(recordFile(join(cwd, ".strata")))).toBe(false);
    expect((await strata(["memory", "search", "jasmine tea"], { cwd, env })).out).toContain("jasmine tea");
    expect((await strata(["verify"], { cwd, env })).code).toBe(0);
    expect(await slots(cwd, env)).toMatchObject([{ turns: 2 }]);
    const missing = await strata(["chat", "companion"], { cwd, input: "Hi\n" });
    expect(missing.code).not.toBe(0);
    expect(missing.err).toContain("STRATA_DATABASE is not set");
  });

  it("is one variable, which goes before the file's word, and doctor names it without its password", async () => {
    const cwd = place();
    const env = { STRATA_STORE: await address() };
    await strata(["memory", "save", "Ann likes jasmine tea."], { cwd, env });
    expect((await strata(["memory", "search", "tea"], { cwd, env })).out).toContain("jasmine");
    const doctor = await strata(["doctor"], { cwd, env, columns: 1_000 });
    expect(doctor.out).toMatch(/store +PostgreSQL at .*, version \d+/);
    expect(doctor.out).toContain("its row-level security is active, too");
    expect(doctor.out + doctor.err).not.toContain(SECRET);
  });

  it.skipIf(server?.rootUrl === undefined)("says what a superuser gives up", async () => {
    const cwd = place();
    const env = { STRATA_STORE: server?.rootUrl?.(await make()) ?? "" };
    await strata(["memory", "save", "Something."], { cwd, env });
    expect((await strata(["doctor"], { cwd, env, columns: 1_000 })).out).toContain(
      "connect as one who is not a superuser",
    );
  });

  it("that cannot be reached is reported without its password, and nothing is written elsewhere", async () => {
    const cwd = place();
    const env = { STRATA_STORE: `postgres://ann:${SECRET}@127.0.0.1:1/nowhere` };
    const { code, err, out } = await strata(["memory", "save", "Something."], { cwd, env });
    expect(code).toBe(8);
    expect(err).toContain("PostgreSQL at 127.0.0.1:1 cannot be reached");
    expect(err + out).not.toContain(SECRET);
    expect(existsSync(recordFile(join(cwd, ".strata")))).toBe(false);
  });

  it("is backed up by PostgreSQL's own programs, which `strata backup` names", async () => {
    const cwd = place();
    const env = { STRATA_STORE: await address() };
    await strata(["memory", "save", "Something."], { cwd, env });
    const { code, err } = await strata(["backup", "copy.db"], { cwd, env });
    expect({ code, err }).toMatchObject({ code: 2, err: expect.stringContaining("pg_dump --enable-row-security") });
    expect(existsSync(join(cwd, "copy.db"))).toBe(false);
  });

  it("hides its password in all output", async () => {
    const app = await openApp({ folder: place(), env: { STRATA_STORE: await address() } });
    expect(app.hide(`it is ${SECRET}`)).not.toContain(SECRET);
    await app.close();
  });

  it("is copied from a file and back with its whole record, by one command each", async () => {
    const cwd = project();
    await strata(["chat", "companion"], { cwd, input: TALK });
    const env = { STRATA_STORE: await address(), PGDATABASE_URL: "" };
    const before = { slots: await slots(cwd), anchor: (await strata(["anchor"], { cwd })).out };
    const there = await strata(["store", "copy", ".strata", "STRATA_STORE"], { cwd, env });
    expect(there).toMatchObject({ code: 0, out: expect.stringMatching(/holds all \d+ rows of .*strata\.db/) });
    expect(there.out + there.err).not.toContain(SECRET);
    expect(await slots(cwd, env)).toEqual(before.slots);
    expect((await strata(["verify"], { cwd, env })).code).toBe(0);
    expect((await strata(["anchor"], { cwd, env })).out).toBe(before.anchor);
    const left = await strata(["chat", "companion"], { cwd, input: TALK });
    expect(left).toMatchObject({
      code: 8,
      err: expect.stringMatching(/strata\.db was copied to PostgreSQL at .*where the record goes on/s),
    });
    await strata(["chat", "companion"], { cwd, env, input: TALK });
    const back = await strata(["store", "copy", "STRATA_STORE", ".strata"], { cwd, env });
    expect(back).toMatchObject({ code: 0 });
    expect(await strata(["verify"], { cwd })).toMatchObject({ code: 0 });
    expect(await slots(cwd)).toMatchObject([{ turns: 4 }]);
    const again = await strata(["store", "copy", "STRATA_STORE", "third"], { cwd, env });
    expect(again.err).toContain("was copied to");
    const apart = await strata(["store", "resume", "STRATA_STORE", "--json"], { cwd, env });
    expect(JSON.parse(apart.out)).toMatchObject({ store: expect.stringContaining("PostgreSQL at") });
    expect((await strata(["verify"], { cwd, env })).code).toBe(0);
    expect((await strata(["store", "resume", "STRATA_STORE"], { cwd, env })).err).toContain("was copied nowhere");
  });

  it("is kept by a password that stands in no file", async () => {
    const cwd = project((yaml) => `${yaml}\nstore: postgres://ann:${SECRET}@db/strata\n`);
    const { code, err } = await strata(["chat", "companion"], { cwd, input: "Hi\n" });
    expect(code).not.toBe(0);
    expect(err).toContain("an address of PostgreSQL without a password");
  });
});

const FOUND = findPrograms();
/** The registry's package has no `pg_dump`. */
const PROGRAMS = FOUND !== undefined && existsSync(join(FOUND, "pg_dump")) ? FOUND : undefined;

describe.skipIf(server === undefined || PROGRAMS === undefined)(title("a backup of a store on PostgreSQL"), () => {
  it("is made and restored by PostgreSQL's own programs, as its page says, and verifies", async () => {
    const cwd = project();
    const [from, to] = [url(await make()), url(await make())];
    await strata(["chat", "companion"], { cwd, env: { STRATA_STORE: from }, input: TALK });
    const dump = join(cwd, "strata.dump");
    const all = { ...process.env, PGOPTIONS: "-c strata.org=* -c strata.agent=* -c strata.contact=*" };
    const run = (program: string, ...args: readonly string[]): Promise<unknown> =>
      promisify(execFile)(join(PROGRAMS ?? "", program), args, { env: all });
    await run("pg_dump", "--enable-row-security", "--format=custom", `--file=${dump}`, from);
    await run("pg_restore", "--enable-row-security", "--no-owner", `--dbname=${to}`, dump);
    const env = { STRATA_STORE: to };
    expect(await slots(cwd, env)).toEqual(await slots(cwd, { STRATA_STORE: from }));
    expect((await strata(["verify"], { cwd, env })).code).toBe(0);
    expect((await strata(["memory", "search", "jasmine tea"], { cwd, env })).out).toContain("jasmine tea");
    expect(await strata(["chat", "companion"], { cwd, env, input: "And on.\n" })).toMatchObject({ code: 0 });
  });
});

describe("an address of the store that is none", () => {
  it("is told by commands that only look at what is there, too", async () => {
    const asked = strata(["memory", "list"], { cwd: project(), env: { STRATA_STORE: "db.internal" } });
    expect(await asked).toMatchObject({ code: 4, err: expect.stringContaining("STRATA_STORE is not an address") });
    const signs = await strata(["doctor"], {
      cwd: project(),
      env: { STRATA_STORE: `postgres://ann:${SECRET}#1@db/a` },
    });
    expect(signs).toMatchObject({ code: 4, out: expect.stringMatching(/STRATA_STORE\s+is\s+not\s+an\s+address/) });
    expect(signs.out + signs.err).not.toContain(SECRET);
    const unset = project((yaml) => `${yaml}\nstore: ${"$"}{STRATA_DATABASE}\n`);
    const { err } = await strata(["memory", "list"], { cwd: unset });
    expect(err).toContain("STRATA_DATABASE is not set");
  });
});

describe("strata store copy", () => {
  it("needs a store to copy from", async () => {
    const { code, err } = await strata(["store", "copy", "nowhere", "there"], { cwd: place() });
    expect({ code, err }).toMatchObject({ code: 3, err: expect.stringContaining("there is no database") });
  });

  it("reads a variable from .env as well, and makes no folder of a name that is not set", async () => {
    const cwd = project();
    await strata(["memory", "save", "Something."], { cwd });
    const unset = await strata(["store", "copy", ".strata", "STRATA_STORE"], { cwd, env: { STRATA_STORE: "" } });
    expect(unset).toMatchObject({ code: 4, err: expect.stringContaining("STRATA_STORE is not set") });
    writeFileSync(join(cwd, ".env"), `STRATA_STORE=postgres://ann:${SECRET}@127.0.0.1:1/nowhere\n`);
    const there = await strata(["store", "copy", ".strata", "STRATA_STORE"], { cwd });
    expect(there).toMatchObject({
      code: 8,
      err: expect.stringContaining("PostgreSQL at 127.0.0.1:1 cannot be reached"),
    });
    expect(there.err + there.out).not.toContain(SECRET);
    expect(existsSync(join(cwd, "STRATA_STORE"))).toBe(false);
  });
});
