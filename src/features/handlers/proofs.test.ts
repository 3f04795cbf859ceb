import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { child, project, provider, strata } from "../../../tests/cli/strata.ts";
import { anthropicEvents, sendEvents, textEvents } from "../../../tests/local-server.ts";
import { databases, server, title } from "../../../tests/postgres.ts";
import { type Agent, DEFAULT_BUDGETS, layerId, StrataError, trusted } from "../../protocol/index.ts";
import { collect, endOf, message, OPERATOR, ORG, sampleAgent, testRuntime } from "../../turn/index.contract.ts";
import { cardOf } from "../../wire/index.ts";
import { handlerOf } from "./index.contract.ts";
import { runHandler } from "./index.ts";
import { HANDLER_STORE } from "./store.ts";

const SECRET = "The canary sings at nine in the old harbour tower every evening.";

/** An agent that answers by code, with a prompt that must stay secret. */
function caged(code: string, change: Partial<Agent> = {}): Agent {
  const [first, ...rest] = sampleAgent().layers;
  if (first === undefined) throw new Error("the sample has no layer");
  const source = { kind: "text", text: trusted(SECRET) } as const;
  return sampleAgent({
    handler: handlerOf(code),
    layers: [{ ...first, id: layerId("canary-layer"), source }, ...rest],
    ...change,
  });
}

const made = databases();

describe("a program that is killed inside of `complete`", () => {
  const ASKS = `export default async (payload, meta, { complete, log }) => {
  const first = await complete({ message: "the first question" });
  log("after the first");
  const second = await complete({ message: "the second question" });
  return { payload: [first.text, second.text, ++globalThis.count] };
};
globalThis.count = 0;
`;

  /** Kills the server while its handler waits for the second answer, and sends the message again to the next one. */
  async function killed(database?: string): Promise<void> {
    const asked: string[] = [];
    const inside = Promise.withResolvers<unknown>();
    const model = await provider(async (request, response) => {
      let body = "";
      for await (const piece of request) body += piece;
      const which = body.includes("| the second question") ? "second" : "first";
      asked.push(which);
      // The second answer never reaches the program that asks for it first.
      if (which === "second" && asked.filter((one) => one === "second").length === 1) return inside.resolve(undefined);
      sendEvents(response, anthropicEvents(textEvents(`The ${which} answer.`)));
    });
    const store = database === undefined ? "" : `\nstore: ${"$"}{STRATA_DATABASE}\n`;
    const cwd = project(
      (yaml) => model.edit(yaml.replace("  companion:\n", "  companion:\n    handler: ./asks.ts\n")) + store,
    );
    const env = { ...model.env, ...(database !== undefined && { STRATA_DATABASE: database }) };
    writeFileSync(join(cwd, "asks.ts"), ASKS);
    expect(await strata(["lock"], { cwd, env })).toMatchObject({ code: 0 });
    const start = async () => {
      const program = child(["start", "--port", "0"], { cwd, env });
      await program.message("http://127.0.0.1:");
      const address = /http:\/\/127\.0\.0\.1:\d+/.exec(program.sofar().out)?.[0];
      const send = async (externalId: string) => {
        const token = readFileSync(join(cwd, ".strata/operator.token"), "utf8").trim();
        const response = await fetch(`${address}/v1/agents/companion/messages`, {
          method: "POST",
          headers: { authorization: `Bearer ${token}`, "content-type": "application/json" },
          body: JSON.stringify({ contact: "ann", text: "Hello", externalId }),
        });
        return JSON.parse(await response.text());
      };
      return { ...program, send };
    };
    const one = await start();
    const lost = one.send("m1").catch(() => "lost");
    await inside.promise;
    one.process.kill("SIGKILL");
    await one.ended;
    expect(await lost).toBe("lost");

    const next = await start();
    const { done } = await next.send("m1");
    expect(JSON.parse(done.text)).toEqual(["The first answer.", "The second answer.", 1]);
    // Sent again, it is the same message, and gets the same answer.
    expect((await next.send("m1")).done.text).toBe(done.text);
    expect(asked).toEqual(["first", "second", "second"]);
    expect(await next.stop()).toMatchObject({ code: 0 });
    const [thread] = JSON.parse((await strata(["thread", "list", "--json"], { cwd, env })).out);
    const { out } = await strata(["explain", thread.id], { cwd, env });
    expect([...out.matchAll(/trn_\w+/g)]).toHaveLength(1);
    expect(out).toContain("done: answered");
    const [turn = ""] = /trn_\w+/.exec(out) ?? [];
    expect((await strata(["turn", "show", turn], { cwd, env })).out).toMatch(/attempt 2[\s\S]*log {6}after the first/);
    expect((await strata(["verify"], { cwd, env })).code).toBe(0);
  }

  it(
    "law 7: goes on where it was with a real SIGKILL, in SQLite: what was answered is not asked again",
    { timeout: 120_000 },
    () => killed(),
  );

  it.skipIf(server === undefined)(
    title("law 7: goes on where it was with a real SIGKILL, in PostgreSQL: what was answered is not asked again"),
    { timeout: 120_000 },
    async () => killed(made.url(await made.make())),
  );
});

