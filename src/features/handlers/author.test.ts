import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { place, strata } from "../../../tests/cli/strata.ts";
import { apart } from "../../../tests/errors/doors.ts";
import { allParts, allToolFamilies } from "../../app/entry/features.ts";
import { DEFAULT_BUDGETS, untrusted } from "../../protocol/index.ts";
import { onEachDatabase } from "../../store/index.contract.ts";
import { collect, endOf, OPERATOR, ORG, sampleAgent, testRuntime } from "../../turn/index.contract.ts";
import { toolset } from "../../turn/tools/index.ts";
import { asks, GREETER, loadYaml, organism } from "../peers/index.contract.ts";
import { PEER_API } from "../peers/index.ts";
import { FEATURE as SUBAGENTS } from "../subagents/index.ts";
import { handlerOf, needs } from "./index.contract.ts";
import { runHandler } from "./index.ts";

/** Problems that authors of handlers ran into. */

const WITH_HANDLERS = GREETER.replace("  greeter:\n", "  greeter:\n    handler: ./greeter.ts\n").replace(
  "  shouter:\n",
  "  shouter:\n    handler: ./shouter.ts\n",
);
/** Forwards its input, and answers with all that it sees of the reply. */
const FORWARDS =
  "export default (payload, meta, { history }) => meta.answers ? { payload: { payload, from: meta.from_id, failed: meta.failed ?? false, history: history.map((one) => [one.from_id, one.to_id, one.payload_type, one.payload, one.failed ?? false]) } } : { payload: { name: payload.text }, to: 'shouter' };";
const SHOUTS =
  "export default ({ name }) => { if (name === 'boom') throw new Error('canary of the shouter'); return { payload: name.toUpperCase() }; };";

const said = (text: string) => ({ content: [{ type: "text", text: untrusted(text) }] as const });
const read = (end: ReturnType<typeof endOf>) => ("text" in end ? JSON.parse(end.text) : end);

onEachDatabase("what a handler learns of its peers", await allParts(), (openStore) => {
  const opened = async () =>
    organism(
      loadYaml(WITH_HANDLERS, { "greeter.ts": FORWARDS, "shouter.ts": SHOUTS }),
      {},
      { store: await openStore() },
    );

  it("tells a peer's failure from its answer, and has no detail of it", async () => {
    const on = await opened();
    const thread = await on.open();
    expect(read(endOf(await on.say(thread, said("Ada"))))).toMatchObject({
      payload: { text: "ADA" },
      from: "shouter",
      failed: false,
    });
    const failed = read(endOf(await on.say(thread, said("boom"))));
    const none = { text: "There is no answer; the platform's record says why." };
    expect(failed).toMatchObject({ from: "shouter", failed: true, payload: none });
    const { history } = read(endOf(await on.say(thread, said("Bob"))));
    expect(history).toContainEqual(["shouter", "greeter", "Text", none, true]);
    expect(JSON.stringify(failed)).not.toContain("canary");
    for await (const one of on.store.verify(ORG)) expect(one.type).not.toBe("problem");
    await on.store.close();
  });

  it("003.9 003.37 S3 has what it forwarded and what came back in its history, each once and in order", async () => {
    const on = await opened();
    const thread = await on.open();
    const text = (value: string) => ["Text", { text: value }, false];
    const first = read(endOf(await on.say(thread, said("Ada"))));
    const [question, forward] = [
      ["ann", "greeter", ...text("Ada")],
      ["greeter", "shouter", "Greeting", { name: "Ada" }, false],
    ];
    expect(first.history).toEqual([question, forward]);
    const second = read(endOf(await on.say(thread, said("boom"))));
    const { history, ...rest } = first;
    expect(second.history).toEqual([
      question,
      forward,
      ["shouter", "greeter", ...text("ADA")],
      ["greeter", "ann", ...text(JSON.stringify({ ...rest, history }))],
      ["ann", "greeter", ...text("boom")],
      ["greeter", "shouter", "Greeting", { name: "boom" }, false],
    ]);
    const third = read(endOf(await on.say(thread, said("Bob"))));
    expect(third.history[6]).toMatchObject(["shouter", "greeter", "Text", {}, true]);
    expect(third.history).toHaveLength(10);
    // Another conversation of the same contact has nothing of it.
    const other = read(endOf(await on.say(await on.open("greeter", "ann", "other"), said("Cy"))));
    expect(other.history).toHaveLength(2);
    await on.store.close();
  });
});

