import { spawn } from "node:child_process";
import { createHash } from "node:crypto";
import { once } from "node:events";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { describe, expect, it, onTestFinished } from "vitest";
import { databases, server, title } from "../../../../tests/postgres.ts";
import { allParts } from "../../../app/entry/features.ts";
import { contactId, untrusted } from "../../../protocol/index.ts";
import { newFolder, plainRows } from "../../../store/index.contract.ts";
import { openStore } from "../../../store/index.ts";
import { OPERATOR } from "../../../turn/index.contract.ts";
import { LIFE_API } from "../../life/index.ts";
import { belled } from "./shadow.contract.ts";
import { answerAgain, answerFixture } from "./shadow.ts";

const PROGRAM = fileURLToPath(new URL("shadow.contract.ts", import.meta.url));
const made = databases();

/** Every row of every table, as one digest for each table. */
async function digests(address: string): Promise<Readonly<Record<string, string>>> {
  const tables = await plainRows(address, await allParts());
  return Object.fromEntries(
    Object.entries(tables).map(([name, rows]) => [name, createHash("sha256").update(rows.join("\n")).digest("hex")]),
  );
}

async function stand(address: string) {
  const store = await openStore(address, { parts: await allParts() });
  onTestFinished(() => store.close());
  const on = await belled(store);
  await on.runtime.use(LIFE_API).topUp(OPERATOR, on.agent.name, { dollars: 1, note: untrusted("") });
  const thread = await on.open();
  await on.say(thread, "Where is my bell? Ring it, please.", { replyTo: "outbox" });
  const [turn] = await on.runtime.turns(OPERATOR, thread.id);
  if (turn === undefined) throw new Error("no turn");
  return { ...on, thread, turn, before: await digests(address) };
}

function shadows(address: () => Promise<string>): void {
  it("leaves no trace: chain, outbox, memory, credits and journal stay, and the bell does not ring again", async () => {
    const at = await address();
    const { beside, turn, before, rung, sent, time } = await stand(at);
    time.at += 60_000;
    const asked = sent.length;
    const tried = await answerAgain({ ...beside, text: "be brief" }, turn);
    expect(tried).toMatchObject({
      text: "Rang it. (be brief)",
      calls: ["ring", "memory_save"],
      escalated: false,
      notRun: [],
    });
    expect(tried.dollars).toBeGreaterThan(0);
    expect(sent.length).toBe(asked + 2);
    expect(rung).toEqual(["door"]);
    expect(await digests(at)).toEqual(before);
  });

  it("answers what reaches outside from the journal, and says what it does not know", async () => {
    const { beside, turn, sent, rung } = await stand(await address());
    await answerAgain(beside, turn);
    const results = JSON.stringify(sent.at(-1)?.messages.at(-1));
    expect(results).toContain("rang door");
    const fixture = {
      name: "bell",
      message: "Ring!",
      contact: contactId("eve"),
      channel: "chat",
      facts: ["Eve is deaf."],
      answers: {},
      expects: {},
    };
    const asked = await answerFixture({ ...beside, text: null }, fixture);
    expect(asked).toMatchObject({ text: "Rang it. (undefined)", notRun: ["ring"] });
    const told = await answerFixture(beside, { ...fixture, answers: { ring: "rang twice" } });
    expect(told).toMatchObject({ text: "Rang it.", notRun: [] });
    expect(JSON.stringify(sent.at(-1)?.messages.at(-1))).toContain("rang twice");
    expect(rung).toEqual(["door"]);
  });

  it("knows nothing that came after the turn, and nothing of another try", async () => {
    const { beside, turn, thread, say, sent, time, runtime } = await stand(await address());
    time.at += 60_000;
    const { agent, contact } = thread.scope;
    const other = await runtime.open(OPERATOR, { agent, contact, channel: "test", key: "another conversation" });
    await say(other, "My bell is on my green bicycle.");
    await answerAgain({ ...beside, text: "one" }, turn);
    await answerAgain({ ...beside, text: "two" }, turn);
    const [first] = sent.slice(-2);
    const request = JSON.stringify(first);
    expect(request).toContain("Where is my bell");
    expect(request).not.toContain("bicycle");
    expect(request).not.toContain("likes bells");
  });

  it("leaves nothing behind where its program is killed in the middle", async () => {
    const at = await address();
    const { turn, before } = await stand(at);
    const child = spawn(process.execPath, [PROGRAM, at, turn.id], { stdio: ["ignore", "pipe", "inherit"] });
    onTestFinished(() => void child.kill("SIGKILL"));
    const ended = once(child, "exit");
    const [said] = await Promise.race([once(child.stdout.setEncoding("utf8"), "data"), ended]);
    expect(String(said)).toContain("asked");
    child.kill("SIGKILL");
    await ended;
    expect(await digests(at)).toEqual(before);
  });
}

describe("a turn beside the record, in SQLite", () => shadows(async () => join(await newFolder(), "record.db")));

describe.skipIf(server === undefined)(title("a turn beside the record, in PostgreSQL"), () =>
  shadows(async () => made.url(await made.make())),
);