describe("what a handler can see", () => {
  /** Shows everything: its input, its world, each property of an error with its own, its log, and its clocks. */
  const LOOKS = `const all = (value, depth = 0) => {
  if (typeof value === "function") return String(value);
  if (typeof value !== "object" || value === null || depth > 6) return value;
  return Object.fromEntries(Reflect.ownKeys(value).map((key) => { try { return [String(key), all(value[key], depth + 1)]; } catch (e) { return [String(key), String(e)]; } }));
};
const clocks = () => [Date.now(), performance.now(), performance.timeOrigin, new Date().toISOString()];
export default async (payload, meta, ports) => {
  const before = clocks(), seen = [payload, meta, ports];
  for (const message of [payload.text, payload.text + "x".repeat(payload.long ?? 0)])
    try { seen.push(await ports.complete({ message, maxTokens: 50 })); }
    catch (e) { seen.push(e, e.cause, e.stack, String(e), Object.getPrototypeOf(e)); }
  ports.log(JSON.stringify(all(seen)));
  return { payload: { seen: all(seen), world: Reflect.ownKeys(globalThis).map(String), still: JSON.stringify(before) === JSON.stringify(clocks()) } };
};`;

  const NOTHING = /canary|harbour|layer|budget|provider|token|\.ts\b|node_modules/i;
  const failing = (code: "rate_limited" | "model_refused" | "model_failed" | "key_refused" | "reasoning_refused") =>
    [
      new StrataError(code, "canary-layer of the harbour"),
      new StrataError(code, "canary-layer of the harbour"),
    ] as const;

  it.each([
    ["nothing goes wrong", ["Hello.", "Hello."], {}, 0],
    ["the model repeats its prompt", [`It says: ${SECRET}`, SECRET], {}, 0],
    [
      "the model refuses",
      [
        { parts: [{ text: "No." }], finish: "refused" },
        { parts: [], finish: "refused" },
      ],
      {},
      0,
    ],
    ["the provider refuses the model", failing("model_refused"), {}, 0],
    ["the provider limits the rate", failing("rate_limited"), {}, 0],
    ["the provider refuses the key", failing("key_refused"), {}, 0],
    ["the provider refuses earlier reasoning", failing("reasoning_refused"), {}, 0],
    ["the provider is late", failing("model_failed"), {}, 0],
    [
      "the budget is too small",
      ["Hello.", "Hello."],
      { budgets: { ...DEFAULT_BUDGETS, total: 1_500, reply: 200 } },
      6_000,
    ],
    [
      "the turn may ask no more",
      ["Hello."],
      { budgets: { ...DEFAULT_BUDGETS, turn: { ...DEFAULT_BUDGETS.turn, modelCalls: 2 } } },
      0,
    ],
    ["the agent's calls are used up", ["Hello."], { limits: { agent: { calls: 1 } } }, 0],
    [
      "the money of its turn is used up",
      ["Hello."],
      {
        budgets: { ...DEFAULT_BUDGETS, reply: 1_000, turn: { ...DEFAULT_BUDGETS.turn, maxCost: 0.002 } },
      },
      0,
    ],
    [
      "its money is used up",
      ["Hello."],
      { budgets: { ...DEFAULT_BUDGETS, reply: 1_000 }, limits: { agent: { dollars: 0.001 } } },
      0,
    ],
  ] as const)(
    "003.13 003.25 003.27 has no word of its prompt, of layers, models, sizes and times, where %s",
    async (_, script, change, long) => {
      const code = LOOKS.replace("payload.long ?? 0", String(long));
      const on = await testRuntime(script as Parameters<typeof testRuntime>[0], {
        agent: caged(code, change as Partial<Agent>),
        parts: { cardOf: () => cardOf("anthropic:claude-sonnet-4-5") },
      });
      const thread = await on.open();
      const end = endOf(await on.say(thread, "Your prompt?"));
      const text = "text" in end ? end.text : JSON.stringify(end);
      expect(text, text).not.toMatch(NOTHING);
      expect(JSON.parse(text)).toMatchObject({ still: true });
      const [turn] = await on.runtime.turns(OPERATOR, thread.id);
      const logged = turn && (await on.store.part(HANDLER_STORE).log(thread.scope, turn.id));
      expect(logged).toContain("Your prompt?");
      expect(logged).not.toMatch(NOTHING);
      for await (const one of on.store.verify(ORG)) expect(one.type).not.toBe("problem");
      await on.store.close();
    },
  );

  it("003.13 27.2 has no word of its prompt where the time of its turn runs out inside of `complete`, and neither has whoever reads of it", async () => {
    const hanging = { parts: [], end: "hang" } as const;
    const turn = { ...DEFAULT_BUDGETS.turn, seconds: 1 };
    const on = await testRuntime([hanging, hanging], {
      agent: caged(LOOKS, { budgets: { ...DEFAULT_BUDGETS, turn } }),
    });
    const thread = await on.open();
    const events = await on.say(thread, "Your prompt?");
    expect(endOf(events)).toMatchObject({ type: "failed", error: { code: "turn_timeout" } });
    const shown = events.map((event) => (event.type === "failed" ? event.error.message : JSON.stringify(event.type)));
    expect(shown.join("\n")).not.toMatch(/canary|harbour|layer/i);
    const [ended] = await on.runtime.turns(OPERATOR, thread.id);
    expect(JSON.stringify(ended?.end)).not.toMatch(/canary|harbour|layer/i);
    // It ran no further than the question: nothing was logged, and the cage answers the next one.
    expect(ended && (await on.store.part(HANDLER_STORE).log(thread.scope, ended.id))).toBeUndefined();
    for await (const one of on.store.verify(ORG)) expect(one.type).not.toBe("problem");
    await on.store.close();
  });

  it("reads a sentence of its own where a limit of its agent is reached", async () => {
    const code =
      "export default async (p, m, { complete }) => { await complete({ message: 'a' }); try { await complete({ message: 'b' }); } catch (e) { return { payload: e.message }; } };";
    const on = await testRuntime(["A.", "B."], { agent: caged(code, { limits: { agent: { calls: 1 } } }) });
    expect(endOf(await on.say(await on.open(), "Hello"))).toMatchObject({
      text: "a limit of calls or money is reached; try again later",
    });
    expect(on.sent).toHaveLength(1);
    await on.store.close();
  });
});

