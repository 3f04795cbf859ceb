import { tmpdir } from "node:os";
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { z } from "zod";
import { projectInCode } from "../../app/entry/agents.ts";
import { allParts } from "../../app/entry/features.ts";
import { agentName, type JsonObject, MEMORY_KINDS, toolName } from "../../protocol/index.ts";
import { openSqlite } from "../../store/index.ts";
import { endOf, OPERATOR, sampleAgent, testRuntime } from "../../turn/index.contract.ts";
import { defineTool, toolset } from "../../turn/tools/index.ts";
import { APPROVAL_API } from "../approvals/index.ts";
import { MEMORY_API, memoryTools } from "../memories/index.ts";
import { FEATURE } from "./index.ts";

const find = (words: string) => ({ call: "more_tools", input: { find: words } });
const through = (call: string, input: JsonObject) => ({ call: "more_tools", input: { call, input } });

const input = z.strictObject({ order: z.string() });
const acts = { input, effect: "external", trust: "contact" } as const;

/** A runtime whose agent has two of its four tools deferred. */
async function deferring(script: readonly Parameters<typeof testRuntime>[0][number][]) {
  const ran: string[] = [];
  const own = ["cancel_order", "refund_order", "find_order"].map((name) =>
    defineTool({
      ...acts,
      name,
      description: `Does what ${name.replace("_", " ")} says.`,
      ...(name === "refund_order" && { tainted: () => "ask" as const }),
      run: async ({ order }) => {
        ran.push(`${name} ${order}`);
        return `${name} ${order}: done`;
      },
    }),
  );
  const tools = toolset([...own, ...(FEATURE.tools?.(Object.create(null)) ?? [])]);
  const names = ["cancel_order", "find_order", "more_tools", "refund_order"].map(toolName);
  const agent = sampleAgent({ tools: names, defer: ["cancel_order", "refund_order"], recall: "none" });
  return { ...(await testRuntime(script, { agent, parts: { tools } })), ran };
}

describe("`defer` in strata.yaml", () => {
  const load = (tools: string[], defer?: string[]) => {
    const layers = [{ id: "identity", rank: 1, text: "You help." }];
    const helper = { description: "It helps.", tools, layers, ...(defer && { defer }) };
    return projectInCode({ organization: "home", agents: { helper } }, { folder: tmpdir(), env: {} });
  };
  const tools = ["memory_save", "memory_search"];

  it("brings the tool that finds them, makes another version, and stands in the lock", () => {
    const [plain, agent] = [load(tools), load(tools, ["memory_save"])].map(({ agents }) => [...agents.values()][0]);
    expect(agent?.tools).toEqual(["memory_save", "memory_search", "more_tools"]);
    expect(agent?.defer).toEqual(["memory_save"]);
    expect(agent?.version).not.toBe(plain?.version);
    expect(load(tools, ["memory_save"]).locked.get(agentName("helper"))).toEqual({ defer: "memory_save" });
  });

  it("refuses a tool that the agent does not have, by name", () => {
    expect(() => load(tools, ["memory_sav"])).toThrow(/memory_sav; did you mean `memory_save`/);
  });
});

