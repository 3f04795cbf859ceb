import { type Document, isMap, isNode, isPair, isScalar, isSeq, type Node, parseDocument, visit } from "yaml";
import type { Path, Position, YamlSource } from "./path.ts";
import { MOST_PROBLEMS, type Problem, refusal } from "./report.ts";
import { show } from "./show.ts";
import { scanYaml } from "./yaml-scan.ts";

/** Keys that reach into JavaScript's own machinery. */
const POLLUTING = new Set(["__proto__", "constructor", "prototype"]);

/**
 * Parses YAML 1.2 (core schema) of an untrusted shape: no aliases, anchors, tags or directives, no key twice, only text as keys,
 * at most 32 levels.
 * @throws StrataError `config_invalid` with every finding
 */
export function readYaml(file: string, text: string): YamlSource {
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
  return {
    file,
    value: document.toJS({ maxAliasCount: 0 }),
    locate: (path, key) => positionOf(text, offsetOf(document, path, key)),
  };
}

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
  BAD_INDENT: "lines of one level begin in the same column, and every quote and bracket is closed",
  TAB_AS_INDENT: "indent with blanks",
  MISSING_CHAR: "a quote, bracket or colon is left open before here",
  MULTIPLE_DOCS: "strata.yaml is one document: remove the second `---`",
  BLOCK_AS_IMPLICIT_KEY: "quote a text that holds `: `",
};

function keyFindings(document: Document): { offset: number; expected: string }[] {
  const findings: { offset: number; expected: string }[] = [];
  visit(document, {
    Map(_, map) {
      const seen = new Set<unknown>();
      for (const { key } of map.items) {
        const name = isScalar(key) ? key.value : undefined;
        const expected = keyFault(name, seen);
        if (expected !== undefined) findings.push({ offset: startOf(key), expected });
        seen.add(name);
      }
    },
  });
  return findings;
}

function keyFault(name: unknown, seen: ReadonlySet<unknown>): string | undefined {
  if (typeof name !== "string") return "a key must be plain text; put it in quotes";
  if (name.includes("${"))
    return `key ${show(name)}: \`\${…}\` may stand only in \`providers.*.key\`; write the key out`;
  if (POLLUTING.has(name)) return `key \`${name}\` is never allowed; choose another name`;
  return seen.has(name) ? `key ${show(name)} stands twice here; keep one of them` : undefined;
}

const startOf = (node: unknown): number => (isNode(node) ? (node.range?.[0] ?? 0) : 0);

/** Follows the path as far as it goes; where it ends early, the last key that exists is the best place to name. */
function offsetOf(document: Document, path: Path, key: boolean): number {
  let node: Node | null = document.contents;
  let offset = 0;
  for (const [i, step] of path.entries()) {
    const last = i === path.length - 1;
    if (isMap(node)) {
      const pair = node.items.find((one) => isPair(one) && isScalar(one.key) && one.key.value === step);
      if (pair === undefined) return offset;
      offset = startOf(pair.key);
      node = isNode(pair.value) ? pair.value : null;
      if (last && !key && isScalar(node)) return startOf(node);
    } else if (isSeq(node)) {
      const item = typeof step === "number" ? node.items[step] : undefined;
      if (!isNode(item)) return offset;
      offset = startOf(item);
      node = item;
    }
  }
  return offset;
}

/** Line and column of an offset. */
export function positionOf(text: string, offset: number): Position {
  const before = text.slice(0, offset).split("\n");
  return { line: before.length, column: (before.at(-1) ?? "").length + 1 };
}