describe("a forward that cannot be sent", () => {
  it("comes back to the handler as a failure, instead of ending the turn in silence", async () => {
    const loaded = loadYaml(WITH_HANDLERS.replace("    peers:", "    budgets: {turn: {modelCalls: 1}}\n    peers:"), {
      "greeter.ts": FORWARDS,
      "shouter.ts": SHOUTS,
    });
    const on = await organism(loaded, {});
    expect(read(endOf(await on.say(await on.open(), said("Ada"))))).toMatchObject({
      payload: { text: "It was not asked; the platform's record says why." },
      from: "shouter",
      failed: true,
    });
    expect(await on.asked("shouter")).toEqual([]);
  });
});

describe("what a handler logs", () => {
  const LOGS =
    "export default ({ text }, meta, { log }) => { log('heard', text); log('x'.repeat(1500)); if (text === 'boom') throw new Error('no'); if (text === 'much') for (let i = 0; i < 9; i++) log(i + 'y'.repeat(1900)); return { payload: 'ok' }; };";
  it("stands in the record of its turn, cut at its beginning, and nothing stands there where it logs nothing", async () => {
    const on = await testRuntime([], { agent: sampleAgent({ handler: handlerOf(LOGS) }) });
    const { HANDLER_STORE } = await import("./store.ts");
    const thread = await on.open();
    for (const text of ["hello", "much", "boom"]) await on.say(thread, text);
    const turns = await on.runtime.turns(OPERATOR, thread.id);
    const { log } = on.store.part(HANDLER_STORE);
    const [hello, much, boom] = await Promise.all(turns.map(({ id }) => log(thread.scope, id)));
    expect(hello).toBe(`heard hello\n${"x".repeat(1500)}`);
    expect(much).toMatch(/^…[xy\d\n]{8000}$/);
    expect(much?.endsWith("y")).toBe(true);
    expect(boom).toBeUndefined();
    expect(await log({ ...thread.scope, contact: (await on.open("bob")).scope.contact }, turns[0]?.id ?? fail())).toBe(
      undefined,
    );
    for await (const one of on.store.verify(ORG)) expect(one.type).not.toBe("problem");
    await on.store.close();
  });
});

const fail = (): never => {
  throw new Error("there is no turn");
};

onEachDatabase("what a handler is told besides answers in time", await allParts(), (openStore) => {
  /** Forwards what a message says, and answers all else with what it sees of it. */
  const RELAYS =
    "export default (payload, meta, { history }) => meta.kind === 'message' ? { payload: { name: payload.text }, to: 'shouter' } : { payload: [meta, payload, history.map((one) => [one.from_id, one.kind, one.payload_type, one.failed ?? false])] };";
  const YAML = GREETER.replace("  greeter:\n", "  greeter:\n    handler: ./greeter.ts\n")
    .replace("peers: [shouter]", "peers: [{name: shouter, seconds: 1, updates: true}]")
    .replace("    payload:", "    peers: [stranger]\n    payload:");

  it("003.9 27.3 names who said it and in what way, in its metadata as in its history: no answer, a peer's note, a late answer", async () => {
    const store = await openStore();
    const tools = toolset(
      SUBAGENTS.tools?.({ store, agentOf: () => undefined, files: "" }) ?? [],
      await allToolFamilies(),
    );
    const note = { call: "enqueue_parent", id: "note", input: { text: "The bell is broken." } };
    const on = await organism(
      loadYaml(YAML, { "greeter.ts": RELAYS }),
      {
        shouter: [{ parts: [note, ...asks("stranger", { text: "Quiet?" }).parts] }, "HELLO ADA"],
        stranger: ["Quiet."],
      },
      { store, parts: { tools } },
    );
    const thread = await on.open();
    await on.post(thread, said("Ada"));
    await collect(on.runtime.runDue(OPERATOR, thread));
    await store.answerOverdue(thread.scope, { now: (await store.nextOverdue(thread.scope)) ?? 0, at: on.time.at });
    const [none, noneMeta] = [
      { text: "There is no answer; the platform's record says why." },
      { kind: "answer", failed: true },
    ];
    const common = { thread_id: thread.id, own_name: "greeter", from_id: "shouter", payload_type: "Text" };
    const [first, payload] = read(endOf(await collect(on.runtime.runDue(OPERATOR, thread))));
    expect([first, payload]).toEqual([{ ...common, ...noneMeta, answers: expect.stringMatching(/^cal_/) }, none]);
    const [asker] = await on.asked("shouter");
    if (asker === undefined) throw new Error("nobody was asked");
    await collect(on.runtime.runDue(OPERATOR, asker));
    const [second, told] = read(endOf(await collect(on.runtime.run(OPERATOR, thread))));
    expect([second, told]).toEqual([{ ...common, kind: "peer" }, { text: "The bell is broken." }]);
    const [stranger] = await on.asked("stranger");
    if (stranger === undefined) throw new Error("the stranger was not asked");
    await collect(on.runtime.runDue(OPERATOR, stranger));
    await collect(on.runtime.runDue(OPERATOR, asker));
    const [third, late, history] = read(endOf(await collect(on.runtime.run(OPERATOR, thread))));
    expect([third, late]).toEqual([{ ...common, kind: "answer", answers: first.answers }, { text: "HELLO ADA" }]);
    expect(history).toEqual([
      ["ann", "message", "Text", false],
      ["greeter", "peer", "Greeting", false],
      ["shouter", "answer", "Text", true],
      ["greeter", "reply", "Text", false],
      ["shouter", "peer", "Text", false],
      ["greeter", "reply", "Text", false],
    ]);
    await on.store.close();
  });

  it("003.9 says that a warning is the platform's", async () => {
    const on = await organism(
      loadYaml(YAML.replace("    peers: [{", "    buffer: {ttlHours: 1}\n    peers: [{"), { "greeter.ts": RELAYS }),
      {},
      { store: await openStore() },
    );
    const thread = await on.open();
    await on.runtime.use(PEER_API).warn(OPERATOR, thread);
    const [meta] = read(endOf(await collect(on.runtime.run(OPERATOR, thread))));
    expect(meta).toMatchObject({ from_id: "platform", kind: "warning" });
    await on.store.close();
  });
});

