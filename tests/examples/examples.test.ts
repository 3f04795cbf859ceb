import { execFile } from "node:child_process";
import { mkdtempSync, readdirSync, readFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { promisify } from "node:util";
import { beforeAll, describe, expect, it } from "vitest";
import { ROOT } from "../../checks/files.ts";
import { plainEnv } from "../plain-env.ts";

const EXAMPLES = join(ROOT, "examples");
const numbered = readdirSync(EXAMPLES).filter((name) => /^\d\d-/.test(name));

const before = readdirSync(EXAMPLES, { recursive: true });

/** A place for what they write while they run: empty before, and empty after. */
const scratch = mkdtempSync(join(tmpdir(), "strata-examples-"));

/** What an example prints, run as the page of the examples says, by somebody without any key. */
async function run(name: string): Promise<string> {
  const env = { ...plainEnv(), TMPDIR: scratch, NO_COLOR: "1" };
  const options = { cwd: ROOT, env, encoding: "utf8" } as const;
  const { stdout } = await promisify(execFile)(process.execPath, [join("examples", name, "main.ts")], options);
  return stdout;
}

describe("the examples", () => {
  const printed = new Map<string, string>();
  beforeAll(async () => {
    for (const name of numbered) printed.set(name, await run(name));
  }, 120_000);
  const of = (number: string): string => [...printed].find(([name]) => name.startsWith(number))?.[1] ?? "";

  it("are numbered without a gap, and the page lists each with how to run it", () => {
    expect(numbered.map((name) => Number(name.slice(0, 2)))).toEqual(numbered.map((_, n) => n + 1));
    const page = readFileSync(join(EXAMPLES, "README.md"), "utf8");
    for (const name of numbered) expect(page).toContain(`| [${name}](${name}/) | `);
    for (const name of numbered) expect(page).toContain(`\`npm run -s in -- examples/${name}/main.ts\``);
  });

  it("leave nothing behind", () => {
    expect(readdirSync(scratch)).toEqual([]);
    expect(readdirSync(EXAMPLES, { recursive: true })).toEqual(before);
  });

  it("01: layers and a message become a request, and forged headings stay data", () => {
    expect(of("01")).toContain("── system, shared by: org ──");
    expect(of("01")).toMatch(/^\| # Layer 0 · precedence$/m);
    expect(of("01")).toMatch(/^clock +tail +kept/m);
  });

  it("02: an agent in code remembers, and its second turn is explained section by section", () => {
    expect(of("02")).toContain("  → memory_save\n");
    expect(of("02")).toContain("clerk: On 20");
    const [, ledger = ""] = of("02").split(/^request 1 of that turn: .* tokens$/m);
    expect([...ledger.matchAll(/^ {2}(\w+)/gm)].map(([, section]) => section)).toEqual(
      "tools shop manner transcript message clock recall".split(" "),
    );
    // What was saved a moment ago stands in the conversation.
    expect(ledger).toMatch(/^ {2}recall +tail +operator +empty/m);
  });

  it("03: own sources fill layers; one that fails leaves a note, and the turn continues", () => {
    const [first = "", second = ""] = of("03").split("ada: Do you have tyres?");
    expect(first).toContain("note: the stock source of layer stock failed: the warehouse does not answer");
    expect(first).toMatch(/^\| Today \(\w+\) the shop is (?:closed|open from .* o'clock)\.$/m);
    expect(first).toContain("# Layer 45 · stock: This could not be read for this turn");
    expect(first).toContain("clerk: ");
    expect(second).toContain("# Layer 45 · stock\n[data operator 2026-11-20 00:00Z]\n| Lights: none.");
    expect(second).toContain("| Tyres: 12.");
  });

  it("04: a small refund runs at once; a large one waits, runs when it is approved, and the agent is told", () => {
    expect(of("04")).toContain("> A-1001: two tyres, 24 euros");
    expect(of("04")).toContain("there is no order B-7; ask for the number on the bill");
    const [small = "", large = ""] = of("04").split("ada: Use refund").slice(1);
    expect(small).toContain("> 24 euros were paid back for A-1001");
    expect(small).not.toContain("waits");
    expect(large).toMatch(/"euros":349\} waits for a person: apr_\w{26}\n/);
    expect(large).toContain("operator: approves refund; it is done: 349 euros were paid back for A-1002");
    expect(large).toMatch(/^event: approval, by the operator: apr_\w{26}: refund was approved and ran\./m);
    expect(large).toMatch(/clerk: I have read the approval of the operator: .*349 euros were paid back/);
  });

  it("05: a turn over REST streams as it runs, and is explained", () => {
    const types = [...of("05").matchAll(/^([a-z-]+) +\{/gm)].map(([, type = ""]) => type);
    expect(types.filter((type, n) => type !== types[n - 1])).toEqual(
      "received turn-start compiled tool-start tool-end compiled text-delta done answer".split(" "),
    );
    expect(of("05")).toMatch(/^thread thr_\w{26}\n/);
    expect(of("05")).toMatch(/^request 2: \d+ of 59904 tokens\n {2}tools +tools/m);
  });

  it("06: an app of the AI SDK sends what the compiler made; each request begins with the one before", () => {
    expect(of("06")).toContain('→ price {"repair":"tyre"}');
    expect(of("06")).toContain("clerk: A tyre is 12 euros.");
    expect(of("06")).toContain("clerk: Yes, until 18 o'clock.");
    const grown = [
      ...of("06").matchAll(/^request \d: (\d+) characters(?:, begins with the (\d+) that request \d sent)?/gm),
    ];
    const [first, second, third] = grown.map(([, all, kept]) => ({ all: Number(all), kept: Number(kept ?? 0) }));
    expect(grown).toHaveLength(3);
    expect(second?.kept).toBeGreaterThan((first?.all ?? 0) / 2);
    expect(third?.kept).toBeGreaterThan(second?.kept ?? 0);
    expect(of("06")).not.toContain("does not begin");
  });

  it("07: an automaton edits a layer of its own accord, what a visitor wants is a proposal, and all of it is paid for", () => {
    expect(of("07").match(/ {2}→ update_prompt_layer\n/g)).toHaveLength(2);
    expect(of("07")).toContain('layer 6, version 2: proposed, made from the words of: contact. "Water Mallory');
    expect(of("07")).toContain(
      'layer 6, version 1: kept, made from the words of: agent. "Water the garden every evening',
    );
    expect(of("07")).toContain("what is sent as layer 6: Water the garden every evening");
    expect(of("07")).toMatch(/^paid 2, spent 0\.492, left 1\.508 dollars: LowCycles, sleeping\n$/m);
  });

  it("08: a writer asks a researcher, itself and a critic, is told what does not match, and answers the person at the door", () => {
    expect(of("08").match(/→ .*/g)).toEqual([
      "→ ask_researcher",
      "→ ask_writer",
      "→ ask_critic was not sent: the payload did not match",
      "→ ask_critic",
    ]);
    expect(of("08")).toContain("writer: Here it is: Built in 1869");
    expect(of("08")).toContain('researcher:\n  writer to researcher: {"payload":{"about":"the Cutty Sark"}');
    expect(of("08")).toMatch(/^writer, a fork of the conversation:\n {2}writer to writer: .*Write a draft/m);
    // The edge shows the critic the last two messages of the conversation.
    expect(of("08")).toContain('"from":"ada","text":"Write about the Cutty Sark."');
    expect(of("08")).toContain("  critic to writer: Good: 10 words.\n");
  });
});
