import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { openApp } from "../../src/app.ts";
import { agentName, contactId, untrusted } from "../../src/protocol/index.ts";
import { messagesServer } from "../errors/messages-server.ts";
import { jsonLines, project, strata } from "./strata.ts";

/** A companion that knows two conversations of long ago, and a model that says this. */
async function remembering(message: readonly string[], edit = (yaml: string): string => yaml) {
  const model = await messagesServer(message.map((text) => ({ type: "text", text })));
  const provider = `\nmodel: anthropic:claude-sonnet-4-5\nproviders:\n  anthropic:\n    key: \${SOME_KEY}\n    url: ${model.url}\n`;
  const around = { cwd: project((yaml) => edit(yaml) + provider), env: { SOME_KEY: "not-a-real-key" } };
  const lines = ["spring", "summer"].flatMap((session, month) =>
    ["Hello.", "Aye.", `We sail in ${session}.`, "Good."].map((content, minute) =>
      JSON.stringify({ kind: "message", session, content, at: `2026-0${month + 4}-01T09:0${minute}:00Z` }),
    ),
  );
  writeFileSync(join(around.cwd, "old.jsonl"), lines.join("\n"));
  const boats = ["is green", "has a blue sail", "lies in Oslo", "leaks"].map(
    (text) => `- [2026-01-02] The boat ${text}.`,
  );
  writeFileSync(join(around.cwd, "boats.md"), boats.join("\n"));
  await strata(["memory", "import", "old.jsonl", "--as", "ann"], around);
  return { around, model, run: (...argv: readonly string[]) => strata(["memory", ...argv, "--as", "ann"], around) };
}