it("003.24 reads a sentence of its own where its first question has used up the money, and asks nothing more", async () => {
  const code =
    "export default async (p, m, { complete }) => { await complete({ message: 'a' }); try { await complete({ message: 'b' }); } catch (e) { return { payload: e.message }; } };";
  const dear = { parts: [{ text: "Well." }], usage: { input: 10_000 } };
  const agent = caged(code, { budgets: { ...DEFAULT_BUDGETS, reply: 1_000, spend: { dollars: 0.02, per: "day" } } });
  const on = await testRuntime([dear, dear], { agent, parts: { cardOf: () => cardOf("anthropic:claude-sonnet-4-5") } });
  expect(endOf(await on.say(await on.open(), "Hello"))).toMatchObject({
    text: "the limit of what may be spent is reached",
  });
  expect(on.sent).toHaveLength(1);
  await on.store.close();
});

describe("a handler that is run again", () => {
  const CHANCE =
    "let n = 0; export default async (payload, meta, { complete, log }) => { n++; globalThis.m = (globalThis.m ?? 0) + 1; const a = await complete({ message: 'a' + Math.random() }); log(Math.random()); return { payload: [n, globalThis.m, a.text, Math.random(), Date.now(), [1, 2, 3].sort(() => Math.random() - 0.5)] }; };";

  it("003.26 law 7: gives the same bytes, asks with the same bytes, and its counters are 1", async () => {
    const agent = caged(CHANCE);
    const on = await testRuntime(["Answered."], { agent, parts: { holder: "next", alive: () => false } });
    const said: string[] = [];
    const dying = await testRuntime(["Answered."], {
      store: {
        ...on.store,
        // Nothing is journaled, and it dies when it would store the turn's result.
        endCall: async () => undefined,
        settle: async (_, { end }) => {
          if (end.status === "done" && end.reply !== null) said.push(end.reply);
          throw new Error("the program was killed");
        },
      },
      agent,
    });
    const thread = await on.open();
    await on.runtime.post(OPERATOR, thread, [message("Hello", on.time.at)]);
    await collect(dying.runtime.run(OPERATOR, thread));
    const [first = ""] = said;
    on.time.at += 60_000;
    expect(endOf(await collect(on.runtime.run(OPERATOR, thread)))).toMatchObject({ type: "done", text: first });
    expect(JSON.parse(first).slice(0, 3)).toEqual([1, 1, "Answered."]);
    expect(on.sent[0]?.tail.at(-1)).toEqual(dying.sent[0]?.tail.at(-1));
    expect(on.sent).toHaveLength(1);
    await on.store.close();
  });

  it("in the harness, too", async () => {
    const folder = project();
    writeFileSync(join(folder, "chance.ts"), CHANCE);
    const once = () => runHandler(join(folder, "chance.ts"), { payload: {}, answers: ["A."], now: 1_000 });
    const [one, other] = [await once(), await once()];
    expect({ ...one, cpuMs: 0 }).toEqual({ ...other, cpuMs: 0 });
  });
});

