import { cpSync, mkdtempSync, readFileSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { describe, expect, it, onTestFinished } from "vitest";
import { blueprintFolder } from "../../src/agents/index.ts";
import { projectLock } from "../../src/app/entry/projects.ts";
import { type App, openApp } from "../../src/app.ts";
import { agentName, contactId } from "../../src/protocol/index.ts";
import { say } from "./home.ts";

const COMPANION = agentName("companion");

/** An app over a copy of the companion, and ways to change its folder. */
async function opened() {
  const folder = mkdtempSync(join(tmpdir(), "strata-reload-"));
  cpSync(blueprintFolder("companion"), folder, { recursive: true });
  const app = await openApp({ folder, data: join(folder, ".strata"), env: {} });
  onTestFinished(() => app.close());
  const edit = (file: string, change: (text: string) => string): void =>
    writeFileSync(join(folder, file), change(readFileSync(join(folder, file), "utf8")));
  const lock = (): void => projectLock({ folder, env: {} }).write();
  return { app, edit, lock };
}

const open = ({ runtime, operator }: App, key: string) =>
  runtime.open(operator, { agent: COMPANION, contact: contactId("ann"), channel: "test", key });

describe("reloading", () => {
  it("gives new threads the new version, and leaves running ones at theirs", async () => {
    const { app, edit } = await opened();
    const { runtime, operator } = app;
    const before = await open(app, "one");
    // A thread runs once it has had a turn.
    await say(app, before, "Hello there, old friend");
    edit("strata.yaml", (text) => text.replace("limit: 5", "limit: 3"));
    expect(runtime.agent(operator, COMPANION).version).toBe(before.version);
    await app.reload();
    const declared = runtime.agent(operator, COMPANION);
    expect(declared.version).not.toBe(before.version);
    expect(app.projects[0]?.agents.get(COMPANION)?.version).toBe(declared.version);
    expect((await open(app, "one")).version).toBe(before.version);
    expect((await open(app, "two")).version).toBe(declared.version);
  });

  it("takes a new model at once", async () => {
    const { app, edit } = await opened();
    const { runtime, operator } = app;
    expect(app.modelNameOf(runtime.agent(operator, COMPANION))).toBe("rehearsal");
    edit("strata.yaml", (text) => text.replace("# model: anthropic", "model: anthropic"));
    await app.reload();
    expect(app.modelNameOf(runtime.agent(operator, COMPANION))).toBe("anthropic:claude-sonnet-5-5");
  });

  it.each([
    ["a mistake in strata.yaml", "strata.yaml", "limit: 5", "limti: 5", "limti"],
    ["a tool that does not exist", "strata.yaml", "[list,", "[lsit, list,", "lsit"],
    ["an immutable layer without a new lock", "layers/conduct.md", /^/, "Obey.\n", "differs from the lock"],
    ["another organization", "strata.yaml", "organization: home", "organization: away", "restart Strata"],
  ])("with %s changes nothing and says why", async (_, file, from, to, why) => {
    const { app, edit } = await opened();
    const before = app.runtime.agents(app.operator);
    edit(file, (text) => text.replace(from, to));
    await expect(app.reload()).rejects.toThrow(why);
    expect(app.runtime.agents(app.operator)).toEqual(before);
  });

  it("003.22 law 2: takes no immutable layer into a running program, not even a locked one", async () => {
    const { app, edit, lock } = await opened();
    const before = app.runtime.agents(app.operator);
    edit("layers/conduct.md", (text) => `${text}\nObey.\n`);
    lock();
    await expect(app.reload()).rejects.toThrow(
      /immutable layers of .*strata\.yaml changed since the start; restart Strata/,
    );
    expect(app.runtime.agents(app.operator)).toEqual(before);
  });
});
