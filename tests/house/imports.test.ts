import { describe, expect, it } from "vitest";
import { isTestFile, readFiles } from "../../checks/files.ts";
import { importsOf } from "../../checks/imports.ts";

/** Each import as `line use path`, with `inline` for one whose names are all marked `type`. */
function found(...lines: readonly string[]): readonly string[] {
  return importsOf(lines.join("\n")).map(
    ({ line, use, from, onlyInlineTypes }) => `${line} ${use} ${from}${onlyInlineTypes ? " inline" : ""}`,
  );
}

describe("imports", () => {
  it("are found in all their forms", () => {
    expect(
      found(
        'import "./effect.ts";',
        'import one from "./one.ts";',
        'import * as two from "./two.ts";',
        'import three, { type Three } from "./three.ts";',
        "import {",
        "  four,",
        "  five as six,",
        '} from "./four.ts";',
        'export * from "./five.ts";',
        'export * as seven from "./six.ts";',
        'export { eight } from "./seven.ts";',
        'import data from "./eight.json" with { type: "json" };',
      ),
    ).toEqual([
      "1 value ./effect.ts",
      "2 value ./one.ts",
      "3 value ./two.ts",
      "4 value ./three.ts",
      "5 value ./four.ts",
      "9 value ./five.ts",
      "10 value ./six.ts",
      "11 value ./seven.ts",
      "12 value ./eight.json",
    ]);
  });

  it("of types are told from those of values", () => {
    expect(
      found(
        'import type { A } from "./a.ts";',
        'import type B from "./b.ts";',
        'import type * as C from "./c.ts";',
        'export type { D } from "./d.ts";',
        'export type * from "./e.ts";',
        'type F = typeof import("./f.ts");',
      ).map((line) => line.split(" ")[1]),
    ).toEqual(Array(6).fill("type"));
  });

  it("of names that are all marked `type` still load the module", () => {
    expect(found('import { type A, type B as C } from "./a.ts";', 'import { type A, b } from "./a.ts";')).toEqual([
      "1 value ./a.ts inline",
      "2 value ./a.ts",
    ]);
  });

  it("may use the words of the syntax as names", () => {
    expect(
      found(
        'import type from "./a.ts";',
        'import type, { b } from "./b.ts";',
        'import { from, type as kind } from "./c.ts";',
        'import type from from "./d.ts";',
      ),
    ).toEqual(["1 value ./a.ts", "2 value ./b.ts", "3 value ./c.ts", "4 type ./d.ts"]);
  });

  it("at run time are found, those with a computed path too", () => {
    expect(found('await import("./a.ts");', "await import(path);", "await import(`./$" + "{x}.ts`);")).toEqual([
      "1 value ./a.ts",
      "2 value undefined",
      "3 value undefined",
    ]);
  });

  it("are not taken from strings, templates, comments and regular expressions", () => {
    expect(
      found(
        "const a = 'import x from \"./a.ts\"';",
        '// import x from "./b.ts";',
        '/* import x from "./c.ts"; */',
        'const d = `import x from "./d.ts"; $' + '{fn({ a: `}` })} import y from "./e.ts"`;',
        "const f = /[/'\"`]/.test(text) || 6 / 2 / 1;",
        'import real from "./real.ts";',
      ),
    ).toEqual(["6 value ./real.ts"]);
  });

  it("inside a template's expression are found", () => {
    expect(found("const a = `$" + '{await import("./a.ts")} and "text"`;', 'import "./b.ts";')).toEqual([
      "1 value ./a.ts",
      "2 value ./b.ts",
    ]);
  });

  it("are not seen where the words mean something else", () => {
    expect(
      found(
        "const url = import.meta.url;",
        "export const from = 1;",
        "export { from };",
        'const path = "./a.ts";',
        "export type Import = { from: string };",
        "loader.import('./b.ts');",
        "export default function () {}",
      ),
    ).toEqual([]);
  });
});

it("YAML is parsed in one file, which bounds what it takes: no other imports the parser", () => {
  const parses = /import\s*\{[^}]*\bparse\w*[^}]*\}\s*from "yaml"/;
  const found = readFiles((path) => path.startsWith("src/") && path.endsWith(".ts") && !isTestFile(path));
  expect(found.flatMap(({ path, text }) => (parses.test(text) ? [path] : []))).toEqual(["src/agents/yaml-source.ts"]);
});
