import { appendFileSync, cpSync, existsSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it, onTestFinished, vi } from "vitest";
import { jsonLines, place, ROOT, recording, strata } from "./strata.ts";
import { REQUESTS, TALK, TOOLS } from "./talks.ts";

interface Bill {
  readonly input: number;
  readonly read: number;
  readonly write5m: number;
  readonly write1h: number;
  readonly cost: number;
}

interface Compared {
  readonly source: string;
  readonly models: readonly string[];
  readonly threads: number;
  readonly tokens: number;
  readonly optimum: number;
  readonly layouts: readonly {
    readonly layout: string;
    readonly cost: number;
    readonly toOptimum: number;
    readonly toNone: number;
    readonly readShare: number;
    readonly refused: number;
  }[];
  readonly requests: readonly {
    readonly thread: string;
    readonly n: number;
    readonly at: string;
    readonly tokens: number;
    readonly layouts: Readonly<Record<string, Bill>>;
  }[];
}

const compared = (out: string): Compared => {
  const [found] = jsonLines<Compared>(out);
  if (found === undefined) throw new Error(`no JSON in ${out}`);
  return found;
};

const tokensOf = ({ input, read, write5m, write1h }: Bill): number => input + read + write5m + write1h;

/** A long conversation of short lines: enough for a cache to pay. */
const LONG = Array.from({ length: 60 }, (_, n) => [
  { thread: "ann", from: "contact", text: `This is question number ${n} about the trains that leave from Bern.` },
  { thread: "ann", from: "agent", text: `And this is answer number ${n}, which is about as long as the question.` },
]).flat();

/** A folder where a conversation was replayed and dumped. */
async function replayed(talk: readonly unknown[] = TALK, more: readonly string[] = []) {
  const cwd = place();
  writeFileSync(join(cwd, "tools.json"), JSON.stringify(TOOLS));
  const argv = [
    "replay",
    recording(cwd, talk),
    "--agent",
    "companion",
    "--replies",
    "recorded",
    "--tools",
    "tools.json",
  ];
  expect((await strata([...argv, "--dump", "requests.jsonl", ...more], { cwd })).code).toBe(0);
  return cwd;
}

/** Replayed once for all tests that only look at it. */
const once = <T>(make: () => Promise<T>): (() => Promise<T>) => {
  let made: Promise<T> | undefined;
  return () => {
    made ??= make();
    return made;
  };
};
const long = once(() => replayed(LONG));
const short = once(() => replayed());

const cache = async (cwd: string, ...argv: readonly string[]) => strata(["cache", "replay", ...argv], { cwd });

