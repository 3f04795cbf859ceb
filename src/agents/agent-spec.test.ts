import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { type Agent, digestOf, toolName } from "../protocol/index.ts";
import { loadYaml, onlyAgent, refusalOf, yamlWith } from "./folder.contract.ts";
import { agentSpec, blueprintFolder, loadProject, reviveAgent, withTools } from "./index.ts";

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
        "    model: rehearsal\n    tools: [read]\n    budgets: {turn: {dollars: 0.25}}\n",
      ),
      { "a.md": "From a file.\n" },
    ),
  );

describe("an agent's spec", () => {
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
    ["an unknown key", spec.replace('{"', '{"aaa":1,"')],
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
