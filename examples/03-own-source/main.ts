// Layers that a program fills in each turn: `source: hours` and `source: stock` in strata.yaml name the sources that shop.ts
// exports. What a source returns is put into frames that show its trust. If a source fails, its layer is empty, with a note, and the turn
// continues. The same agent answers in `strata chat clerk --folder examples/03-own-source`.
// In a project of your own, import from "strata".
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { agentName, contactId, openApp, untrusted } from "../../src/index.ts";

const data = mkdtempSync(join(tmpdir(), "strata-example-"));
const app = await openApp({ folder: import.meta.dirname, data, env: process.env });

try {
  const { runtime, operator } = app;
  const thread = await runtime.open(operator, {
    agent: agentName("clerk"),
    contact: contactId("ada"),
    channel: "example",
    key: "main",
  });
  for (const text of ["Are you open today?", "Do you have tyres?"]) {
    console.log(`ada: ${text}`);
    const content = [{ type: "text", text: untrusted(text) }] as const;
    await runtime.post(operator, thread, [
      { kind: "message", trust: "contact", channel: "example", content, at: Date.now() },
    ]);
    for await (const event of runtime.run(operator, thread)) {
      if (event.type === "note") console.log(`note: ${event.message}`);
      if (event.type === "failed") throw event.error;
      if (event.type !== "done") continue;
      // What the model read after the conversation, rebuilt from the record: framed texts stand with the message, the platform's own in the tail.
      const { request } = await runtime.rebuilt(operator, event.turn, 1);
      for (const part of [...(request.messages.at(-1)?.parts ?? []), ...request.tail])
        if ("text" in part) console.log(part.text);
      console.log(`clerk: ${event.text}\n`);
    }
  }
} finally {
  await app.close();
  rmSync(data, { recursive: true });
}
