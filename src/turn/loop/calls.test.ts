import { mkdtempSync, readdirSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { describe, expect, it, onTestFinished } from "vitest";
import { z } from "zod";
import { allParts } from "../../app/entry/features.ts";
import { APPROVAL_API } from "../../features/approvals/index.ts";
import { MEMORY_API, memoryTools } from "../../features/memories/index.ts";
import { scripted } from "../../models/index.ts";
import {
  AGENT_STATES,
  type AgentState,
  type Budgets,
  DEFAULT_BUDGETS,
  eventId,
  issueId,
  layerId,
  lowestTrust,
  type NewText,
  StrataError,
  type Trust,
  toolName,
  trusted,
  untrusted,
} from "../../protocol/index.ts";
import { EDIT_TEXT, openSqlite } from "../../store/index.ts";
import { collect, endOf, message, OPERATOR, sampleAgent, testRuntime } from "../index.contract.ts";
import { defineTool, toolset } from "../tools/index.ts";

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
    const parts = {
      tools: toolset([...memoryTools(await openSqlite(":memory:", { parts: await allParts() })), pay, look]),
    };
    const { say, open, runtime, sent } = await testRuntime([calls, new Error("boom"), calls, "Told."], { parts });
    const thread = await open();
    await say(thread, "Pay");
    const results = JSON.stringify(sent[1]?.messages.at(-1));
    expect(results).toContain("ring took longer than 0.01 s; its effect is unknown");
    expect(results).toContain("look failed: it took longer than 0.01 s");
    await collect(runtime.run(OPERATOR, thread));
    expect(JSON.stringify(sent[3]?.messages.at(-1))).toContain("its outcome is unknown");
    expect(begun).toEqual(["ring", "look", "look"]);
  });

  it("a call that acted outside in a turn that failed is known wherever among its calls the next turn asks for it", async () => {
    const ring = (bell: string) => ({ call: "ring", input: { bell } });
    const [first, second] = [{ parts: [ring("back"), ring("door")] }, { parts: [ring("door")] }];
    const { say, open, runtime, sent, rung } = await testRuntime([first, new Error("boom"), second, "Told."]);
    const thread = await open();
    await say(thread, "Ring");
    expect(endOf(await collect(runtime.run(OPERATOR, thread)))).toMatchObject({ type: "done" });
    expect(JSON.stringify(sent[3]?.messages.at(-1))).toContain("rang door");
    expect(rung).toEqual(["back", "door"]);
  });

  it("a call that acted outside is known though the database was busy and its turn was stopped meanwhile", async () => {
    const { store } = await testRuntime([]);
    const stop = new AbortController();
    let busy = 2;
    const endCall: typeof store.endCall = (...given) => {
      stop.abort();
      return busy-- > 0 ? Promise.reject(new StrataError("store_busy", "locked")) : store.endCall(...given);
    };
    const ringing = { parts: [{ call: "ring", id: "c1", input: { bell: "door" } }] };
    const { say, open, runtime, sent, rung } = await testRuntime([ringing, ringing, "Told."], {
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

describe("a long call", () => {
  it("tells how far it has come while it runs, without secrets and at most a line; the model reads nothing of it", async () => {
    const next = Promise.withResolvers<void>();
    const copy = defineTool({
      name: "look",
      description: "Copies.",
      input: z.object({}),
      effect: "none",
      trust: "operator",
      run: async (_, { progress }) => {
        progress("1 of 2");
        await next.promise;
        progress(`2 of 2 ${"x".repeat(500)}`);
        return "copied";
      },
    });
    const calls = { parts: [{ call: "look", id: "c1", input: {} }] };
    const { runtime, open, time, sent } = await testRuntime([calls, "Done."], {
      parts: { tools: toolset([copy]) },
      agent: sampleAgent({ tools: [copy.schema.name] }),
    });
    const thread = await open();
    await runtime.post(OPERATOR, thread, [message("Copy", time.at)]);
    const told: string[] = [];
    for await (const event of runtime.run(OPERATOR, thread)) {
      if (event.type === "tool-progress") told.push(event.message);
      if (event.type === "tool-progress") next.resolve();
    }
    expect(told[0]).toBe("1 of 2");
    expect(told[1]?.length).toBeLessThanOrEqual(201);
    expect(JSON.stringify(sent[1]?.messages)).not.toContain("1 of 2");
  });
});

describe("law 6: what a tool writes", () => {
  it.each(["contact", "operator"] as const)(
    "is trusted no more than the tool, here as %s, and the turn",
    async (trust) => {
      const store = await openSqlite(":memory:", { parts: await allParts() });
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
      const { open, say, runtime } = await testRuntime([{ parts: [{ call: "look", id: "c", input: {} }] }, "Kept."], {
        store,
        parts,
        agent: sampleAgent({ rules: trust === "operator" ? [{ tool: toolName("look"), approval: true }] : [] }),
      });
      const thread = await open();
      await say(thread, "Keep this");
      for (const { id } of await runtime.use(APPROVAL_API).approvals(OPERATOR, thread.scope, {}, 9)) {
        await runtime.use(APPROVAL_API).decide(OPERATOR, id, { verdict: "approved" });
      }
      expect(await runtime.use(MEMORY_API).memories(OPERATOR, thread.scope, 3)).toMatchObject([{ trust: "contact" }]);
    },
  );
});

describe("law 6: an edit that a tool writes", () => {
  const edit: NewText = {
    layer: layerId("manners"),
    text: trusted("Be brief."),
    status: "kept",
    trust: "platform",
    inputs: "platform",
    by: "operator",
    reason: untrusted("it says so"),
    verdict: { verdict: "pass", findings: [] },
    parent: 0,
    place: { rank: 10, source: "text" },
    beside: [],
  };

  it.each<[Trust, Trust, string]>([
    ["contact", "platform", "proposed"],
    ["member", "platform", "kept"],
    ["operator", "platform", "kept"],
    ["operator", "contact", "proposed"],
  ])(
    "is the agent's word at the most, and waits for an operator in a turn that holds words of a %s, by a tool trusted as %s",
    async (trust, own, status) => {
      const store = await openSqlite(":memory:", { parts: await allParts() });
      const written = { text: untrusted("kept"), failed: false, writes: [EDIT_TEXT.plan({ edit })] };
      const look = defineTool({
        name: "look",
        description: "Changes its manners.",
        input: z.object({}),
        effect: "store",
        trust: own,
        run: () => untrusted("kept"),
      });
      const { layers } = sampleAgent();
      const agent = sampleAgent({
        layers: layers
          .slice(0, 2)
          .map((one) => (one.rank === 10 ? { ...one, id: edit.layer, mutability: "versioned" } : one)),
        recall: "none",
        tools: [toolName("look")],
      });
      const on = await testRuntime([{ parts: [{ call: "look", id: "c", input: {} }] }, "Kept."], {
        store,
        agent,
        // The set of tools lets no tool of a module write an edit: this one is as if it were Strata's own.
        parts: { tools: { schemas: () => [look.schema], get: () => ({ ...look, run: async () => written }) } },
      });
      const thread = await on.open();
      await store.receive(thread.scope, thread.id, [
        { ...message("Change", on.time.at), trust, id: eventId(issueId("event", 1, new Uint8Array(10))) },
      ]);
      expect(endOf(await collect(on.runtime.run(OPERATOR, thread))).type).toBe("done");
      const [kept] = await store.textVersions({ org: agent.org, agent: agent.name }, { limit: 1 });
      expect(kept).toMatchObject({ status, by: "agent", trust: "agent", inputs: lowestTrust([trust, own]) });
      await store.close();
    },
  );
});

describe("000.51 a tool that is called only in some states", () => {
  const sleepy = (states: readonly AgentState[]) =>
    defineTool({
      name: "look",
      description: "Looks.",
      input: z.object({}),
      effect: "none",
      trust: "contact",
      states,
      run: (_, { state }) => ({ text: untrusted(`looked while ${state}`), failed: false }),
    });
  const called = async (states: readonly AgentState[], approval = false) => {
    const agent = sampleAgent({
      tools: [toolName("look")],
      recall: "none",
      ...(approval && { rules: [{ tool: toolName("look"), approval: true }] }),
    });
    const on = await testRuntime([{ parts: [{ call: "look", id: "c", input: {} }] }, "Done.", "Told."], {
      agent,
      parts: { tools: toolset([sleepy(states)]) },
    });
    const thread = await on.open();
    await on.say(thread, "Look");
    return { ...on, thread, answer: JSON.stringify(on.sent[1]?.messages.at(-1)) };
  };

  it("runs in a turn while the agent is executing actions, and is refused in every other state with a sentence", async () => {
    expect((await called(["executing actions"])).answer).toContain("looked while executing actions");
    for (const state of AGENT_STATES.filter((one) => one !== "executing actions")) {
      expect((await called([state])).answer).toContain(
        `Not run: look may be called only while ${state}, and the agent is executing actions. Continue without it.`,
      );
    }
  });

  it("runs between two turns as idle once a person approved it, and is not asked for where it could never run", async () => {
    const { runtime, thread } = await called(["executing actions", "idle"], true);
    const [waiting] = await runtime.use(APPROVAL_API).approvals(OPERATOR, thread.scope, {}, 9);
    const done = waiting && (await runtime.use(APPROVAL_API).decide(OPERATOR, waiting.id, { verdict: "approved" }));
    expect(JSON.stringify(done)).toContain("looked while idle");
    const never = await called(["executing actions"], true);
    expect(never.answer).toContain(
      "Not run: this call needs a person's approval, and an approved call runs between turns",
    );
    expect(await never.runtime.use(APPROVAL_API).approvals(OPERATOR, never.thread.scope, {}, 9)).toEqual([]);
  });
});

describe("what a turn saves", () => {
  it("is found in the same turn, and what it puts away is not", async () => {
    const save = (content: string, more = {}) => ({ call: "memory_save", input: { content, ...more } });
    const search = { call: "memory_search", input: { query: "Which cats are there?" } };
    const { say, open, sent, store } = await testRuntime([
      { parts: [save("Ann's cat is called Miso"), save("Ann sails")] },
      { parts: [search] },
      "Miso.",
      { parts: [search] },
      (request) => {
        const id = /(mem_\w+) · 2026-11-21 · contact\\n/u.exec(JSON.stringify(request.messages.at(-1)))?.[1] ?? "";
        return { parts: [save("Ann's cat is called Tofu", { supersedes: id })] };
      },
      { parts: [search] },
      "Tofu.",
    ]);
    const thread = await open();
    const told = (n: number): string => JSON.stringify(sent[n]?.messages.at(-1));
    await say(thread, "My cat is called Miso, and I sail");
    expect(told(2)).toMatch(/mem_\w+ · 2026-11-21 · contact · saved in this turn[^-]*Ann's cat is called Miso/u);
    expect(told(2)).not.toContain("Ann sails");
    await say(thread, "No, it is called Tofu");
    expect(told(6)).toContain("called Tofu");
    expect(told(6)).not.toContain("Ann's cat is called Miso");
    const facts = await store.searchMemories([thread.scope], {
      texts: [{ text: "cat", weight: 1 }],
      kinds: ["fact"],
      limit: 9,
    });
    expect(facts.map(({ content }) => content)).toEqual(["Ann's cat is called Tofu"]);
  });
});

/** A picture of one point. */
const PNG = Buffer.concat([Buffer.from("\x89PNG\r\n\x1a\n", "latin1"), Buffer.from("one point")]);
const PDF = Buffer.concat([Buffer.from("%PDF-1.7\n"), Buffer.alloc(60_000, 32)]);

interface Shooting {
  readonly failed?: boolean;
  readonly budgets?: Partial<Budgets>;
  readonly effect?: "external";
  /** Media types that the model's API takes in a result. */
  readonly takes?: readonly string[];
  readonly store?: Awaited<ReturnType<typeof openSqlite>>;
}

describe("a picture or a file as a part of a result", () => {
  const shooting = async (media: readonly unknown[], change: Shooting = {}) => {
    const shoot = defineTool({
      ...{ name: "look", description: "Looks.", input: z.object({ at: z.string() }), trust: "contact" },
      effect: change.effect ?? "none",
      run: () => ({ text: "Here it is.", media, ...(change.failed && { failed: true }) }) as never,
    });
    const call = { parts: [{ call: "look", id: "c1", input: { at: "a" } }] };
    const { model, sent } = scripted([call, "Seen."]);
    const parts = {
      tools: toolset([...memoryTools(await openSqlite(":memory:", { parts: await allParts() })), shoot]),
      modelOf: async () => ({ ...model, ...(change.takes && { resultMedia: change.takes }) }),
    };
    const agent = sampleAgent({ tools: [toolName("look")], budgets: { ...DEFAULT_BUDGETS, ...change.budgets } });
    const on = await testRuntime([], { parts, agent, ...(change.store && { store: change.store }) });
    const thread = await on.open();
    expect(endOf(await on.say(thread, "Look")).type).toBe("done");
    const told = sent[1]?.messages.at(-1);
    const result = told?.role === "tool" ? told.parts[0] : undefined;
    return { ...on, sent, thread, result };
  };

  it("stands beside the frame, is counted, and is rebuilt byte for byte", async () => {
    const { result, sent, runtime, thread, store } = await shooting([{ mediaType: "image/png", data: PNG }]);
    expect(result?.media).toEqual([{ type: "image", mediaType: "image/png", data: PNG.toString("base64") }]);
    expect(result?.text).toMatch(/\| Here it is\.\n\(Attached: image\/png, 1 kB, counted as about 1600 tokens\.\)/);
    const [turn] = await runtime.turns(OPERATOR, thread.id);
    if (turn === undefined) throw new Error("there is no turn");
    expect((await runtime.rebuilt(OPERATOR, turn.id, 2)).request).toEqual(sent[1]);
    const [first, second] = turn.requests;
    expect((second?.ledger.tokens ?? 0) - (first?.ledger.tokens ?? 0)).toBeGreaterThan(1_600);
    for await (const finding of store.verify(thread.scope.org)) expect(finding.type).not.toBe("problem");
  });

  it("is gone with its contact: no byte of it stays in the database, nor in the journal of a call that acts outside", async () => {
    const folder = mkdtempSync(join(tmpdir(), "strata-media-"));
    onTestFinished(() => rmSync(folder, { recursive: true, force: true }));
    const store = await openSqlite(join(folder, "a.db"), { parts: await allParts() });
    const { runtime, thread } = await shooting([{ mediaType: "image/png", data: PNG }], { effect: "external", store });
    const isThere = () =>
      readdirSync(folder).some((name) => readFileSync(join(folder, name)).includes(PNG.toString("base64")));
    expect(isThere()).toBe(true);
    await runtime.erase(OPERATOR, { contact: thread.scope.contact });
    for await (const finding of store.verify(thread.scope.org)) expect(finding.type).not.toBe("problem");
    await store.close();
    expect(isThere()).toBe(false);
  });

  it("is neither sent nor counted where the model's API takes none in a result, and a note says so", async () => {
    const { result, runtime, thread } = await shooting([{ mediaType: "image/png", data: PNG }], { takes: [] });
    expect(result?.media).toBeUndefined();
    expect(result?.text).toMatch(
      /\| Here it is\.\n\(Omitted: image\/png, 1 kB; this model's API does not accept it in tool results\.\)$/,
    );
    const [first, second] = (await runtime.turns(OPERATOR, thread.id))[0]?.requests ?? [];
    expect((second?.ledger.tokens ?? 0) - (first?.ledger.tokens ?? 0)).toBeLessThan(300);
  });

  it("is left out with a note where it has no room, or where the call failed", async () => {
    const big = await shooting([{ mediaType: "application/pdf", data: PDF }]);
    expect(big.result?.media).toBeUndefined();
    expect(big.result?.text).toContain("(Omitted: application/pdf, 61 kB; over budget.)");
    const roomy = await shooting([{ mediaType: "application/pdf", data: PDF, name: "a\nb.pdf" }], {
      budgets: { result: 20_000 },
    });
    expect(roomy.result?.media?.[0]).toMatchObject({ type: "file", name: "a b.pdf" });
    const failed = await shooting([{ mediaType: "image/png", data: PNG }], { failed: true });
    expect(failed.result).toMatchObject({ failed: true, text: expect.stringContaining("the call failed") });
    expect(failed.result?.media).toBeUndefined();
  });

  it.each([
    ["what no provider takes", [{ mediaType: "image/svg+xml", data: "PHN2Zz4=" }], '"media" has "image/svg+xml"'],
    ["what is not as it says", [{ mediaType: "image/png", data: "AAAA" }], "not image/png, although it says so"],
    [
      "what is too large",
      [{ mediaType: "application/pdf", data: Buffer.concat([PDF, Buffer.alloc(4e6)]) }],
      "at most 3750000",
    ],
    ["too many", Array.from({ length: 6 }, () => ({ mediaType: "image/png", data: PNG })), '"media"'],
  ])("law 10: %s would spoil each request from then on, so it is no answer", async (_, media, sentence) => {
    const { result } = await shooting(media);
    expect(result).toMatchObject({ failed: true, text: expect.stringContaining(sentence) });
  });
});
