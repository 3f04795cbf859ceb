import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import { describe, expect, it } from "vitest";
import { isTestFile, readFiles } from "../../checks/files.ts";
import { allErrors, FEATURES } from "../../src/app/entry/features.ts";
import { project, ROOT } from "../cli/strata.ts";
import { AGENT } from "./cases-agent.ts";
import { CONFIG, INPUT } from "./cases-input.ts";
import { STORE } from "./cases-store.ts";
import { TEXTS } from "./cases-texts.ts";
import { TURN } from "./cases-turn.ts";
import { type Case, cli, readAs, type Seen } from "./doors.ts";

const ERRORS = new Map(await allErrors());

/** Those of features that have them in their folder. */
const OWN: readonly Case[] = (
  await Promise.all(
    FEATURES.map(({ name }) => join(ROOT, "src/features", name, "errors.contract.ts"))
      .filter((file) => existsSync(file))
      .map(async (file): Promise<{ CASES: readonly Case[] }> => import(pathToFileURL(file).href)),
  )
).flatMap(({ CASES: own }) => own);

const CASES: readonly Case[] = [...INPUT, ...CONFIG, ...STORE, ...TURN, ...AGENT, ...TEXTS, ...OWN];

/** What was printed, by the section of docs/errors.md that shows it. */
const shown = new Map<string, string>();

describe("an error", () => {
  it.each(CASES)("$code: $when", async ({ code, shown: section, provoke, message }) => {
    readAs(section === undefined ? "program" : "person");
    const seen = await provoke();
    if (section !== undefined) shown.set(section, seen.text);
    expect(answerOf(seen), seen.text).toEqual(tableSays(code, seen));
    for (const part of message) {
      if (typeof part === "string") expect(seen.text).toContain(part);
      else expect(seen.text).toMatch(part);
    }
    expect(seen.text).not.toMatch(/^\s+at /m);
  });

  it("of every kind that is made is in the list of the core or of its feature, once", async () => {
    const codes = (await allErrors()).map(([code]) => code);
    expect(codes.filter((code, i) => codes.indexOf(code) !== i)).toEqual([]);
    const made = readFiles((path) => path.startsWith("src/") && path.endsWith(".ts") && !isTestFile(path)).flatMap(
      ({ text }) => [...text.matchAll(/errorKind\("(\w+)"/g)].map(([, code = ""]) => code),
    );
    expect(made.length).toBeGreaterThan(2);
    expect(made.filter((code) => !ERRORS.has(code))).toEqual([]);
  });

  it("of every code is provoked through a door", () => {
    const provoked = new Set<string>(CASES.map(({ code }) => code));
    expect([...ERRORS.keys()].filter((code) => !provoked.has(code))).toEqual([]);
  });
});

describe("a tool that is refused", () => {
  it("is not an error of the program: the agent sees the reason, and answers", async () => {
    readAs("person");
    const input = "Please read the file ../secret.txt\n";
    const seen = await cli(["chat", "companion"], { cwd: project(), input });
    shown.set("A tool that is refused", seen.text);
    expect(seen).toMatchObject({ door: "cli", exit: 0 });
    expect(seen.text).toMatch(/read failed: Invalid path "\.\.\/secret\.txt"/);
    expect(seen.text).toContain("'..' is not allowed in it");
  });
});

describe("docs/errors.md", () => {
  const file = join(ROOT, "docs/errors.md");

  it("shows ten errors as they are printed today (`npm test -- tests/errors -u` writes them again)", async () => {
    const page = readFileSync(file, "utf8");
    expect([...page.matchAll(/^## (.*)\n[^#]*?```text$/gm)].map(([, section]) => section).toSorted()).toEqual(
      [...shown.keys()].toSorted(),
    );
    expect(shown.size).toBe(10);
    await expect([...shown].reduce(withBlock, page)).toMatchFileSnapshot(file);
  });
});

/** The page with what was printed in the section's first block. */
function withBlock(page: string, [section, text]: readonly [string, string]): string {
  const [before = "", rest = ""] = page.split(`## ${section}\n`);
  return `${before}## ${section}\n${rest.replace(/```text\n[\s\S]*?```/, () => `\`\`\`text\n${text}\n\`\`\``)}`;
}

/** What programs read from an answer; of what is shown to people, the exit. */
function answerOf(seen: Seen) {
  if (seen.door === "cli") return { exit: seen.exit, ...("code" in seen && { code: seen.code }) };
  const { code } = seen;
  return seen.door === "http" ? { status: seen.status, code, retry: seen.retry } : { code };
}

function tableSays(code: Case["code"], seen: Seen) {
  const traits = ERRORS.get(code);
  if (traits === undefined) throw new Error(`${code} is in no list of errors`);
  const { exit, status, retry } = traits;
  if (seen.door === "cli") return { exit, ...("code" in seen && { code }) };
  return seen.door === "http" ? { status, code, retry } : { code };
}