onEachDatabase("a conversation that is moved to a handler with `output`", await allParts(), (openStore) => {
  it("shows it earlier replies: as text where they are not of the new type", async () => {
    const yaml = GREETER.replace("  greeter:\n", "  greeter:\n    handler: ./greeter.ts\n");
    const heard = "{type: object, properties: {heard: {type: array}}, required: [heard]}";
    const typed = yaml.replace("  greeter:\n", `  greeter:\n    output: ${heard}\n`);
    const on = await organism(
      loadYaml(yaml, { "greeter.ts": "export default ({ text }) => ({ payload: text });" }),
      {},
      { store: await openStore() },
    );
    const thread = await on.open();
    for (const text of ["hello", "7"]) await on.say(thread, said(text));
    const code =
      "export default (payload, meta, { history }) => ({ payload: { heard: history.map((one) => [one.payload_type, one.payload]) } });";
    Object.assign(on.parts.agents, { all: [...loadYaml(typed, { "greeter.ts": code }).agents.values()] });
    await on.runtime.migrate(OPERATOR, thread.id);
    const texts = ["hello", "hello", "7", "7"].map((text) => ["Text", { text }]);
    expect(read(endOf(await on.say(thread, said("Again"))))).toEqual({ heard: texts });
    const { heard: later } = read(endOf(await on.say(thread, said("And again"))));
    expect(later.at(-1)).toEqual(["Answer", { heard: texts }]);
    await on.store.close();
  });
});

describe("an agent without layers", () => {
  const CALLS =
    "export default async (payload, meta, ports) => { const { complete: ask } = ports; try { await ask({ message: 'x' }); } catch { return { payload: 'caught' }; } };";

  it("fails its turn with one sentence for the operator where it asks its model, which its code cannot catch", async () => {
    const on = await testRuntime([], { agent: sampleAgent({ handler: handlerOf(CALLS), layers: [], tools: [] }) });
    expect(endOf(await on.say(await on.open(), "Hello"))).toMatchObject({
      type: "failed",
      error: { code: "handler_failed", message: expect.stringContaining("has no layers, so there is no prompt") },
    });
    expect(on.sent).toEqual([]);
    await on.store.close();
  });

  it("needs no model whose price is known, also where its spending is limited", async () => {
    const budgets = { ...DEFAULT_BUDGETS, turn: { ...DEFAULT_BUDGETS.turn, maxCost: 1 } };
    const agent = sampleAgent({
      handler: handlerOf("export default () => ({ payload: 'free' });"),
      ...{ layers: [], tools: [], budgets },
    });
    const on = await testRuntime([], { agent });
    expect(endOf(await on.say(await on.open(), "Hello"))).toMatchObject({ text: "free", totals: { dollars: 0 } });
    await on.store.close();
  });
});

