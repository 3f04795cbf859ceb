import { readFileSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it, onTestFinished } from "vitest";
import { z } from "zod";
import { type App, type AppOptions, lint, openApp, recordFile } from "../../src/app.ts";
import { MEMORY_API } from "../../src/features/memories/index.ts";
import { SHOWN_WIRE, scripted } from "../../src/models/index.ts";
import {
  agentName,
  contactId,
  orgId,
  type Request,
  type StrataError,
  toolName,
  trusted,
  untrusted,
} from "../../src/protocol/index.ts";
import { defineTool } from "../../src/turn/tools/index.ts";
import { perturb, type Render, type RenderVariant, sentSections } from "../../src/wire/index.ts";
import { COMPANION, home, said, say, searching, strata, thread } from "./home.ts";

/** What the first request holds in a world, for a renderer of the test's own. */
type Drawn = (world: RenderVariant) => Partial<Pick<Request, "prefix" | "messages" | "parameters">>;

const TOOLS = ["ask", "ring", "sell"].map((name) => ({
  name: toolName(name),
  description: `It does ${name}.`,
  input: { properties: { to: { type: "string" } }, type: "object" },
}));

const renderer =
  (drawn: Drawn): Render =>
  async (world) => [
    sentSections({ prefix: { tools: TOOLS, system: [] }, messages: [], parameters: { maxTokens: 9 }, ...drawn(world) }),
  ];

const worldsOf = async (drawn: Drawn) =>
  (await perturb(renderer(drawn))).map(({ section, worlds }) => [section, worlds] as const);

const system = (text: string): Pick<Request, "prefix"> => ({
  prefix: { tools: [], system: [{ scope: "agent", text: trusted(text), layers: [] }] },
});

describe("the perturbation check", () => {
  it("finds nothing where all stays the same", async () => {
    expect(await worldsOf(() => ({}))).toEqual([]);
  });

  it("finds tools that are sent in the order they were registered", async () => {
    const unsorted: Drawn = ({ reversed }) => ({
      prefix: { tools: reversed?.includes("tools") ? TOOLS.toReversed() : TOOLS, system: [] },
    });
    expect(await worldsOf(unsorted)).toEqual([["tool ask", ["with tools registered in another order"]]]);
  });

  it("finds keys that are sent in the order they were written", async () => {
    const turned = (tool: (typeof TOOLS)[number]) => ({
      ...tool,
      input: Object.fromEntries(Object.entries(tool.input).toReversed()),
    });
    const unsorted: Drawn = ({ reversed }) => ({
      prefix: { tools: reversed?.includes("maps") ? TOOLS.map(turned) : TOOLS, system: [] },
    });
    expect(await worldsOf(unsorted)).toEqual(TOOLS.map(({ name }) => [`tool ${name}`, ["with maps in another order"]]));
  });

  it("finds a clock in a system block and names the layer, the byte and what stands there", async () => {
    const text = (at: number) => `# Layer 1 · rules\nÜbe dich.\n\n# Layer 2 · time\nNow: ${at}`;
    const [found] = await perturb(renderer(({ at = 0 }) => system(text(at))));
    const byte = Buffer.byteLength(text(0)) - 1;
    expect(found).toMatchObject({
      section: "layer time",
      byte,
      ofRequest: byte,
      one: expect.stringMatching(/Now: 0$/),
      other: expect.stringMatching(/Now: \d{13}$/),
      worlds: ["on another day", "in another year, in summer time"],
    });
  });

  it("finds a message that is written otherwise in the second request, and a section that is missing", async () => {
    const drawn: Drawn = ({ timezone }) => ({
      messages:
        timezone === "Pacific/Chatham" ? [] : [{ role: "user", parts: [{ type: "text", text: trusted("Hi") }] }],
    });
    expect(await worldsOf(drawn)).toEqual([["message 1", ["in another time zone"]]]);
  });

  it("blames nothing else for what another load alone changes", async () => {
    let loads = 0;
    expect(await worldsOf(({ fresh, at }) => system(fresh ? `${loads++}${at ?? ""}` : "0-"))).toEqual([
      ["system block agent", ["loaded again"]],
    ]);
  });
});

const CONFIG = {
  organization: "home",
  agents: { shop: { description: "It sells.", layers: [{ id: "rules", rank: 1, text: "Sell well." }] } },
} satisfies NonNullable<AppOptions["config"]>;

const SHOP = CONFIG.agents.shop;

