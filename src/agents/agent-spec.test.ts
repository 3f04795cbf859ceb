import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { z } from "zod";
import { AGENT_KEYS, loadProject, reviveAgent } from "../app/entry/agents.ts";
import {
  type Agent,
  agentName,
  canonicalJson,
  digestOf,
  type Layer,
  layerId,
  orgId,
  type Source,
  type ToolRule,
  toolName,
  trusted,
} from "../protocol/index.ts";
import { sealAgent } from "./agent-spec.ts";
import { loadYaml, onlyAgent, refusalOf, yamlWith } from "./folder.contract.ts";
import { type AgentKey, agentSpec, blueprintFolder, withTools } from "./index.ts";

const rich = (text: string): Agent =>
  onlyAgent(
    loadYaml(
      yamlWith(
        [
          `id: rules, rank: 1, text: ${JSON.stringify(`x${text}`)}, mutability: versioned, budget: 90, modes: {compact: line}, line: Kind.`,
          "id: file, rank: 4, file: a.md",
          "id: now, rank: 2, source: clock, timezone: Europe/Berlin",
          "id: past, rank: 3, source: recall, limit: 9",
        ],
        "    model: rehearsal\n    tools: [read]\n    budgets: {turn: {maxCost: 0.25}}\n",
      ),
      { "a.md": "From a file.\n" },
    ),
  );

/** All members present, including optional ones. */
type Complete<T> = T extends string | number | boolean | null | readonly unknown[]
  ? T
  : T extends object
    ? { readonly [Key in keyof T]-?: Complete<T[Key]> }
    : T;

const appearance = { full: "whole", compact: "line", minimal: "absent" } as const;
const LAYER: Complete<Omit<Layer, "source" | "line">> = {
  ...{ id: layerId("rules"), rank: 1, mutability: "versioned", scope: "agent", trust: "operator" },
  ...{
    editors: "operators",
    after: layerId("core"),
    budget: 90,
    minimum: 9,
    private: false,
    apart: true,
    needs: ["clock"],
    required: true,
    modes: appearance,
  },
};
const SOURCES: readonly Source[] = [
  { kind: "text", text: trusted("Be kind."), file: "a.md" },
  { kind: "clock", timezone: "UTC" },
  { kind: "recall", limit: 9 },
  { kind: "own", name: "stock" },
  ...(["soul", "skills", "vitals", "obligations", "allowance", "files", "tools", "limits", "runtime"] as const).map(
    (kind) => ({
      kind,
    }),
  ),
  { kind: "conversation", entries: 5, compact: 2 },
  { kind: "recent", limit: 9 },
  { kind: "setting", setting: "thinking", texts: { high: trusted("Think first.") } },
];
const rule: Complete<ToolRule> = {
  tool: toolName("read"),
  approval: true,
  wait: true,
  tainted: "ask",
  calls: 2,
  seconds: 3,
};

/** A value of a key's stored form, with all optional members present. */
function wholeOf(form: z.core.$ZodType): unknown {
  if (form instanceof z.ZodOptional || form instanceof z.ZodExactOptional || form instanceof z.ZodReadonly)
    return wholeOf(form.unwrap());
  if (form instanceof z.ZodObject)
    return Object.fromEntries(Object.entries<z.core.$ZodType>(form.shape).map(([name, one]) => [name, wholeOf(one)]));
  if (form instanceof z.ZodArray) return [wholeOf(form.element)];
  if (form instanceof z.ZodRecord) return { name: wholeOf(form.valueType) };
  if (form instanceof z.ZodUnion && form.options[0]) return wholeOf(form.options[0]);
  if (form instanceof z.ZodPipe) return wholeOf(form.in);
  if (form instanceof z.ZodEnum) return form.options[0];
  if (form instanceof z.ZodLiteral) return form.value;
  // Any JSON.
  if (form instanceof z.ZodLazy) return "words";
  const usual: Readonly<Record<string, unknown>> = { string: "words", number: 9, boolean: true };
  const { type } = form._zod.def;
  if (!Object.hasOwn(usual, type)) throw new TypeError(`say in this test which value a ${type} has`);
  return usual[type];
}

/** The keys that features bring, each with a value. */
const FEATURE_KEYS = Object.fromEntries(
  Object.entries<AgentKey>(AGENT_KEYS).map(([name, { stored }]) => [name, stored.parse(wholeOf(stored))]),
);

