import { mkdirSync, readFileSync, renameSync, writeFileSync } from "node:fs";
import { request } from "node:http";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { atTerminal, child, project, serving, until } from "./strata.ts";

/** Saves as many editors do: a new file replaces the old one. */
function save(file: string, edit: (text: string) => string): void {
  writeFileSync(`${file}.new`, edit(readFileSync(file, "utf8")));
  renameSync(`${file}.new`, file);
}

async function watched(cwd = project(), start: typeof serving | typeof child = serving) {
  const started = start(["start", "--port", "0", "--watch"], { cwd });
  await started.message("listens on");
  const hears = (what: string) =>
    until(
      () => started.sofar().err.includes(what),
      () => JSON.stringify(started.sofar()),
    );
  const url = /http:\/\/127\.0\.0\.1:\d+/.exec(started.sofar().out)?.[0] ?? "";
  return { cwd, yaml: join(cwd, "strata.yaml"), started, hears, url };
}

describe("strata start --watch", () => {
  it("25.18 takes what was saved, says what is wrong with it, and continues with the old until it is mended", async () => {
    const { cwd, yaml, hears, started, url } = await watched();
    const health = async () => {
      const authorization = `Bearer ${readFileSync(join(cwd, ".strata/operator.token"), "utf8").trim()}`;
      return (await fetch(`${url}/health`, { headers: { authorization } })).json();
    };
    const good = readFileSync(yaml, "utf8");
    save(yaml, (text) => `${text}\nmodle: rehearsal\n`);
    await hears("modle");
    await hears("The agents have not changed");
    expect(await health()).toMatchObject({ agents: [{ name: "companion", model: "rehearsal" }] });
    save(yaml, () => `${good}\nmodel: anthropic:claude-sonnet-4-5\n`);
    // 25.18: what holds at once is told apart from what waits.
    await hears("companion is now answered by anthropic:claude-sonnet-4-5, in running threads, too.");
    expect(await health()).toMatchObject({ agents: [{ model: "anthropic:claude-sonnet-4-5" }] });
    save(yaml, (text) => text.replace("history: transcript", "history: transcript\n    budgets: { reply: 2000 }"));
    await hears("used by threads that begin from now on; running ones keep version");
    save(join(cwd, "layers/identity.md"), (text) => `${text}\nBe brief.\n`);
    await hears("identity");
    await hears("run `strata lock`, then restart: locked texts are read only at a start.");
    expect(started.sofar().err.match(/save it again/g)).toHaveLength(1);
    expect(await started.stop()).toMatchObject({ code: 0 });
  }, 30_000);
});

describe("strata start --watch", () => {
  it("says which modules were read again, also when only a file changed that they import", async () => {
    const cwd = project((yaml) => `${yaml}\nmodules: [tools/price.ts]\n`);
    mkdirSync(join(cwd, "tools"));
    writeFileSync(join(cwd, "tools/euros.ts"), "export const EUROS = 12;");
    writeFileSync(
      join(cwd, "tools/price.ts"),
      `import { defineTool, z } from "strata";
       import { EUROS } from "./euros.ts";
       const [input, effect, trust] = [z.object({}), "none", "operator"] as const;
       export const price = defineTool({ name: "price", description: "x", input, effect, trust, run: () => \`\${EUROS}\` });`,
    );
    const { hears, started } = await watched(cwd, child);
    save(join(cwd, "tools/euros.ts"), (text) => text.replace("12", "13"));
    await hears("the module tools/price.ts was reloaded, also for running threads");
    expect(await started.stop()).toMatchObject({ code: 0 });
  }, 30_000);
});

describe("strata start", () => {
  it("names the token's file and the routes, and shows the token nowhere", async () => {
    const cwd = project();
    const started = serving(["start", "--port", "0"], { cwd });
    await started.message("config ");
    const token = readFileSync(join(cwd, ".strata/operator.token"), "utf8").trim();
    const { out } = started.sofar();
    expect(out).toContain(join(cwd, ".strata/operator.token"));
    expect(out).not.toContain(token);
    const [routes = ""] = /http:\S+\/v1\/openapi\.json/.exec(out) ?? [];
    const answer = await fetch(routes, { headers: { authorization: `Bearer ${token}` } });
    expect(await answer.json()).toHaveProperty("openapi");
    const person = atTerminal(["start", "--port", "0"], { cwd });
    await person.sees("me › ");
    person.press("\u0004");
    expect(await person.ended).toBe(0);
    expect(person.screen()).toContain(join(cwd, ".strata/operator.token"));
    expect(person.screen()).not.toContain(token);
  }, 30_000);

  it("listens at the address that is named, and answers under the names that are", async () => {
    const started = serving(["start", "--port", "0", "--host", "127.0.0.2", "--host-name", "strata.example.org"], {
      cwd: project(),
    });
    await started.message("listens on http://127.0.0.2:");
    const [, port = ""] = /127\.0\.0\.2:(\d+)/.exec(started.sofar().out) ?? [];
    const status = (host: string) =>
      new Promise<number | undefined>((resolve, reject) => {
        const asked = request({ host: "127.0.0.2", port, path: "/health", headers: { host } }, (answer) => {
          answer.resume();
          resolve(answer.statusCode);
        });
        asked.on("error", reject).end();
      });
    expect(await status("strata.example.org")).not.toBe(await status("evil.example.org"));
    expect(await status(`127.0.0.2:${port}`)).toBe(await status("strata.example.org"));
  }, 30_000);
});
