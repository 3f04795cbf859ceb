import { readFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { z } from "zod";
import { configSchema, schemaText } from "../app/entry/agents.ts";
import { agentName, asStrataError } from "../protocol/index.ts";
import { folderWith, loadYaml, onlyAgent, refusalOf, yamlWith } from "./folder.contract.ts";
import { agentKey, agentSpec, declaring } from "./index.ts";

interface Node {
  readonly description?: string;
  readonly properties?: Readonly<Record<string, Node>>;
  readonly additionalProperties?: Node | boolean;
  readonly items?: Node;
}

/** All keys below a node with their descriptions. */
function keysOf(node: Node, path = ""): [string, string | undefined][] {
  const below = typeof node.additionalProperties === "object" ? keysOf(node.additionalProperties, `${path}.*`) : [];
  const own = Object.entries(node.properties ?? {}).flatMap(([name, member]): [string, string | undefined][] => [
    [`${path}.${name}`, member.description],
    ...keysOf(member, `${path}.${name}`),
  ]);
  return [...own, ...below, ...(node.items === undefined ? [] : keysOf(node.items, `${path}[]`))];
}

describe("the schema for editors", () => {
  it("is the committed file", () => {
    const file = fileURLToPath(new URL("../../schema/strata.schema.json", import.meta.url));
    expect(readFileSync(file, "utf8")).toBe(schemaText());
  });

  it("describes every key in a sentence", () => {
    const keys = keysOf(configSchema());
    expect(keys.length).toBeGreaterThan(40);
    for (const [key, description] of keys) expect(`${key}: ${description}`).toMatch(/: [A-Z].{10,}\.$/);
  });

  it("refuses unknown keys everywhere", () => {
    expect(schemaText().match(/"properties"/g)?.length).toBe(
      schemaText().match(/"additionalProperties": false/g)?.length,
    );
  });
});

describe("a key of an agent, said once by a feature", () => {
  const written = z
    .strictObject({ until: z.int().max(9).optional().describe("When."), word: z.enum(["on", "off"]).default("on") })
    .optional()
    .describe("How long it is quiet.");
  const pause = agentKey(written, {
    tools: (value) => (value === undefined ? [] : ["wake"]),
    check: (value, { agent, refuse }) => {
      if (value !== undefined && agent.history !== "log") refuse(["until"], "needs `history: log`");
    },
  });
  const volume = agentKey(z.enum(["loud", "soft"]).default("soft").describe("How it speaks."));
  const here = declaring({ pause, volume });
  const load = (lines: string) =>
    onlyAgent(
      here.loadProject(folderWith({ "strata.yaml": yamlWith(["id: a, rank: 1, text: x"], lines) }), { env: {} }),
    );

  it("is written, frozen, stored and read again by the one declaration", () => {
    const agent = load("    history: log\n    pause: {until: 3}\n    volume: loud\n");
    expect(agent).toMatchObject({ pause: { until: 3, word: "on" }, volume: "loud", tools: ["wake"] });
    expect(here.reviveAgent(agentSpec(agent), agent.version)).toEqual(agent);
    expect(here.schemaText()).toContain("How long it is quiet.");
  });

  it("leaves an agent that says nothing, or what the default says, as it always was", () => {
    const plain = declaring({});
    const before = onlyAgent(
      plain.loadProject(folderWith({ "strata.yaml": yamlWith(["id: a, rank: 1, text: x"]) }), { env: {} }),
    );
    for (const lines of ["", "    volume: soft\n"]) expect(load(lines).version).toBe(before.version);
  });

  it("is refused with its place if it does not fit, and reported as newer if it is unknown", () => {
    expect(refusalOf(() => load("    pause: {until: 3}\n")).message).toMatch(
      /helper\.pause\.until.*needs `history: log`/,
    );
    const spec = agentSpec(load("    history: log\n    pause: {}\n"));
    expect(refusalOf(() => declaring({}).reviveAgent(spec)).code).toBe("store_newer");
  });

  it("is read from the record whatever its limits are today", () => {
    const spec = agentSpec(load("    history: log\n    pause: {until: 3}\n")).replace('"until":3', '"until":300');
    expect(here.reviveAgent(spec)).toMatchObject({ pause: { until: 300 } });
  });
});

describe("a name that the schema takes", () => {
  it("is one that the protocol takes, and the other way round", () => {
    const characters = fc.constantFrom("a", "z", "0", "-", ".", "_", "A", " ", "é");
    fc.assert(
      fc.property(fc.string({ unit: characters, minLength: 1, maxLength: 70 }), (name) => {
        expect(
          fails(() => loadYaml(yamlWith(["id: a, rank: 1, text: x"]).replace("helper", JSON.stringify(name)))),
        ).toBe(fails(() => agentName(name)));
      }),
    );
  });
});

function fails(work: () => unknown): boolean {
  try {
    work();
    return false;
  } catch (error) {
    return asStrataError(error).code !== "unexpected";
  }
}
