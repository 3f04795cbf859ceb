import { cpSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, it, onTestFinished } from "vitest";
import { openApp } from "../../src/app.ts";
import { scripted } from "../../src/models/index.ts";
import { agentName, contactId, type Request, untrusted } from "../../src/protocol/index.ts";

const WORKBENCH = agentName("workbench");
const MESSAGES = 24;
const RULES = Array.from({ length: 700 }, (_, n) => `- Rule ${n}: run the tests of part ${n * 37} first.\n`).join("");

const isSummary = ({ tail }: Request): boolean => tail.some(({ layer }) => layer === "summary");
const words = (sentence: string): string => sentence.repeat(20).slice(0, 320);

/** The workbench beside two long files, in a small window, and a talk of 24 messages with it. */
async function talked() {
  const folder = mkdtempSync(join(tmpdir(), "strata-talk-"));
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }));
  cpSync(join(import.meta.dirname, "../../blueprints/workbench"), folder, { recursive: true });
  for (const name of ["SOUL.md", "AGENTS.md"]) writeFileSync(join(folder, name), RULES.slice(0, 19_000));
  const file = join(folder, "strata.yaml");
  const declared = "{ total: 128000, reply: 8192, system: 16000, history: 10000 }";
  const yaml = readFileSync(file, "utf8");
  expect(yaml).toContain(declared);
  writeFileSync(file, yaml.replace(declared, "{ total: 16000, reply: 4000, system: 6000, history: 4000 }"));
  const app = await openApp({ folder, data: join(folder, ".strata"), env: {} });
  onTestFinished(() => app.close());
  const answer = words("Look into the second part and run its tests once more before you change it. ");
  const { model, sent } = scripted(
    Array.from({ length: 2 * MESSAGES }, () => (asked: Request) => (isSummary(asked) ? "Of the build." : answer)),
  );
  const thread = await app.runtime.open(app.operator, {
    agent: WORKBENCH,
    contact: contactId("ann"),
    channel: "chat",
    key: "main",
  });
  let cuts = 0;
  for (let n = 1; n <= MESSAGES; n++) {
    const text = untrusted(words(`Question ${n}: the build fails where the first part is changed. `));
    const content = [{ type: "text", text }] as const;
    const at = Date.UTC(2026, 10, 21, 9, n);
    await app.runtime.post(app.operator, thread, [{ kind: "message", trust: "contact", channel: "chat", content, at }]);
    for await (const event of app.runtime.run(app.operator, thread, { model })) {
      if (event.type === "failed") throw event.error;
      if (event.type === "cut") cuts++;
    }
  }
  const ledgers = (await app.runtime.turns(app.operator, thread.id)).flatMap(({ requests }) =>
    requests.map(({ ledger }) => ledger),
  );
  return { ledgers, cuts, summaries: sent.filter(isSummary).length };
}

it("001.13 001.14 001.15 001.16 a conversation has the room of `history` from its beginning, beside files that would take all", async () => {
  const { ledgers, cuts, summaries } = await talked();
  const input = ledgers.reduce((sum, { tokens }) => sum + tokens, 0);
  // Before the conversation claimed its room: 7 cuts, 7 summaries and 364,000 tokens in 31 requests.
  expect({ cuts, summaries, requests: ledgers.length }).toEqual({ cuts: 0, summaries: 0, requests: MESSAGES });
  expect(input).toBeLessThanOrEqual(240_000);
  const files = ledgers.map(({ entries }) => entries.find(({ section }) => section === "bootstrap")?.tokens ?? 0);
  expect(Math.min(...files)).toBeGreaterThan(3_900);
});
