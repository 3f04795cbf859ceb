import {
  CST,
  type Document,
  isMap,
  isNode,
  isPair,
  isScalar,
  isSeq,
  Lexer,
  type Node,
  parseDocument,
  visit,
} from "yaml";
import { StrataError } from "../protocol/index.ts";
import { type Path, type Position, show, type YamlSource } from "./path.ts";
import { MOST_PROBLEMS, type Problem, refusal } from "./report.ts";

/** Keys that reach into JavaScript's own machinery. */
const POLLUTING = new Set(["__proto__", "constructor", "prototype"]);

/**
 * Parses YAML 1.2 (core schema) of an untrusted shape: no aliases, anchors, tags or directives, no key twice, only text as keys,
 * at most 32 levels.
 * @throws StrataError `config_invalid` with every finding
 */
export function readYaml(file: string, text: string): YamlSource {
  const document = parsedDocuments.get(text) ?? parseYaml(file, text);
  parsedDocuments.delete(text);
  parsedDocuments.set(text, document);
  const [oldest] = parsedDocuments.keys();
  if (parsedDocuments.size > MOST_READ && oldest !== undefined) parsedDocuments.delete(oldest);
  return {
    file,
    // A separate value for each caller, who may freeze it.
    value: document.toJS({ maxAliasCount: 0 }),
    locate: (path, key) => positionOf(text, offsetOf(document, path, key)),
  };
}

/**
 * The last parsed texts: a command reads the same declarations several times, and parsing them takes longer than everything else it does
 * with them.
 */
const parsedDocuments = new Map<string, Document>();
const MOST_READ = 16;

function parseYaml(file: string, text: string): Document {
  const refuse = (findings: readonly { offset: number; expected: string }[]): void => {
    if (findings.length === 0) return;
    const problems = findings
      .slice(0, MOST_PROBLEMS)
      .map(({ offset, expected }): Problem => ({ file, ...positionOf(text, offset), path: "", value: "", expected }));
    throw refusal(new Set(["config_invalid"]), problems);
  };
  refuse(scanYaml(text));
  const document = parseDocument(text, { ...OPTIONS });
  const errors = document.errors.slice(0, MOST_PROBLEMS);
  refuse(errors.map(({ pos, code, message }) => ({ offset: pos[0], expected: syntaxSentence(code, message) })));
  refuse(keyFindings(document));
  return document;
}

/** A head comes from other people's files and is read repeatedly: a longer one is rejected. */
const HEAD = { characters: 16_000, keys: 200 };

/**
 * The YAML between the two `---` of a file that begins with a head, as strictly as `readYaml`.
 * @throws StrataError `config_invalid` with the first finding, and its line in the head
 */
export function readHead(text: string): YamlSource {
  const refuse = (expected: string): never => {
    throw new StrataError("config_invalid", expected, { problems: [{ line: 1, expected }] });
  };
  if (text.length > HEAD.characters) refuse(`a head may have ${HEAD.characters} characters, and this has more`);
  const source = readYaml("the head", text);
  if (keysIn(source.value) > HEAD.keys) refuse(`a head may have ${HEAD.keys} keys, and this has more`);
  return source;
}

function keysIn(value: unknown): number {
  if (typeof value !== "object" || value === null) return 0;
  const inside = Object.values(value).reduce<number>((sum, one) => sum + keysIn(one), 0);
  return inside + (Array.isArray(value) ? 0 : Object.keys(value).length);
}

/** A document of ours that is changed and written again, with its comments. */
export const editableYaml = (text: string): Document => parseDocument(text);

const OPTIONS = {
  version: "1.2",
  schema: "core",
  merge: false,
  prettyErrors: false,
  // The library compares each key with each other; `keyFindings` needs one pass.
  uniqueKeys: false,
  logLevel: "error",
} as const;

