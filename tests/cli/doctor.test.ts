import { appendFileSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { place, project, provider, strata } from "./strata.ts";

interface Told {
  readonly healthy: boolean;
  readonly checks: readonly { readonly what: string; readonly state: string; readonly message: string }[];
}

async function doctor(cwd: string, env: Readonly<Record<string, string>> = {}, ...more: readonly string[]) {
  const { code, out, err } = await strata(["doctor", "--json", ...more], { cwd, env });
  const told: Told = JSON.parse(out);
  return { code, err, healthy: told.healthy, check: new Map(told.checks.map((one) => [one.what, one])) };
}

describe("strata doctor", () => {
  it("25.15 names what the record holds of a renamed agent, which lists and exports reach, and nobody can talk to", async () => {
    const cwd = project();
    await strata(["ask", "Remember that I like tea.", "companion"], { cwd });
    const file = join(cwd, "strata.yaml");
    writeFileSync(file, readFileSync(file, "utf8").replace("  companion:", "  helper:"));
    expect((await strata(["agent", "list"], { cwd })).err).toContain(
      "helper has the same texts as the lock has for companion",
    );
    await strata(["lock"], { cwd });
    const { check } = await doctor(cwd);
    expect(check.get("former")).toMatchObject({ state: "warn" });
    expect(check.get("former")?.message).toContain("`strata memory list companion`");
    expect((await strata(["memory", "list", "companion"], { cwd })).out).toContain("I like tea");
    expect((await strata(["usage"], { cwd })).out).toMatch(/^companion +1 /m);
    expect((await strata(["export", "companion"], { cwd })).out).toContain("Remember that I like tea.");
    await strata(["memory", "export", "companion", "--out", "old.jsonl"], { cwd });
    await strata(["memory", "import", "old.jsonl", "helper"], { cwd });
    expect((await strata(["memory", "list", "helper"], { cwd })).out).toContain("I like tea");
    const { code, err } = await strata(["ask", "Hello", "companion"], { cwd });
    expect(code).toBe(3);
    expect(err).toContain('there is no agent "companion" in home; it is no longer declared');
  });

  it("25.15 names an agent of which only memories are kept, with no conversation, and how a renamed one gets them", async () => {
    const cwd = project();
    await strata(["memory", "save", "Tea is good.", "companion"], { cwd });
    const file = join(cwd, "strata.yaml");
    writeFileSync(file, readFileSync(file, "utf8").replace("  companion:", "  helper:"));
    await strata(["lock"], { cwd });
    const { check } = await doctor(cwd);
    expect(check.get("former")).toMatchObject({ state: "warn" });
    expect(check.get("former")?.message).toContain("`strata agent rename companion helper`");
    expect(await strata(["agent", "rename", "companion", "helper"], { cwd })).toMatchObject({ code: 0 });
    expect((await strata(["memory", "list", "helper"], { cwd })).out).toContain("Tea is good");
    expect((await doctor(cwd)).check.has("former")).toBe(false);
  });

  it("25.14 says of a model that its provider ends until when it answers, and nothing of others", async () => {
    const env = { ANTHROPIC_API_KEY: "a-key-of-anthropic" };
    const modelOf = async (model: string) =>
      (
        await doctor(
          project((yaml) => `${yaml}\nmodel: anthropic:${model}\n`),
          env,
        )
      ).check.get("models");
    expect(await modelOf("claude-sonnet-4-5")).toMatchObject({
      state: "warn",
      message: expect.stringContaining("anthropic:claude-sonnet-4-5 answers until 2026-11-30"),
    });
    const lasting = await modelOf("claude-sonnet-5-5");
    expect(lasting).toMatchObject({ state: "ok", message: expect.not.stringContaining("answers until") });
  });

  it("finds an empty folder fit, says what is missing, and makes nothing in it", async () => {
    const cwd = place();
    const { code, out, err } = await strata(["doctor"], { cwd });
    expect({ code, err }).toEqual({ code: 0, err: "" });
    expect(out).toMatch(/^ok {4}node {6}Node \d+\.\d+\.\d+ on \w+ \w+$/m);
    expect(out).toMatch(/^ok {4}database {2}SQLite opens, migrates and searches full text$/m);
    expect(out).toMatch(/^ok {4}config {4}no strata\.yaml in/m);
    expect(out).toMatch(/^warn {2}models {4}companion is answered by the rehearsal/m);
    for (const line of out.split("\n").filter((one) => !one.includes(cwd))) expect(line.length).toBeLessThanOrEqual(80);
    expect(readdirSync(cwd)).toEqual([]);
  });

  it("tells of the record, and of messages that got no answer", async () => {
    const refusing = await provider((_request, response) => response.writeHead(400).end("{}"));
    const cwd = project(refusing.edit);
    await strata(["chat", "companion", "--as", "ann"], { cwd, input: "hi\n", env: refusing.env });
    const { code, healthy, check } = await doctor(cwd, refusing.env);
    expect({ code, healthy }).toEqual({ code: 0, healthy: true });
    expect(check.get("record")?.message).toMatch(/^home has 1 link; `strata verify`/);
    expect(check.get("waiting")).toMatchObject({ state: "warn" });
    expect(check.get("waiting")?.message).toMatch(
      /^1 message on thr_\w+ with ann\n.*\/retry.*\/withdraw.*`strata thread withdraw thr_\w+`/,
    );
    expect(check.get("models")).toMatchObject({ message: expect.stringContaining("its settings are complete") });
    expect(JSON.stringify([...check])).not.toContain(refusing.env.TEST_KEY);
  });

  it("says which parameters the model does not get, as the ledger of a request does", async () => {
    const model = `model: anthropic:claude-opus-4-7\nproviders: {anthropic: {key: "\${TEST_KEY}"}}`;
    const cwd = project(
      (yaml) => `${yaml.replace("  companion:\n", "  companion:\n    parameters: {temperature: 0.2}\n")}\n${model}\n`,
    );
    const env = { TEST_KEY: "not-a-real-key" };
    const message = "companion does not send `temperature` to anthropic:claude-opus-4-7: its API refuses it";
    expect((await doctor(cwd, env)).check.get("models")?.message).toContain(message);
    const { out } = await strata(["compose", "companion", "--message", "Hello"], { cwd, env });
    expect(out).toContain("temperature is left out: its API refuses it");
  });

  it.each([
    ["a key that is missing", "anthropic:claude-sonnet-4-5", "", 4, /needs a key for anthropic/],
    ["a model that nobody knows", "mystery:one", "", 12, /no model is known as "mystery:one"/],
    ["a package that is not installed", "own:one", "providers: {own: {package: nope-xyz}}", 12, /npm install nope-xyz/],
  ])("fails with the code of %s, told once for all agents that share it", async (_what, model, more, exit, message) => {
    const cwd = project((yaml) => {
      const at = yaml.indexOf("  companion:\n");
      return `${yaml}${yaml.slice(at).replace("companion", "second")}\nmodel: ${model}\n${more}\n`;
    });
    await strata(["lock"], { cwd });
    const { code, err, check } = await doctor(cwd);
    expect(code).toBe(exit);
    expect(err).toContain("1 check failed, first models");
    const told = check.get("models");
    expect(told).toMatchObject({ state: "fail" });
    expect(told?.message).toMatch(/^companion, second cannot answer yet: .*$/);
    expect(told?.message).toMatch(message);
    const list = await strata(["agent", "list"], { cwd });
    expect(list).toMatchObject({ code: 0, err: "" });
    expect(list.out).toMatch(
      new RegExp(`companion, .*answered by ${model}.*\n.*\n  cannot answer yet: .*${message.source}`),
    );
  });

  it("fails with the code of what is wrong: strata.yaml, the lock, the data folder, the database", async () => {
    const wrong = await doctor(project((yaml) => yaml.replace("rank: 20", "rnak: 20")));
    expect(wrong).toMatchObject({ code: 4, healthy: false });
    expect(wrong.check.get("config")?.message).toMatch(/rnak.*rank/);
    expect(wrong.err).toContain("1 check failed, first config");

    const changed = project();
    appendFileSync(join(changed, "layers/safety.md"), "Be careful with knives.\n");
    const unlocked = await doctor(changed);
    expect(unlocked.code).toBe(5);
    expect(unlocked.check.get("lock")?.message).toContain("+ Be careful with knives.");

    const file = await doctor(changed, {}, "--data", "strata.yaml");
    expect(file.code).toBe(3);
    expect(file.check.get("data")?.message).toMatch(/strata\.yaml is not a folder; name another with --data$/);

    const unloaded = project((yaml) => `${yaml}\nmodules: [own.ts]\n`);
    writeFileSync(join(unloaded, "own.ts"), "export const = 1;");
    const told = await doctor(unloaded);
    expect(told.code).toBe(4);
    expect([...told.check.values()].filter(({ state }) => state !== "ok")).toMatchObject([
      { what: "agents", state: "fail", message: expect.stringContaining("own.ts cannot be used") },
    ]);

    const broken = place();
    await strata(["memory", "save", "Something."], { cwd: broken });
    writeFileSync(join(broken, ".strata/strata.db"), "no database");
    const unreadable = await doctor(broken);
    expect(unreadable.code).toBe(8);
    expect(unreadable.check.get("record")).toMatchObject({ state: "fail" });
  });
});
