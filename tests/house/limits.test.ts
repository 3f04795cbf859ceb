import { describe, expect, it } from "vitest";
import { functionsOf } from "../../checks/functions.ts";
import { castLines, checkLimits, checkTree } from "../../checks/limits.ts";

function verdict(path: string, text: string): string {
  return checkLimits([{ path, text }]).join("\n");
}

function lines(count: number): string {
  return "a();\n".repeat(count);
}

describe("the limits", () => {
  it("keep files short, tests twice as long", () => {
    expect(verdict("src/guard/a.ts", lines(400))).toBe("");
    expect(verdict("src/guard/a.ts", lines(401))).toContain("401 lines, 400 are allowed");
    expect(verdict("src/guard/a.test.ts", lines(800))).toBe("");
    expect(verdict("src/guard/a.test.ts", lines(801))).toContain("801 lines");
  });

  it("keep functions short, those with a switch and parsers less so", () => {
    const long = (start: string, body: string) => `${start} {\n${lines(70)}${body}}\n`;
    expect(verdict("src/guard/a.ts", long("function render(a: string)", ""))).toContain(
      "render has 72 lines of its own",
    );
    expect(verdict("src/guard/a.ts", long("function render(a: string)", "switch (a) {}\n"))).toBe("");
    expect(verdict("src/guard/a.ts", long("function parseHeader(a: string)", ""))).toBe("");
    expect(verdict("src/guard/a.test.ts", long("function render(a: string)", ""))).toBe("");
  });

  it("forbid what hides a type", () => {
    expect(verdict("src/guard/a.ts", "let a: any;")).toContain("the type any");
    expect(verdict("src/guard/a.ts", "const a: Map<string, any> = b;")).toContain("the type any");
    expect(verdict("src/guard/a.ts", "const a = b as any;")).toContain("the type any");
    expect(verdict("src/guard/a.ts", `// @ts-${"ignore"}\na();`)).toContain("silences the compiler");
    expect(verdict("src/guard/a.ts", 'const any = z.any(); // any words\nsay("as any");')).toBe("");
  });

  it("forbid enums, and default exports in the source", () => {
    expect(verdict("src/guard/a.ts", "export enum A { B }")).toContain("an enum");
    expect(verdict("src/guard/a.ts", "export default a;")).toContain("a default export");
    expect(verdict("src/guard/a.ts", "const schema = z.enum(a).default(b);")).toBe("");
  });

  it("allow three casts in a thousand lines, over all files", () => {
    const files = (casts: number) => [
      { path: "src/guard/a.ts", text: lines(600) + "a = b as C;\n".repeat(casts) },
      { path: "src/wire/b.ts", text: lines(400) },
      { path: "src/wire/b.test.ts", text: "a = b as C;\n" },
    ];
    expect(checkLimits([...files(3)]).filter((line) => line.includes("casts"))).toEqual([]);
    expect(checkLimits([...files(4)]).join()).toContain(
      'src/ has 4 casts with "as" in 1004 lines, 3 are allowed: src/guard/a.ts:601',
    );
  });

  it("allow few entries at the root and in src, and no names that say nothing", () => {
    const many = (folder: string, count: number) =>
      Array.from({ length: count }, (_, index) => `${folder}entry-${index}/a.ts`);
    expect(checkTree([...many("", 19), ...many("src/", 18)])).toEqual([]);
    expect(checkTree(many("", 21)).join()).toContain("the root has 21 entries");
    expect(checkTree(many("src/", 19)).join()).toContain("src/ has 19 entries");
    for (const name of ["utils", "string-helpers", "data", "store-manager"]) {
      expect(checkTree([`src/guard/${name}.ts`]).join()).toContain("does not say what is in it");
    }
    expect(checkTree(["src/guard/metadata.ts", "docs/data.md"])).toEqual([]);
  });
});

describe("casts", () => {
  it("are counted where a value is given a type", () => {
    expect(castLines("a = b as C;\nd = e() as F | undefined;\ng = h[0] as I;\nj = `k` as L;\nm = {} as N;")).toEqual([
      1, 2, 3, 4, 5,
    ]);
  });

  it("are told from other uses of the word", () => {
    const others = [
      "const a = [1] as const;",
      'import { b as c, type D as E } from "./a.ts";',
      'import * as f from "./f.ts";',
      "export { g as h };",
      'export type { I as J } from "./i.ts";',
      'export * as k from "./k.ts";',
      "type L<T> = { [K in keyof T as Uppercase<K & string>]: T[K] };",
      "const as = 1;",
      "as(1);",
      "a.as = 2;",
      '// as it is "as told"',
    ];
    expect(castLines(others.join("\n"))).toEqual([]);
  });
});

describe("functions", () => {
  it("are found with their names and their own lines", () => {
    const source = [
      "export async function* one<T extends { a: string }>(a: T): AsyncGenerator<{ b: T }> {",
      "  yield a;",
      "}",
      "const two = async (a: string): Promise<void> => {",
      "  if (a) {",
      "    await a;",
      "  }",
      "};",
      "class Three {",
      "  four(): { a: number } | undefined {",
      "    switch (1) {}",
      "  }",
      "}",
    ].join("\n");
    expect(functionsOf(source)).toEqual([
      { name: "one", line: 1, lines: 3, hasSwitch: false },
      { name: "two", line: 4, lines: 5, hasSwitch: false },
      { name: "four", line: 10, lines: 3, hasSwitch: true },
    ]);
  });

  it("do not count the lines of functions inside them", () => {
    const source = [
      "function outer() {",
      "  return {",
      "    inner() {",
      "      a();",
      "      b();",
      "    },",
      "  };",
      "}",
    ].join("\n");
    expect(functionsOf(source).map(({ name, lines }) => [name, lines])).toEqual([
      ["outer", 5],
      ["inner", 4],
    ]);
  });

  it("are told from conditions, loops, calls and object types", () => {
    const source =
      "if (a) { b(); }\nfor (const c of d) { e(); }\nwhile (f) { g(); }\ntry { h({ i }); } catch (j) { k(); }\ntype L = (m: string) => { n: string };\no ? p(q) : { r };";
    expect(functionsOf(source).map(({ name }) => name)).toEqual(["L"]);
  });
});