describe("on the command line", () => {
  const YAML = `organization: home
agents:
  shouter:
    description: Says it loudly.
    handler: ./shouter.ts
    layers: []
`;
  const folderWith = (code: string, yaml = YAML): string => {
    const cwd = place();
    writeFileSync(join(cwd, "strata.yaml"), yaml);
    writeFileSync(join(cwd, "shouter.ts"), code);
    return cwd;
  };
  const LOUD =
    "export default ({ text }, meta, { log }) => { log('shouts', text); return { payload: text.toUpperCase() }; };\n";

  it("a module without a function as its default export is not locked: its file and line are named", async () => {
    const cwd = folderWith("const shout = 1;\nexport default { shout };\n");
    const { code, err } = await strata(["lock"], { cwd });
    expect(code).not.toBe(0);
    expect(err).toContain("shouter.ts:2: its default export is not a function");
    writeFileSync(join(cwd, "shouter.ts"), "export const shout = () => 1;\n");
    expect((await strata(["lock"], { cwd })).err).toContain("shouter.ts:1: the module has no default export");
  });

  it("a setting that is wrong is named, and what a handler may be is said in words", async () => {
    const wrong = (handler: string) =>
      strata(["lock"], { cwd: folderWith(LOUD, YAML.replace("./shouter.ts", handler)) });
    expect((await wrong("{ file: ./shouter.ts, limits: { cpuMs: 5 } }")).err).toMatch(
      /handler\.limits\.cpuMs.*expected at least 10/s,
    );
    const { err } = await wrong("7");
    expect(err).toContain("expected a file, or a map with `file`");
    expect(err).not.toContain("Invalid input");
  });

  it("a call of `complete` without layers is refused before anything runs", async () => {
    const cwd = folderWith("export default async (p, m, ports) => ports.complete({ message: p.text });\n");
    for (const command of [["lock"], ["lint"]]) {
      const { code, err } = await strata(command, { cwd });
      expect(code).not.toBe(0);
      expect(err).toContain("it calls `complete`, and shouter has no layers");
    }
  });

  it("a text or a comment about something that is complete is no call", async () => {
    const cwd = folderWith(
      "/** Says that it is complete (for all). */\nexport default ({ n }) => ({ payload: ['Complete (\"all\")', 'not complete (yet)', `complete (all)`].join() });\n",
    );
    expect(await strata(["lock"], { cwd })).toMatchObject({ code: 0 });
    const calls = "`It says: $" + "{(await complete({ message: 'x' })).text}`";
    const asks = folderWith(`export default async (p, m, { complete }) => ({ payload: ${calls} });\n`);
    expect((await strata(["lock"], { cwd: asks })).err).toContain("it calls `complete`");
  });

  it("a transformer is no agent with a model: no page counts its tokens or asks for a key", async () => {
    const cwd = folderWith(LOUD);
    await strata(["lock"], { cwd });
    expect((await strata(["lint"], { cwd })).out).toBe(
      "shouter has no layers, so no model is asked, and there is no cache to break\n",
    );
    const doctor = await strata(["doctor"], { cwd });
    expect(doctor.out).toContain("no model is asked");
    expect(doctor.out).not.toContain("ANTHROPIC_API_KEY");
    expect((await strata(["agent", "list"], { cwd })).out).toContain("answered by ./shouter.ts, without a model");
    const asked = await strata(["ask", "hi", "--agent", "shouter"], { cwd });
    expect(asked.out).toBe("HI\n");
    expect(asked.err).toMatch(/^· no model was asked · [\d,.]+ m?s\n$/);
    const usage = await strata(["usage", "--json"], { cwd });
    expect(JSON.parse(usage.out)).toMatchObject({ agents: [{ agent: "shouter", requests: 0, priced: true }] });
  });

  /** The id of the newest turn. */
  async function newestTurn(cwd: string): Promise<string> {
    const [thread] = JSON.parse((await strata(["thread", "list", "--json"], { cwd })).out);
    const { out } = await strata(["explain", thread.id], { cwd });
    return [...out.matchAll(/trn_\w+/g)].at(-1)?.[0] ?? fail();
  }

  it("a turn says where its handler ran, what it logged, and also where it failed", async () => {
    const cwd = folderWith(
      `${LOUD.replace("log('shouts'", "if (text === 'boom') throw new Error('too loud'); log('shouts'")}`,
    );
    await strata(["lock"], { cwd });
    await strata(["chat", "shouter"], { cwd, input: "hello\n" });
    const shown = await strata(["turn", "show", await newestTurn(cwd)], { cwd });
    expect(shown.out).toContain("answered by the handler in a thread, in place of the model");
    expect(shown.out).toContain("log      shouts hello");
    expect(shown.out).not.toMatch(/^model|in the request format/m);
    await strata(["chat", "shouter"], { cwd, input: "boom\n" });
    const failed = await strata(["turn", "show", await newestTurn(cwd)], { cwd });
    expect(failed.out).toContain("run by   the handler in a thread, which failed");
    expect(failed.out).toMatch(/shouter\.ts:1:\d+ \(threw\): too loud/);
  });

  it("a turn shows what its handler asked by `complete`, and counts that as sent", async () => {
    const cwd = place();
    const layers = "layers: [{id: core, rank: 0, text: You are a poet.}]";
    writeFileSync(
      join(cwd, "strata.yaml"),
      `organization: home\nagents:\n  poet: {description: Writes., handler: ./poet.ts, ${layers}}\n`,
    );
    const code =
      "export default async (p, m, { complete }) => { await complete({ message: 'First.' }); const { text } = await complete({ message: 'A verse, please.' }); return { payload: text }; };\n";
    writeFileSync(join(cwd, "poet.ts"), code);
    await strata(["lock"], { cwd });
    const { err } = await strata(["ask", "hi", "--agent", "poet"], { cwd });
    expect(err).toMatch(/· complete \d+ · .*the last of 2 requests/);
    const { out } = await strata(["turn", "show", await newestTurn(cwd)], { cwd });
    expect(out).toMatch(/request 1 [\s\S]*← asked: First\.\n[\s\S]*request 2 [\s\S]*← asked: A verse, please\.\n/);
  });

  it("a corrected handler does not reach running conversations unsaid", async () => {
    const cwd = folderWith(LOUD);
    expect((await strata(["lock"], { cwd })).out).toContain("shouter: its handler\n");
    await strata(["chat", "shouter"], { cwd, input: "hello\n" });
    writeFileSync(join(cwd, "shouter.ts"), LOUD.replace("text.toUpperCase()", "text.toLowerCase()"));
    await strata(["lock"], { cwd });
    const chat = await strata(["chat", "shouter"], { cwd, input: "HELLO\n" });
    expect(chat.err).toContain("the code that answers for it changed");
    expect(chat.err).toMatch(/`strata thread migrate thr_\w+` moves this one/);
    expect(chat.out).toBe("HELLO\n");
    const ask = await strata(["ask", "HELLO", "--agent", "shouter"], { cwd });
    expect(ask.err.replaceAll(/\s+/g, " ")).toMatch(
      /since then the code that answers for it changed: .* `strata thread migrate thr_\w+` moves this one/,
    );
    expect(ask.out).toBe("HELLO\n");
    const turn = await newestTurn(cwd);
    const { out } = await strata(["turn", "show", turn], { cwd });
    const thread = /thr_\w+/.exec(out)?.[0] ?? fail();
    expect(out).toContain(`\`strata thread migrate ${thread}\` moves it`);
    expect((await strata(["doctor"], { cwd })).out.replaceAll(/\s+/g, " ")).toContain(
      `${thread} keeps an older version of shouter: \`strata thread migrate ${thread}\``,
    );
    await strata(["thread", "migrate", thread], { cwd });
    expect((await strata(["chat", "shouter"], { cwd, input: "HELLO\n" })).out).toBe("hello\n");
    expect((await strata(["turn", "show", await newestTurn(cwd)], { cwd })).out).not.toContain("migrate");
  });
});

