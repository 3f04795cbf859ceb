import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { atTerminal, jsonLines, place, project, strata } from "./strata.ts";

describe("an error", () => {
  it("is one JSON object on stderr with --json", async () => {
    const cwd = place();
    const { code, out, err } = await strata(["chat", "nobody", "--json"], { cwd });
    expect({ code, out }).toEqual({ code: 3, out: "" });
    expect(jsonLines(err)).toEqual([
      {
        error: {
          code: "agent_not_found",
          message: expect.stringContaining("companion"),
          details: expect.objectContaining({ agent: "nobody" }),
        },
      },
    ]);
  });

  it.each([
    ["the source with npm", { npm_lifecycle_event: "strata", npm_package_name: "strata" }, "npm run -s strata --"],
    ["the source with npm start", { npm_lifecycle_event: "start", npm_package_name: "strata" }, "npm run -s strata --"],
    ["the package with npx", { npm_lifecycle_event: "npx" }, "npx strata"],
    ["a script of another package", { npm_lifecycle_event: "start", npm_package_name: "shop" }, "npx strata"],
    ["what is on the path", {}, "strata"],
  ])("advises a command as it works for whoever runs %s", async (_how, env, called) => {
    const around = { cwd: place(), env };
    expect((await strata(["thread", "list"], around)).err).toContain(`\`${called} chat AGENT\``);
    const { out } = await strata(["init", "companion"], around);
    expect(out).toContain(`\n  ${called} chat companion\n`);
    const save = ["memory", "save", "See `strata lock`."];
    expect((await strata(save, { ...around, columns: 200 })).out).toContain(`\`${called} memory forget `);
    expect((await strata(["memory", "list"], around)).out).toContain("See `strata lock`.");
  });

  it.each([
    ["{}", "it is not a list"],
    ["[{}]", "entry 1 has no `org`"],
    ['[{"org":"home","seq":-1,"hash":null}]', "entry 1 has no `seq`, a whole number"],
    ['[{"org":"home","seq":1,"hash":"x"}]', "entry 1 has no `hash`, 64"],
  ])("of an anchor %s says in plain words what is wrong", async (text, message) => {
    const cwd = place();
    await strata(["chat", "companion"], { cwd, input: "hi\n" });
    writeFileSync(join(cwd, "anchor.json"), text);
    const { code, err } = await strata(["verify", "--anchor", "anchor.json"], { cwd });
    expect(code).toBe(2);
    expect(err).toContain(message);
    expect(err).not.toMatch(/expected|Invalid input/);
  });
});

describe("a chat", () => {
  it("says which thread it continues", async () => {
    const cwd = place();
    expect((await strata(["chat", "companion"], { cwd, input: "hi\n" })).err).not.toContain("Continues");
    const { err } = await strata(["chat", "companion"], { cwd, input: "hi\n" });
    expect(err).toMatch(/Continues thread thr_\w+ \(1 turn\); `\/new` begins a new one\./);
  });

  it("drops what is half typed at Ctrl-C, and leaves at the next", async () => {
    const chat = atTerminal(["chat", "companion"], { cwd: place() });
    await chat.sees("me › ");
    chat.press("half a sen");
    await chat.sees("half a sen");
    chat.press("\u0003");
    await chat.sees(/half a sen.*me › /s);
    chat.press("hello\r");
    await chat.sees(/I am Strata.s rehearsal model\..*me › /s);
    expect(chat.screen()).not.toContain("half a senhello");
    chat.press("\u0003");
    expect(await chat.ended).toBe(0);
  });
});

describe("which strata.yaml is used", () => {
  const TALKS = [
    ["chat", "companion"],
    ["compose", "companion", "--message", "hi"],
    ["agent", "list"],
    ["memory", "save", "Something."],
    ["lint", "companion"],
  ];

  it.each(TALKS)("strata %s %s says that there is none here, and what stands in", async (...argv) => {
    const cwd = place();
    const { code, err } = await strata(argv, { cwd });
    expect(code).toBe(0);
    const [said] = err.split("\n");
    expect(said).toBe(
      `There is no strata.yaml in ${cwd}: the shipped agents are used, and ${cwd}/.strata has no data yet. --folder DIR names another folder; \`strata init companion\` creates an agent of your own here.`,
    );
  });

  it("it says so while something is remembered, names one in a folder above, and tells programs nothing", async () => {
    const cwd = project();
    mkdirSync(join(cwd, "layers/drafts"));
    const below = { cwd: join(cwd, "layers/drafts") };
    await strata(["memory", "save", "Something."], below);
    const { err } = await strata(["chat", "companion"], below);
    expect(err).toContain(`shipped agents are used, with the data in ${below.cwd}/.strata.`);
    expect(err).toContain(`${cwd} above it has one: run this there, or add --folder ../..`);
    expect((await strata(["agent", "list", "--json"], below)).err).toBe("");
  });

  it("it is named to a person who looks on, with the data, and to nobody else", async () => {
    const cwd = project();
    const looking = { cwd, watch: () => undefined };
    for (const argv of [
      ["agent", "list"],
      ["chat", "companion"],
    ]) {
      const { err } = await strata(argv, looking);
      expect(err).toContain(`${cwd}/strata.yaml, data in ${cwd}/.strata`);
      expect((await strata(argv, { cwd })).err).toBe("");
    }
  });

  it("a folder that was named and has none is refused, as before", async () => {
    const { code, err } = await strata(["agent", "list", "--folder", "."], { cwd: place() });
    expect({ code, lines: err.trim().split("\n").length }).toEqual({ code: 3, lines: 1 });
    expect(err).toContain("there is no strata.yaml");
  });
});
