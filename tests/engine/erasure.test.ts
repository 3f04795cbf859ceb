import { type ChildProcess, spawn } from "node:child_process";
import { mkdirSync, readdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it, onTestFinished } from "vitest";
import type { App } from "../../src/app.ts";
import { contactId, untrusted } from "../../src/protocol/index.ts";
import { plainEnv } from "../plain-env.ts";
import { type Canaries, COMPANION, canariesIn, home, plainly, said, say, strata, thread } from "./home.ts";

/** What somebody leaves behind, everywhere that a contact can leave something. */
function canariesOf(name: string, tag: string): Canaries {
  return {
    "the contact": name,
    "the thread's key": `Quay-${tag}/1`,
    "the other thread's key": `Pier-${tag}/2`,
    "the external id": `wamid.${tag}==`,
    "the id of what waits": `wamid.late.${tag}`,
    "the sender's name": `Countess ${tag}`,
    "the message": `saltmarsh ${tag}`,
    "what waits": `estuary ${tag}`,
    "the reply": `heronry ${tag}`,
    "the memory": `kittiwake ${tag}`,
    "the file's name": `ledger-${tag}.md`,
    "the folder's name": `drawer ${tag}`,
    "the file's content": `oyster ${tag}`,
    "the failure": `breakwater ${tag}`,
  };
}

type Named = { readonly [What in keyof ReturnType<typeof canariesOf>]: string };

/** A contact who writes, is remembered, has files and a turn that failed; what is said last waits. */
async function live(app: App, c: Named): Promise<void> {
  const { runtime, operator } = app;
  const name = c["the contact"] ?? "";
  const to = await thread(app, name, c["the thread's key"]);
  const path = `${c["the folder's name"]}/${c["the file's name"]}`;
  const content = c["the file's content"] ?? "";
  const first = { ...said(c["the message"] ?? ""), externalId: c["the external id"] ?? "" };
  await runtime.post(operator, to, [{ ...first, name: untrusted(c["the sender's name"] ?? "") }]);
  await say(app, to, "Keep it", [
    { parts: [{ call: "write", input: { path, content } }] },
    { parts: [{ call: "memory_save", input: { content: c["the memory"] ?? "" } }] },
    c["the reply"] ?? "",
  ]);
  await say(app, to, "And?", [new Error(c["the failure"])]).catch(() => undefined);
  const other = await thread(app, name, c["the other thread's key"]);
  const late = { ...said(c["what waits"] ?? ""), externalId: c["the id of what waits"] ?? "" };
  await runtime.post(operator, other, [late]);
}

async function problems(app: App): Promise<readonly string[]> {
  const found: string[] = [];
  for await (const one of app.verify(app.operator.org)) if (one.type === "problem") found.push(one.message);
  return found;
}

const ZOE = canariesOf("Zoë Quixara <zoe@example.org>", "Zq7731x");
const SLUG = canariesOf("quixara-7732", "Sl7732y");
const BOB = canariesOf("Bob Tarn, 3rd", "Bt5501z");

describe("an erased contact", () => {
  it("is nowhere any more: no form of what they said, wrote or were called is in database, log or workspace", async () => {
    const folder = home();
    const data = join(folder, ".strata");
    const app = await strata(folder);
    for (const one of [ZOE, SLUG, BOB]) await live(app, one);
    const before = Object.entries(BOB).map(([what]) => what);
    for (const one of [ZOE, SLUG, BOB]) {
      const found = canariesIn(data, one, plainly);
      expect(before.filter((what) => !found.some((at) => at.startsWith(`${what} as`)))).toEqual([]);
    }

    const usage = await app.runtime.usage(app.operator, { org: app.operator.org, agent: COMPANION, contact: null });
    for (const one of [ZOE, SLUG]) {
      const contact = contactId(one["the contact"] ?? "");
      expect(await app.runtime.erase(app.operator, { contact })).toEqual([COMPANION]);
      expect(await app.runtime.erase(app.operator, { contact })).toEqual([]);
    }
    expect([...canariesIn(data, ZOE), ...canariesIn(data, SLUG)]).toEqual([]);
    expect(canariesIn(data, BOB, plainly)).not.toEqual([]);

    // What stays: counts, costs and a pseudonym.
    const whole = { org: app.operator.org, agent: COMPANION, contact: null };
    expect(await app.runtime.usage(app.operator, whole)).toEqual(usage);
    const listed = await app.runtime.threads(app.operator, whole, 9);
    expect(listed.filter(({ scope }) => /^~erased:[0-9a-z]+$/.test(scope.contact)).map(({ key }) => key)).toEqual([
      "",
      "",
      "",
      "",
    ]);
    expect(await problems(app)).toEqual([]);
  }, 120_000);

  it("comes back as somebody new, and nobody writes as what stands for them", async () => {
    const app = await strata(home());
    await live(app, ZOE);
    const contact = contactId(ZOE["the contact"] ?? "");
    await app.runtime.erase(app.operator, { contact });
    await live(app, ZOE);
    expect(await problems(app)).toEqual([]);
    const listed = await app.runtime.threads(
      app.operator,
      { org: app.operator.org, agent: COMPANION, contact: null },
      9,
    );
    expect(listed.filter((one) => one.scope.contact === contact)).toHaveLength(2);
    const [gone] = listed.filter((one) => one.scope.contact !== contact);
    expect(gone?.scope.contact).toMatch(/^~erased:/);
    await expect(thread(app, gone?.scope.contact)).rejects.toMatchObject({ code: "not_allowed" });
  });

  it("is gone at the next start where the program was killed in the middle of erasing them", async () => {
    const folder = home();
    const data = join(folder, ".strata");
    const first = await strata(folder);
    for (const one of [ZOE, BOB]) await live(first, one);
    await first.close();
    // So many files that it takes a while to delete them.
    const own = readdirSync(join(data, "workspace/home/companion")).find((name) => name.startsWith("zoe"));
    const many = join(data, "workspace/home/companion", own ?? "", "many");
    mkdirSync(many);
    for (let n = 0; n < 4_000; n++) writeFileSync(join(many, `${ZOE["the file's name"]}${n}`), "x");

    await killedWhile(erasing(folder), () => readdirSync(many).length < 4_000);
    expect(readdirSync(many).length).toBeGreaterThan(0);
    const again = await strata(folder);
    expect(canariesIn(data, ZOE)).toEqual([]);
    expect(canariesIn(data, BOB, plainly)).not.toEqual([]);
    expect(await problems(again)).toEqual([]);
  }, 120_000);
});

function erasing(folder: string): ChildProcess {
  const main = join(import.meta.dirname, "../../src/doors/cli/main.ts");
  const argv = [main, "contact", "erase", ZOE["the contact"] ?? "", "--yes"];
  const started = spawn(process.execPath, argv, { cwd: folder, env: plainEnv(), stdio: "ignore" });
  onTestFinished(() => void started.kill("SIGKILL"));
  return started;
}

/** SIGKILL as soon as it is so: nothing is tidied up. */
async function killedWhile(program: ChildProcess, isSo: () => boolean): Promise<void> {
  const ended = new Promise((resolve) => program.on("close", (_, signal) => resolve(signal)));
  const until = Date.now() + 20_000;
  while (!isSo() && program.exitCode === null && Date.now() < until) await new Promise(setImmediate);
  program.kill("SIGKILL");
  expect(await ended).toBe("SIGKILL");
}
