import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { jsonLines, place, recording, strata } from "./strata.ts";
import { REQUESTS, TALK, TOOLS, TURNS } from "./talks.ts";

interface Dumped {
  readonly thread: string;
  readonly turn: string;
  readonly request: number;
  readonly at: string;
  readonly provider: string;
  readonly body: string;
}

/** A folder with the recording and its tools, and the command that replays it. */
function stage(lines: readonly unknown[] = TALK) {
  const cwd = place();
  const file = recording(cwd, lines);
  writeFileSync(join(cwd, "tools.json"), JSON.stringify(TOOLS));
  const argv = ["replay", file, "--agent", "companion", "--replies", "recorded", "--tools", "tools.json"];
  const dumped = (name: string) => jsonLines<Dumped>(readFileSync(join(cwd, name), "utf8"));
  return { cwd, argv, dumped };
}

describe("strata replay", () => {
  it("runs one turn per exchange with the recorded replies and tool calls, and ends with a table", async () => {
    const { cwd, argv } = stage();
    const { code, out } = await strata(argv, { cwd });
    expect(code).toBe(0);
    expect(out).toMatch(/^turns +3 +of 3: 3 fresh, 0 done before, 0 failed$/m);
    expect(out).toMatch(/^messages +9 +lines in the file; received 4, said 4$/m);
    expect(out).toMatch(/^requests +4$/m);
    expect(out).toMatch(/^tool calls +1$/m);
    expect(out).toMatch(/^epochs +2 +2 first$/m);
    expect(out).toMatch(/^system +precedence +[\d,]+ +[\d,]+ +4$/m);
  });

  it("tells the same for programs", async () => {
    const { cwd, argv } = stage();
    const { out } = await strata([...argv, "--json"], { cwd });
    expect(jsonLines<object>(out)[0]).toMatchObject({
      turns: { fresh: TURNS, before: 0, failed: 0 },
      requests: REQUESTS,
      calls: 1,
      exchanges: TURNS,
    });
  });

  it("does nothing twice when it is run twice, and dumps the same", async () => {
    const { cwd, argv, dumped } = stage();
    await strata([...argv, "--dump", "one.jsonl"], { cwd });
    const before = (await strata(["explain", "--json"], { cwd })).out;
    const { out } = await strata([...argv, "--dump", "two.jsonl"], { cwd });
    expect(out).toMatch(/^turns +3 +of 3: 0 fresh, 3 done before, 0 failed$/m);
    expect((await strata(["explain", "--json"], { cwd })).out).toBe(before);
    expect(dumped("two.jsonl")).toEqual(dumped("one.jsonl"));
  });

  it("dumps each request as the bytes that `strata turn --wire` prints", async () => {
    const { cwd, argv, dumped } = stage();
    await strata([...argv, "--dump", "requests.jsonl"], { cwd });
    const lines = dumped("requests.jsonl");
    expect(lines.map((line) => line.request)).toEqual([1, 1, 2, 1]);
    for (const { turn, request, body, provider } of lines) {
      expect(provider).toBe("anthropic");
      const wire = await strata(["turn", turn, "--wire", "--request", `${request}`], { cwd });
      expect(wire.out).toBe(body);
    }
    const [first, bob, answered] = lines;
    expect(Object.keys(first ?? {})).toEqual(["thread", "turn", "request", "at", "provider", "body"]);
    expect(first?.at).toBe("2024-05-01T09:00:00.000Z");
    expect(bob?.body).toContain("| It is urgent.");
    expect(answered?.body).toContain('"id":"c1"');
    expect(answered?.body).toContain("| late by 20 minutes");
  });

  it("prints the first request of a turn when none is named, and says that there are more", async () => {
    const { cwd, argv, dumped } = stage();
    await strata([...argv, "--dump", "requests.jsonl"], { cwd });
    const bob = dumped("requests.jsonl")[1];
    const { out, err } = await strata(["turn", bob?.turn ?? "", "--wire"], { cwd });
    expect(out).toBe(bob?.body);
    expect(err).toContain("This is request 1 of 2; --request N prints another.");
    const none = await strata(["turn", bob?.turn ?? "", "--wire", "--request", "3"], { cwd });
    expect(none.code).toBe(3);
    expect(none.err).toContain("has 2 requests, so there is no request 3");
  });

  it.each(["anthropic:claude-opus-4-5", "openai:gpt-5-mini"])(
    "records and dumps the shape of %s when it is named",
    async (model) => {
      const { cwd, argv, dumped } = stage();
      await strata([...argv, "--model", model, "--dump", "requests.jsonl"], { cwd });
      const [provider, name] = model.split(":");
      for (const line of dumped("requests.jsonl")) {
        expect(JSON.parse(line.body)).toMatchObject({ model: name });
        expect(line).toMatchObject({ provider });
        const wire = await strata(["turn", line.turn, "--wire", "--request", `${line.request}`], { cwd });
        expect(wire.out).toBe(line.body);
      }
    },
  );

  it("gives lines without a time steps of --gap", async () => {
    const { cwd, argv, dumped } = stage();
    await strata([...argv, "--gap", "10", "--dump", "requests.jsonl"], { cwd });
    const at = dumped("requests.jsonl").map((line) => Date.parse(line.at) - Date.UTC(2024, 0, 1));
    expect(at.slice(1, 3)).toEqual([10_000, 30_000]);
    const { out } = await strata(["replay", "--help"], { cwd });
    expect(out.replace(/\s+/g, " ")).toContain(
      "--gap <seconds> time between lines without a time (default: 45 seconds)",
    );
  });

  it("lets the agent's own model answer without --replies", async () => {
    const { cwd } = stage();
    const { code, out } = await strata(["replay", "talk.jsonl", "--agent", "companion"], { cwd });
    expect(code).toBe(0);
    expect(out).toMatch(/^turns +3 +of 3: 3 fresh/m);
    const { out: threads } = await strata(["explain", "--json"], { cwd });
    const bob = jsonLines<readonly { id: string; scope: { contact: string } }[]>(threads)[0]?.find(
      (one) => one.scope.contact === "bob",
    );
    const { out: explained } = await strata(["explain", bob?.id ?? ""], { cwd });
    expect(explained).toContain("done: answered");
  });

  it("stops in order when it is asked to, and continues with the next run", async () => {
    const many = Array.from({ length: 60 }, (_, i) => [
      { thread: "ann", from: "contact", text: `Message ${i}` },
      { thread: "ann", from: "agent", text: `Answer ${i}` },
    ]).flat();
    const { cwd, argv } = stage(many);
    const ending = new AbortController();
    const watch = (text: string) => text.includes(" of 60 turns") && ending.abort();
    const stopped = await strata(argv, { cwd, signal: ending.signal, watch });
    expect(stopped.code).toBe(130);
    expect(stopped.err).toMatch(/stopped after \d+ of 60 turns; run the same command again to continue/);
    const { code, out } = await strata([...argv, "--json"], { cwd });
    expect(code).toBe(0);
    const [report] = jsonLines<{ turns: { fresh: number; before: number }; messages: object }>(out);
    expect(report).toMatchObject({ requests: 60, messages: { received: 60, said: 60 } });
    expect(report?.turns.before).toBeGreaterThan(0);
    expect((report?.turns.before ?? 0) + (report?.turns.fresh ?? 0)).toBe(60);
    expect((await strata(["verify"], { cwd })).code).toBe(0);
  });
});

describe("strata verify and anchor", () => {
  it("finds a sound record whole, also against an anchor", async () => {
    const { cwd, argv } = stage();
    await strata(argv, { cwd });
    expect((await strata(["anchor", "--out", "anchor.json"], { cwd })).code).toBe(0);
    const { code, out } = await strata(["verify", "--anchor", "anchor.json"], { cwd });
    expect(code).toBe(0);
    expect(out).toMatch(/3 turns, 3 links checked, no problem/);
  });

  it("says what an anchor misses and exits with 9", async () => {
    const { cwd, argv } = stage();
    await strata(argv, { cwd });
    writeFileSync(join(cwd, "anchor.json"), JSON.stringify([{ org: "home", seq: 9, hash: "a".repeat(64) }]));
    const { code, out, err } = await strata(["verify", "--anchor", "anchor.json"], { cwd });
    expect(code).toBe(9);
    expect(out).toContain("anchor:");
    expect(err).toContain("does not match its digests in 1 place");
    const json = await strata(["verify", "--anchor", "anchor.json", "--json"], { cwd });
    expect(jsonLines<object>(json.out)[0]).toMatchObject({ clean: false });
  });
});
