import { type Token, tokens } from "./tokens.ts";

/** A function with a body in braces. `lines` counts its own: the functions inside it are counted for themselves. */
export interface FunctionSize {
  readonly name: string;
  readonly line: number;
  readonly lines: number;
  readonly hasSwitch: boolean;
}

interface Span {
  readonly name: string;
  readonly from: number;
  readonly to: number;
  readonly hasSwitch: boolean;
}

const NO_FUNCTION = new Set(["if", "for", "while", "switch", "catch", "with", "await", "return", "typeof"]);
const GOES_ON = new Set([
  "|",
  "&",
  "=>",
  "[",
  ".",
  "<",
  "?",
  ":",
  "extends",
  "is",
  "keyof",
  "typeof",
  "readonly",
  "asserts",
  ",",
  "(",
]);

/** The functions of a source, found by their braces: `name(…) {`, `name(…): Type {` and `… => {`. */
export function functionsOf(source: string): readonly FunctionSize[] {
  const code = tokens(source).filter(({ kind }) => kind !== "comment");
  const spans = code.flatMap((token, index) => {
    if (token.kind !== "punct") return [];
    if (token.text === "=>" && code[index + 1]?.text === "{")
      return spanOf(code, index, index + 1, arrowName(code, index));
    if (token.text !== "(") return [];
    const name = nameBefore(code, index);
    const body = name === undefined ? undefined : bodyAfter(code, closing(code, index));
    return name === undefined || body === undefined ? [] : spanOf(code, index, body, name);
  });
  return spans.map((span) => ({
    name: span.name,
    line: span.from,
    lines: ownLines(span, spans),
    hasSwitch: span.hasSwitch,
  }));
}

function spanOf(code: readonly Token[], start: number, body: number, name: string): readonly Span[] {
  const end = closing(code, body);
  const hasSwitch = code.slice(body, end).some(({ kind, text }) => kind === "word" && text === "switch");
  return [{ name, from: code[start]?.line ?? 0, to: code[end]?.line ?? 0, hasSwitch }];
}

/** The word before the parenthesis, type parameters skipped; nothing if it opens a condition, a loop or a group. */
function nameBefore(code: readonly Token[], index: number): string | undefined {
  let at = index - 1;
  if (code[at]?.text === ">") at = openingAngle(code, at) - 1;
  const word = code[at];
  return word?.kind !== "word" || NO_FUNCTION.has(word.text) ? undefined : word.text;
}

function openingAngle(code: readonly Token[], index: number): number {
  let depth = 0;
  for (let at = index; at >= 0; at -= 1) {
    if (code[at]?.text === ">") depth += 1;
    if (code[at]?.text === "<") depth -= 1;
    if (depth === 0) return at;
  }
  return 0;
}

/** After the parameters comes the body, or a colon, a type, and then the body. A brace where a type may begin belongs to the type. */
function bodyAfter(code: readonly Token[], parameters: number): number | undefined {
  let at = parameters + 1;
  if (code[at]?.text === "{") return at;
  if (code[at]?.text !== ":") return undefined;
  let typeMayBegin = true;
  for (at += 1; at < code.length; at += 1) {
    const { kind, text } = code[at] ?? { kind: "punct", text: ";" };
    if (text === "{" && !typeMayBegin) return at;
    if (text === "{" || text === "(" || text === "[") at = closing(code, at);
    else if (kind === "punct" && !GOES_ON.has(text) && text !== ">") return undefined;
    typeMayBegin = GOES_ON.has(text) && text !== "(" && text !== "[";
  }
  return undefined;
}

/** `name = (…) => {`, `name: (…) => {`, or nothing to call it by. */
function arrowName(code: readonly Token[], arrow: number): string {
  let depth = 0;
  for (let at = arrow - 1; at > 0 && depth >= 0; at -= 1) {
    const [text, before] = [code[at]?.text ?? "", code[at - 1]];
    if (")]}".includes(text)) depth += 1;
    if ("([{;,".includes(text)) depth -= text === ";" || text === "," ? Number(depth === 0) : 1;
    const names = text === "=" || text === ":";
    if (depth === 0 && names && before?.kind === "word") return before.text;
  }
  return "an arrow function";
}

function closing(code: readonly Token[], index: number): number {
  let depth = 0;
  for (let at = index; at < code.length; at += 1) {
    const { kind, text } = code[at] ?? { kind: "punct", text: "" };
    if (kind !== "punct") continue;
    if (text === "{" || text === "(" || text === "[") depth += 1;
    if (text === "}" || text === ")" || text === "]") depth -= 1;
    if (depth === 0) return at;
  }
  return code.length;
}

function ownLines(span: Span, all: readonly Span[]): number {
  const inside = all.filter(
    (other) => other !== span && other.from >= span.from && other.to <= span.to && isOutermostIn(other, span, all),
  );
  return span.to - span.from + 1 - inside.reduce((sum, { from, to }) => sum + to - from, 0);
}

function isOutermostIn(inner: Span, outer: Span, all: readonly Span[]): boolean {
  return !all.some((middle) => middle !== inner && middle !== outer && holds(outer, middle) && holds(middle, inner));
}

function holds(outer: Span, inner: Span): boolean {
  return outer.from <= inner.from && inner.to <= outer.to && outer.to - outer.from > inner.to - inner.from;
}
