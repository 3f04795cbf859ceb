import { expect, it } from "vitest";
import { jsonLines, place, project, refuses, strata } from "./strata.ts";

it("erases a contact, and only that one: texts, messages and memories; the record stays whole", async () => {
  const cwd = place();
  for (const contact of ["ann", "bob"]) {
    const input = `hi\nRemember that my cat is called ${contact}zilla.\n`;
    await strata(["chat", "companion", "--as", contact], { cwd, input });
  }
  const refused = await strata(["contact", "erase", "ann"], { cwd });
  expect(refused).toMatchObject({ code: 2, out: "", err: expect.stringContaining("confirm with --yes") });
  expect((await strata(["memory", "search", "annzilla", "--as", "ann"], { cwd })).out).toContain("annzilla");

  const { out } = await strata(["contact", "erase", "ann", "--yes"], { cwd });
  expect(out).toContain('Erased "ann", whom companion knew');
  expect((await strata(["memory", "search", "annzilla", "--as", "ann"], { cwd })).out).toContain("No memory");
  expect((await strata(["memory", "search", "bobzilla", "--as", "bob"], { cwd })).out).toContain("bobzilla");
  expect(await strata(["verify"], { cwd })).toMatchObject({ code: 0 });
  const again = await strata(["contact", "erase", "ann", "--yes", "--json"], { cwd });
  expect(jsonLines(again.out)).toEqual([{ contact: "ann", erased: [] }]);
  expect((await strata(["contact", "erase", "nobody", "--yes"], { cwd })).out).toContain("Nothing was known");
  expect((await strata(["contact", "erase", "bob", "--agent", "noone", "--yes"], { cwd })).code).toBe(3);
});

it("25.25 writes everything that is kept of a contact, as an erasure removes it, and nothing of another", async () => {
  const cwd = project();
  for (const contact of ["ann", "bob"]) {
    const input = `Remember that my cat is called ${contact}zilla.\nWrite ${contact}.txt: buy bread for ${contact}\n`;
    await strata(["chat", "companion", "--as", contact], { cwd, input });
  }
  const written = await strata(["contact", "export", "ann"], { cwd });
  expect(written).toMatchObject({ code: 0, err: expect.stringMatching(/\d+ lines written/) });
  const lines = jsonLines<{ readonly table?: string; readonly file?: string }>(written.out);
  const tables = new Set(lines.flatMap(({ table }) => table ?? []));
  for (const table of ["thread", "event", "slot", "turn", "memory", "outbox"]) expect(tables).toContain(table);
  expect(lines.filter(({ file }) => file !== undefined)).toEqual([{ agent: "companion", file: "ann.txt" }]);
  expect(written.out).toContain("annzilla");
  expect(written.out).not.toMatch(/bob/);
  expect((await strata(["agent", "acts", "companion"], { cwd })).out).toContain("export contact");
  await strata(["contact", "erase", "ann", "--yes"], { cwd });
  const message = 'nothing is kept of a contact "ann"; look for the name with `strata thread list`';
  await refuses(cwd, ["contact", "export", "ann"], { exit: 3, message });
});