describe("a cage that cannot start", () => {
  const { skip, title } = needs("process");
  it.skipIf(skip)(
    title("ends the turn with its reason and the next step, also where what it needs was found"),
    async () => {
      const [cwd, bin] = [place(), place()];
      const level = "{file: ./shouter.ts, level: process}";
      const yaml = `organization: home\nagents:\n  shouter: {description: Says it., handler: ${level}, layers: []}\n`;
      writeFileSync(join(cwd, "strata.yaml"), yaml);
      writeFileSync(join(cwd, "shouter.ts"), "export default () => ({ payload: 'HI' });\n");
      await strata(["lock"], { cwd });
      // What `doctor` tries succeeds, and the jail itself does not.
      const bwrap = "#!/bin/sh\ncase \"$*\" in *--version*) exit 0;; esac\necho 'no more processes' >&2\nexit 1\n";
      writeFileSync(join(bin, "bwrap"), bwrap, { mode: 0o755 });
      const asked = await apart(["ask", "hi", "--agent", "shouter"], {
        cwd,
        env: { PATH: `${bin}:${process.env["PATH"]}` },
      });
      expect(asked.code).toBe(3);
      expect(asked.err.replaceAll(/\s+/g, " ")).toContain(
        "the cage's level `process` could not run the handler: the jail of the cage did not start: no more processes; `strata doctor` checks what it needs",
      );
    },
  );
});

