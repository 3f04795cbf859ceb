import { posix } from "node:path";
import { describe, expect, it } from "vitest";
import { isTestFile, readFiles, type SourceFile } from "../../checks/files.ts";
import { importsOf } from "../../checks/imports.ts";
import { type Token, tokens } from "../../checks/tokens.ts";

/**
 * A store function runs inside a transaction that others wait for. It can only await what is answered there: it knows nothing that
 * takes longer. (What gets through all the same fails when it runs: `src/store/sqlite/transactions.test.ts`.)
 */
const STORE_FUNCTIONS =
  /^src\/(?:store\/(?:agent|memory|record|threads|turns)\/[\w-]+|features\/[\w-]+\/(?:[\w-]+-)?store)\.ts$/;

/** They walk the whole record, or read many texts, in many transactions, and let others in between. */
const BEGIN_TRANSACTIONS: readonly string[] = ["src/store/record/verify.ts", "src/store/memory/search-memories.ts"];

/** Builds queries, parses values, and makes sums of bytes: none answers later. */
const PACKAGES = new Set(["kysely", "node:zlib", "zod"]);
/** The `config.ts` of a feature only declares: keys, and names such as those of channels. */
const ROOMS = /^src\/(?:(?:store|protocol|memory)\/|features\/[\w-]+\/(?:config|[\w-]+-store)\.ts$)/;

/** What answers later, and what begins many things at once. */
const LATER = new Set([
  "Promise",
  "fetch",
  "import",
  "process",
  "queueMicrotask",
  "setImmediate",
  "setInterval",
  "setTimeout",
]);

function rulesBroken({ path, text }: SourceFile): readonly string[] {
  const code = tokens(text).filter(({ kind }) => kind !== "comment");
  return [
    ...importsOf(text).flatMap(({ from = "", line }) =>
      mayKnow(path, from) ? [] : [`${path}:${line}: knows ${from}`],
    ),
    ...code.flatMap((token, i) =>
      isLater(token, code[i - 1], code[i + 1]) && !isTogether(code, i)
        ? [`${path}:${token.line}: uses ${token.text}`]
        : [],
    ),
    ...code.flatMap((token, i) =>
      beginsStatement(code[i - 1]) && asksDatabase(code, i)
        ? [`${path}:${token.line}: nobody awaits ${token.text}`]
        : [],
    ),
  ];
}

function mayKnow(path: string, from: string): boolean {
  if (!from.startsWith(".")) return PACKAGES.has(from);
  const target = posix.join(posix.dirname(path), from);
  return ROOMS.test(target) && !/^src\/store\/(sqlite|postgres|store-over)/.test(target);
}

/** As a value: `Promise<…>` is a type, and `import … from` a statement. Statements that go out together are awaited by `Promise.all` (decision 0072). */
function isLater({ kind, text }: Token, before: Token | undefined, next: Token | undefined): boolean {
  if (kind !== "word" || !LATER.has(text) || before?.text === ".") return false;
  if (text === "import") return next?.text === "(";
  return text !== "Promise" || next?.text === "." || before?.text === "new";
}

const isTogether = (code: readonly Token[], at: number): boolean =>
  code[at]?.text === "Promise" && code[at + 1]?.text === "." && code[at + 2]?.text === "all";

const beginsStatement = (before: Token | undefined): boolean =>
  before === undefined || [";", "{", "}", ")", "else", "void"].includes(before.text);

/** `tx.run(…)`, or a call that is given `tx` first. */
function asksDatabase(code: readonly Token[], from: number): boolean {
  if (code[from]?.kind !== "word") return false;
  let at = from + 1;
  while (code[at]?.text === "." && code[at + 1]?.kind === "word") at += 2;
  if (code[at]?.text !== "(") return false;
  return code[from]?.text === "tx" || (code[at + 1]?.text === "tx" && [",", ")"].includes(code[at + 2]?.text ?? ""));
}

/** What the check says of one file. */
const verdict = (...lines: readonly string[]): string =>
  rulesBroken({ path: "src/store/turns/one.ts", text: lines.join("\n") }).join("\n");

describe("store functions", () => {
  it("await their transaction and nothing else, and leave nothing unawaited", () => {
    const files = readFiles(
      (path) => STORE_FUNCTIONS.test(path) && !isTestFile(path) && !BEGIN_TRANSACTIONS.includes(path),
    );
    expect(files.length).toBeGreaterThan(40);
    expect(files.flatMap(rulesBroken)).toEqual([]);
  });

  it("know nothing that answers later", () => {
    expect(verdict('import { readFile } from "node:fs/promises";')).toBe(
      "src/store/turns/one.ts:1: knows node:fs/promises",
    );
    expect(verdict('import { openSqlite } from "../sqlite/open.ts";')).toContain("knows ../sqlite/open.ts");
    expect(verdict('import { ask } from "../../models/index.ts";')).toContain("knows ../../models/index.ts");
    expect(verdict("await new Promise((go) => setTimeout(go, 5));")).toContain("uses setTimeout");
    expect(verdict("return Promise.race(rows.map((row) => read(tx, row)));")).toContain("uses Promise");
    expect(verdict("return Promise.all(rows.map((row) => read(tx, row)));")).toBe("");
    expect(verdict('const { ask } = await import("./ask.ts");')).toContain("uses import");
    expect(verdict('import { owner } from "../scope.ts";', "const wait = (): Promise<void> => tx.all(rows);")).toBe("");
  });

  it("are awaited, each of them", () => {
    const broken = "src/store/turns/one.ts:2: nobody awaits";
    expect(verdict("const row = await find(tx, id);", "tx.run(insert(row));")).toBe(`${broken} tx`);
    expect(verdict("if (row)", "  keep(tx, row);")).toBe(`${broken} keep`);
    expect(verdict("for (const row of rows) {", "  keep(tx, row);", "}")).toBe(`${broken} keep`);
    expect(verdict("await keep(tx, row);", "return find(tx, row);")).toBe("");
  });
});

/** A turn's status beside `done`, in code or in a query; the types of a turn's ending name it without comparing. */
const COMPARED =
  /\bstatus\b\)?\s*(?:[!=]==\s*"done"|!?=\s*'done'|",\s*"!?=",\s*(?:sql\.lit\()?"done")|"done"\s*[!=]==\s*[\w.?]*\bstatus\b/g;

/** `isKept` itself, and what is about the turns that ended for good: the sender of one that waits will have an answer. */
const MAY_COMPARE: readonly string[] = [
  // The status of an approval, not of a turn.
  "src/features/approvals/decision-store.ts: 1",
  "src/protocol/turn.ts: 1",
  "src/store/agent/mail.ts: 1",
  "src/store/postgres/first-schema.ts: 1",
  "src/store/sqlite/migrations/since-first.ts: 2",
];

it("whether a turn's ending was kept is asked of `isKept` alone: nobody compares a status with `done`", () => {
  const code = readFiles((path) => /^(src|checks|examples|bootstrap)\/.*\.ts$/.test(path) && !isTestFile(path));
  const compared = code.flatMap(({ path, text }) => {
    const found = text.match(COMPARED)?.length ?? 0;
    return found === 0 ? [] : [`${path}: ${found}`];
  });
  expect(compared).toEqual(MAY_COMPARE);
});