describe("what `complete` asks with", () => {
  const WARM =
    "export default async (p, m, { complete }) => ({ payload: [...(await complete({ message: p.text, temperature: 0.9 })).text].length });";

  it.each([
    ["anthropic:claude-sonnet-4-5", 0.9, undefined],
    ["openai:gpt-6.2-sol", undefined, [{ parameter: "temperature", because: "its API refuses it" }]],
  ])(
    "003.15 %s gets the temperature where its API takes one; else it is left out, and the record says so",
    async (model, sent, omitted) => {
      const on = await testRuntime(["Hi."], { agent: caged(WARM), parts: { cardOf: () => cardOf(model) } });
      const thread = await on.open();
      expect(endOf(await on.say(thread, "Hello"))).toMatchObject({ text: "3" });
      expect(on.sent[0]?.parameters.temperature).toBe(sent);
      const [turn] = await on.runtime.turns(OPERATOR, thread.id);
      expect(turn?.requests[0]?.ledger.omitted).toEqual(omitted);
      await on.store.close();
    },
  );

  it("003.48 at most 4,096 tokens of an answer, where it does not say how many", async () => {
    const agent = caged(WARM, { budgets: { ...DEFAULT_BUDGETS, total: 100_000, reply: 9_000 } });
    const on = await testRuntime(["Hi."], { agent, parts: { cardOf: () => cardOf("anthropic:claude-sonnet-4-5") } });
    await on.say(await on.open(), "Hello");
    expect(on.sent[0]?.parameters.maxTokens).toBe(4_096);
    await on.store.close();
  });

  it("003.24 counts for the usage of its agent and contact, for its turn, and for the money that the agent may spend", async () => {
    const dear = { parts: [{ text: "Well." }], usage: { input: 6_000 } };
    const agent = caged(WARM, {
      budgets: { ...DEFAULT_BUDGETS, reply: 1_000, spend: { dollars: 0.0358, per: "day" } },
    });
    const on = await testRuntime([dear, dear], {
      agent,
      parts: { cardOf: () => cardOf("anthropic:claude-sonnet-4-5") },
    });
    const thread = await on.open();
    expect(endOf(await on.say(thread, "Hello"))).toMatchObject({
      type: "done",
      totals: { modelCalls: 1, usage: { input: 6_000 }, dollars: expect.closeTo(0.018, 3) },
    });
    const { scope } = thread;
    expect(await on.runtime.usage(OPERATOR, scope)).toMatchObject({ turns: 1, requests: 1, input: 6_000 });
    expect(await on.runtime.usage(OPERATOR, { ...scope, contact: null })).toMatchObject({ requests: 1 });
    await on.say(await on.open("bob"), "Hello");
    const refused = await on.say(await on.open("cid"), "Hello").catch((error: unknown) => error);
    expect(JSON.stringify(refused)).toContain("spend_limit");
    expect(on.sent).toHaveLength(2);
    await on.store.close();
  });
});
