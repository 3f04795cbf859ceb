import { expect, it } from "vitest";
import { z } from "zod";
import { folderWith, refusalOf } from "./folder.contract.ts";
import { agentKey, declaring, sharedKey } from "./index.ts";

const HOURS = z
  .strictObject({ open: z.int().min(0).max(23) })
  .optional()
  .describe("When it is open.");
const KEYS = {
  hours: sharedKey(
    agentKey(HOURS, {
      check: (hours, { refuse }) => {
        if (hours?.open === 13) refuse(["open"], "nobody opens at 13");
      },
    }),
  ),
};
const DOORS = z
  .strictObject({ front: z.string().optional(), back: z.string().optional() })
  .optional()
  .describe("Its doors.");
const { loadProject, configSchema } = declaring({ ...KEYS, doors: sharedKey(agentKey(DOORS), "members") });

function load(top: string, second = "", key = "hours"): readonly (readonly [string, unknown])[] {
  const agent = (name: string, more: string) =>
    `  ${name}:\n    description: It helps.\n${more}    layers: [{ id: a, rank: 1, text: Be kind. }]\n`;
  const yaml = `organization: home\n${top}agents:\n${agent("first", "")}${agent("second", second)}`;
  const { agents } = loadProject(folderWith({ "strata.yaml": yaml }), { env: {} });
  return [...agents].map(([name, agent]) => [name, Reflect.get(agent, key)]);
}

it("a shared key stands at the top for all agents, and an agent's own goes before it", () => {
  expect(load("hours: { open: 8 }\n", "    hours: { open: 10 }\n")).toEqual([
    ["first", { open: 8 }],
    ["second", { open: 10 }],
  ]);
  expect(load("")).toEqual([
    ["first", undefined],
    ["second", undefined],
  ]);
});

it("one that is shared by its members takes from the top what it does not say itself", () => {
  expect(load("doors: { front: red, back: blue }\n", "    doors: { back: green }\n", "doors")).toEqual([
    ["first", { front: "red", back: "blue" }],
    ["second", { front: "red", back: "green" }],
  ]);
  expect(load("", "    doors: { back: green }\n", "doors")[1]).toEqual(["second", { back: "green" }]);
});

it("what is wrong with it is said once, at the top", () => {
  for (const [hours, sentence] of [
    ["{ open: 13 }", "nobody opens at 13"],
    ["{ open: 99 }", "at most 23"],
  ]) {
    const { message } = refusalOf(() => load(`hours: ${hours}\n`));
    expect(message).toMatch(/strata\.yaml:2:\d+ hours\.open: /);
    expect(message).toContain(sentence);
    expect(message).not.toContain("\n");
  }
});

it("it is in the schema for editors at both places, and has no default", () => {
  expect(JSON.stringify(configSchema()).match(/When it is open/g)).toHaveLength(2);
  expect(() => sharedKey(agentKey(z.int().default(1)))).toThrow("has no default");
});
