import { readFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { agentName, asStrataError } from "../protocol/index.ts";
import { loadYaml, yamlWith } from "./folder.contract.ts";
import { configSchema, schemaText } from "./index.ts";

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