/** The library's sentence, without the words of the file that it may quote: they could be a secret. */
function syntaxSentence(code: string, message: string): string {
  const said = (message.split(/ at line \d/)[0] ?? message).replace(/[:;]? ?["'`].*$/s, "");
  const hint = HINTS[code] ?? "compare the line with its neighbours";
  return `not YAML: ${said.charAt(0).toLowerCase()}${said.slice(1)}; ${hint}`;
}

const HINTS: Readonly<Record<string, string>> = {
  BAD_INDENT: "lines of one level must begin in the same column, and every quote and bracket must be closed",
  TAB_AS_INDENT: "indent with blanks",
  MISSING_CHAR: "a quote, bracket or colon before this place is not closed",
  MULTIPLE_DOCS: "the file is one document: remove the second `---`",
  BLOCK_AS_IMPLICIT_KEY: "quote a text that contains `: `",
};

function keyFindings(document: Document): { offset: number; expected: string }[] {
  const findings: { offset: number; expected: string }[] = [];
  visit(document, {
    Map(_, map) {
      const seen = new Set<unknown>();
      for (const { key } of map.items) {
        const name = isScalar(key) ? key.value : undefined;
        const expected = keyFault(name, seen);
        if (expected !== undefined) findings.push({ offset: nodeStart(key), expected });
        seen.add(name);
      }
    },
  });
  return findings;
}

function keyFault(name: unknown, seen: ReadonlySet<unknown>): string | undefined {
  if (typeof name !== "string") return "a key must be plain text; put it in quotes";
  if (name.includes("${"))
    return `key ${show(name)}: \`\${…}\` is allowed only in \`providers.*.key\`; write the key out`;
  if (POLLUTING.has(name)) return `key \`${name}\` is never allowed; choose another name`;
  return seen.has(name) ? `key ${show(name)} appears twice here; keep one of them` : undefined;
}

const nodeStart = (node: unknown): number => (isNode(node) ? (node.range?.[0] ?? 0) : 0);

/** Follows the path as far as it goes; if it ends early, the last existing key is the best place to name. */
function offsetOf(document: Document, path: Path, key: boolean): number {
  let node: Node | null = document.contents;
  let offset = 0;
  for (const [i, step] of path.entries()) {
    const last = i === path.length - 1;
    if (isMap(node)) {
      const pair = node.items.find((one) => isPair(one) && isScalar(one.key) && one.key.value === step);
      if (pair === undefined) return offset;
      offset = nodeStart(pair.key);
      node = isNode(pair.value) ? pair.value : null;
      if (last && !key && isScalar(node)) return nodeStart(node);
    } else if (isSeq(node)) {
      const item = typeof step === "number" ? node.items[step] : undefined;
      if (!isNode(item)) return offset;
      offset = nodeStart(item);
      node = item;
    }
  }
  return offset;
}

/** Line and column of an offset. */
function positionOf(text: string, offset: number): Position {
  const before = text.slice(0, offset).split("\n");
  return { line: before.length, column: (before.at(-1) ?? "").length + 1 };
}

/** Something a configuration may not hold, by its offset in the text. */
interface Finding {
  readonly offset: number;
  readonly expected: string;
}

const DEPTH = 32;
const TOKENS = 100_000;

const REFUSED: Readonly<Record<string, string>> = {
  alias: "aliases (`*name`) are not supported; write the value out",
  anchor: "anchors (`&name`) are not supported; write the value out where it is needed",
  tag: "tags (`!name`) are not supported; leave the tag out, or quote the text if it begins with `!`",
  "directive-line": "directives (`%…`) are not supported: the file is always YAML 1.2; leave the line out",
  "flow-seq-end": "this `]` has no `[`; quote the text or remove it",
  "flow-map-end": "this `}` has no `{`; quote the text or remove it",
};

/** The depth of the reading: the columns of the open block levels, and the open brackets. */
interface Depth {
  readonly columns: number[];
  flow: number;
  /** Whether only blanks and indicators came in this line so far. */
  fresh: boolean;
}

/**
 * Looks over the words of a YAML text before it is parsed, in linear time and without recursion: a bomb of nesting,
 * aliases or sheer number of words must not reach the parser. Gives the findings, ten at most; none means continue.
 */
function scanYaml(text: string): Finding[] {
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
    return [{ offset: offset + index, expected: "this `\\` is not a known escape; write `\\\\` for a backslash" }];
  }
  return [];
}

/** Takes one token into account and gives the depth after it. A list may be in its key's own column, hence the halves. */
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
  expected: `more than ${TOKENS} words and symbols; move long texts into files`,
});
