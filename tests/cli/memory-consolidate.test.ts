import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { openApp } from "../../src/app.ts";
import { agentName, contactId, untrusted } from "../../src/protocol/index.ts";
import { messagesServer } from "../errors/messages-server.ts";
import { jsonLines, project, strata } from "./strata.ts";

/** A companion that knows two conversations of long ago, and a model that says this. */
async function remembering(says: readonly string[], edit = (yaml: string): string => yaml) {
  const model = await messagesServer(says.map((text) => ({ type: "text", text })));
  const provider = `\nmodel: anthropic:claude-sonnet-4-5\nproviders:\n  anthropic:\n    key: \${SOME_KEY}\n    url: ${model.url}\n`;
  const around = { cwd: project((yaml) => edit(yaml) + provider), env: { SOME_KEY: "not-a-real-key" } };
  const lines = ["spring", "summer"].flatMap((session, month) =>
    ["Hello.", "Aye.", `We sail in ${session}.`, "Good."].map((content, minute) =>
      JSON.stringify({ kind: "message", session, content, at: `2026-0${month + 4}-01T09:0${minute}:00Z` }),
    ),
  );
  writeFileSync(join(around.cwd, "old.jsonl"), lines.join("\n"));
  await strata(["memory", "import", "old.jsonl", "--as", "ann"], around);
  return { around, model, run: (...argv: readonly string[]) => strata(["memory", ...argv, "--as", "ann"], around) };
}

describe("strata memory consolidate", () => {
  it("saves a summary of each conversation, a line each, and tells what they took", async () => {
    const { run, model } = await remembering(["They sail in spring.", "They sail in summer."]);
    const { code, out } = await run("consolidate");
    expect(code).toBe(0);
    expect(out.split("\n")).toEqual([
      expect.stringMatching(/^mem_\S+ stands for 4 messages of spring: They sail in spring\.$/),
      expect.stringMatching(/^mem_\S+ stands for 4 messages of summer: They sail in summer\.$/),
      expect.stringMatching(/^2 summaries, \d+ tokens, \$0\.\d+; `strata memory forget ID` takes one back\.$/),
      "",
    ]);
    expect(model.received[0]?.body).toContain("We sail in spring.");
    expect(model.received[0]?.body).not.toContain("We sail in summer.");
    expect((await run("list", "--kind", "summary")).out).toContain("They sail in spring.");
    expect((await run("consolidate")).out).toContain("Nothing that was said with ann waits to be summed up");
  });

  it("stops at --limit, and gives --json", async () => {
    const { run } = await remembering(["They sail in spring."]);
    const { out } = await run("consolidate", "--limit", "1", "--json");
    expect(jsonLines<readonly unknown[]>(out)[0]).toMatchObject([
      {
        session: "spring",
        messages: 4,
        summary: { kind: "summary", by: "agent", trust: expect.any(String) },
        evicted: [],
      },
    ]);
  });

  it("tells what was saved before the agent's money was spent, and keeps it", async () => {
    const { run } = await remembering(["They sail in spring.", "They sail in summer."], (yaml) =>
      yaml.replace("  companion:\n", "  companion:\n    budgets: { spend: { dollars: 0.0001, per: ever } }\n"),
    );
    const { code, out, err } = await run("consolidate");
    expect(code).not.toBe(0);
    expect(out).toMatch(/^mem_\S+ stands for 4 messages of spring: They sail in spring\.\n$/);
    expect(err).toContain("of the $0.0001 it may spend");
    expect((await run("list", "--kind", "summary")).out).toContain("They sail in spring.");
  });

  it("is refused where no model answers", async () => {
    const { code, err } = await strata(["memory", "consolidate"], { cwd: project() });
    expect(code).toBe(2);
    expect(err).toContain("companion is answered by rehearsal, which is no model and sums nothing up");
  });
});

describe("strata start", () => {
  it("sums up in idle time what was said long enough ago, where the agent declares it", async () => {
    const { around, model } = await remembering(["Aye.", "Good.", "They sail on Friday."], (yaml) =>
      yaml.replace("  companion:\n", "  companion:\n    consolidate: { after: 60 }\n"),
    );
    await talkedLongAgo(around, "We sail on Friday.", "The boat is green.");
    const stop = new AbortController();
    const ended = strata(["start", "--port", "0"], { ...around, signal: stop.signal });
    const listed = async () => (await strata(["memory", "list", "--kind", "summary", "--as", "bob"], around)).out;
    await expect.poll(listed, { timeout: 20_000 }).toContain("They sail on Friday.");
    stop.abort();
    expect(await ended).toMatchObject({ code: 0 });
    expect(model.received).toHaveLength(3);
  });
});

/** What bob said to the companion three hours ago, a turn each. */
async function talkedLongAgo({ cwd, env }: Awaited<ReturnType<typeof remembering>>["around"], ...says: string[]) {
  const app = await openApp({ folder: cwd, data: join(cwd, ".strata"), env });
  try {
    const { runtime, operator } = app;
    const at = Date.now() - 3 * 60 * 60_000;
    app.setClock(at);
    const conversation = { agent: agentName("companion"), contact: contactId("bob"), channel: "test", key: "main" };
    const thread = await runtime.open(operator, conversation);
    for (const text of says) {
      const content = [{ type: "text", text: untrusted(text) }] as const;
      await runtime.post(operator, thread, [{ kind: "message", trust: "contact", channel: "test", at, content }]);
      for await (const event of runtime.run(operator, thread)) if (event.type === "failed") throw event.error;
    }
  } finally {
    await app.close();
  }
}
