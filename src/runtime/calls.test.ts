import { describe, expect, it } from "vitest";
import { z } from "zod";
import { StrataError, toolName, untrusted } from "../protocol/index.ts";
import { openSqlite } from "../stores/index.ts";
import { defineTool, memoryTools, toolset } from "../tools/index.ts";
import { collect, endOf, OPERATOR, sampleAgent, stage } from "./stage.contract.ts";

/** A tool that never answers. */
const deaf = (name: string, effect: "none" | "external", begun: string[]) =>
  defineTool({
    name,
    description: "Pays, slowly.",
    input: z.object({}),
    effect,
    trust: "operator",
    limits: { seconds: 0.01 },
    run: () => {
      begun.push(name);
      return new Promise<never>(() => undefined);
    },
  });

describe("law 7: one commit", () => {
  it("a call that acts outside and is left when its time is over stays open: nobody says that it failed", async () => {
    const begun: string[] = [];
    const [pay, look] = [deaf("ring", "external", begun), deaf("look", "none", begun)];
    const calls = {
      parts: [
        { call: "ring", id: "c1", input: {} },
        { call: "look", id: "c2", input: {} },
      ],
    };
    const parts = { tools: toolset([...memoryTools(await openSqlite(":memory:")), pay, look]) };
    const { say, open, runtime, sent } = await stage([calls, new Error("boom"), calls, "Told."], { parts });
    const thread = await open();
    await say(thread, "Pay");
    const results = JSON.stringify(sent[1]?.messages.at(-1));
    expect(results).toContain("ring took longer than 0.01 s and was left; whether it has acted is not known");
    expect(results).toContain("look failed: it took longer than 0.01 s");
    await collect(runtime.run(OPERATOR, thread));
    expect(JSON.stringify(sent[3]?.messages.at(-1))).toContain("its end is not known");
    expect(begun).toEqual(["ring", "look", "look"]);
  });

  it("a call that acted outside is known though the database was busy and its turn was stopped meanwhile", async () => {
    const { store } = await stage([]);
    const stop = new AbortController();
    let busy = 2;
    const endCall: typeof store.endCall = (...given) => {
      stop.abort();
      return busy-- > 0 ? Promise.reject(new StrataError("store_busy", "locked")) : store.endCall(...given);
    };
    const ringing = { parts: [{ call: "ring", id: "c1", input: { bell: "door" } }] };
    const { say, open, runtime, sent, rung } = await stage([ringing, ringing, "Told."], {
      store: { ...store, endCall },
    });
    const thread = await open();
    const stopped = endOf(await say(thread, "Ring", { signal: stop.signal }));
    expect(stopped).toMatchObject({ type: "failed", error: { code: "turn_cancelled" } });
    expect(endOf(await collect(runtime.run(OPERATOR, thread)))).toMatchObject({ type: "done" });
    expect(JSON.stringify(sent[2]?.messages.at(-1))).toContain("rang door");
    expect(rung).toEqual(["door"]);
  });
});

describe("law 6: what a tool writes", () => {
  it.each(["contact", "operator"] as const)(
    "is trusted no more than the tool, here as %s, and the turn",
    async (trust) => {
      const store = await openSqlite(":memory:");
      const memory = { content: untrusted("the contact said so"), tags: [], trust: "platform", at: 1 } as const;
      const look = defineTool({
        name: "look",
        description: "Keeps what it is told.",
        input: z.object({}),
        effect: "store",
        trust,
        run: () => ({ text: untrusted("kept"), failed: false, writes: [{ kind: "memory", memory }] }),
      });
      const ring = deaf("ring", "none", []);
      const parts = { tools: toolset([...memoryTools(store), look, ring]) };
      const { open, say, runtime } = await stage([{ parts: [{ call: "look", id: "c", input: {} }] }, "Kept."], {
        store,
        parts,
        agent: sampleAgent({ rules: trust === "operator" ? [{ tool: toolName("look"), approval: true }] : [] }),
      });
      const thread = await open();
      await say(thread, "Keep this");
      for (const { id } of await runtime.approvals(OPERATOR, thread.scope, {}, 9)) {
        await runtime.decide(OPERATOR, id, { verdict: "approved" });
      }
      expect(await runtime.memories(OPERATOR, thread.scope, 3)).toMatchObject([{ trust: "contact" }]);
    },
  );
});