async function shop(agent: object = {}, more: Partial<AppOptions> = {}): Promise<App> {
  const folder = home();
  const config = { ...CONFIG, agents: { shop: { ...SHOP, ...agent } } };
  const app = await openApp({ folder, data: `${folder}/.strata`, env: {}, config, ...more });
  onTestFinished(() => app.close());
  // Frames tell the second: two apps that are compared must not stand on its two sides.
  app.setClock(NOON);
  return app;
}

const NOON = Date.parse("2026-03-01T12:00:00Z");

const conversation = { agent: agentName("shop"), contact: contactId("ann"), channel: "test", key: "main" };

const composed = (app: App, text = "Hello there, dear shop.", contact = conversation.contact) =>
  app.runtime.compose(app.operator, { ...conversation, contact }, untrusted(text)).then(({ request }) => request);

async function turn(app: App, script: Parameters<typeof scripted>[0]): Promise<readonly Request[]> {
  const to = await app.runtime.open(app.operator, conversation);
  await app.runtime.post(app.operator, to, [said("Go on, please.")]);
  const { model, sent } = scripted(script);
  for await (const event of app.runtime.run(app.operator, to, { model })) expect(event.type).not.toBe("failed");
  return sent;
}

const refused = (work: Promise<unknown>) =>
  work.then(
    () => Promise.reject(new Error("nothing was refused")),
    (error: StrataError) => error,
  );

const tool = (name: string) =>
  defineTool({
    name,
    description: `It does ${name}.`,
    input: z.object({ zone: z.string().optional(), at: z.string().optional() }),
    effect: "none",
    trust: "operator",
    run: () => "done",
  });

describe("what lint need not look for, because no declaration can say it", () => {
  it.each(["clock", "recall", "stock"])("a source (%s) in the prefix is refused at the start", async (source) => {
    const layers = [...SHOP.layers, { id: "live", rank: 2, source, scope: "agent" }];
    const sources = [{ name: "stock", trust: "operator", load: async () => [] }] as const;
    expect(await refused(shop({ layers }, { sources }))).toMatchObject({
      code: "config_invalid",
      message: expect.stringContaining("may not touch the cached prefix"),
    });
  });

  it("tools are sent sorted by name with sorted keys, in whatever order they are declared and registered", async () => {
    const names = ["sell", "ask", "ring"];
    const one = await composed(await shop({ tools: names }, { tools: names.map(tool) }));
    const other = await composed(await shop({ tools: names.toReversed() }, { tools: names.toReversed().map(tool) }));
    expect(one.prefix.tools.map(({ name }) => name)).toEqual(["ask", "ring", "sell"]);
    expect(Object.keys(one.prefix.tools[0]?.input ?? {})).toEqual(["additionalProperties", "properties", "type"]);
    expect(sentSections(other)).toEqual(sentSections(one));
  });

  it("tools and texts are the same for each contact", async () => {
    const app = await shop({ tools: ["ring"] }, { tools: [tool("ring")] });
    const bob = await composed(app, "I am Bob.", contactId("bob"));
    expect(bob.prefix).toEqual((await composed(app)).prefix);
  });

  it("no parameter of thinking, effort, tool choice or pictures can be switched", async () => {
    for (const key of ["effort", "thinking", "toolChoice", "temperature"]) {
      expect(await refused(shop({ [key]: "high" }))).toMatchObject({ code: "config_invalid" });
    }
  });

  it("a mode that is declared again does not reach a running thread", async () => {
    const folder = home();
    const app = await strata(folder);
    const ann = await thread(app);
    const { sent: before } = await say(app, ann, "Hello there, my friend", ["Hello."]);
    const file = join(folder, "strata.yaml");
    writeFileSync(file, readFileSync(file, "utf8").replace("    recall: auto", "    mode: minimal\n    recall: auto"));
    await app.reload();
    const { sent: after } = await say(app, ann, "And now?", ["Still here."]);
    expect(app.runtime.agent(app.operator, COMPANION).mode).toBe("minimal");
    expect(after[0]?.prefix).toEqual(before[0]?.prefix);
  });

  it("a long first message does not cut the prefix further", async () => {
    const layers = [
      ...SHOP.layers,
      { id: "more", rank: 2, text: "Be kind. ".repeat(2_000), mutability: "versioned", budget: 900 },
    ];
    const app = await shop({ layers, budgets: { total: 6_000, reply: 1_000 } });
    const long = await composed(app, "I have a long story. ".repeat(1_000));
    expect(long.prefix).toEqual((await composed(app)).prefix);
    expect(JSON.stringify(long.prefix).length).toBeLessThan(18_000);
  });

  it("a turn with more positions than a provider looks back has a breakpoint where the turn before ended", async () => {
    const budgets = { turn: { modelCalls: 40, toolCalls: 40 } };
    const rules = [{ id: "rules", rank: 1, text: "Sell well. ".repeat(1_000) }];
    const app = await shop({ tools: ["ring"], layers: rules, budgets }, { tools: [tool("ring")] });
    const calls = Array.from({ length: 30 }, () => ({ parts: [{ call: "ring", input: {} }] }));
    await turn(app, ["Hello."]);
    const sent = await turn(app, [...calls, "Done."]);
    expect(sent).toHaveLength(31);
    for (const [n, request] of sent.slice(1).entries()) {
      const before = (sent[n]?.messages.length ?? 0) - 1;
      expect(request.breakpoints.map(({ after }) => after)).toContainEqual({ zone: "message", index: before });
    }
    const next = await turn(app, ["Fine."]);
    const end = (sent.at(-1)?.messages.length ?? 0) - 1;
    expect(next[0]?.breakpoints.map(({ after }) => after)).toContainEqual({ zone: "message", index: end });
  });
});

