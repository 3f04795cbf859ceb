import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { jsonLines, project, strata, until } from "./strata.ts";

/** A folder with files in it, and the CLI there. */
function standing(files: Readonly<Record<string, string>> = {}) {
  const cwd = project();
  for (const [name, text] of Object.entries(files)) writeFileSync(join(cwd, name), text);
  const run = (...argv: readonly string[]) => strata(["memory", ...argv], { cwd });
  const contents = async (...argv: readonly string[]) => {
    const [all = []] = jsonLines<readonly { readonly content: string }[]>((await run("list", "--json", ...argv)).out);
    return all.map(({ content }) => content).sort();
  };
  return { cwd, run, contents };
}

const KEY = `AKIA${"IOSFODNN7EXAMPLE"}`;

describe("strata memory import and export", () => {
  it("a contact's memories go into a file and come back for another, once", async () => {
    const { cwd, run, contents } = standing();
    await run("save", "The bicycle is green.", "--tag", "bicycle");
    await run("save", "Ida lives in Oslo.");
    expect(await run("export", "--out", "me.jsonl")).toMatchObject({
      code: 0,
      err: "The memories about me are in me.jsonl.\n",
    });
    const first = await run("import", "me.jsonl", "--as", "bob");
    expect(first).toMatchObject({ code: 0, out: "me.jsonl: 2 memories about bob are saved.\n", err: "" });
    const again = await run("import", "me.jsonl", "--as", "bob");
    expect(again.out).toBe("me.jsonl: 0 memories about bob are saved, 2 known already.\n");
    expect(await contents("--as", "bob")).toEqual(["Ida lives in Oslo.", "The bicycle is green."]);
    expect((await run("export", "--as", "bob")).out).toBe(readFileSync(join(cwd, "me.jsonl"), "utf8"));
    const lost = await run("export", "--out", "me.jsonl");
    expect(lost).toMatchObject({ code: 2, err: expect.stringContaining("me.jsonl already exists") });
    expect((await run("export", "--out", "me.jsonl", "--force", "--tag", "bicycle")).code).toBe(0);
    expect(jsonLines(readFileSync(join(cwd, "me.jsonl"), "utf8"))).toHaveLength(1);
  });

  it("a message of 300,000 characters with code comes in whole, and is found and shown by the passage that fits", async () => {
    const lines = Array.from({ length: 8_000 }, (_, i) => `Row ${i % 700} lists horses, hay and water.`);
    const code = "```ts\nconst password = readPassword();\nif (!password) throw new Error();\n```";
    const content = lines
      .toSpliced(2_000, 0, code)
      .toSpliced(4_000, 0, "The boiler burns.")
      .join("\n")
      .slice(0, 300_000);
    const message = { kind: "message", speaker: "agent", content, at: "2026-01-01T10:00:00Z" };
    const { run, contents } = standing({ "talk.jsonl": JSON.stringify(message) });
    expect((await run("import", "talk.jsonl")).out).toBe("talk.jsonl: 1 memory about me is saved.\n");
    expect(await contents("--kind", "message")).toEqual([content]);
    const { out } = await run("search", "the boiler");
    expect(out).toContain("\n  The boiler burns.\n");
    expect(out.length).toBeLessThan(2_000);
    expect((await run("explain", "readPassword")).out).toContain("const password = readPassword();\n");
  });

  it("Markdown for people comes back, too", async () => {
    const { cwd, run, contents } = standing({ "notes.md": "# Ann\n\n- Likes tea.\n- [2026-01-02] Lives in Oslo.\n" });
    expect((await run("import", "notes.md", "--as", "ann")).out).toBe("notes.md: 2 memories about ann are saved.\n");
    await run("export", "--as", "ann", "--out", "ann.md");
    expect(readFileSync(join(cwd, "ann.md"), "utf8")).toMatch(
      /^## Ann\n\n- \[2026-01-02\] Lives in Oslo\.\n- \[.+Z\] Likes tea\.\n/,
    );
    await run("import", "ann.md", "--as", "eve");
    expect(await contents("--as", "eve", "--tag", "Ann")).toEqual(["Likes tea.", "Lives in Oslo."]);
  });

  it("reads what is on stdin where the file is called -", async () => {
    const { cwd, contents } = standing();
    const piped = await strata(["memory", "import", "-", "--as", "ann"], { cwd, input: "- Likes tea.\n" });
    expect(piped).toMatchObject({ code: 0, out: "stdin: 1 memory about ann is saved.\n" });
    expect(await contents("--as", "ann")).toEqual(["Likes tea."]);
  });

  it("says what plain lines of a talk leave out, and what that costs", async () => {
    const talk = ["Hi", "Hello", "I moved to Oslo", "When?"].map((text, n) => ({
      content: `${n % 2 ? "Bo" : "Ann"}: ${text}`,
    }));
    const { run } = standing({ "talk.jsonl": talk.map((one) => JSON.stringify(one)).join("\n") });
    const { code, err } = await run("import", "talk.jsonl");
    expect(code).toBe(0);
    expect(err).toMatch(
      /^talk\.jsonl: 4 entries read like lines of a talk \("Ann: …"\)[\s\S]+speaker[\s\S]+\.67[\s\S]+\.82/,
    );
  });

  it("keeps the good lines, tells each bad one by its number and never by its secret, and ends with an error", async () => {
    const { run, contents } = standing({
      "mixed.jsonl": `{"content": "Good."}\nnope\n{"content": "The key is ${KEY}"}\n{"content": "Good too."}\n`,
    });
    const { code, out, err } = await run("import", "mixed.jsonl");
    expect({ code, out }).toEqual({ code: 2, out: "mixed.jsonl: 2 memories about me are saved.\n" });
    expect(err.split("\n")).toEqual([
      "strata: mixed.jsonl: line 2 is not JSON",
      "strata: mixed.jsonl: line 3 contains what looks like an AWS access key, at character 12",
      "strata: mixed.jsonl: 2 entries were refused, the rest was saved; fix these entries and import the file again",
      "",
    ]);
    expect(await contents()).toEqual(["Good too.", "Good."]);
    const told = await run("import", "mixed.jsonl", "--json");
    expect(jsonLines(told.out)).toMatchObject([
      { saved: 0, known: 2, refused: [{ where: "line 2" }, { where: "line 3" }] },
    ]);
    expect(`${told.out}${told.err}`).not.toContain(KEY);
  });

  it("checks a file without saving it", async () => {
    const { run, contents } = standing({ "a.jsonl": '{"content": "Something."}\n' });
    expect((await run("import", "a.jsonl", "--check")).out).toBe("a.jsonl: 1 memory about me would be saved.\n");
    expect(await contents()).toEqual([]);
  });

  it("shows how far a long import is, and continues where it was stopped", async () => {
    const { cwd, contents } = standing();
    const lines = Array.from({ length: 900 }, (_, n) => JSON.stringify({ content: `Fact number ${n} of many` }));
    writeFileSync(join(cwd, "many.jsonl"), lines.join("\n"));
    const stop = new AbortController();
    let shown = "";
    const watch = (text: string): void => {
      shown += text;
      if (/[1-8]\d\d of 900 memories/.test(shown)) stop.abort();
    };
    const stopped = await strata(["memory", "import", "many.jsonl"], { cwd, signal: stop.signal, watch });
    await until(
      () => shown.includes("memory import"),
      () => shown,
    );
    if (stop.signal.aborted)
      expect(stopped).toMatchObject({ code: 130, err: expect.stringContaining("import it again to continue") });
    expect((await strata(["memory", "import", "many.jsonl"], { cwd })).code).toBe(0);
    expect(await contents("--limit", "1000")).toHaveLength(900);
  });

  it("a file of several users' memories becomes one contact's only when it is said whose", async () => {
    const users = ["dev", "carl"].map((user_id) => ({
      id: user_id,
      memory: `${user_id} likes tea`,
      user_id,
      created_at: "2025-01-01",
    }));
    const { run, contents } = standing({ "mem0.json": JSON.stringify({ results: users }, null, 1) });
    const refused = await run("import", "mem0.json");
    expect(refused).toMatchObject({ code: 2, out: "", err: expect.stringContaining('2 users ("dev", "carl")') });
    await run("import", "mem0.json", "--user", "dev");
    expect(await contents()).toEqual(["dev likes tea"]);
  });

  it.each([
    [["import", "nowhere.json"], 3, "nowhere.json cannot be read"],
    [["import", "bad.json"], 2, "bad.json cannot be imported: it is not JSON"],
    [["import", "other.json"], 2, "nothing that Strata recognizes as memories"],
    [["import", "bad.json", "--kind", "facts"], 2, 'one of "message", "fact", "block", "summary"'],
    [["export", "--format", "csv"], 2, 'one of "jsonl", "markdown"'],
  ])("strata memory %j exits with %i and says why", async (argv, exit, sentence) => {
    const { run } = standing({ "bad.json": "[1,\n2", "other.json": '{"hello":\n1}' });
    await run("save", "Something.");
    const { code, out, err } = await run(...argv);
    expect(err).toContain(sentence);
    expect({ code, out }).toEqual({ code: exit, out: "" });
  });
});
