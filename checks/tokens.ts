/** A piece of TypeScript source. The parts of a template literal are `template`; what stands inside `${…}` is split as usual. */
export interface Token {
  readonly kind: "word" | "number" | "string" | "template" | "regex" | "comment" | "punct";
  readonly text: string;
  readonly line: number;
}

const PATTERNS = [
  ["comment", /\/\/[^\n]*|\/\*[\s\S]*?(?:\*\/|$)/y],
  ["word", /[\p{ID_Start}$_#@][\p{ID_Continue}$\u200c\u200d]*/uy],
  ["number", /\d[\w.]*/y],
  ["string", /"(?:[^"\\\n]|\\[\s\S])*"?|'(?:[^'\\\n]|\\[\s\S])*'?/y],
  ["regex", /\/(?:[^/\\[\n]|\\.|\[(?:[^\]\\\n]|\\.)*\])+\/[a-z]*/y],
  ["punct", /\+\+|--|=>|\?\.(?!\d)|\.\.\.|[\s\S]/y],
] as const;

const TEMPLATE_CHUNK = /(?:[^`\\$]|\\[\s\S]|\$(?!\{))*(?:`|\$\{|$)/y;

/** Words after which a value begins, so that a slash opens a regular expression. */
const BEFORE_VALUE = new Set(
  "return typeof case in of delete void throw new instanceof await yield else do extends".split(" "),
);

/**
 * Splits TypeScript source so that strings, templates, comments and regular expressions cannot be taken for code.
 * TypeScript 7 offers no parser to programs; the checks need no more than this.
 */
export function tokens(source: string): readonly Token[] {
  const found: Token[] = [];
  const openBraces: number[] = [];
  let at = 0;
  let line = 1;

  const add = (kind: Token["kind"], text: string): void => {
    found.push({ kind, text, line });
    line += text.split("\n").length - 1;
    at += text.length;
  };
  const addTemplate = (opening: string): void => {
    TEMPLATE_CHUNK.lastIndex = at + opening.length;
    const chunk = opening + (TEMPLATE_CHUNK.exec(source)?.[0] ?? "");
    add("template", chunk);
    if (chunk.endsWith("${")) openBraces.push(0);
  };

  while (at < source.length) {
    const space = /\s+/y;
    space.lastIndex = at;
    const gap = space.exec(source)?.[0] ?? "";
    line += gap.split("\n").length - 1;
    at += gap.length;
    if (at >= source.length) break;
    const char = source[at];
    const depth = openBraces.at(-1);
    if (char === "`") addTemplate("`");
    else if (char === "}" && depth === 0) {
      openBraces.pop();
      addTemplate("}");
    } else {
      if (depth !== undefined && char === "{") openBraces[openBraces.length - 1] = depth + 1;
      if (depth !== undefined && char === "}") openBraces[openBraces.length - 1] = depth - 1;
      const [kind, text] = next(source, at, found);
      add(kind, text);
    }
  }
  return found;
}

function next(source: string, at: number, before: readonly Token[]): [Token["kind"], string] {
  for (const [kind, pattern] of PATTERNS) {
    if (kind === "regex" && !valueMayBegin(before.findLast((token) => token.kind !== "comment"))) continue;
    pattern.lastIndex = at;
    const match = pattern.exec(source);
    if (match !== null) return [kind, match[0]];
  }
  throw new Error(`nothing fits at offset ${at}`);
}

function valueMayBegin(last: Token | undefined): boolean {
  if (last === undefined) return true;
  if (last.kind === "word") return BEFORE_VALUE.has(last.text);
  if (last.kind === "template") return last.text.endsWith("${");
  return last.kind === "punct" && !["++", "--", ")", "]"].includes(last.text);
}
