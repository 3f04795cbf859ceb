import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { describe, expect, it, onTestFinished } from "vitest";
import { configurationPage } from "../../checks/configuration-page.ts";
import { ROOT } from "../../checks/files.ts";
import { sectionsOf } from "../../checks/json-schema.ts";
import { configSchema } from "../../src/app/entry/agents.ts";
import { loadProject } from "../../src/index.ts";

/** Every property name of a JSON Schema, wherever it stands. */
function keysOf(schema: unknown): readonly string[] {
  if (typeof schema !== "object" || schema === null) return [];
  const properties: unknown = Reflect.get(schema, "properties");
  const own = typeof properties === "object" && properties !== null ? Object.keys(properties) : [];
  return [...own, ...Object.values(schema).flatMap(keysOf)];
}

describe("the page of strata.yaml", () => {
  it("shows every key of the schema, once for each place where it may stand", () => {
    const shown = [...configurationPage().matchAll(/^\| `(\w+)` \|/gm)].map(([, key]) => key);
    expect(shown.toSorted()).toEqual(keysOf(configSchema()).toSorted());
    expect(shown.length).toBeGreaterThan(30);
  });

  it("says for every key what it means", () => {
    for (const { path, rows } of sectionsOf(configSchema(), "top"))
      for (const { key, description } of rows) expect(`${path} ${key}: ${description}`).toMatch(/: .*\w.*\.$/);
  });

  it("has an example that loads, with a key out of the environment", () => {
    const page = readFileSync(join(ROOT, "docs/configuration.md"), "utf8");
    const [, yaml = ""] = /```yaml\n([\s\S]*?)```/.exec(page) ?? [];
    const folder = mkdtempSync(join(tmpdir(), "strata-page-"));
    onTestFinished(() => rmSync(folder, { recursive: true, force: true }));
    writeFileSync(join(folder, "strata.yaml"), yaml);
    const { agents } = loadProject(folder, { env: { ANTHROPIC_API_KEY: "not-a-real-key" } });
    expect([...agents.keys()]).toEqual(["clerk"]);
  });
});

describe("a section", () => {
  it("tells a key's value, default and meaning in words", () => {
    const schema = {
      properties: {
        plain: { type: "string", description: "A text." },
        many: { type: "array", items: { type: "integer", minimum: 1, maximum: 5_000 }, maxItems: 9 },
        some: { enum: ["a", "b"], default: "a" },
        inner: { type: "object", additionalProperties: { properties: { on: { type: "boolean" } } } },
      },
      required: ["plain"],
    };
    expect(sectionsOf(schema, "top")).toEqual([
      {
        path: "top",
        description: undefined,
        rows: [
          { key: "plain", value: "text", fallback: "**required**", description: "A text." },
          { key: "many", value: "list of whole number, 1 to 5,000, at most 9", fallback: "–", description: "" },
          { key: "some", value: "`a`, `b`", fallback: "`a`", description: "" },
          { key: "inner", value: "names, each with keys", fallback: "–", description: "" },
        ],
      },
      {
        path: "`inner.NAME`",
        description: undefined,
        rows: [{ key: "on", value: "`true`, `false`", fallback: "–", description: "" }],
      },
    ]);
  });
});
