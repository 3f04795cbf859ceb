import { writeFileSync } from "node:fs";
import { join } from "node:path";
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { loadProject } from "../app/entry/agents.ts";
import { StrataError } from "../protocol/index.ts";
import { folderWith, loadYaml, problemsOf, refusalOf, yamlWith } from "./folder.contract.ts";

const GOOD = yamlWith(["id: rules, rank: 1, text: Be kind."]);
const FULL = 256 * 1024;

/** The text repeated to fill the whole size that is read at all. */
const fill = (piece: string): string => piece.repeat(Math.floor(FULL / piece.length));

describe("a strata.yaml of an attacker is refused, with a place and soon:", () => {
  it.each([
    ["nested lists", "[".repeat(33), "32 levels"],
    ["nested maps", '{"a":'.repeat(33), "32 levels"],
    ["nested lines", Array.from({ length: 40 }, (_, i) => `${" ".repeat(i)}a:`).join("\n"), "32 levels"],
    ["lists in one line", `x:\n  ${"- ".repeat(40)}`, "32 levels"],
    ["keys of keys", "? ".repeat(40), "32 levels"],
    ["an alias", `${GOOD}x: *a\n`, "aliases"],
    ["an anchor", `${GOOD}x: &a [1]\n`, "anchors"],
    ["a laugh", `a: &a [x, x]\nb: &b [*a, *a]\nc: &c [*b, *b]\n`, "anchors"],
    ["a merge", `a: &a {x: 1}\nb: {<<: *a}\n`, "anchors"],
    ["a tag", `${GOOD}x: !!binary aGk=\n`, "tags"],
    ["a tag of JavaScript", `${GOOD}x: !!js/function 'x'\n`, "tags"],
    ["a directive", `%YAML 1.1\n---\n${GOOD}`, "directives"],
    ["two documents", `${GOOD}---\n${GOOD}`, "one document"],
    ["a key twice", `${GOOD}organization: other\n`, '"organization" appears twice'],
    ["a key twice in a layer", yamlWith(["id: a, rank: 1, rank: 0, text: x"]), '"rank" appears twice'],
    ["__proto__", `${GOOD}__proto__: {agents: {}}\n`, "`__proto__` is never allowed"],
    ["constructor as an agent", GOOD.replace("helper", "constructor"), "`constructor` is never allowed"],
    ["prototype in quotes", GOOD.replace("helper", '"prototype"'), "`prototype` is never allowed"],
    ["a number as a key", `${GOOD}1: x\n`, "a key must be plain text"],
    ["a list as a key", `${GOOD}? [a]\n: x\n`, "a key must be plain text"],
    ["a reference as a key", [GOOD, '"$', '{HOME}": x'].join(""), "providers.*.key"],
    ["a control character", GOOD.replace("kind", "\u0000kind"), "control characters"],
    ["an escape sequence", GOOD.replace("kind", "\u001b[2Jkind"), "control characters"],
    ["a closing bracket", `${GOOD}}\n`, "has no `{`"],
    ["an escape that means nothing", 'a: "\\\\ \\x41 \\\n \\B"', "is not a known escape"],
    ["a tab", "a:\n\tb: 1\n", "indent with blanks"],
  ])("%s", (_, yaml, word) => {
    const error = refusalOf(() => loadYaml(yaml));
    expect(error.code).toBe("config_invalid");
    expect(error.message).toContain(word);
    expect(problemsOf(error)[0]).toMatchObject({ line: expect.any(Number), column: expect.any(Number) });
  });

  it.each(
    [
      "[",
      "{",
      "}",
      "]",
      "- ",
      "? ",
      ": ",
      "a: ",
      "!a ",
      "&a ",
      "*a ",
      '"',
      "'",
      "%a\n",
      "---\n",
      "#\n",
      "|\n",
      "[],",
      "\n",
      "\t",
    ].map((piece) => [JSON.stringify(piece), fill(piece)]),
  )("256 kB of %s", (_, yaml) => {
    const start = performance.now();
    expect(refusalOf(() => loadYaml(yaml)).message.length).toBeLessThan(5_000);
    expect(performance.now() - start).toBeLessThan(10_000);
  });

  it.each([
    ["many keys", Array.from({ length: 25_000 }, (_, i) => `k${i}: 1\n`).join("")],
    ["bad escapes", `a: "${fill("\\q").slice(8)}"`],
    ["many agents", `organization: x\nagents:\n${Array.from({ length: 15_000 }, (_, i) => `  a${i}: x\n`).join("")}`],
    ["many references", `${GOOD}x:\n${`  - $`.concat("{A}\n").repeat(20_000)}`],
  ])("256 kB of %s", (_, yaml) => {
    const start = performance.now();
    expect(refusalOf(() => loadYaml(yaml)).code).toBe("config_invalid");
    expect(performance.now() - start).toBeLessThan(10_000);
  });

  it("one byte more than is read", () => {
    const error = refusalOf(() => loadYaml(`${"#".repeat(FULL)}\n`));
    expect([error.code, error.message]).toEqual(["config_invalid", expect.stringContaining("at most 262144")]);
  });

  it("bytes that are no text", () => {
    const folder = folderWith({});
    writeFileSync(join(folder, "strata.yaml"), new Uint8Array([0xff, 0xfe, 0x00]));
    expect(refusalOf(() => loadProject(folder, { env: {} })).message).toContain("UTF-8");
  });
});

describe("any text as strata.yaml", () => {
  const folder = folderWith({});
  const tried = (yaml: string): void => {
    writeFileSync(join(folder, "strata.yaml"), yaml);
    try {
      loadProject(folder, { env: {} });
    } catch (error) {
      expect(error).toBeInstanceOf(StrataError);
      if (!(error instanceof StrataError)) return;
      expect(["config_invalid", "file_not_found", "secret_missing"]).toContain(error.code);
      expect(error.message).toMatch(/strata\.yaml.*[a-z]{3}/s);
    }
  };

  it("loads or is refused with a sentence", () => {
    const pieces = fc.constantFrom(
      ...[
        "a",
        ":",
        " ",
        "\n",
        "- ",
        "[",
        "]",
        "{",
        "}",
        ",",
        '"',
        "'",
        "|",
        ">",
        "&",
        "*",
        "!",
        "%",
        "#",
        "?",
        "\t",
        "\\",
        "~",
        "1",
      ],
      ...[
        "agents: ",
        "layers: ",
        "id: ",
        "rank: ",
        "text: ",
        "__proto__",
        "\u2028",
        "\ufeff",
        "😀",
        "---",
        "...",
        "<<",
        "\r",
      ],
    );
    fc.assert(fc.property(fc.string({ unit: pieces, maxLength: 60 }), tried), { numRuns: 600 });
    fc.assert(fc.property(fc.string({ unit: "binary" }), tried), { numRuns: 300 });
  });

  it("loads or is refused with a sentence, also when a good one was damaged", () => {
    const damage = fc.tuple(fc.nat(GOOD.length), fc.nat(8), fc.string({ maxLength: 4, unit: "grapheme-ascii" }));
    const damaged = damage.map(([at, length, text]) => GOOD.slice(0, at) + text + GOOD.slice(at + length));
    fc.assert(fc.property(damaged, tried), { numRuns: 500 });
  });

  it("of any shape is refused with a sentence", () => {
    fc.assert(fc.property(fc.json(), tried), { numRuns: 300 });
  });
});
