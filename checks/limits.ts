import { isTestFile, projectFiles, readFiles, type SourceFile } from "./files.ts";
import { functionsOf } from "./functions.ts";
import { type Token, tokens } from "./tokens.ts";

/** The sizes that the code keeps. There is no list of exceptions, and there shall be none: what grows past these wants a file or a room of its own. */
export const LIMITS = {
  rootEntries: 20,
  srcEntries: 18,
  fileLines: 400,
  testFileLines: 800,
  functionLines: 60,
  /** For a function with a `switch`, or one that parses. */
  switchLines: 100,
  castsPer1000Lines: 3,
} as const;

const PARSES = /^(parse|read|tokens)/;
const SAYS_NOTHING = /^(.*-)?(utils?|helpers?|managers?|data)$/;

/** The broken limits in these files, one sentence each. */
export function checkLimits(files: readonly SourceFile[]): readonly string[] {
  return [...files.flatMap(fileLimits), ...castLimit(files)];
}

/** Limits on the tree: what a newcomer sees first, and names that say nothing. */
export function checkTree(paths: readonly string[]): readonly string[] {
  const root = entriesUnder(paths, "");
  const src = entriesUnder(paths, "src/");
  return [
    ...atMost("the root has", root, LIMITS.rootEntries),
    ...atMost("src/ has", src, LIMITS.srcEntries),
    ...paths
      .filter(hasEmptyName)
      .map((path) => `${path}: the name does not say what is in it; name the file after its main export`),
  ];
}

export function checkProjectLimits(): readonly string[] {
  const code = readFiles((path) => /^(src|tests|checks|bootstrap|examples)\/.*\.(ts|mjs)$/.test(path));
  return [...checkTree(projectFiles()), ...checkLimits(code)];
}

function fileLimits({ path, text }: SourceFile): readonly string[] {
  const all = tokens(text);
  const code = all.filter(({ kind }) => kind !== "comment");
  return [
    ...fileLength(path, text),
    ...(isTestFile(path) ? [] : functionLengths(path, text)),
    ...code.flatMap((token, at) => forbiddenWord(path, token, code[at - 1], code[at + 1])),
    ...all
      .filter(silencesCompiler)
      .map(({ line }) => `${path}:${line}: silences the compiler; give it the type it asks for`),
  ];
}

function fileLength(path: string, text: string): readonly string[] {
  const lines = lineCount(text);
  const limit = isTestFile(path) ? LIMITS.testFileLines : LIMITS.fileLines;
  return lines > limit ? [`${path}: ${lines} lines, ${limit} are allowed; part of it wants a file of its own`] : [];
}

function functionLengths(path: string, text: string): readonly string[] {
  return functionsOf(text).flatMap(({ name, line, lines, hasSwitch }) => {
    const limit = hasSwitch || PARSES.test(name) ? LIMITS.switchLines : LIMITS.functionLines;
    return lines > limit ? [`${path}:${line}: ${name} has ${lines} lines of its own, ${limit} are allowed`] : [];
  });
}

function forbiddenWord(
  path: string,
  token: Token,
  before: Token | undefined,
  after: Token | undefined,
): readonly string[] {
  if (token.kind !== "word" || before?.text === ".") return [];
  if (token.text === "any" && isType(before, after))
    return [`${path}:${token.line}: the type any; write unknown and parse it`];
  if (token.text === "enum" && after?.kind === "word")
    return [`${path}:${token.line}: an enum; write a union of strings`];
  if (token.text === "default" && before?.text === "export" && path.startsWith("src/")) {
    return [`${path}:${token.line}: a default export; give it one name everywhere`];
  }
  return [];
}

function isType(before: Token | undefined, after: Token | undefined): boolean {
  const opens = [":", "<", "|", "&", "=", ",", "(", "=>", "as", "extends", "keyof", "readonly", "satisfies"];
  const closes = [";", ",", ")", ">", "|", "&", "[", "]", "=", "}", "{", "=>"];
  return (
    opens.includes(before?.text ?? "") &&
    closes.includes(after?.text ?? ";") &&
    !(before?.text === "," && after?.text === ",")
  );
}

function silencesCompiler({ kind, text }: Token): boolean {
  return kind === "comment" && /^(\/\/+|\/\*+)\s*@ts-(ignore|nocheck)/.test(text);
}

function castLimit(files: readonly SourceFile[]): readonly string[] {
  const production = files.filter(({ path }) => path.startsWith("src/") && !isTestFile(path));
  const lines = production.reduce((sum, { text }) => sum + lineCount(text), 0);
  const casts = production.flatMap(({ path, text }) => castLines(text).map((line) => `${path}:${line}`));
  const allowed = Math.max(1, Math.floor((lines * LIMITS.castsPer1000Lines) / 1000));
  if (casts.length <= allowed) return [];
  return [`src/ has ${casts.length} casts with "as" in ${lines} lines, ${allowed} are allowed: ${casts.join(", ")}`];
}

/** The lines of `value as Type`. Not `as const`, not the renames of imports and exports, not `[K in T as …]`. */
export function castLines(source: string): readonly number[] {
  const code = tokens(source).filter(({ kind }) => kind !== "comment");
  return code
    .filter((token, at) => token.text === "as" && token.kind === "word" && isCast(code, at))
    .map(({ line }) => line);
}

function isCast(code: readonly Token[], at: number): boolean {
  const [before, after] = [code[at - 1], code[at + 1]];
  if (before === undefined || after === undefined || after.text === "const") return false;
  const endsValue = before.kind === "punct" ? [")", "]", "}"].includes(before.text) : true;
  return (
    endsValue &&
    ![":", "(", "=", ",", ".", ";", ")"].includes(after.text) &&
    !isInNames(code, at) &&
    !isKeyRename(code, at)
  );
}

/** Inside `import { … }` or `export { … }`. */
function isInNames(code: readonly Token[], at: number): boolean {
  let open = at;
  while (open >= 0 && /^[\w$,]+$/.test(code[open]?.text ?? "")) open -= 1;
  const [before, beforeType] = [code[open - 1]?.text, code[open - 2]?.text];
  const isClause =
    before === "import" || before === "export" || (before === "type" && /^(im|ex)port$/.test(beforeType ?? ""));
  return code[open]?.text === "{" && (isClause || before === ",");
}

/** `[Key in Type as Other]`: between the bracket and here stands an `in`. */
function isKeyRename(code: readonly Token[], at: number): boolean {
  for (let back = at - 1; back >= 0 && at - back < 40; back -= 1) {
    if (code[back]?.text === "[") return code[back + 2]?.text === "in";
  }
  return false;
}

function entriesUnder(paths: readonly string[], folder: string): readonly string[] {
  const inside = paths
    .filter((path) => path.startsWith(folder))
    .map((path) => path.slice(folder.length).split("/")[0] ?? "");
  return [...new Set(inside)].sort();
}

function atMost(what: string, entries: readonly string[], limit: number): readonly string[] {
  return entries.length > limit
    ? [`${what} ${entries.length} entries, ${limit} are allowed: ${entries.join(", ")}`]
    : [];
}

function hasEmptyName(path: string): boolean {
  const name = path.split("/").at(-1) ?? "";
  return /\.(ts|mjs)$/.test(name) && SAYS_NOTHING.test(name.split(".")[0] ?? "");
}

function lineCount(text: string): number {
  return text.split("\n").length - (text.endsWith("\n") ? 1 : 0);
}