describe("limits", () => {
  it.each([
    [
      "for (;;);",
      { cpuMs: 20 },
      "(cpu): it used more than 20 ms of CPU time, which is its limit, and with twice as much it did not end either; make it do less, or raise limits.cpuMs",
    ],
    [
      "const all = []; for (;;) all.push('x'.repeat(1_000));",
      {},
      "(memory): it needed more than 16 MB of memory; make it keep less, or raise limits.memoryMb",
    ],
    [
      "const deep = (n: number): number => deep(n + 1) + 1; return deep(0);",
      {},
      "(stack): its calls are nested deeper than 256 KB of stack; nest them less",
    ],
    [
      "return { payload: 'x'.repeat(70_000) };",
      {},
      "(output): it returned more than 64000 characters, or passed more to `complete`; make it say less, or raise limits.output",
    ],
    [
      "for (let n = 0; n < 60; n++) ports.log(n);",
      {},
      "(logs): it logged more than 50 lines, or more than 2000 characters in one; make it log less, or raise limits.logs",
    ],
    [
      "return Promise.all(Array.from({ length: 20 }, () => ports.complete({ message: 'a' })));",
      {},
      "(asks): it called `complete` more than 16 times; make it ask less often, or raise limits.calls",
    ],
  ])("say what was exceeded and which key raises it: %s", async (code, limits, sentence) => {
    const file = join(place(), "greedy.ts");
    writeFileSync(file, `export default (p: never, m: never, ports: any) => { ${code} };\n`);
    await expect(runHandler(file, { payload: 1, limits })).rejects.toThrow(sentence);
  });
});

it("the error of a failed handler says what becomes of the message", async () => {
  const code = "export default () => { throw new Error('too loud'); };";
  const on = await testRuntime([], { agent: sampleAgent({ handler: handlerOf(code) }) });
  const thread = await on.open();
  const end = endOf(await on.say(thread, "Hello"));
  expect("error" in end ? end.error.message : "").toMatch(
    new RegExp(
      `too loud; the message waits, and fails again until the code is corrected and \`strata thread migrate ${thread.id}\` moves the conversation to it$`,
    ),
  );
  await on.store.close();
});

it.each([
  "throw new Error(payload.text)",
  "ports.log('x'.repeat(495), payload.text, 'y'.repeat(490)); throw new Error('no')",
  "return payload.text",
  "return { payload: 1, to: payload.text }",
])(
  "the error of a failed handler has the name of a secret in the place of its value, as its log has: %s",
  async (body) => {
    const secret = "tern-canary-4711";
    const vault = {
      secret: () => secret,
      settled: (text: string) => text.length,
      hide: (text: string) => text.replaceAll(secret, "[secret KEY]"),
    };
    const code = `export default (payload, meta, ports) => { ${body}; };`;
    const on = await testRuntime([], { agent: sampleAgent({ handler: handlerOf(code) }), parts: { vault } });
    const thread = await on.open();
    const end = endOf(await on.say(thread, secret));
    const error = "error" in end ? end.error : undefined;
    const seen = JSON.stringify([error?.message, error?.details, await on.runtime.turns(OPERATOR, thread.id)]);
    expect(seen).toContain("[secret KEY]");
    expect(seen.replaceAll(/"content":\[.*?\]/g, "")).not.toContain("4711");
    await on.store.close();
  },
);