/** Every key that an agent can have: a new key without a feature does not compile until it is added here, too. */
const EVERY_KEY: Complete<Omit<Agent, "version" | "output" | keyof typeof AGENT_KEYS>> & Pick<Agent, "output"> = {
  ...FEATURE_KEYS,
  ...{
    org: orgId("home"),
    name: agentName("helper"),
    description: "It helps.",
    model: "rehearsal",
    embedder: "local:m",
  },
  layers: SOURCES.map((source) => ({ ...LAYER, source, line: trusted("Kind.") })),
  tools: [toolName("read")],
  rules: [rule],
  output: { type: "object", properties: { a: { type: ["string", "null"] } } },
  ...{ recall: "auto", history: "log", senders: "ethereum", instructions: "members" },
  ...{ liveLayers: "before", summaries: true, mode: "auto" },
  parameters: { temperature: 0.5, topP: 0.9 },
  budgets: {
    ...{ total: 9_000, reply: 90, keep: 80, system: 85, history: 82, message: 75, result: 70, source: 60 },
    turn: { modelCalls: 1, toolCalls: 2, seconds: 3, maxCost: 0.25 },
    spend: { dollars: 5, per: "month" },
  },
};

describe("an agent's spec", () => {
  it("law 7: of a declaration that says everything has the digest that it always had", () => {
    const layers = [
      ...["id: rules, rank: 1, text: Be kind.", "id: name, rank: 2, source: soul"],
      ...["id: abilities, rank: 3, source: skills", "id: how, rank: 4, source: vitals"],
      ...["id: now, rank: 5, source: clock, timezone: Europe/Berlin", "id: past, rank: 6, source: recall"],
      ...["id: last, rank: 7, source: conversation", "id: new, rank: 8, source: recent, limit: 9"],
      ...["id: owed, rank: 9, source: obligations", "id: may, rank: 10, source: allowance"],
      "id: tone, rank: 11, text: Short., mutability: versioned, editors: operators, budget: 90, minimum: 9, modes: {compact: line, minimal: whole}, line: Kind.",
    ];
    const account = '{address: "0x70997970C51812dc3A010C7d01b50e0d17dc79C8", rpc: "http://127.0.0.1:1"}';
    const keys = [
      ...["history: log", "senders: ethereum", "instructions: members", "inbox: batch", "soul: quiet"],
      ...["skills: [{name: sums, text: Add up.}, {name: more, text: Take off., enabled: false}]"],
      ...['deliver: {url: "https://example.org/in"}', `life: {tick: 60, credits: {}, account: ${account}}`],
      ...["liveLayers: before", "summaries: true", "consolidate: {after: 60}", "mode: auto", "embedder: rehearsal"],
      ...["tools: [memory_save, {name: memory_search, approval: true, calls: 2, seconds: 3}]"],
      ...["budgets: {keep: 900, message: 70, turn: {maxCost: 0.25}, spend: {dollars: 5, per: month}}"],
    ];
    const agent = onlyAgent(loadYaml(yamlWith(layers, keys.map((key) => `    ${key}\n`).join(""))));
    // Changed since summaries became off by default: the stored `summaries` are what differs from the default.
    expect(agent.version).toBe("9b86896510c97ad1065420ba93a059796d088e3cb8bfb3dcac5bc046419483e8");
    expect(reviveAgent(agentSpec(agent), agent.version)).toEqual(agent);
  });

  it("law 7: of a declaration that says what its defaults say has the digest that it always had", () => {
    const said = "    consolidate: {after: 60, groupBy: both}\n    inbox: each\n    summaries: false\n    skills: []\n";
    const agent = onlyAgent(loadYaml(yamlWith(["id: rules, rank: 1, text: Be kind."], said)));
    expect(agent.version).toBe("2799628984eaaa0aa79509b4881fbd6760647186cea3c4c83b451f19d6220891");
  });

  it("law 7: of a declaration with keys that have other names today has the digest that it always had", () => {
    const layers = ["id: rules, rank: 1, text: Be kind.", "id: mood, rank: 2, source: setting, setting: mood"];
    const settings = "    settings: {mood: {maxLength: 90, settableBy: members}}\n    liveLayers: before\n";
    const agent = onlyAgent(loadYaml(yamlWith(layers, settings)));
    expect(agent.version).toBe("da115fd37ed1a85e6aef9510bfaaca881703a01a77e9672a18123569d0c946f4");
    expect(agentSpec(agent)).toContain('"facts":{"mood":{"by":"members","text":90}}');
    expect(reviveAgent(agentSpec(agent), agent.version)).toEqual(agent);
  });

  it("gives every key back, and the agent without it", () => {
    const whole = sealAgent(EVERY_KEY);
    expect(reviveAgent(agentSpec(whole), whole.version)).toEqual(whole);
    const core = ["model", "embedder", "rules", "output", "senders", "instructions", "liveLayers", "summaries"];
    for (const key of [...core, ...Object.keys(AGENT_KEYS)]) {
      const rest = { ...EVERY_KEY };
      Reflect.deleteProperty(rest, key);
      const without = sealAgent(rest);
      expect(without.version).not.toBe(whole.version);
      expect(reviveAgent(agentSpec(without), without.version)).toEqual(without);
    }
  });

  it.each([
    ["a key", { ...EVERY_KEY, weather: "sunny" }],
    [
      "a key further in",
      { ...EVERY_KEY, budgets: { ...EVERY_KEY.budgets, turn: { ...EVERY_KEY.budgets.turn, hope: 1 } } },
    ],
    ["a kind of source", { ...EVERY_KEY, layers: [{ ...LAYER, source: { kind: "weather" } }] }],
    ["a word for a key", { ...EVERY_KEY, recall: "clairvoyant" }],
  ])("of a newer Strata, with %s that this one does not know, is told as that", (_, later) => {
    const spec = canonicalJson(JSON.parse(JSON.stringify(later)));
    const error = refusalOf(() => reviveAgent(spec, digestOf(spec)));
    expect(error.code).toBe("store_newer");
    expect(error.message).toMatch(/written by a newer Strata.*update Strata, or begin a new conversation/s);
  });

  it("gives the same agent back, frozen", () => {
    const companion = onlyAgent(loadProject(blueprintFolder("companion"), { env: {} }));
    for (const agent of [rich(""), companion]) {
      const revived = reviveAgent(agentSpec(agent), agent.version);
      expect(revived).toEqual(agent);
      expect(Object.isFrozen(revived.layers[0]?.modes)).toBe(true);
    }
  });

  it("gives any text back as it was", () => {
    fc.assert(
      fc.property(
        fc.string({ unit: fc.constantFrom("a", " ", "\n", '"', "é", "e\u0301", "😀", "\\", "#", "|") }),
        (text) => {
          const agent = rich(text);
          expect(reviveAgent(agentSpec(agent), agent.version)).toEqual(agent);
        },
      ),
      { numRuns: 50 },
    );
  });

  it("has the version as its digest", () => {
    const agent = rich("");
    expect(digestOf(agentSpec(agent))).toBe(agent.version);
  });

  const spec = agentSpec(rich(""));
  it.each([
    ["other words", spec.replace("Kind.", "Rude.")],
    ["an unknown key", spec.replace('{"', '{"aaa":1,"')],
    ["no JSON", spec.slice(1)],
    ["a layer too many", spec.replace('"layers":[', '"layers":[{},')],
    ["a bad name", spec.replace('"name":"helper"', '"name":"../helper"')],
    ["a pollution", spec.replace('{"', '{"__proto__":{"org":"x"},"')],
    ["nothing", ""],
  ])("law 2: with %s is not revived", (_, damaged) => {
    const error = refusalOf(() => reviveAgent(damaged, rich("").version));
    expect(error.code).toBe("record_broken");
    expect(error.message).toContain("strata verify");
  });

  it.each([
    ["other blanks", spec.replace(",", ", ")],
    ["another order", JSON.stringify(Object.fromEntries(Object.entries(JSON.parse(spec)).reverse()))],
    ["a bad name", spec.replace('"name":"helper"', '"name":"../helper"')],
  ])("with %s is not revived, even where the digest fits", (_, damaged) => {
    expect(refusalOf(() => reviveAgent(damaged, digestOf(damaged))).code).toBe("record_broken");
  });
});

describe("an agent with more tools", () => {
  const agent = rich("");

  it("is another version with sorted tools", () => {
    const more = withTools(agent, [toolName("write"), toolName("read"), toolName("list")]);
    expect(more.tools).toEqual(["list", "read", "write"]);
    expect(more.version).toBe(digestOf(agentSpec(more)));
    expect(more.version).not.toBe(agent.version);
    expect(reviveAgent(agentSpec(more), more.version)).toEqual(more);
  });

  it("is the same when it had them", () => {
    expect(withTools(agent, [toolName("read")])).toBe(agent);
    expect(withTools(agent, [])).toBe(agent);
  });
});
