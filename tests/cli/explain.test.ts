import { describe, expect, it } from "vitest";
import { jsonLines, place, strata } from "./strata.ts";

interface Listed {
  readonly id: string;
}

/** A conversation of two turns, the second with a tool call; its thread and turns. */
async function explained() {
  const cwd = place();
  await strata(["chat", "companion", "--as", "ann"], { cwd, input: "hi\nRemember that my cat is called Miso.\n" });
  const [threads] = jsonLines<readonly Listed[]>((await strata(["explain", "--json"], { cwd })).out);
  const thread = threads?.[0]?.id ?? "";
  const [explained] = jsonLines<{ turns: readonly Listed[] }>(
    (await strata(["explain", thread, "--json"], { cwd })).out,
  );
  return { cwd, thread, turns: (explained?.turns ?? []).map((turn) => turn.id) };
}

describe("strata explain", () => {
  it("lists the newest threads", async () => {
    const { cwd, thread } = await explained();
    const { out } = await strata(["explain"], { cwd });
    expect(out).toMatch(new RegExp(`^${thread} +companion +ann +chat +2 +just now$`, "m"));
  });

  it("explains a thread turn by turn", async () => {
    const { cwd, thread, turns } = await explained();
    const { out } = await strata(["explain", thread], { cwd });
    expect(out).toMatch(new RegExp(`^ +1 +${turns[0]} +done: answered +1 +2,\\d{3} +1 begins \\(first\\)$`, "m"));
    expect(out).toMatch(new RegExp(`^ +2 +${turns[1]} +done: answered +2 +[45],\\d{3} +1$`, "m"));
  });

  it("explains a turn: what came in, each request's sections, taint, calls and reply", async () => {
    const { cwd, turns } = await explained();
    const { out } = await strata(["explain", turns[1] ?? ""], { cwd });
    expect(out).toContain("message · contact · ");
    expect(out).toContain("Remember that my cat is called Miso.");
    expect(out).toMatch(/^request 2 · epoch 1 · taint contact/m);
    expect(out).toContain('→ calls memory_save {"content":"my cat is called Miso"}');
    expect(out.match(/^system +safety +10 +agent +operator +\d+ +kept/gm)).toHaveLength(2);
    expect(out).toMatch(/\nreply\nI saved this/);
    expect((await strata(["turn", turns[1] ?? ""], { cwd })).out).toBe(out);
  });

  it("gives a turn's record as JSON", async () => {
    const { cwd, turns } = await explained();
    const { out } = await strata(["turn", turns[1] ?? "", "--json"], { cwd });
    expect(jsonLines<object>(out)[0]).toMatchObject({ id: turns[1], status: "done", requests: [{ n: 1 }, { n: 2 }] });
  });

  it("says how to begin where no thread is", async () => {
    const cwd = place();
    await strata(["compose", "companion", "--message", "hi"], { cwd });
    expect((await strata(["explain"], { cwd })).out).toContain("`strata chat AGENT` begins one");
  });
});
