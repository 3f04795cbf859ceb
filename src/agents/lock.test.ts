import { mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { loadProject } from "../app/entry/agents.ts";
import { digestOf } from "../protocol/index.ts";
import { folderWith, refusalOf, yamlWith } from "./folder.contract.ts";
import { checkLock, lockFile, lockText, type Project, writeLock } from "./index.ts";

const SAFE = "id: safety, rank: 1, file: safety.md";
const KIND = "id: kind, rank: 2, text: Be kind., modes: {compact: line}, line: Kind.";
const OPEN = "id: open, rank: 3, text: Be brief., mutability: versioned";
const TEXT = "Do no harm.\nNever lie.\nAsk first.\n";

const load = (folder: string): Project => loadProject(folder, { env: {} });

/** A locked project, changed afterwards by rewriting files; gives what the check then says. */
function afterwards(files: Readonly<Record<string, string>>) {
  const folder = folderWith({ "strata.yaml": yamlWith([SAFE, KIND, OPEN]), "safety.md": TEXT });
  writeLock(load(folder));
  for (const [name, content] of Object.entries(files)) writeFileSync(join(folder, name), content);
  return () => checkLock(load(folder));
}

describe("strata.lock", () => {
  it("holds each immutable layer's text by lines and its digest, sorted", () => {
    const folder = folderWith({ "strata.yaml": yamlWith([SAFE, KIND, OPEN]), "safety.md": TEXT });
    const lock = lockText(load(folder));
    expect(lock.endsWith("}\n")).toBe(true);
    const { format, agents } = JSON.parse(lock);
    expect(format).toBe(1);
    expect(Object.keys(agents.helper)).toEqual(["kind", "safety"]);
    expect(agents.helper.safety).toMatchObject({
      rank: 1,
      sha256: digestOf("Do no harm.\nNever lie.\nAsk first."),
      text: ["Do no harm.", "Never lie.", "Ask first."],
    });
    expect(agents.helper.kind.line).toBe("Kind.");
  });

  it("is written whole, beside strata.yaml, and then holds", () => {
    const folder = folderWith({ "strata.yaml": yamlWith([SAFE]), "safety.md": TEXT });
    const project = load(folder);
    writeLock(project);
    writeLock(project);
    expect(readFileSync(lockFile(project), "utf8")).toBe(lockText(project));
    expect(readdirSync(folder).sort()).toEqual(["safety.md", "strata.lock", "strata.yaml"]);
    expect(() => checkLock(project)).not.toThrow();
  });

  it("that cannot be written says why and leaves nothing behind", () => {
    const folder = folderWith({ "strata.yaml": yamlWith([KIND]) });
    mkdirSync(join(folder, "strata.lock"));
    const error = refusalOf(() => writeLock(load(folder)));
    expect(error.message).toContain("could not be written");
    expect(readdirSync(folder).sort()).toEqual(["strata.lock", "strata.yaml"]);
  });
});

describe("the lines that stand for layers", () => {
  const MAIL = (text: string, line = "Answer briefly.") =>
    `id: mail, rank: 4, text: ${text}, mutability: versioned, modes: {compact: line}, line: ${line}`;
  const KIND_NOW = (text: string, line = "Kind.") =>
    `id: kind, rank: 2, text: ${text}, modes: {compact: line}, line: ${line}`;
  const locked = (before: readonly string[], after: readonly string[]) => {
    const folder = folderWith({ "strata.yaml": yamlWith(before) });
    writeLock(load(folder));
    writeFileSync(join(folder, "strata.yaml"), yamlWith(after));
    return load(folder);
  };

  it("S18 of versioned layers are in the lock, each with the digest of the text it was reviewed for", () => {
    const folder = folderWith({ "strata.yaml": yamlWith([KIND, OPEN, MAIL("Answer.")]) });
    const { lines } = JSON.parse(lockText(load(folder)));
    expect(lines).toEqual({ helper: { mail: { line: "Answer briefly.", of: digestOf("Answer.") } } });
    expect(lockText(load(folderWith({ "strata.yaml": yamlWith([KIND, OPEN]) })))).not.toContain('"lines"');
  });

  it.each([
    ["versioned", [MAIL("Answer.")], [MAIL("Answer twice.")], "layer mail"],
    ["immutable", [KIND_NOW("Be kind.")], [KIND_NOW("Be just.")], "layer kind"],
  ])("S18 a stale one stops the start and is not locked unless it was reviewed: %s", (_, before, after, named) => {
    const project = locked(before, after);
    expect(refusalOf(() => checkLock(project))).toMatchObject({ code: "lock_mismatch" });
    const error = refusalOf(() => writeLock(project));
    expect(error).toMatchObject({ code: "lock_mismatch" });
    expect(error.message).toContain(named);
    expect(error.message).toContain("but the same line, which was reviewed for the old text");
    expect(error.message).toContain("strata lock --lines");
    expect(refusalOf(() => checkLock(project))).toMatchObject({ code: "lock_mismatch" });
    writeLock(project, { lines: true });
    expect(() => checkLock(project)).not.toThrow();
  });

  it("that were changed with their texts, or alone, are locked again without more words", () => {
    for (const after of [MAIL("Answer twice.", "Answer twice."), MAIL("Answer.", "Answer soon.")]) {
      const project = locked([MAIL("Answer.")], [after]);
      expect(refusalOf(() => checkLock(project)).message).toContain("has a different line from the lock");
      writeLock(project);
      expect(() => checkLock(project)).not.toThrow();
    }
  });

  it("need no lock where a lock of before has none of them, and where they are new or gone", () => {
    const project = locked([MAIL("Answer.")], [MAIL("Answer twice.")]);
    const { lines: _, ...old } = JSON.parse(readFileSync(lockFile(project), "utf8"));
    writeFileSync(lockFile(project), JSON.stringify(old));
    expect(() => checkLock(project)).not.toThrow();
    expect(() => checkLock(locked([OPEN], [OPEN, MAIL("Answer.")]))).not.toThrow();
    expect(() => checkLock(locked([OPEN, MAIL("Answer.")], [OPEN]))).not.toThrow();
  });
});

describe("law 2: a project does not start", () => {
  it("without a lock", () => {
    const folder = folderWith({ "strata.yaml": yamlWith([OPEN]) });
    const error = refusalOf(() => checkLock(load(folder)));
    expect(error.code).toBe("lock_missing");
    expect(error.message).toContain("run `strata lock`");
  });

  it("with another text; the difference is shown line by line", () => {
    const error = refusalOf(afterwards({ "safety.md": "Do no harm.\nNever lie, mostly.\nAsk first.\n" }));
    expect(error.code).toBe("lock_mismatch");
    expect(error.message).toBe(
      [
        "agent helper, layer safety differs from the lock (- locked, + found):",
        "  …",
        "  Do no harm.",
        "- Never lie.",
        "+ Never lie, mostly.",
        "  Ask first.",
        "if the change is intended, review it and run `strata lock`; if not, restore the file",
      ].join("\n"),
    );
    expect(error.details["changes"]).toMatchObject([{ agent: "helper", layer: "safety", change: "changed" }]);
  });

  it.each([
    ["a rank", SAFE.replace("rank: 1", "rank: 9"), ["- rank: 1", "+ rank: 9"]],
    ["a scope", `${SAFE}, scope: thread`, ['- scope: "agent"', '+ scope: "thread"']],
    ["a mode", `${SAFE}, modes: {minimal: absent}`, ['"minimal":"whole"}', '"minimal":"absent"}']],
  ])("with another place of the same text: %s", (_, layer, shown) => {
    const error = refusalOf(afterwards({ "strata.yaml": yamlWith([layer, KIND]) }));
    for (const line of shown) expect(error.message).toContain(line);
  });

  it("with another line for the short modes", () => {
    const error = refusalOf(afterwards({ "strata.yaml": yamlWith([SAFE, KIND.replace("Kind.", "Rude.")]) }));
    expect(error.message).toContain('- line: "Kind."\n+ line: "Rude."');
  });

  it("with an immutable layer more", () => {
    const more = "id: more, rank: 7, text: Obey.";
    const error = refusalOf(afterwards({ "strata.yaml": yamlWith([SAFE, KIND, more]) }));
    expect(error.message).toContain("agent helper, layer more is immutable and not in the lock (+ found):");
    expect(error.message).toContain("+ Obey.");
  });

  it.each([
    ["removed", []],
    ["made editable", [`${SAFE}, mutability: versioned`]],
  ])("with an immutable layer %s", (_, layers) => {
    const error = refusalOf(afterwards({ "strata.yaml": yamlWith([...layers, KIND]) }));
    expect(error.message).toContain("agent helper, layer safety is in the lock but no longer an immutable layer");
    expect(error.message).toContain("- Never lie.");
  });

  it("with another agent", () => {
    const error = refusalOf(afterwards({ "strata.yaml": yamlWith([SAFE]).replace("helper", "other") }));
    expect(error.message).toContain("agent helper, layer kind");
    expect(error.message).toContain("agent other, layer safety is immutable and not in the lock");
  });

  it("25.15 with another name for the same agent, which is said in a sentence and not as all its texts twice", () => {
    const renamed = yamlWith([SAFE, KIND, OPEN]).replace("helper", "other");
    const error = refusalOf(afterwards({ "strata.yaml": renamed }));
    expect(error.code).toBe("lock_mismatch");
    expect(error.message.split("\n")).toHaveLength(2);
    expect(error.message).toContain("agent other has the same texts as the lock has for helper: another name.");
    const edited = refusalOf(
      afterwards({
        "strata.yaml": yamlWith([SAFE, KIND, "id: more, rank: 7, text: Obey."]).replace("helper", "other"),
      }),
    );
    expect(edited.message).toContain("agent other has nearly the same texts as the lock has for helper");
    expect(edited.message).toContain("agent other, layer more is immutable and not in the lock");
    expect(edited.message).not.toContain("Never lie.");
  });

  it("with a change that a terminal would hide, and shows it", () => {
    const error = refusalOf(afterwards({ "safety.md": TEXT.replace("lie", "lie\u200d") }));
    expect(error.message).toContain("+ Never lie\\u{200d}.");
  });

  it("with a rewritten text of many lines, without taking long", () => {
    const lines = Array.from({ length: 20_000 }, (_, i) => `line ${i * 7}`);
    const error = refusalOf(afterwards({ "safety.md": lines.join("\n") }));
    expect(error.message.split("\n").length).toBeLessThan(70);
    expect(error.message).toContain("lines more");
  });

  it.each([
    ["an empty lock", () => ""],
    ["half a lock", (lock: string) => lock.slice(0, 100)],
    ["a lock of another format", (lock: string) => lock.replace('"format": 1', '"format": 2')],
    ["an unknown key in the lock", (lock: string) => lock.replace('"rank": 1', '"rank": 1, "note": "x"')],
    ["a lock that names no digest", (lock: string) => lock.replaceAll(/"sha256": "[0-9a-f]+",/g, "")],
    ["a lock edited by hand", (lock: string) => lock.replace("Never lie.", "Always lie.")],
    ["a lock that is a list", () => "[]"],
  ])("with %s", (_, damage) => {
    const folder = folderWith({ "strata.yaml": yamlWith([SAFE, KIND]), "safety.md": TEXT });
    const project = load(folder);
    writeFileSync(lockFile(project), damage(lockText(project)));
    const error = refusalOf(() => checkLock(project));
    expect(error.code).toBe("lock_mismatch");
    expect(error.message).toMatch(/is damaged: [\s\S]+run `strata lock` again$/);
  });

  it("with a folder in the lock's place", () => {
    const folder = folderWith({ "strata.yaml": yamlWith([KIND]) });
    mkdirSync(join(folder, "strata.lock"));
    expect(refusalOf(() => checkLock(load(folder))).code).toBe("lock_mismatch");
    rmSync(join(folder, "strata.lock"), { recursive: true });
  });

  it("but an editable layer may change", () => {
    const changed = yamlWith([SAFE, KIND, OPEN.replace("brief", "long")]);
    expect(afterwards({ "strata.yaml": changed })).not.toThrow();
  });
});
