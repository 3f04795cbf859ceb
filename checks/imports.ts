import { type Token, tokens } from "./tokens.ts";

/** One import, or export from elsewhere. `use` is `value` when the other module is loaded at run time. */
export interface Import {
  /** As written; `undefined` when a dynamic import computes it. */
  readonly from: string | undefined;
  readonly use: "value" | "type";
  /** All its names are marked `type` one by one: the names vanish at run time, the loading does not. */
  readonly onlyInlineTypes: boolean;
  readonly line: number;
}

/** The imports of a file, in order. Whatever stands in strings, templates, comments and regular expressions is no import. */
export function importsOf(source: string): readonly Import[] {
  const code = tokens(source).filter((token) => token.kind !== "comment");
  return code.flatMap((token, index) => {
    if (token.kind !== "word" || code[index - 1]?.text === ".") return [];
    if (token.text === "import" && code[index + 1]?.text === "(") return [dynamicImport(code, index)];
    if (token.text === "import" || token.text === "export") return staticImport(code, index);
    return [];
  });
}

function dynamicImport(code: readonly Token[], index: number): Import {
  const path = code[index + 2];
  const use = code[index - 1]?.text === "typeof" ? "type" : "value";
  return { from: textOf(path), use, onlyInlineTypes: false, line: lineOf(code, index) };
}

/** `import …` and `export …` up to the quoted path. A statement of another kind (`export const`, `import.meta`) gives nothing. */
function staticImport(code: readonly Token[], index: number): readonly Import[] {
  const line = lineOf(code, index);
  const isExport = code[index]?.text === "export";
  const first = isTypeWord(code, index + 1) ? index + 2 : index + 1;
  const opening = code[first];
  if (!isExport && opening?.kind === "string")
    return [{ from: textOf(opening), use: "value", onlyInlineTypes: false, line }];
  if (isExport && opening?.text !== "{" && opening?.text !== "*") return [];

  const end = endOfClause(code, first);
  const path = code[end + 1];
  if (code[end]?.text !== "from" || path?.kind !== "string") return [];
  const use = first === index + 2 ? "type" : "value";
  const onlyInlineTypes = use === "value" && namesOnlyTypes(code.slice(first, end));
  return [{ from: textOf(path), use, onlyInlineTypes, line }];
}

/** `type` is the keyword unless it is itself a name: `import type from "x"`, `import type, { y } from "x"`. */
function isTypeWord(code: readonly Token[], index: number): boolean {
  const after = code[index + 1]?.text;
  return code[index]?.text === "type" && after !== "," && (after !== "from" || code[index + 2]?.text === "from");
}

/** The place of the `from` that ends the clause; names in braces may be called `from` too. */
function endOfClause(code: readonly Token[], start: number): number {
  let depth = 0;
  for (let index = start; index < code.length; index += 1) {
    const { kind, text } = code[index] ?? { kind: "punct", text: ";" };
    if (text === "{") depth += 1;
    else if (text === "}") depth -= 1;
    else if (depth === 0 && text === "from" && code[index + 1]?.kind === "string") return index;
    else if (kind !== "word" && kind !== "string" && text !== "," && text !== "*") return index;
  }
  return code.length;
}

function namesOnlyTypes(clause: readonly Token[]): boolean {
  if (clause[0]?.text !== "{" || clause.length < 3) return false;
  const names = clause.filter(({ text }, index) => text !== "{" && text !== "}" && isFirstOfName(clause, index));
  return names.length > 0 && names.every(({ text }) => text === "type");
}

function isFirstOfName(clause: readonly Token[], index: number): boolean {
  const before = clause[index - 1]?.text;
  return clause[index]?.text !== "," && (before === "{" || before === ",");
}

function textOf(path: Token | undefined): string | undefined {
  return path?.kind === "string" ? path.text.slice(1, -1) : undefined;
}

function lineOf(code: readonly Token[], index: number): number {
  return code[index]?.line ?? 0;
}
