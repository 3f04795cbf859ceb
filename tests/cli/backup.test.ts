import { mkdirSync, readdirSync, renameSync, statSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { child, jsonLines, place, project, provider, strata, until } from "./strata.ts";

const TALK = Array.from({ length: 5_000 }, (_, n) => `message ${n}\n`).join("");

describe("strata backup", () => {
  it("copies a record while another process writes to it; the copy is whole and can be put in place", async () => {
    const cwd = place();
    await strata(["chat", "companion", "--as", "ann"], { cwd, input: "My cat is called Miso.\n" });
    const writer = child(["chat", "companion", "--as", "bob"], { cwd, input: TALK });
    const links = async (data: string) => {
      const { out } = await strata(["anchor", "--data", data], { cwd });
      const [heads = []] = jsonLines<readonly { seq: number }[]>(out);
      return [heads].flat()[0]?.seq ?? 0;
    };
    const goesOn = (from: number) =>
      until(
        async () => (await links(".strata")) > from,
        () => `nothing is written beyond link ${from}: ${JSON.stringify(writer.sofar()).slice(-500)}`,
        25,
      );
    await goesOn(4);
    const made = await strata(["backup", "copy.db"], { cwd });
    expect(made).toMatchObject({ code: 0, out: expect.stringContaining("strata.db") });
    expect(made.out).toContain("strata verify");
    const from = await links(".strata");
    await goesOn(from);
    writer.process.kill("SIGKILL");
    await writer.ended;

    expect(statSync(join(cwd, "copy.db")).mode & 0o777).toBe(0o600);
    mkdirSync(join(cwd, "restored"));
    renameSync(join(cwd, "copy.db"), join(cwd, "restored", "strata.db"));
    expect((await strata(["verify", "--data", "restored"], { cwd })).out).toContain(
      "The record is complete and unchanged.",
    );
    expect(await links("restored")).toBeLessThanOrEqual(from);
    const chat = ["chat", "companion", "--as", "ann", "--data", "restored"];
    expect((await strata(chat, { cwd, input: "What is my cat called?\n" })).out).toContain("Miso");
  }, 60_000);

  it("replaces nothing, and tells a program what it did", async () => {
    const cwd = place();
    await strata(["chat", "companion"], { cwd, input: "hi\n" });
    const told = await strata(["backup", "copy.db", "--json"], { cwd });
    expect(jsonLines(told.out)).toMatchObject([{ file: join(cwd, "copy.db"), pages: expect.any(Number) }]);
    expect(await strata(["backup", "copy.db"], { cwd })).toMatchObject({
      code: 2,
      err: expect.stringContaining("exists already"),
    });
    expect(await strata(["backup", "no/copy.db"], { cwd })).toMatchObject({ code: 3 });
    expect(readdirSync(cwd).sort()).toEqual([".strata", "copy.db"]);
  });
});

describe("strata doctor", () => {
  it("tells of a turn whose process was killed", async () => {
    const asked = Promise.withResolvers<void>();
    const silent = await provider(() => asked.resolve());
    const cwd = project(silent.edit);
    const chat = child(["chat", "companion", "--as", "ann"], { cwd, env: silent.env, input: "hello\n" });
    await asked.promise;
    const doctor = async () => (await strata(["doctor"], { cwd, env: silent.env })).out.replace(/\s+/g, " ");
    expect(await doctor()).toContain("1 turn running now");
    chat.process.kill("SIGKILL");
    await chat.ended;
    expect(await doctor()).toContain(`with ann is held by process ${chat.process.pid} on`);
  }, 30_000);
});
