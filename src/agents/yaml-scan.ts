import { CST, Lexer } from "yaml";

/** Something a configuration may not hold, by its offset in the text. */
export interface Finding {
  readonly offset: number;
  readonly expected: string;
}

const DEPTH = 32;
const TOKENS = 100_000;

const REFUSED: Readonly<Record<string, string>> = {
  alias: "aliases (`*name`) are not read here; write the value out",
  anchor: "anchors (`&name`) are not read here; write the value out where it is needed",
  tag: "tags (`!name`) are not read here; leave it out, or quote the text if it begins with `!`",
  "directive-line": "directives (`%…`) are not read here: the file is always YAML 1.2; leave the line out",
  "flow-seq-end": "this `]` has no `[`; quote the text or remove it",
  "flow-map-end": "this `}` has no `{`; quote the text or remove it",
};

/** How deep the reading stands: the columns of the open block levels, and the open brackets. */
interface Depth {
  readonly columns: number[];
  flow: number;
  /** Whether only blanks and indicators came in this line so far. */
  fresh: boolean;
}

/**
 * Looks over the words of a YAML text before it is parsed, in linear time and without recursion: a bomb of nesting,
 * aliases or sheer number of words must not reach the parser. Gives the findings, ten at most; none means go on.
 */
export function scanYaml(text: string): Finding[] {
  const hidden = text.search(/[\0-\x08\x0b\x0c\x0e-\x1f\x7f]/);
  if (hidden >= 0) return [{ offset: hidden, expected: "control characters are not allowed here; remove it" }];
  return scanTokens(text);
}

function scanTokens(text: string): Finding[] {
  const findings: Finding[] = [];
  const depth: Depth = { columns: [], flow: 0, fresh: true };
  let offset = 0;
  let lineStart = 0;
  let tokens = 0;
  let scalar = false;
  for (const token of new Lexer().lex(text)) {
    const type: string = scalar ? "scalar" : (CST.tokenType(token) ?? "unknown");
    scalar = type === "scalar" && !scalar;
    if (type === "flow-error-end") depth.flow = 0;
    if (scalar || type === "doc-mode" || type === "flow-error-end") continue;
    const refused = refusedHere(type, depth);
    if (refused !== undefined) findings.push({ offset, expected: refused });
    if (type === "double-quoted-scalar") findings.push(...badEscapes(token, offset));
    if (descend(depth, type, offset - lineStart) > DEPTH) return [...findings, tooDeep(offset)];
    if (++tokens > TOKENS) return [...findings, tooMany(offset)];
    if (findings.length >= 10) return findings;
    offset += token.length;
    if (token.endsWith("\n")) {
      lineStart = offset;
      depth.fresh = true;
    }
  }
  return findings;
}

function refusedHere(type: string, depth: Depth): string | undefined {
  if (type === "flow-seq-end" || type === "flow-map-end") return depth.flow > 0 ? undefined : REFUSED[type];
  return REFUSED[type];
}

const ESCAPES = /\\(x[\dA-Fa-f]{2}|u[\dA-Fa-f]{4}|U[\dA-Fa-f]{8}|[0abtnvfreN_LP "/\\\t\r\n])?/g;

/** The first escape that means nothing. The parser would make an error of each, and 100,000 of them take it seconds. */
function badEscapes(quoted: string, offset: number): Finding[] {
  for (const { 1: meaning, index } of quoted.matchAll(ESCAPES)) {
    if (meaning !== undefined) continue;
    return [{ offset: offset + index, expected: "this `\\` begins no known escape; write `\\\\` for a backslash" }];
  }
  return [];
}

/** Takes one word into account and gives the depth after it. A list may stand in its key's own column, hence the halves. */
function descend(depth: Depth, type: string, column: number): number {
  if (type === "flow-seq-start" || type === "flow-map-start") depth.flow += 1;
  if (type === "flow-seq-end" || type === "flow-map-end") depth.flow = Math.max(0, depth.flow - 1);
  const passive = type === "space" || type === "newline" || type === "comment" || type === "byte-order-mark";
  if (depth.fresh && !passive && depth.flow === 0) {
    const indicator = type === "seq-item-ind" || type === "explicit-key-ind" || type === "map-value-ind";
    const level = column + (indicator ? 0.5 : 0);
    while ((depth.columns.at(-1) ?? -1) > level) depth.columns.pop();
    if (depth.columns.at(-1) !== level) depth.columns.push(level);
    depth.fresh = indicator;
  }
  return depth.columns.length + depth.flow;
}

const tooDeep = (offset: number): Finding => ({
  offset,
  expected: `more than ${DEPTH} levels of nesting; make it flatter: a configuration needs less than ten`,
});

const tooMany = (offset: number): Finding => ({
  offset,
  expected: `more than ${TOKENS} words and signs; move long texts into files`,
});
