import { existsSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { z } from "zod";
import { place, strata } from "../../../tests/cli/strata.ts";
import { open } from "../../../tests/errors/doors.ts";
import { blueprintFolder, PLACES_OF_KEYS } from "../../agents/index.ts";
import { loadProject } from "../../app/entry/agents.ts";
import { allOperations } from "../../app/entry/features.ts";
import { agentName, untrusted } from "../../protocol/index.ts";
import { endOf } from "../../turn/index.contract.ts";
import { asks, organism } from "./index.contract.ts";
import { PEER_API } from "./index.ts";

/** The configuration in the seed, word for word. */
const SEED = `organism:
  name: hello-world

# Platform settings
platform:
  context_buffer:
    max_slots_per_thread: 1000
    max_threads: 10000
    ttl_hours: 24              # Auto-GC idle threads

  prompt_registry:
    allow_runtime_update: false  # Immutable after startup

  llm:
    rate_limit_per_agent: 100    # Requests per minute
    cache_ttl_seconds: 3600      # Cache identical prompts
    max_tokens_per_request: 4096

listeners:
  - name: greeter
    prompt: |
      You are a friendly greeter.
      Keep responses short and enthusiastic.
    peers: [shouter]

  - name: shouter
    # No prompt — not an LLM agent
    # Just transforms messages
`;

describe("the blueprint organism", () => {
  const project = loadProject(blueprintFolder("organism"), { env: {} });

  it("003.14 003.50 003.49 greets through the shouter, a transformer without a model, whom nobody else can reach", async () => {
    const greeting = { name: "Ada", message: "Welcome, Ada." };
    const { open, say, sentTo } = await organism(project, {
      greeter: [asks("shouter", greeting), "WELCOME, ADA!"],
    });
    const content = [{ type: "text", text: untrusted("Hello, I am Ada.") }] as const;
    expect(endOf(await say(await open(), { content }))).toMatchObject({ text: "WELCOME, ADA!" });
    expect(JSON.stringify(sentTo("greeter")[1]?.messages.at(-1))).toContain("| WELCOME, ADA!");
    expect(sentTo("shouter")).toEqual([]);
    await expect(open("shouter")).rejects.toMatchObject({ code: "not_an_entry" });
  });

  it("S20 has the numbers of the seed", () => {
    const { buffer, budgets } = project.agents.get(agentName("greeter")) ?? {};
    expect(buffer).toEqual({ slots: 1_000, threads: 10_000, ttlHours: 24, graceMinutes: 10 });
    expect(budgets?.reply).toBe(4_096);
  });
});

describe("strata init organism --from", () => {
  const init = async (text: string) => {
    const cwd = place();
    writeFileSync(join(cwd, "organism.yaml"), text);
    const ran = await strata(["init", "organism", "--from", "organism.yaml", "--folder", "own"], { cwd });
    const file = join(cwd, "own/strata.yaml");
    return { ...ran, yaml: existsSync(file) ? readFileSync(file, "utf8") : "", folder: join(cwd, "own") };
  };

  it("003.14 003.42 003.43 003.44 003.45 003.48 003.49 translates the seed's file, and names what has no counterpart with its line", async () => {
    const { code, out, err, folder, yaml } = await init(SEED);
    expect([code, err]).toEqual([0, ""]);
    expect(yaml).toMatch(/^# Agents that ask each other over declared edges, translated from organism\.yaml\./);
    expect(yaml).not.toContain("People write to the greeter");
    const made = loadProject(folder, { env: {} });
    expect(made.org).toBe("hello-world");
    const [greeter, shouter] = [made.agents.get(agentName("greeter")), made.agents.get(agentName("shouter"))];
    expect(greeter).toMatchObject({
      entry: true,
      buffer: { slots: 1_000, threads: 10_000, ttlHours: 24 },
      budgets: { reply: 4_096 },
      peers: [{ name: "shouter" }],
    });
    expect(greeter?.layers.find(({ id }) => id === "prompt")?.source).toMatchObject({
      text: expect.stringContaining("Keep responses short and enthusiastic."),
    });
    expect(shouter).toMatchObject({
      entry: false,
      layers: [],
      handler: { file: "handlers/shouter.ts" },
      limits: { agent: { calls: 100 } },
      responseCache: { seconds: 3_600 },
    });
    // Nothing of the blueprint's own agents remains.
    expect(readdirSync(join(folder, "layers")).sort()).toEqual(["precedence.md", "safety.md"]);
    expect(readdirSync(join(folder, "handlers"))).toEqual(["shouter.ts"]);
    expect(out).toMatch(/platform\.context_buffer\.ttl_hours +buffer\.ttlHours: 24/);
    expect(out).toMatch(/allow_runtime_update +immutable layers/);
    expect(out).toMatch(/platform\.llm\.rate_limit_per_agent +limits\.agent\.calls: 100/);
    expect(out).toMatch(/platform\.llm\.cache_ttl_seconds +responseCache\.seconds: 3600/);
    expect(out).toMatch(
      /listeners\.1 \(line 26\) +shouter has no prompt, so its own code answers: handlers\/shouter\.ts/,
    );
    expect(out).toContain("strata chat greeter --folder own");
  });

  it("003.46 003.47 has the seed's numbers where the file leaves them out, and no response cache", async () => {
    const { folder, out } = await init(
      "organism: {name: small}\nlisteners:\n  - {name: echo, x-note: 1}\n  - {name: front, prompt: Ask the echo., peers: [echo]}\n",
    );
    const made = loadProject(folder, { env: {} }).agents.get(agentName("front"));
    expect(made).toMatchObject({
      buffer: { slots: 1_000, threads: 10_000, ttlHours: 24, graceMinutes: 10 },
      limits: { agent: { calls: 100 } },
      budgets: { reply: 4_096 },
    });
    expect(made?.responseCache).toBeUndefined();
    expect(out).toMatch(/listeners\.0\.x-note \(line 3\) +nothing corresponds to it/);
    // Of two, the one that people can write to.
    expect(out).toContain("strata chat front");
  });

  it("says where a key belongs that is not in its place, and what a mistyped one may mean", async () => {
    const { out } = await init(
      [
        "organism: {name: small}",
        "context_buffer: {max_threads: 5}",
        "platform: {ttl_hours: 5, llm: {max_slots_per_thread: 5, rate_limit: 5, rate_limit_per_agnet: 5}, mood: good}",
        "listeners:",
        "  - {name: echo, prompt: Echo., peer: [echo], max_tokens_per_request: 9}",
      ].join("\n"),
    );
    const next = (key: string) => new RegExp(`${key} \\(line \\d\\) +(.*)`).exec(out)?.[1];
    expect(next("context_buffer.max_threads")).toBe("`max_threads` belongs below `platform.context_buffer`");
    expect(next("platform.ttl_hours")).toBe("`ttl_hours` belongs below `platform.context_buffer`");
    expect(next("platform.llm.max_slots_per_thread")).toBe(
      "`max_slots_per_thread` belongs below `platform.context_buffer`",
    );
    expect(next("listeners.0.max_tokens_per_request")).toBe("`max_tokens_per_request` belongs below `platform.llm`");
    expect(next("platform.llm.rate_limit_per_agnet")).toBe(
      "nothing corresponds to it; did you mean `rate_limit_per_agent`?",
    );
    expect(next("listeners.0.peer")).toBe("nothing corresponds to it; did you mean `peers`?");
    expect(next("platform.mood")).toBe("nothing corresponds to it; leave it out");
  });

  it("translates each key of the whole file that docs/organism.md shows", async () => {
    const page = readFileSync(new URL("../../../docs/organism.md", import.meta.url), "utf8");
    const [, text = ""] = /^## The file of `--from`[\s\S]*?```yaml\n([\s\S]*?)```/m.exec(page) ?? [];
    const { code, out, folder } = await init(text);
    expect(code).toBe(0);
    expect(out).not.toMatch(/nothing corresponds|belongs below/);
    for (const key of PLACES_OF_KEYS.keys()) expect(text).toContain(`${key}:`);
    expect([...loadProject(folder, { env: {} }).agents.keys()]).toEqual(["greeter", "shouter"]);
  });

  it("makes agents that answer at once: a person asks one, which asks the code of the other", async () => {
    const { folder } = await init(SEED);
    const { code, out } = await strata(
      ["ask", 'use ask_shouter {"text": "Hello, Ann"}', "--agent", "greeter", "--as", "ann"],
      { cwd: folder },
    );
    expect(code).toBe(0);
    expect(out).toContain("Hello, Ann");
    // A thread that answered a call gets no other message, so it need not be moved to today's code.
    const file = join(folder, "handlers/shouter.ts");
    writeFileSync(file, `${readFileSync(file, "utf8")}\n// Corrected.\nconsole;\n`);
    await strata(["lock"], { cwd: folder });
    expect((await strata(["doctor"], { cwd: folder })).out).not.toContain("keeps an older version");
  });

  it("says what is wrong in the file, and makes nothing", async () => {
    const wrong = async (from: string, to: string) => {
      const { code, err, yaml } = await init(SEED.replace(from, to));
      expect([code, yaml]).toEqual([4, ""]);
      return err;
    };
    expect(await wrong("ttl_hours: 24", "ttl_hours: soon")).toMatch(/organism\.yaml:9:/);
    expect(await wrong("peers: [shouter]", "peers: [shoutr]")).toContain(
      "there is no listener `shoutr`; did you mean `shouter`?",
    );
    expect(await wrong("name: shouter", "name: greeter")).toContain("the name of another listener");
  });

  it("says what to write by hand for keys of the seed that it does not translate", async () => {
    const { out } = await init(
      SEED.replace("name: shouter", "name: shouter\n    handler: shout.py\n    payload_class: Shout"),
    );
    expect(out).toContain("its code is moved by hand");
    expect(out).toContain("as `payload` of the agent");
  });
});

it("003.35 `@listener` in the chat sends a message to that agent, on a thread of its own, if it is an entry", async () => {
  const cwd = place();
  const agent = (name: string, peers: string) =>
    `  ${name}: {description: Helps., peers: [${peers}], layers: [{id: core, rank: 0, text: "Help."}]}\n`;
  const agents = [agent("front", "back"), agent("clerk", ""), agent("back", "")];
  writeFileSync(join(cwd, "strata.yaml"), `organization: home\nentry: [front, clerk]\nagents:\n${agents.join("")}`);
  await strata(["lock"], { cwd });
  const input = "Hello.\n@clerk Where is my parcel?\n@front And now?\n@back Let me in.\n@nobody said so.\n";
  const { err } = await strata(["chat", "front"], { cwd, input });
  expect(err).toContain("back cannot be written to from outside");
  const threads = JSON.parse((await strata(["thread", "list", "--json"], { cwd })).out);
  const said = async (name: string) => {
    const { id } = threads.find(({ scope }: { scope: { agent: string } }) => scope.agent === name);
    const { out } = await strata(["thread", "show", id, "--json"], { cwd });
    return JSON.parse(out).slots.flatMap(({ from, text }: { from: string; text: string }) =>
      from === "me" ? [text] : [],
    );
  };
  expect(threads).toHaveLength(2);
  expect(await said("front")).toEqual(["Hello.", "And now?", "@nobody said so."]);
  expect(await said("clerk")).toEqual(["Where is my parcel?"]);
  // Its own agent's name changes nothing of the conversation.
  await strata(["chat", "front", "--new"], { cwd, input: "@front Anew.\n" });
  expect(JSON.parse((await strata(["thread", "list", "front", "--json"], { cwd })).out)).toHaveLength(2);
});

it("003.44 27.6 a closed conversation is marked where it is listed and shown, and a chat begins a new one and says so", async () => {
  const cwd = place();
  const yaml = `organization: home\nagents:\n  clerk: {description: Helps., buffer: {ttlHours: 1, graceMinutes: 0}, layers: [{id: core, rank: 0, text: "Help."}]}\n`;
  writeFileSync(join(cwd, "strata.yaml"), yaml);
  await strata(["lock"], { cwd });
  await strata(["chat", "clerk"], { cwd, input: "Hello.\n" });
  const run = async (...argv: string[]) => (await strata(argv, { cwd })).out;
  const [{ id }] = JSON.parse(await run("thread", "list", "--json"));
  for (const shown of [await run("thread", "list"), await run("thread", "show", id), await run("explain")])
    expect(shown).not.toContain("closed");
  const { runtime, operator } = await open(cwd);
  const thread = await runtime.thread(operator, id);
  await runtime.use(PEER_API).warn(operator, thread);
  for await (const _ of runtime.run(operator, thread));
  expect(JSON.parse(await run("thread", "list", "--json"))).toMatchObject([{ id, closed: true }]);
  expect(await run("thread", "list")).toMatch(/closed\n.*yes/);
  for (const shown of [await run("thread", "show", id), await run("explain", id)])
    expect(shown).toContain("closed: yes");
  expect(await run("explain")).toMatch(/closed\n.*yes/);
  expect(JSON.parse(await run("explain", "--json"))).toMatchObject([{ id, closed: true }]);
  // Each answer declares it, too.
  const all = await allOperations();
  for (const [command, answer] of [
    ["thread show", JSON.parse(await run("thread", "show", id, "--json"))],
    ["explain", JSON.parse(await run("explain", id, "--json"))],
  ] as const) {
    expect(answer).toMatchObject({ thread: { id, closed: true } });
    const operation = all.find(({ name }) => name === command.replace(" ", "."));
    const gives = operation !== undefined && "gives" in operation ? z.toJSONSchema(operation.gives) : {};
    expect(gives).toMatchObject({ properties: { thread: { properties: { closed: { const: true } } } } });
  }
  const chat = await strata(["chat", "clerk"], { cwd, input: "Are you there?\n" });
  expect(chat.code).toBe(0);
  expect(chat.err).toContain(
    `${id} was closed because nothing happened on it; your next message begins a new conversation`,
  );
  expect(chat.err).not.toContain("Continues thread");
  expect(JSON.parse(await run("thread", "list", "--json"))).toHaveLength(2);
  // A thread that is named is not left by itself.
  const named = await strata(["chat", "clerk", "--thread", id], { cwd, input: "Hello?\n/new\nHello!\n" });
  expect(named.err).toContain("`/new` in a chat");
});