describe("deferred tools", () => {
  it("are not sent until they are found, and then run like any other", async () => {
    const script = [
      { parts: [find("cancel an order")] },
      { parts: [through("cancel_order", { order: "A1" })] },
      "Done.",
    ];
    const on = await deferring(script);
    await on.say(await on.open(), "Cancel A1");
    const [first, second] = on.sent;
    expect(first?.prefix.tools.map(({ name }) => name)).toEqual(["find_order", "more_tools"]);
    expect(JSON.stringify(first?.prefix.tools)).toContain("cancel_order, refund_order");
    expect(JSON.stringify(second?.messages.at(-1))).toContain("Does what cancel order says.");
    expect(on.ran).toEqual(["cancel_order A1"]);
  });

  it("are refused while they are not loaded, through the finder and directly, and stay loaded in later turns", async () => {
    const on = await deferring([
      { parts: [through("cancel_order", { order: "A1" }), { call: "cancel_order", input: { order: "A2" } }] },
      { parts: [find("cancel_order")] },
      "Found.",
      { parts: [{ call: "cancel_order", input: { order: "A3" } }, through("cancel_order", { order: "A4" })] },
      "Done.",
    ]);
    const thread = await on.open();
    await on.say(thread, "Cancel");
    expect(on.ran).toEqual([]);
    expect(
      JSON.stringify(on.sent[1]?.messages).match(/cancel_order is not loaded\. Find it with more_tools/g),
    ).toHaveLength(2);
    await on.say(thread, "Now cancel");
    expect(on.ran).toEqual(["cancel_order A3", "cancel_order A4"]);
  });

  it("are named only where the agent has them, and sent at once to one that cannot look for them", async () => {
    const { parts, agent } = await deferring([]);
    const sent = (...names: string[]) => parts.tools.schemas(names.map(toolName), agent);
    const [, more] = sent("find_order", "more_tools", "refund_order");
    expect(more?.description).toContain("further tools: refund_order.");
    expect(sent("find_order", "refund_order").map(({ name }) => name)).toEqual(["find_order", "refund_order"]);
  });

  it("have their own check of arguments", async () => {
    const on = await deferring([{ parts: [find("cancel_order")] }, { parts: [through("cancel_order", {})] }, "Done."]);
    await on.say(await on.open(), "Cancel");
    expect(JSON.stringify(on.sent[2]?.messages.at(-1))).toContain("cancel_order was not run");
    expect(on.ran).toEqual([]);
  });

  it("law 6: wait for a person in a tainted turn, as they would without being deferred", async () => {
    const on = await deferring([
      { parts: [find("refund_order")] },
      { parts: [through("refund_order", { order: "A1" })] },
      "I asked.",
    ]);
    const thread = await on.open();
    expect(endOf(await on.say(thread, "Refund A1")).type).toBe("done");
    expect(on.ran).toEqual([]);
    const [waiting] = await on.runtime.use(APPROVAL_API).approvals(OPERATOR, thread.scope, { status: "waiting" }, 10);
    expect(waiting).toMatchObject({ tool: "refund_order", input: { order: "A1" } });
  });

  it("law 12: a reply that repeats what a deferred tool found in memory becomes none", async () => {
    const store = await openSqlite(":memory:", { parts: await allParts() });
    const tools = toolset([...memoryTools(store), ...(FEATURE.tools?.(Object.create(null)) ?? [])]);
    const agent = sampleAgent({
      tools: ["memory_search", "more_tools"].map(toolName),
      defer: ["memory_search"],
      recall: "none",
    });
    const own = "In the shed: the harbour master has its key, so ask him before noon.";
    const script = [
      own,
      { parts: [find("memory_search")] },
      { parts: [through("memory_search", { query: "harbour master key" })] },
      "You wrote that the harbour master has its key, so ask him before noon.",
    ];
    const on = await testRuntime(script, { agent, store, parts: { tools } });
    const thread = await on.open();
    await on.say(thread, "Good evening");
    await on.say(thread, "Good morning");
    expect(JSON.stringify(on.sent.at(-1)?.messages.at(-1))).toContain("harbour master");
    const all = await on.runtime.use(MEMORY_API).memories(OPERATOR, thread.scope, 100, { kinds: MEMORY_KINDS });
    expect(all.map(({ content }) => content).toSorted()).toEqual(["Good evening", "Good morning", own].toSorted());
  });

  it("law 1: whatever is found and called in which order, each request begins with all of the one before", async () => {
    const call = fc.oneof(
      fc.constantFrom("cancel", "refund_order", "nothing of this kind", "order").map(find),
      fc
        .constantFrom("cancel_order", "refund_order", "find_order", "unknown")
        .map((name) => through(name, { order: "A1" })),
      fc.constantFrom("cancel_order", "find_order").map((name) => ({ call: name, input: { order: "A2" } })),
    );
    const turn = fc.array(fc.array(call, { minLength: 1, maxLength: 3 }), { maxLength: 3 });
    await fc.assert(
      fc.asyncProperty(fc.array(turn, { minLength: 2, maxLength: 4 }), async (turns) => {
        const on = await deferring(turns.flatMap((rounds) => [...rounds.map((parts) => ({ parts })), "Said."]));
        const thread = await on.open();
        for (const [n] of turns.entries()) await on.say(thread, `Message ${n}`);
        for (const [n, request] of on.sent.entries()) {
          const before = on.sent[n - 1];
          if (before === undefined) continue;
          expect(JSON.stringify(request.prefix)).toBe(JSON.stringify(before.prefix));
          expect(request.messages.slice(0, before.messages.length)).toEqual(before.messages);
        }
      }),
      { numRuns: 12 },
    );
  });
});