describe("what lint takes from the record", () => {
  const reported = (folder: string) => {
    const data = join(folder, ".strata");
    return lint({ folder, data, env: {}, record: recordFile(data) }).then(([report]) => report);
  };

  async function talk(app: App, as: string, models: readonly string[]): Promise<void> {
    const to = await thread(app, as);
    for (const ref of models) {
      await app.runtime.post(app.operator, to, [said("What does my cat Tom like to eat?")]);
      const { model } = scripted(["Fish."], SHOWN_WIRE);
      for await (const event of app.runtime.run(app.operator, to, { model: { ...model, ref } }))
        expect(event.type).not.toBe("failed");
    }
  }

  it("tools that no conversation or few call, once enough turns were seen", async () => {
    const folder = home();
    const app = await strata(folder);
    const search = { parts: [{ call: "memory_search", input: { query: "cat" } }] };
    const ann = await thread(app, "ann");
    for (let n = 0; n < 19; n++) await say(app, ann, `Number ${n}`, n === 0 ? [search, "Yes."] : ["Yes."]);
    const said = async () => (await reported(folder))?.texts.filter(({ section }) => section === "tools");
    expect(await said()).toEqual([]);
    await say(app, ann, "The last", ["Yes."]);
    const found = JSON.stringify(await said());
    expect(found).toMatch(/no turn has called [\w, ]*memory_save[\w, ]* \(20 turns of 1 conversation were looked at\)/);
    expect(found).toMatch(/under `defer` they take \d+ tokens out of each request/);
    expect(found).not.toContain("memory_search");
  });

  it("29.6 counts calls that a cut has removed from the conversation since", async () => {
    const folder = home();
    const app = await strata(folder);
    const search = { parts: [{ call: "memory_search", input: { query: "cat" } }] };
    const ann = await thread(app, "ann");
    const long = "And so on, page after page. ".repeat(120);
    for (let n = 0; n < 40; n++) await say(app, ann, `Number ${n}`, n === 0 ? [search, "Yes."] : [long]);
    const turns = await app.runtime.turns(app.operator, ann.id);
    expect(turns.at(-1)?.requests[0]?.ledger.epoch.cut).toBeGreaterThan(20);
    const found = JSON.stringify((await reported(folder))?.texts.filter(({ section }) => section === "tools"));
    expect(found).toMatch(/no turn has called [\w, ]+ \(40 turns of 1 conversation were looked at\)/);
    expect(found).not.toContain("memory_search");
  });

  it("and proposes for `defer` what may stand there: no tool that comes with another key", async () => {
    const folder = home();
    const file = join(folder, "strata.yaml");
    const yaml = readFileSync(file, "utf8");
    writeFileSync(file, yaml.replace("    recall: auto", "    subagents: { fromFiles: true }\n    recall: auto"));
    const app = await strata(folder);
    const ann = await thread(app, "ann");
    for (let n = 0; n < 20; n++) await say(app, ann, `Number ${n}`, ["Yes."]);
    const texts = (await reported(folder))?.texts.flatMap(({ section, message }) =>
      section === "tools" ? [message] : [],
    );
    const [never = "", deferred = ""] = texts ?? [];
    expect(never).toMatch(/no turn has called [\w, ]*call_subagent/);
    const [, names = ""] = /conversations call ([\w, ]+) \(/.exec(deferred) ?? [];
    expect(names.split(", ")).toEqual(["list", "memory_forget", "memory_save", "memory_search", "read", "write"]);
    writeFileSync(file, yaml.replace("    recall: auto", `    defer: [${names}]\n    recall: auto`));
    // The list is accepted; what is missing is the operator's lock.
    await expect(reported(folder)).rejects.toMatchObject({ code: "lock_mismatch" });
  });

  it("29.6 says how many tokens `defer` takes out as requests then count them, with the tool that finds the others", async () => {
    const folder = home();
    const file = join(folder, "strata.yaml");
    const app = await strata(folder);
    const ann = await thread(app, "ann");
    for (let n = 0; n < 20; n++) await say(app, ann, `Number ${n}`, ["Yes."]);
    const before = await reported(folder);
    const advice = before?.texts.find(({ message }) => message.includes("`defer`"))?.message ?? "";
    const [, names, tokens] = /conversations call ([\w, ]+) \(.* take (\d+) tokens out/.exec(advice) ?? [];
    const yaml = readFileSync(file, "utf8");
    writeFileSync(file, yaml.replace("    recall: auto", `    defer: [${names}]\n    recall: auto`));
    rmSync(join(folder, "strata.lock"));
    const after = await reported(folder);
    expect(Number(tokens)).toBe((before?.prefix ?? 0) - (after?.prefix ?? 0));
    expect(after?.texts.some(({ message }) => message.includes("under `defer`"))).toBe(false);
    // Where only a small tool is rarely called, the one that finds it costs more.
    writeFileSync(file, yaml.replace(/tools: \[.*\]/, "tools: [list]").replace(/needs: \[.*\]/g, "needs: []"));
    const small = await reported(folder);
    const said = small?.texts.flatMap(({ section, message }) => (section === "tools" ? [message] : []));
    expect(said).toEqual([expect.stringContaining("no turn has called list")]);
  });

  it.each(["anthropic:claude-sonnet-4-5", "anthropic:claude-sonnet-4"])(
    "29.6 leaves tools that are deferred out of what is sent before the conversation, for %s",
    async (model) => {
      const folder = home();
      const file = join(folder, "strata.yaml");
      const prefix = async () => {
        rmSync(join(folder, "strata.lock"), { force: true });
        const [report] = await lint({ folder, data: join(folder, ".strata"), env: {}, model });
        return report?.prefix ?? 0;
      };
      const before = await prefix();
      const yaml = readFileSync(file, "utf8");
      writeFileSync(
        file,
        yaml.replace("    recall: auto", "    defer: [list, memory_forget, memory_save, write]\n    recall: auto"),
      );
      expect(await prefix()).toBeLessThan(before - 100);
    },
  );

  it("threads that two models answered; a rehearsal before a model is none", async () => {
    const folder = home();
    const app = await strata(folder);
    await talk(app, "ann", ["a:one", "a:two", "a:one"]);
    await talk(app, "bob", ["rehearsal", "a:one"]);
    expect(await reported(folder)).toMatchObject({
      length: { turns: 2, from: "record" },
      findings: [{ rule: "model-toggle", stands: "1 of 2 threads were answered by more than one of a:one, a:two" }],
    });
  });

  it("a tail that costs more than the prefix, and memories that are fewer than they are recalled for", async () => {
    const folder = searching();
    const app = await strata(folder);
    const ann = { org: app.projects[0]?.org ?? orgId("home"), agent: COMPANION, contact: contactId("ann") };
    for (const food of ["fish", "rice", "milk", "tuna", "beef"]) {
      const content = untrusted(`The cat Tom likes to eat ${food}, ${"very much so, ".repeat(9)}and asks for it.`);
      await app.runtime.use(MEMORY_API).remember(app.operator, ann, { content, tags: [] });
    }
    await talk(app, "ann", ["a:one"]);
    const { findings = [] } = (await reported(folder)) ?? {};
    expect(findings.map(({ rule, severity }) => [rule, severity])).toEqual([
      ["large-tail", "warning"],
      ["freeze-instead", "warning"],
    ]);
    const [, recalled, stored] =
      /^(\d+) tokens are recalled a turn, and all memories of a contact are (\d+)/.exec(findings[1]?.stands ?? "") ??
      [];
    expect(Number(recalled)).toBeGreaterThan(200);
    expect(Math.abs(Number(recalled) - Number(stored))).toBeLessThan(40);
  });
});
