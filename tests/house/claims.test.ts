import { expect, it } from "vitest";
import { loadProject } from "../../src/app/entry/agents.ts";
import { blueprintFolder, blueprintNames } from "../../src/app/entry/projects.ts";
import { toolName } from "../../src/protocol/index.ts";

const agents = blueprintNames().flatMap((name) => [
  ...loadProject(blueprintFolder(name), { env: {}, withoutSecrets: true }).agents.values(),
]);

it("25.26 every shipped text says which tools and layers make it true, and the agent has them", () => {
  expect(agents.length).toBeGreaterThan(2);
  for (const { name, layers, tools } of agents) {
    const there = new Set<string>([...tools, ...layers.map(({ id }) => id)]);
    for (const { id, source, needs } of layers) {
      // A text without a file is made by the platform from what is declared.
      if (source.kind !== "text" || source.file === undefined) continue;
      if (needs === undefined) throw new Error(`layer ${id} of ${name} does not say what it needs`);
      expect([name, id, needs.filter((one) => one === id || !there.has(one))]).toEqual([name, id, []]);
      const named = [...source.text.matchAll(/`([a-z][a-z0-9_]*)`/g)].flatMap(([, word = ""]) => word);
      const unsaid = named.filter((word) => tools.includes(toolName(word)) && !needs.includes(word));
      expect([name, id, unsaid]).toEqual([name, id, []]);
    }
  }
});
