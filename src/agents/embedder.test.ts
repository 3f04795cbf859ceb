import { describe, expect, it } from "vitest";
import { reviveAgent } from "../app/entry/agents.ts";
import { DEFAULT_BUDGETS } from "../protocol/index.ts";
import { loadYaml, onlyAgent, refusalOf, yamlWith } from "./folder.contract.ts";
import { agentSpec } from "./index.ts";

const load = (agent = "", top = "") =>
  onlyAgent(loadYaml(yamlWith(["id: rules, rank: 1, text: Be kind."], agent, top)));

describe("an embedder", () => {
  it("is none by default, and an agent without one has the version it always had", () => {
    expect(load()).not.toHaveProperty("embedder");
    expect(load("    embedder: none\n", "embedder: rehearsal\n").version).toBe(load().version);
  });

  it("is the file's where the agent names none, and the agent's where it does", () => {
    const top = "embedder: openai:text-embedding-3-small\n";
    expect(load("", top).embedder).toBe("openai:text-embedding-3-small");
    expect(load("    embedder: rehearsal\n", top).embedder).toBe("rehearsal");
  });

  it("gives sources more time, unless it is said", () => {
    expect(load("", "embedder: rehearsal\n").budgets).toEqual({ ...DEFAULT_BUDGETS, source: 1_500 });
    expect(load("    budgets: {source: 250}\n", "embedder: rehearsal\n").budgets.source).toBe(250);
  });

  it("is in what the record keeps of the agent", () => {
    const agent = load("    embedder: rehearsal\n");
    expect(reviveAgent(agentSpec(agent), agent.version)).toEqual(agent);
  });

  it.each(["openai", "openai:", "OpenAI:model", "rehearsals"])(
    "is refused as %s, with the form it must have",
    (name) => {
      const { code, message } = refusalOf(() => load(`    embedder: "${name}"\n`));
      expect(code).toBe("config_invalid");
      expect(message).toContain("`openai:text-embedding-3-small`");
    },
  );
});
