import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, it } from "vitest";
import { openApp } from "../../src/app.ts";
import { agentName, contactId, untrusted } from "../../src/protocol/index.ts";
import { child, place, strata } from "./strata.ts";

const YAML = `organization: home
model: rehearsal
agents:
  clerk:
    description: It answers several at once.
    history: log
    inbox: batch
    layers:
      - {id: rules, rank: 1, text: Be kind.}
`;

it("strata start runs turns over the messages of several senders until nothing waits", async () => {
  const cwd = place();
  writeFileSync(join(cwd, "strata.yaml"), YAML);
  expect(await strata(["lock"], { cwd })).toMatchObject({ code: 0 });
  const app = await openApp({ folder: cwd, data: join(cwd, ".strata"), env: {} });
  const { runtime, operator } = app;
  const clerk = agentName("clerk");
  for (const contact of ["ann", "bob", "cid", "dee", "eve", "fay"]) {
    const thread = await runtime.open(operator, {
      agent: clerk,
      contact: contactId(contact),
      channel: "test",
      key: "main",
    });
    const content = [{ type: "text", text: untrusted(`I am ${contact}.`) }] as const;
    await runtime.post(operator, thread, [
      { kind: "message", trust: "contact", channel: "test", content, at: Date.now() },
    ]);
  }
  const server = child(["start", "--port", "0"], { cwd });
  for (const end = Date.now() + 20_000; Date.now() < end; ) {
    if ((await runtime.inbox(operator, clerk, 9)).length === 0) break;
    await new Promise((resolve) => setTimeout(resolve, 50));
  }
  expect(await runtime.inbox(operator, clerk, 9)).toEqual([]);
  server.process.kill("SIGTERM");
  expect(await server.ended).toMatchObject({ code: 0 });
  const threads = await runtime.threads(operator, { org: operator.org, agent: clerk, contact: null }, 20);
  expect(threads.filter(({ channel }) => channel === "inbox")).toHaveLength(1);
  for await (const found of app.verify(operator.org)) expect(found.type).toBe("checked");
  await app.close();
}, 40_000);
