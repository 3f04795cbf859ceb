import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { jsonLines, place, project, strata } from "./strata.ts";

const REHEARSAL = (yaml: string): string => `${yaml}\nembedder: rehearsal\n`;

interface Told {
  readonly agent: string;
  readonly embedder: string;
  readonly vectors: number;
  readonly waiting: number;
  readonly made?: number;
}

/** A companion that remembers two things, saved while it had no embedder. */
async function remembering(): Promise<string> {
  const cwd = project();
  await strata(["memory", "save", "Der Geburtstagskuchen ist aus Marzipan."], { cwd });
  await strata(["memory", "save", "Der Bus nach Bonn fährt um acht."], { cwd });
  return cwd;
}

function withEmbedder(cwd: string, embedder: string): string {
  const file = join(cwd, "strata.yaml");
  writeFileSync(file, `${readFileSync(file, "utf8").replace(/\nembedder: .*\n$/, "")}\nembedder: ${embedder}\n`);
  return cwd;
}

describe("strata memory embed", () => {
  it("makes the vectors that are missing, and searches find by them from then on", async () => {
    const cwd = withEmbedder(await remembering(), "rehearsal");
    const cake = ["memory", "search", "Kuchen zum Geburtstag"];
    expect((await strata(cake, { cwd })).out).toContain("No memory about me matches");
    const status = await strata(["memory", "vectors"], { cwd });
    expect(status.out).toBe("companion has 0 vectors of rehearsal; 2 memories wait for theirs.\n");
    const made = await strata(["memory", "embed"], { cwd });
    expect(made).toMatchObject({ code: 0, err: "" });
    expect(made.out).toBe("companion: 2 vectors made.\ncompanion has 2 vectors of rehearsal; no memory waits.\n");
    expect((await strata(cake, { cwd })).out).toMatch(/ {2}Der Geburtstagskuchen ist aus Marzipan\.\n/);
    const why = await strata(["memory", "explain", "Kuchen zum Geburtstag"], { cwd });
    expect(why.out).toMatch(/^# +score +evidence +behind +vector\n1 +-0\.72 /);
    const again = await strata(["memory", "embed", "--json", "--agent", "companion"], { cwd });
    expect(jsonLines<readonly Told[]>(again.out)[0]).toEqual([
      { agent: "companion", embedder: "rehearsal", vectors: 2, waiting: 0, serving: { rehearsal: 1 } },
    ]);
  });

  it("is not needed for what is saved while there is an embedder", async () => {
    const cwd = project(REHEARSAL);
    await strata(["memory", "save", "Der Geburtstagskuchen ist aus Marzipan."], { cwd });
    const { out } = await strata(["memory", "search", "Kuchen zum Geburtstag"], { cwd });
    expect(out).toContain("Geburtstagskuchen");
    expect((await strata(["agent", "show", "companion"], { cwd })).out).toMatch(/^embedder rehearsal$/m);
  });

  it("says of an agent without an embedder how its memories are found", async () => {
    const { code, out } = await strata(["memory", "embed"], { cwd: await remembering() });
    expect({ code, out }).toEqual({
      code: 0,
      out: "companion has no embedder: its memories are found by their words. `embedder` in strata.yaml names one.\n",
    });
  });

  it("fails with the code of an embedder that cannot be opened, and a search goes by words and says so", async () => {
    const cwd = withEmbedder(await remembering(), "openai:text-embedding-3-small");
    const { code, err } = await strata(["memory", "embed"], { cwd });
    expect(code).toBe(4);
    expect(err).toContain("openai:text-embedding-3-small needs a key for openai");
    const doctor = await strata(["doctor"], { cwd });
    expect(doctor.out).toMatch(/^warn {2}vectors {3}sqlite-vec/m);
    expect(doctor.out.replace(/\s+/g, " ")).toContain(
      "companion finds its memories by their words alone: openai:text-embedding-3-small needs a key",
    );
  });

  it("leaves what serves to its own embedder when another is named", async () => {
    const cwd = withEmbedder(await remembering(), "rehearsal");
    await strata(["memory", "embed"], { cwd });
    withEmbedder(cwd, "openai:text-embedding-3-small");
    // What serves still has its own embedder; what is new cannot be made.
    const { out, err } = await strata(["memory", "search", "Kuchen zum Geburtstag"], { cwd });
    expect(out).toContain("Geburtstagskuchen");
    expect(err).toBe("");
  });
});

describe("strata doctor", () => {
  it("tells what compares vectors", async () => {
    const { out } = await strata(["doctor", "--json"], { cwd: place() });
    const { checks } = JSON.parse(out);
    const vectors = checks.find(({ what }: { what: string }) => what === "vectors");
    expect(vectors).toMatchObject({ state: "ok" });
    expect(vectors.message).toMatch(/^sqlite-vec (v0\.\d+\.\d+ compares vectors|is not installed)/);
    expect(vectors.message).toContain("no agent names an embedder");
  });
});
