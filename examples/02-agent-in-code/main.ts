// An agent that a program declares itself: the contents of strata.yaml, as a value. There is no file to load and no lock to
// write, because the program's own source fixes its texts. Two turns of one conversation, and an explanation of the second
// reply. Without a key in the environment the built-in rehearsal answers.
// In a project of your own, import from "strata".
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { agentName, contactId, openApp, type TurnEvent, untrusted } from "../../src/index.ts";

// All memories are in the data folder. Keep it, and the next start continues the same conversation.
const data = mkdtempSync(join(tmpdir(), "strata-example-"));

const app = await openApp({
  folder: import.meta.dirname,
  data,
  env: process.env,
  config: {
    organization: "corner-shop",
    agents: {
      clerk: {
        description: "Answers customers of a small bicycle shop.",
        layers: [
          { id: "shop", rank: 10, text: "You answer for the Corner Shop, which sells and mends bicycles." },
          { id: "manner", rank: 20, text: "Answer in at most three sentences." },
          { id: "clock", rank: 50, source: "clock", timezone: "Europe/Berlin" },
          { id: "recall", rank: 60, source: "recall", limit: 3 },
        ],
        tools: ["memory_save"],
      },
    },
  },
});

try {
  const { runtime, operator } = app;
  const thread = await runtime.open(operator, {
    agent: agentName("clerk"),
    contact: contactId("ada"),
    channel: "example",
    key: "main",
  });

  /** One message, one turn: the event is stored first, then whatever waits on the thread is answered. */
  const say = async (text: string): Promise<Extract<TurnEvent, { type: "done" }>> => {
    console.log(`ada: ${text}`);
    const content = [{ type: "text", text: untrusted(text) }] as const;
    await runtime.post(operator, thread, [
      { kind: "message", trust: "contact", channel: "example", content, at: Date.now() },
    ]);
    for await (const event of runtime.run(operator, thread)) {
      if (event.type === "tool-start") console.log(`  → ${event.tool}`);
      if (event.type === "failed") throw event.error;
      if (event.type === "done") {
        console.log(`clerk: ${event.text.replaceAll("\n", "\n       ")}\n`);
        return event;
      }
    }
    throw new Error("nothing waited on the thread");
  };

  await say("Please remember that my bicycle is green.");
  const { turn } = await say("What colour is my bicycle?");

  // The record knows each section of each request: what it is, how far it is trusted, and what happened to it.
  const { requests } = await runtime.turn(operator, turn);
  for (const { n, ledger } of requests) {
    console.log(`request ${n} of that turn: ${ledger.tokens} of ${ledger.limit} tokens`);
    for (const { section, place, trust, fate, tokens } of ledger.entries)
      console.log(`  ${section.padEnd(12)} ${place.padEnd(11)} ${trust.padEnd(9)} ${fate.padEnd(6)} ${tokens}`);
  }
} finally {
  await app.close();
  rmSync(data, { recursive: true });
}
