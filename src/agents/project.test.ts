import { renameSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { loadProject } from "../app/entry/agents.ts";
import { DEFAULT_BUDGETS } from "../protocol/index.ts";
import { folderWith, loadYaml, onlyAgent, refusalOf, yamlWith } from "./folder.contract.ts";

const ONE = "id: rules, rank: 1, text: Be kind.";
const load = (layers: readonly string[], agent = "", top = "", files = {}) =>
  onlyAgent(loadYaml(yamlWith(layers, agent, top), files));

describe("a project", () => {
  it("is found by its folder and by its file", () => {
    const folder = folderWith({ "strata.yaml": yamlWith([ONE]) });
    const [byFolder, byFile] = [folder, join(folder, "strata.yaml")].map((path) => loadProject(path, { env: {} }));
    expect(byFolder).toEqual({ ...byFile, refusedTool: expect.any(Function) });
    expect(byFolder?.folder).toBe(folder);
    expect(byFolder?.org).toBe("home");
  });

  it("that is not there is named with a next step", () => {
    const folder = folderWith({});
    for (const path of [folder, join(folder, "other.yaml"), "", "\0"]) {
      const error = refusalOf(() => loadProject(path, { env: {} }));
      expect(error.code).toBe("config_missing");
      expect(error.message).toContain("strata init companion");
    }
  });

  it("fills in what is not said", () => {
    const agent = load([ONE]);
    expect(agent).toMatchObject({
      recall: "none",
      history: "transcript",
      mode: "full",
      tools: [],
      budgets: DEFAULT_BUDGETS,
    });
    expect(agent.model).toBeUndefined();
    expect(agent.layers).toEqual([
      {
        id: "rules",
        rank: 1,
        mutability: "immutable",
        scope: "agent",
        trust: "operator",
        source: { kind: "text", text: "Be kind." },
        minimum: 0,
        required: true,
        modes: { full: "whole", compact: "whole", minimal: "whole" },
      },
    ]);
  });

  it("fills in what is not said of sources", () => {
    const agent = load([ONE, "id: now, rank: 2, source: clock", "id: past, rank: 3, source: recall"]);
    expect(agent.recall).toBe("auto");
    expect(agent.layers.slice(1)).toMatchObject([
      {
        source: { kind: "clock", timezone: "UTC" },
        scope: "turn",
        mutability: "live",
        trust: "platform",
        required: false,
      },
      { source: { kind: "recall", limit: 12 }, scope: "turn", mutability: "live", trust: "operator", required: false },
    ]);
  });

  it("takes what is said", () => {
    const agent = load(
      [
        "id: rules, rank: 1, text: Be kind., mutability: versioned, scope: thread, budget: 90, minimum: 9, modes: {compact: line, minimal: absent}, line: Kind.",
        "id: now, rank: 2, source: clock, timezone: Europe/Berlin, required: true",
        "id: past, rank: 3, source: recall, limit: 9, trust: contact",
      ],
      "    model: anthropic:claude-x\n    recall: tools\n    mode: compact\n    budgets: {total: 9000, reply: 10, turn: {maxCost: 0.5}}\n",
      "model: rehearsal\n",
    );
    expect(agent).toMatchObject({ model: "anthropic:claude-x", recall: "tools", mode: "compact" });
    expect(agent.budgets).toEqual({
      ...DEFAULT_BUDGETS,
      total: 9000,
      reply: 10,
      turn: { ...DEFAULT_BUDGETS.turn, maxCost: 0.5 },
    });
    expect(agent.layers).toMatchObject([
      {
        scope: "thread",
        budget: 90,
        minimum: 9,
        modes: { compact: "line", minimal: "absent" },
        line: "Kind.",
        required: false,
      },
      { source: { timezone: "Europe/Berlin" }, required: true },
      { source: { limit: 9 }, trust: "contact" },
    ]);
  });

  it("gives an agent the file's model when it names none", () => {
    expect(load([ONE], "", "model: rehearsal\n").model).toBe("rehearsal");
  });

  it("normalises line ends and the end of a text, and nothing else", () => {
    const files = { "a.md": "\ufeffOne\r\ntwo  \rthree e\u0301\u200d\n \n\n" };
    expect(load(["id: rules, rank: 1, file: a.md"], "", "", files).layers[0]?.source).toEqual({
      kind: "text",
      text: "One\ntwo  \nthree e\u0301\u200d",
      file: "a.md",
    });
  });
});

describe("an agent's version", () => {
  const LAYERS = [ONE, "id: late, rank: 9, text: Last., scope: org", "id: now, rank: 0, source: clock"];

  it("does not follow the order of writing, comments or where the project lies", () => {
    const tools = "    tools: [write, read]\n";
    const agent = load(LAYERS, tools);
    const same = load([...LAYERS].reverse(), `    # sorted\n    tools: ["read", 'write']\n`);
    expect(same).toEqual(agent);
    expect(agent.layers.map((layer) => layer.id)).toEqual(["late", "rules", "now"]);
    expect(agent.tools).toEqual(["read", "write"]);
    const folder = folderWith({ "strata.yaml": yamlWith(LAYERS, tools) });
    renameSync(folder, `${folder}-moved`);
    expect(onlyAgent(loadProject(`${folder}-moved`, { env: {} })).version).toBe(agent.version);
  });

  it.each([
    ["a text", ["id: rules, rank: 1, text: Be very kind."], ""],
    ["a rank", ["id: rules, rank: 2, text: Be kind."], ""],
    ["a tool", [ONE], "    tools: [read]\n"],
    ["a budget", [ONE], "    budgets: {total: 31999}\n"],
    ["a model", [ONE], "    model: rehearsal\n"],
  ])("changes with %s", (_, layers, agent) => {
    expect(load(layers, agent).version).not.toBe(load([ONE]).version);
  });

  it("does not change with the operator's key", () => {
    const yaml = yamlWith([ONE]);
    const [a, b] = ["first-key-of-all", "another-key"].map((key) => loadYaml(yaml, {}, { ANTHROPIC_API_KEY: key }));
    expect(a && onlyAgent(a).version).toBe(b && onlyAgent(b).version);
  });
});

describe("law 2: what was loaded stays", () => {
  it("every part of a project is frozen", () => {
    const project = loadYaml(yamlWith([ONE], "    tools: [read]\n"), {}, { ANTHROPIC_API_KEY: "some-long-key" });
    const seen: unknown[] = [project];
    for (const value of seen) {
      if (value === null || typeof value !== "object") continue;
      expect(Object.isFrozen(value)).toBe(true);
      seen.push(...(value instanceof Map ? value.values() : Object.values(value)));
    }
    expect(seen.length).toBeGreaterThan(20);
    const agents = project.agents;
    if (!(agents instanceof Map)) throw new Error("agents are a map");
    for (const change of [() => agents.clear(), () => agents.delete("helper"), () => agents.set("x", 1)]) {
      expect(refusalOf(change).message).toContain("frozen");
    }
  });
});