describe("strata memory consolidate", () => {
  it("saves a summary of each conversation, a line each, and tells what they took", async () => {
    const { run, model } = await remembering(["They sail in spring.", "They sail in summer."]);
    const { code, out } = await run("consolidate");
    expect(code).toBe(0);
    expect(out.split("\n")).toEqual([
      expect.stringMatching(/^mem_\S+ summarizes 4 messages of spring: They sail in spring\.$/),
      expect.stringMatching(/^mem_\S+ summarizes 4 messages of summer: They sail in summer\.$/),
      expect.stringMatching(/^2 summaries, \d+ tokens, \$0\.\d+; `strata memory forget ID` removes one\.$/),
      "",
    ]);
    expect(model.received[0]?.body).toContain("We sail in spring.");
    expect(model.received[0]?.body).not.toContain("We sail in summer.");
    expect((await run("list", "--kind", "summary")).out).toContain("They sail in spring.");
    expect((await run("consolidate")).out).toContain("No conversation with ann needs a summary");
  });

  it("stops at --limit, and gives --json", async () => {
    const { run } = await remembering(["They sail in spring."]);
    const { out } = await run("consolidate", "--limit", "1", "--json");
    expect(jsonLines<readonly unknown[]>(out)[0]).toMatchObject([
      {
        session: "spring",
        sources: 4,
        turn: expect.stringMatching(/^trn_/),
        summary: { kind: "summary", by: "agent", trust: expect.any(String) },
        evicted: [],
      },
    ]);
  });

  it("summarizes what is remembered of each subject with --group-by topic", async () => {
    const { run, model } = await remembering(["The boat is green and lies in Oslo."]);
    for (const text of ["The boat is old.", "She sold half of the boat.", "Her boat won.", "The boat sinks."])
      await run("save", text);
    expect((await run("consolidate", "--group-by", "topic")).out).toContain(
      "No subject remembered about ann needs a summary",
    );
    await run("import", "boats.md");
    const { code, out } = await run("consolidate", "--group-by", "topic");
    expect(code).toBe(0);
    expect(out).toMatch(/^mem_\S+ summarizes 4 memories about boat: The boat is green and lies in Oslo\.\n1 summary, /);
    expect(model.received[0]?.body).toContain("The boat has a blue sail.");
    expect((await run("list", "--tag", "boat", "--kind", "summary")).out).toContain("lies in Oslo");
  });

  it("leaves each request in the record: shown as a turn, counted as used, and verified", async () => {
    const { run, around, model } = await remembering(["They sail in spring."]);
    await run("consolidate", "--limit", "1");
    const [listed] = jsonLines<readonly { readonly id: string; readonly turn: string }[]>(
      (await run("list", "--kind", "summary", "--json")).out,
    );
    const { id = "", turn = "" } = listed?.[0] ?? {};
    expect((await run("show", id)).out).toContain(turn);
    const shown = (await strata(["turn", "show", turn], around)).out;
    expect(shown).toContain("instruction · operator");
    expect(shown).toContain("Sum up 4 messages of spring.");
    expect(shown).toContain("→ says They sail in spring.");
    expect((await strata(["explain", turn], around)).out).toContain("4 of 4 items");
    expect((await strata(["turn", turn, "--wire"], around)).out.trim()).toBe(model.received[0]?.body);
    expect((await strata(["explain"], around)).out).toMatch(/companion +ann +consolidation +1/);
    expect((await strata(["usage", "--as", "ann"], around)).out).toMatch(/companion +1 +1 /);
    expect((await strata(["verify"], around)).code).toBe(0);
    // It is no conversation: nothing is learned from it about how long they are.
    const [linted] = jsonLines<{ readonly agents: readonly unknown[] }>((await strata(["lint", "--json"], around)).out);
    expect(linted?.agents).toMatchObject([{ length: { from: "default" } }]);
  });

  it("tells what was saved before the agent's money was spent, and keeps it", async () => {
    const { run } = await remembering(["They sail in spring.", "They sail in summer."], (yaml) =>
      yaml.replace("  companion:\n", "  companion:\n    budgets: { spend: { dollars: 0.00715, per: ever } }\n"),
    );
    const { code, out, err } = await run("consolidate");
    expect(code).not.toBe(0);
    expect(out).toMatch(/^mem_\S+ summarizes 4 messages of spring: They sail in spring\.\n$/);
    expect(err).toContain("of the $0.00715 it may spend");
    expect((await run("list", "--kind", "summary")).out).toContain("They sail in spring.");
  });

  it("gives programs what was done before it failed, and the error beside it", async () => {
    const { run } = await remembering(["They sail in spring.", "They sail in summer."], (yaml) =>
      yaml.replace("  companion:\n", "  companion:\n    budgets: { spend: { dollars: 0.00715, per: ever } }\n"),
    );
    const { code, out, err } = await run("consolidate", "--json");
    expect(code).toBe(15);
    expect(jsonLines(out)).toMatchObject([[{ session: "spring", summary: { content: "They sail in spring." } }]]);
    expect(jsonLines(err)).toMatchObject([{ error: { code: "spend_limit" } }]);
  });

  it("is refused where no model answers", async () => {
    const { code, err } = await strata(["memory", "consolidate"], { cwd: project() });
    expect(code).toBe(2);
    expect(err).toContain("companion is answered by rehearsal, which is not a model and cannot write summaries");
  });
});

describe("strata start", () => {
  it("summarizes in idle time what was said long enough ago, where the agent declares it", async () => {
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
async function talkedLongAgo({ cwd, env }: Awaited<ReturnType<typeof remembering>>["around"], ...message: string[]) {
  const app = await openApp({ folder: cwd, data: join(cwd, ".strata"), env });
  try {
    const { runtime, operator } = app;
    const at = Date.now() - 3 * 60 * 60_000;
    app.setClock(at);
    const conversation = { agent: agentName("companion"), contact: contactId("bob"), channel: "test", key: "main" };
    const thread = await runtime.open(operator, conversation);
    for (const text of message) {
      const content = [{ type: "text", text: untrusted(text) }] as const;
      await runtime.post(operator, thread, [{ kind: "message", trust: "contact", channel: "test", at, content }]);
      for await (const event of runtime.run(operator, thread)) if (event.type === "failed") throw event.error;
    }
  } finally {
    await app.close();
  }
}
