import type { Import } from "./imports.ts";
import { type Token, tokens } from "./tokens.ts";

/** Of Node's own modules only these compute and nothing else. */
const PURE_MODULES = ["node:crypto", "node:buffer", "node:util", "node:assert"];

/** Names that reach a clock, chance, the machine's locale or the world, whatever they are called on. */
const IMPURE_NAMES = new Set(
  [
    ["setTimeout", "setInterval", "setImmediate", "queueMicrotask"],
    ["randomUUID", "randomBytes", "randomInt", "randomFill", "randomFillSync", "getRandomValues"],
    ["fetch", "XMLHttpRequest", "WebSocket", "EventSource", "performance", "console"],
    ["localeCompare", "toLocaleString", "toLocaleDateString", "toLocaleTimeString"],
    ["toLocaleLowerCase", "toLocaleUpperCase"],
  ].flat(),
);

/** The same names may be a field of ours: `options.fetch`, `{ performance: 1 }`. These are methods and are meant wherever they stand. */
const MEANT_ON_ANYTHING = /^(random|getRandom|localeCompare|toLocale)/;

interface Use {
  readonly line: number;
  readonly what: string;
}

/** Where a source that must be pure asks for the time, for chance, or for anything outside its arguments. */
export function impureUses(source: string, imports: readonly Import[]): readonly Use[] {
  const code = codeOf(source);
  const modules = imports
    .filter(({ from, use }) => use === "value" && from?.startsWith("node:") && !PURE_MODULES.includes(from))
    .map(({ line, from }) => ({ line, what: from ?? "" }));
  const uses = code.flatMap(({ line }, index) => {
    const what = impureAt(code, index);
    return what === undefined ? [] : [{ line, what }];
  });
  return [...modules, ...uses];
}

function impureAt(code: readonly Token[], index: number): string | undefined {
  const [word, dot, member] = [code[index], code[index + 1]?.text, code[index + 2]?.text];
  if (word?.kind !== "word") return undefined;
  if (word.text === "Math" && member === "random") return "Math.random";
  if (isField(code, index))
    return MEANT_ON_ANYTHING.test(word.text) && IMPURE_NAMES.has(word.text) ? word.text : undefined;
  if (word.text === "process") return "process";
  if (word.text === "Date") return impureDate(code[index - 1]?.text, dot, member);
  return IMPURE_NAMES.has(word.text) ? word.text : undefined;
}

/** `Date.parse`, `Date.UTC` and `new Date(value)` compute; the rest tells the time. */
function impureDate(
  before: string | undefined,
  next: string | undefined,
  afterNext: string | undefined,
): string | undefined {
  if (next === "." && afterNext === "now") return "Date.now";
  if (before === "new" && (next !== "(" || afterNext === ")")) return "new Date() without a value";
  return before !== "new" && next === "(" ? "Date()" : undefined;
}

/** The lines on which a source reads environment variables. */
export function readsEnvironment(source: string, imports: readonly Import[]): readonly number[] {
  const code = codeOf(source);
  const modules = imports.filter(({ from, use }) => use === "value" && from === "node:process").map(({ line }) => line);
  const reads = code.filter(
    ({ text }, index) =>
      text === "process" && !isField(code, index) && /^(env|"env"|'env')$/.test(code[index + 2]?.text ?? ""),
  );
  return [...modules, ...reads.map(({ line }) => line)];
}

function codeOf(source: string): readonly Token[] {
  return tokens(source).filter(({ kind }) => kind !== "comment");
}

/** After a dot (but not `globalThis.`), or as a key before a colon. */
function isField(code: readonly Token[], index: number): boolean {
  const before = code[index - 1]?.text;
  if (before === "." || before === "?.") return code[index - 2]?.text !== "globalThis";
  const isKey = before === "{" || before === "," || before === "readonly" || before === ";";
  return isKey && [":", "?"].includes(code[index + 1]?.text ?? "");
}
