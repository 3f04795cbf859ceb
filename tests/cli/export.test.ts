import { readFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { jsonLines, place, refuses, remembering, strata } from "./strata.ts";

interface Line {
  readonly thread: string;
  readonly contact: string;
  readonly at: string;
  readonly from: string;
  readonly name?: string;
  readonly text: string;
  readonly id?: string;
  readonly calls?: readonly { readonly id: string; readonly tool: string; readonly input: unknown }[];
}

describe("strata export", () => {
  it("writes what was said as a recording, which replays to the same words", async () => {
    const cwd = place();
    await strata(["chat", "companion", "--as", "bob"], { cwd, input: "hi\n" });
    await strata(["chat", "companion", "--as", "ann"], { cwd, input: "hi\nRemember that my cat is called Miso.\n" });
    const { code, out, err } = await strata(["export", "--out", "talks.jsonl"], { cwd });
    expect({ code, out }).toEqual({ code: 0, out: "" });
    expect(err).toBe("8 lines of 2 threads written to talks.jsonl.\n");
    const lines = jsonLines<Line>(readFileSync(join(cwd, "talks.jsonl"), "utf8"));
    expect(lines.map(({ from, name }) => `${from} ${name ?? ""}`)).toEqual([
      "contact bob",
      "agent ",
      "contact ann",
      "agent ",
      "contact ann",
      "agent ",
      "tool ",
      "agent ",
    ]);

    const again = ["--agent", "companion", "--replies", "recorded", "--data", "copy"];
    expect((await strata(["replay", "talks.jsonl", ...again], { cwd })).out).toContain(
      "3 fresh, 0 done before, 0 failed",
    );
    const threads = await strata(["thread", "list", "--json", "--data", "copy"], { cwd });
    const [listed = []] = jsonLines<readonly { scope: { contact: string } }[]>(threads.out);
    expect(listed.map(({ scope }) => scope.contact).sort()).toEqual(["ann", "bob"]);
    const copied = jsonLines<Line>((await strata(["export", "--data", "copy"], { cwd })).out);
    expect(copied.map(({ contact, at }) => ({ contact, at }))).toEqual(
      lines.map(({ contact, at }) => ({ contact, at })),
    );
    expect(copied.map(({ text }) => text)).toEqual(lines.map(({ text }) => text));
    expect(copied.map(({ calls, id }) => ({ calls, id }))).toEqual(lines.map(({ calls, id }) => ({ calls, id })));
  });

  it("writes what was called and what came of it, as the agent was told", async () => {
    const cwd = place();
    await strata(["chat", "companion", "--as", "ann"], { cwd, input: "Remember that my cat is called Miso.\n" });
    const lines = jsonLines<Line>((await strata(["export"], { cwd })).out);
    const id = lines[1]?.calls?.[0]?.id ?? "none";
    expect(lines).toMatchObject([
      { from: "contact", text: "Remember that my cat is called Miso." },
      { from: "agent", text: "", calls: [{ tool: "memory_save", input: { content: "my cat is called Miso" } }] },
      { from: "tool", id, text: "Saved." },
      { from: "agent", text: expect.stringContaining("I saved this") },
    ]);
    expect(lines.map(({ at }) => at)).toEqual(lines.map(({ at }) => at).toSorted());
  });

  it("writes one thread to the screen", async () => {
    const cwd = place();
    await strata(["chat", "companion", "--as", "bob"], { cwd, input: "hi\n" });
    await strata(["chat", "companion", "--as", "ann"], { cwd, input: "hi\n" });
    const [all] = jsonLines<readonly { id: string }[]>((await strata(["thread", "list", "--json"], { cwd })).out);
    const id = all?.[0]?.id ?? "";
    const { out } = await strata(["export", "--thread", id], { cwd });
    expect(jsonLines<Line>(out).map(({ thread }) => thread)).toEqual([id, id]);
  });

  it("25.25 writes one contact's data, and nothing of anybody else", async () => {
    const cwd = place();
    await strata(["chat", "companion", "--as", "bob"], { cwd, input: "hi\n" });
    await strata(["chat", "companion", "--as", "ann"], { cwd, input: "hi\n" });
    const { out, err } = await strata(["export", "--as", "ann"], { cwd });
    const lines = jsonLines<Line>(out);
    expect(lines.map(({ contact, from }) => `${contact} ${from}`)).toEqual(["ann contact", "ann agent"]);
    expect(err).toContain("`strata contact export ann` writes everything that is kept");
    await refuses(cwd, ["export", "--as", "bob", "--thread", lines[0]?.thread ?? ""], {
      exit: 3,
      message: 'is no thread of "bob"',
    });
  });

  it.each([
    [["export", "--thread", "ann"], 2, '"ann" is not a thread id'],
    [["export", "--thread", "thr_01jd8k3v5x9m2q7r4t6w8y0zab"], 3, "no thread thr_01jd8k3v5x9m2q7r4t6w8y0zab"],
    [["export", "--out", "nowhere/talks.jsonl"], 3, "nowhere/talks.jsonl cannot be written"],
  ])("strata %j exits with %i and says why", async (argv, exit, message) => {
    await refuses(await remembering(), argv, { exit, message });
  });
});