describe("strata cache replay", () => {
  it("compares the layouts of a dump in a table and a plot", async () => {
    const cwd = await long();
    const { code, out, err } = await cache(cwd, "requests.jsonl", "--gap", "45");
    expect([code, err]).toEqual([0, ""]);
    expect(out).toMatch(/^requests\.jsonl: 60 requests in 1 thread$/m);
    expect(out).toMatch(/^by the rules of anthropic:claude-sonnet-4-5; costs in tokens of plain input$/m);
    expect(out).toMatch(/^layout +cost +× optimum +× no caching +read$/m);
    expect(out).toMatch(/^optimum +[\d,]+ +1\.00 +0\.\d\d +the least that this content can cost$/m);
    for (const layout of ["seed000", "seed004", "last-message", "plan"])
      expect(out).toMatch(new RegExp(`^${layout} +[\\d,]+ +\\d+\\.\\d\\d +\\d\\.\\d\\d +\\d+\\.\\d% +\\S`, "m"));
    expect(out).toMatch(/^none +[\d,]+ +\d\.\d\d +1\.00 +0\.0%/m);
    expect(out).toMatch(/^cost of a thread's requests 1 to 60, the last on the right; █ is [\d,]+$/m);
    expect(out).toMatch(/^seed000 +[▁▂▃▄▅▆▇█]{48} +[\d,]+$/m);
  });

  it("finds the plan the cheapest by far, and the rest in the order that theory says", async () => {
    const cwd = await long();
    const layouts = "none,seed000,seed004,last-message,automatic,plan";
    const { out } = await cache(cwd, "requests.jsonl", "--gap", "45", "--as", layouts, "--json");
    const costs = Object.fromEntries(compared(out).layouts.map(({ layout, toOptimum }) => [layout, toOptimum]));
    expect(Object.keys(costs)).toEqual(layouts.split(","));
    expect(costs["plan"]).toBeLessThan(1.05);
    expect(costs["seed004"]).toBeGreaterThan(1.5);
    expect(costs["last-message"]).toBeGreaterThan(costs["seed004"] ?? 99);
    expect(costs["seed000"]).toBeGreaterThan(costs["last-message"] ?? 99);
    expect(costs["automatic"]).toBeGreaterThan(costs["none"] ?? 99);
  });

  it("knows the usual ways with marks, context and window by name, and measures a window by what it shows", async () => {
    const cwd = await replayed(LONG.map((line) => ({ ...line, text: line.text.repeat(4) })));
    const layouts = "seed000-last,seed000-tools,kept,last-two,plan,plan-changes,plan-sliding,plan-halving";
    const { out } = await cache(cwd, "requests.jsonl", "--gap", "45", "--as", layouts, "--json");
    const sums = compared(out).layouts;
    expect(sums.map(({ layout }) => layout)).toEqual(layouts.split(","));
    const costs = Object.fromEntries(sums.map(({ layout, toOptimum }) => [layout, toOptimum]));
    expect(costs["seed000-last"]).toBeGreaterThan(5);
    expect(costs["kept"]).toBeGreaterThan(costs["plan"] ?? 99);
    expect(costs["last-two"]).toBeGreaterThan(costs["plan"] ?? 99);
    // A window costs less in all, and more for what it shows.
    expect(costs["plan-sliding"]).toBeGreaterThan(1.2);
    expect(costs["plan-halving"]).toBeLessThan(1.2);
    const none = sums.map(({ layout, cost, toNone }) => [layout, cost / toNone] as const);
    expect(new Map(none).get("plan-sliding")).toBeLessThan(new Map(none).get("plan") ?? 0);
  });

  it("tells of a layout that sends more what share of its own requests was read, and what they cost uncached", async () => {
    const { out } = await cache(
      await long(),
      "requests.jsonl",
      "--gap",
      "45",
      "--as",
      "kept,plan-changes,plan",
      "--json",
    );
    const { layouts, requests } = compared(out);
    for (const { layout, cost, toNone, readShare } of layouts) {
      const bills = requests.flatMap((request) => request.layouts[layout] ?? []);
      const [read, sent] = [bills.map((bill) => bill.read), bills.map(tokensOf)].map((all) =>
        all.reduce((a, b) => a + b, 0),
      );
      expect(readShare).toBe((read ?? 0) / (sent ?? 0));
      expect(readShare).toBeLessThan(1);
      expect(toNone).toBe(cost / (sent ?? 0));
    }
    const sentAs = Object.fromEntries(layouts.map(({ layout, cost, toNone }) => [layout, cost / toNone]));
    expect(sentAs["kept"]).toBeGreaterThan(sentAs["plan"] ?? 0);
  });

  it("counts the lines of a dump as it reads them", async () => {
    const seen: string[] = [];
    const cwd = await long();
    const watch = (text: string) => seen.push(text);
    // Each look at the clock is late enough to show something: what is soon over shows nothing.
    let now = Date.now();
    vi.spyOn(Date, "now").mockImplementation(() => (now += 100));
    onTestFinished(() => void vi.restoreAllMocks());
    expect((await strata(["cache", "replay", "requests.jsonl", "--as", "plan"], { cwd, watch })).code).toBe(0);
    const counted = seen.flatMap((text) => text.match(/\d+ of \d+ lines/g) ?? []);
    for (const text of counted) expect(text).toMatch(/ of 60 lines$/);
    expect(counted.at(-1)).toBe("60 of 60 lines");
  });

  it("bills every token of every request, for programs", async () => {
    const cwd = await short();
    const { requests, threads, tokens, models } = compared((await cache(cwd, "requests.jsonl", "--json")).out);
    expect([requests.length, threads, models]).toEqual([REQUESTS, 2, ["anthropic:claude-sonnet-4-5"]]);
    expect(requests.map(({ n }) => n)).toEqual([1, 2, 1, 2]);
    expect(requests[0]?.at).toBe("2024-05-01T09:00:00.000Z");
    for (const request of requests)
      for (const bill of Object.values(request.layouts)) expect(tokensOf(bill)).toBe(request.tokens);
    expect(requests.reduce((sum, request) => sum + request.tokens, 0)).toBe(tokens);
  });

  it("sees in a dump what it sees in the record", async () => {
    const cwd = await long();
    const of = async (what: string) => {
      const { layouts, requests } = compared((await cache(cwd, what, "--gap", "45", "--json")).out);
      return { layouts: layouts.map(({ toOptimum }) => toOptimum), requests: requests.length };
    };
    const [dump, agent] = [await of("requests.jsonl"), await of("companion")];
    expect(agent.requests).toBe(60);
    for (const [n, ratio] of dump.layouts.entries()) expect(ratio / (agent.layouts[n] ?? 0)).toBeCloseTo(1, 1);
  });

  it("compares one thread, and all of an agent", async () => {
    const cwd = await short();
    const all = compared((await cache(cwd, "companion", "--json")).out);
    expect([all.threads, all.requests.length]).toEqual([2, REQUESTS]);
    const one = all.requests[0]?.thread ?? "";
    const of = compared((await cache(cwd, one, "--json")).out);
    expect(of.requests).toEqual(all.requests.filter(({ thread }) => thread === one));
    expect(of.requests.length).toBe(2);
  });

  it("keeps real times, in which a day's pause lets everything grow cold, unless a gap is given", async () => {
    const cwd = await short();
    const ann = async (...more: readonly string[]) => {
      const { requests } = compared((await cache(cwd, "requests.jsonl", "--as", "plan", "--json", ...more)).out);
      return requests
        .filter(({ thread }) => thread === requests[0]?.thread)
        .map(({ layouts }) => layouts["plan"]?.read);
    };
    expect(await ann()).toEqual([0, 0]);
    expect((await ann("--gap", "45"))[1]).toBeGreaterThan(1_000);
    expect(await ann("--gap", "300")).toEqual([0, 0]);
  });

  it("takes the rules of another model", async () => {
    const cwd = await replayed(LONG.slice(0, 20), ["--model", "openai:gpt-5.4"]);
    const { out } = await cache(cwd, "requests.jsonl", "--gap", "45", "--json");
    expect(compared(out).models).toEqual(["openai:gpt-5.4"]);
    // The record was made for a model that reads at marks, too.
    const marked = await cache(
      await long(),
      "companion",
      "--model",
      "openai:gpt-5.6-sol",
      "--as",
      "plan",
      "--gap",
      "45",
      "--json",
    );
    const { requests, models } = compared(marked.out);
    expect(models).toEqual(["openai:gpt-5.6-sol"]);
    expect(requests.at(-1)?.layouts["plan"]?.read).toBeGreaterThan(1_000);
  });

  it.each(["requests.jsonl", "companion"])("takes what strata.yaml says of a model: %s", async (what) => {
    const cwd = await replayed(LONG.slice(0, 20));
    const plan = async () => {
      const { out } = await cache(cwd, what, "--gap", "45", "--as", "plan", "--json");
      return compared(out).requests.map(({ layouts }) => layouts["plan"]?.read ?? 0);
    };
    expect(Math.max(...(await plan()))).toBeGreaterThan(0);
    cpSync(join(ROOT, "blueprints/companion"), cwd, { recursive: true });
    appendFileSync(join(cwd, "strata.yaml"), '\nmodels: {"anthropic:claude-sonnet-4-5": {cache: none}}\n');
    expect(Math.max(...(await plan()))).toBe(0);
  });

  it("makes nothing where it only looks at a file", async () => {
    const cwd = place();
    expect((await cache(cwd, join(await long(), "requests.jsonl"))).code).toBe(0);
    expect(readdirSync(cwd)).toEqual([]);
  });

  it("tells which requests a provider would refuse", async () => {
    const cwd = place();
    const part = (text: string) => ({ type: "text", text, cache_control: { type: "ephemeral" } });
    const body = {
      model: "claude-sonnet-4-5",
      messages: [{ role: "user", content: ["a", "b", "c", "d", "e"].map(part) }],
    };
    recording(cwd, [{ thread: "t", provider: "anthropic", body: JSON.stringify(body) }], "dump.jsonl");
    const { out } = await cache(cwd, "dump.jsonl", "--as", "plan");
    expect(out).toContain("plan: 1 request refused: 5 marks, and a request may carry 4: the provider refuses it");
  });
});

describe("strata cache replay --out", () => {
  it("draws an SVG, or a page that holds it, without scripts and without anything from elsewhere", async () => {
    const cwd = await long();
    for (const name of ["costs.svg", "costs.html"]) {
      expect((await cache(cwd, "requests.jsonl", "--out", name)).code).toBe(0);
      const drawn = readFileSync(join(cwd, name), "utf8");
      expect(drawn.match(/<polyline /g)).toHaveLength(5);
      expect(drawn).toContain(">last-message</text>");
      expect(drawn).not.toMatch(/<script|<image|<link|href=|url\(|@import|NaN|Infinity/i);
    }
    expect(readFileSync(join(cwd, "costs.html"), "utf8")).toMatch(/^<!doctype html>\n<html lang="en">/);
  });

  it("escapes the names that it writes", async () => {
    const cwd = place();
    const body = { model: "<b>&\"'", messages: [{ role: "user", content: "hello" }] };
    recording(cwd, [{ thread: "t", provider: "x", body }], "a<i>.jsonl");
    expect((await cache(cwd, "a<i>.jsonl", "--out", "costs.svg")).code).toBe(0);
    const drawn = readFileSync(join(cwd, "costs.svg"), "utf8");
    expect(drawn).toContain("a&lt;i&gt;.jsonl");
    expect(drawn).toContain("x:&lt;b&gt;&amp;&quot;&#39;");
    expect(drawn).not.toMatch(/<[ib]>/);
  });

  it("replaces a file that exists only when told so", async () => {
    const cwd = await short();
    writeFileSync(join(cwd, "kept.svg"), "mine");
    const argv = ["requests.jsonl", "--as", "plan", "--out", "kept.svg"];
    expect(await cache(cwd, ...argv)).toMatchObject({
      code: 2,
      err: "strata: kept.svg exists already; name another file, or add --force to replace it\n",
    });
    expect(readFileSync(join(cwd, "kept.svg"), "utf8")).toBe("mine");
    expect((await cache(cwd, ...argv, "--force")).code).toBe(0);
    expect(readFileSync(join(cwd, "kept.svg"), "utf8")).toContain("<svg");
  });

  it("overwrites nothing that it reads", async () => {
    const cwd = await short();
    const before = readFileSync(join(cwd, "requests.jsonl"), "utf8");
    writeFileSync(join(cwd, "requests.svg"), before);
    const { code, err } = await cache(cwd, "requests.svg", "--out", "./requests.svg");
    expect([code, err]).toEqual([
      2,
      "strata: --out would overwrite ./requests.svg, which is read; name another file\n",
    ]);
    expect(readFileSync(join(cwd, "requests.svg"), "utf8")).toBe(before);
  });
});

describe("strata cache replay says", () => {
  const lines = (...texts: readonly unknown[]) => {
    const cwd = place();
    recording(cwd, texts, "dump.jsonl");
    return cwd;
  };
  const body = JSON.stringify({ model: "m", messages: [{ role: "user", content: "hi" }] });
  const good = { thread: "t", provider: "anthropic", at: "2024-05-01T09:00:00Z", body };

  it.each([
    [["--as", "seed04"], 'There is no layout "seed04"; did you mean `seed004`?'],
    [["--as", "plan,xyzzyplugh"], 'There is no layout "xyzzyplugh"; there is `none`, `seed000`'],
    [["--model", "sonnet"], "It must be a provider and a name, such as anthropic:claude-sonnet-4-5."],
    [["--gap", "-1"], "It must be a number of seconds, 0 or more."],
    [["--out", "costs.pdf"], "The file's name must end in .svg or .html."],
  ])("what is wrong with %j", async (argv, says) => {
    const { code, err } = await cache(lines(good), "dump.jsonl", ...argv);
    expect(code).toBe(2);
    expect(err).toContain(says);
  });

  it.each([
    ["{", "dump.jsonl:2 is not JSON: "],
    [
      '{"thread":"t"}',
      "dump.jsonl:2 holds no request: a line of a dump is {thread, turn, request, at, provider, body}",
    ],
    ['{"thread":"t","body":"{"}', "dump.jsonl:2: its body is not JSON: "],
    [
      '{"thread":"t","body":{"model":"m"}}',
      "dump.jsonl:2: this is no body of a request to a model: it needs a list `messages`",
    ],
    [JSON.stringify(TALK[0]), "dump.jsonl:2 holds no request: this is a recording; `strata replay FILE --agent NAME"],
  ])("on which line there is no request: %s", async (line, says) => {
    const { code, out, err } = await cache(lines(good, line), "dump.jsonl");
    expect([code, out]).toEqual([2, ""]);
    expect(err).toContain(says);
  });

  it("that a file is missing or empty, or a name is nobody's", async () => {
    const cwd = await short();
    writeFileSync(join(cwd, "empty.jsonl"), "\n\n");
    expect(await cache(cwd, "empty.jsonl")).toMatchObject({
      code: 2,
      err: expect.stringContaining("empty.jsonl holds no request"),
    });
    expect(await cache(cwd, "none.jsonl")).toMatchObject({
      code: 3,
      err: expect.stringContaining("none.jsonl cannot be read"),
    });
    expect(await cache(cwd, "compagnon")).toMatchObject({ code: 3 });
    expect(await cache(cwd, "thr_01jd8k3v5x9m2q7r4t6w8y0zab")).toMatchObject({ code: 3 });
    expect(await cache(place(), "companion")).toMatchObject({
      code: 3,
      err: expect.stringContaining("there is no data in"),
    });
  });

  it("that it was stopped", async () => {
    const cwd = await short();
    const signal = AbortSignal.abort();
    const ran = await strata(["cache", "replay", "requests.jsonl", "--out", "costs.svg"], { cwd, signal });
    expect(ran).toMatchObject({ code: 130, out: "", err: "strata: stopped before all requests were read\n" });
    expect(existsSync(join(cwd, "costs.svg"))).toBe(false);
  });
});

/** Beside the checkout and never in it. Where they are missing, this is skipped. */
