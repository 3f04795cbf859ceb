import { mkdirSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { atTerminal, place, ROOT, strata } from "./strata.ts";

const MADE = [".env.example", ".gitignore", "layers", "strata.lock", "strata.yaml"];

describe("strata init", () => {
  it("makes an agent in an empty folder that locks, composes, answers and remembers", async () => {
    const cwd = place();
    const { code, out } = await strata(["init"], { cwd });
    expect(code).toBe(0);
    expect(out).toMatch(/\n {2}strata compose companion --message "Hello"\n {2}strata chat companion\n/);
    expect(readdirSync(cwd).sort()).toEqual(MADE);
    expect(readFileSync(join(cwd, "strata.lock"))).toEqual(
      readFileSync(join(ROOT, "blueprints/companion/strata.lock")),
    );
    expect(readFileSync(join(cwd, ".gitignore"), "utf8")).toBe(".strata/\n.env\n");
    expect(readFileSync(join(cwd, ".env.example"), "utf8")).toMatch(/^# .+\n# .+\nANTHROPIC_API_KEY=\n$/);

    expect((await strata(["lock", "--check"], { cwd })).code).toBe(0);
    expect((await strata(["compose", "companion", "--message", "Hello"], { cwd })).code).toBe(0);
    const input = "Remember that my bicycle is green.\nWhat colour is my bicycle?\n";
    const chat = await strata(["chat", "companion"], { cwd, input });
    expect(chat.code).toBe(0);
    expect(chat.out).toContain("green");
    expect((await strata(["verify"], { cwd })).out).toContain("The record is whole.");
  });

  it("names the agent as wanted, in a folder that it makes, and says how to reach it", async () => {
    const cwd = place();
    const { out } = await strata(["init", "companion", "--name", "clerk", "--folder", "my shop"], { cwd });
    expect(out).toContain('  strata chat clerk --folder "my shop"\n');
    const check = await strata(["lock", "--check", "--folder", "my shop"], { cwd });
    expect(check).toMatchObject({ code: 0, err: "" });
    expect(check.out).toContain("clerk: 7 immutable layers");
    expect((await strata(["agent", "list", "--folder", "my shop"], { cwd })).out).toMatch(/^clerk, version/);
  });

  it("keeps what .gitignore says, and adds only what is missing", async () => {
    const cwd = place();
    writeFileSync(join(cwd, ".gitignore"), "node_modules/\n.env");
    await strata(["init"], { cwd });
    expect(readFileSync(join(cwd, ".gitignore"), "utf8")).toBe("node_modules/\n.env\n.strata/\n");
  });

  it("overwrites nothing, and names what is in the way", async () => {
    const cwd = place();
    mkdirSync(join(cwd, "layers"));
    writeFileSync(join(cwd, "strata.yaml"), "mine");
    writeFileSync(join(cwd, "layers/safety.md"), "mine");
    const { code, out, err } = await strata(["init"], { cwd });
    expect({ code, out }).toEqual({ code: 2, out: "" });
    expect(err).toContain("holds layers/safety.md, strata.yaml already");
    expect(readFileSync(join(cwd, "strata.yaml"), "utf8")).toBe("mine");
    expect(readdirSync(cwd).sort()).toEqual(["layers", "strata.yaml"]);
  });

  it("tells programs what it made", async () => {
    const cwd = place();
    const { out } = await strata(["init", "--json"], { cwd });
    expect(JSON.parse(out)).toMatchObject({ blueprint: "companion", folder: cwd, agents: ["companion"] });
  });

  it.each([
    [["init", "companoin"], 3, "did you mean `companion`?"],
    [["init", "--name", "No Name"], 2, '"No Name" is not an agent name'],
    [["init", "companion", "--nmae", "x"], 2, "Did you mean --name?"],
  ])("strata %j exits with %i, says why, and makes nothing", async (argv, exit, says) => {
    const cwd = place();
    const { code, err } = await strata(argv, { cwd });
    expect(err).toContain(says);
    expect(code).toBe(exit);
    expect(readdirSync(cwd)).toEqual([]);
  });

  it("asks for the blueprint in a terminal, and takes the usual one for an empty answer", async () => {
    const cwd = place();
    const person = atTerminal(["init"], { cwd });
    await person.sees("Which blueprint: companion");
    person.press("\r");
    expect(await person.ended).toBe(0);
    expect(readdirSync(cwd).sort()).toEqual(MADE);
  });
});
