import { describe, expect, it } from "vitest";
import { agentName } from "../protocol/index.ts";
import { loadYaml, refusalOf, yamlWith } from "./folder.contract.ts";

const ONE = "id: rules, rank: 1, text: Be kind.";
const helper = (lines: string) => loadYaml(yamlWith([ONE], lines)).agents.get(agentName("helper"));

describe("`inbox` of an agent", () => {
  it("is of each sender alone where it says nothing, and the agent is the one it always was", () => {
    const silent = helper("    history: log\n");
    expect(silent).toBeDefined();
    expect(silent?.inbox).toBeUndefined();
    expect(helper("    history: log\n    inbox: each\n")?.version).toBe(silent?.version);
  });

  it("that takes several senders gives the agent the tool that answers each, once", () => {
    const tools = "    tools: [reply_to_sender, memory_save]\n";
    const wanted = ["memory_save", "reply_to_sender"];
    expect(helper("    history: log\n    inbox: batch\n    tools: [memory_save]\n")).toMatchObject({
      inbox: "batch",
      tools: wanted,
    });
    expect(helper(`    history: log\n    inbox: batch\n${tools}`)?.tools).toEqual(wanted);
  });

  it("takes several senders only with `history: log` and where replies are texts", () => {
    expect(refusalOf(() => helper("    inbox: batch\n")).message).toContain("`batch` needs `history: log`");
    const shaped = "    history: log\n    inbox: batch\n    output: { type: object }\n";
    expect(refusalOf(() => helper(shaped)).message).toContain("remove `output` or use `each`");
  });
});
