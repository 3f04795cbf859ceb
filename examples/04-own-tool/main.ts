// Tools of your own: orders.ts exports them, strata.yaml says who may use them. A small refund runs at once; a large one waits
// until a person has approved it, then runs, and an event on the thread tells the agent.
// The rehearsal calls the tool that a message names, so everything works without a key.
// In a project of your own, import from "strata".
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { APPROVAL_API, agentName, contactId, openApp, untrusted } from "../../src/index.ts";

const data = mkdtempSync(join(tmpdir(), "strata-example-"));
const app = await openApp({ folder: import.meta.dirname, data, env: process.env });
const { runtime, operator } = app;
const to = { agent: agentName("clerk"), contact: contactId("ada"), channel: "example", key: "main" };
const thread = await runtime.open(operator, to);

/** Answers the messages that wait on the thread, and prints what the tools do meanwhile. */
async function turn(): Promise<void> {
  for await (const event of runtime.run(operator, thread)) {
    if (event.type === "tool-start") console.log(`  → ${event.tool}`);
    if (event.type === "report" && event.what === "approval")
      console.log(`  ${JSON.stringify(event.data["input"])} waits for a person: ${event.data["approval"]}`);
    if (event.type === "failed") throw event.error;
    if (event.type === "done") console.log(`clerk: ${event.text.replaceAll("\n", "\n       ")}\n`);
  }
}

async function say(text: string): Promise<void> {
  console.log(`ada: ${text}`);
  const content = [{ type: "text", text: untrusted(text) }] as const;
  await runtime.post(operator, thread, [
    { kind: "message", trust: "contact", channel: "example", content, at: Date.now() },
  ]);
  await turn();
}

try {
  await say('Use order {"number": "A-1001"}');
  await say('Use order {"number": "B-7"}');
  await say('Use refund {"number": "A-1001", "euros": 24}');
  await say('Use refund {"number": "A-1002", "euros": 349}');

  // In the chat this is /approve, on the command line `strata approval approve ID`, over HTTP `POST /v1/approvals/ID/approve`.
  const scope = { org: operator.org, agent: to.agent, contact: to.contact };
  for (const { id, tool } of await runtime.use(APPROVAL_API).approvals(operator, scope, { status: "waiting" }, 10)) {
    const { status, outcome } = await runtime.use(APPROVAL_API).decide(operator, id, { verdict: "approved" });
    console.log(`operator: approves ${tool}; it is ${status}: ${outcome?.text}`);
  }
  for (const event of await runtime.pending(operator, thread))
    for (const part of event.content)
      if (part.type === "text") console.log(`event: ${event.kind}, by the ${event.trust}: ${part.text}`);
  await turn();
} finally {
  await app.close();
  rmSync(data, { recursive: true });
}
