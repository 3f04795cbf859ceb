import { spawn } from "node:child_process";
import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import { expect, it, onTestFinished } from "vitest";
import type { LearningReport } from "../../checks/bench/learning/bench.ts";
import type { TurnsReport } from "../../checks/bench/turns.ts";
import { type WireWishes, wireBench } from "../../checks/bench/wire.ts";
import { ROOT } from "../../checks/files.ts";
import { server } from "../postgres.ts";

/** The bench as `npm run bench` starts it, at its smallest. */
async function bench(...args: readonly string[]): Promise<{ code: number | null; out: string; err: string }> {
  const env = { ...process.env, ...(server && { DATABASE_URL: server.url("postgres") }) };
  const child = spawn(process.execPath, [join(ROOT, "checks/bench/main.ts"), ...args, "--quick"], { cwd: ROOT, env });
  const said = { out: "", err: "" };
  child.stdout.on("data", (chunk: Buffer) => {
    said.out += chunk.toString("utf8");
  });
  child.stderr.on("data", (chunk: Buffer) => {
    said.err += chunk.toString("utf8");
  });
  const code = await new Promise<number | null>((done) => child.on("close", done));
  return { code, ...said };
}

it("the compile bench times Strata beside its peers and the bare limits, and nobody is over a budget", async () => {
  const { code, out } = await bench("compile", "--json");
  expect(code).toBe(0);
  const { timings, fills } = JSON.parse(out);
  const names = timings.map(({ engine }: { engine: string }) => engine);
  expect(names).toEqual(expect.arrayContaining(["join", "strata", "prompt-tsx", "langchain, memoized"]));
  expect(timings[0].times).toEqual({ cold: expect.any(Number), warm: expect.any(Number), last: expect.any(Number) });
  expect(fills.map(({ over }: { over: number }) => over)).toEqual(fills.map(() => 0));
}, 120_000);

it.skipIf(!existsSync(join(ROOT, "../shared/data/beam-dev")))(
  "the evidence bench weighs a conversation and finds what answers its questions (where ../shared/data is)",
  async () => {
    const { code, out } = await bench("evidence", "--json");
    expect(code).toBe(0);
    const [row] = JSON.parse(out).rows;
    expect(row).toMatchObject({ setting: "default", requests: 20 });
    expect(row.weighted).toBeGreaterThan(20_000);
    expect(row.evidence.map(({ at }: { at: number }) => at)).toEqual([0.25, 0.5, 0.75, 1]);
    expect(row.evidence.at(-1).stands).toBeGreaterThan(0.5);
  },
  120_000,
);

it("the wire bench compares layouts with the optimum, for chat and for agent loops", async () => {
  const { code, out } = await bench("wire");
  expect(code).toBe(0);
  expect(out).toMatch(/^chat \(.+\)$/m);
  expect(out).toMatch(/^agent loops \(.+\)$/m);
  expect(out).toMatch(/^\| plan +\| +\d\.\d\d \(0\.\d\d, \d+\.\d%\) \|$/m);
}, 120_000);

/** A file of so many requests of one thread, each a day after the one before; gone when the test is. */
function dump(requests: number, name = "dump.jsonl"): { readonly folder: string; readonly file: string } {
  const folder = mkdtempSync(join(tmpdir(), "strata-bench-"));
  onTestFinished(() => rmSync(folder, { recursive: true }));
  const breakpoint = { cache_control: { type: "ephemeral" } };
  const system = [{ type: "text", text: "Trains leave from Bern at noon. ".repeat(400), ...breakpoint }];
  const lines = Array.from({ length: requests }, (_, n) => {
    const body = { model: "claude-sonnet-4-5", system, messages: [{ role: "user", content: `Hello ${n}` }] };
    const at = new Date(Date.UTC(2026, 10, 1 + n)).toISOString();
    return `${JSON.stringify({ thread: "t", turn: "n", request: 1, at, provider: "anthropic", body: JSON.stringify(body) })}\n`;
  });
  writeFileSync(join(folder, name), lines.join(""));
  return { folder, file: join(folder, name) };
}

const wire = (wishes: Partial<WireWishes>) => wireBench({ quick: true, dumps: [], ...wishes }, () => {});

it("the wire bench takes dumped requests of one's own", async () => {
  const { file } = dump(2);
  const { code, out } = await bench("wire", "--threads", file, "--as", "none,plan", "--json");
  expect(code).toBe(0);
  expect(JSON.parse(out).cells).toMatchObject([
    { threads: file, layout: "none", requests: 2, toNone: 1 },
    { threads: file, layout: "plan", requests: 2 },
  ]);
}, 120_000);

it("the wire bench bills requests as far apart as is said, by the rules of a model", async () => {
  const { file } = dump(3);
  const readBy = async (wishes: Partial<WireWishes>) => {
    const { cells, rules } = await wire({ dumps: [file], as: "plan", ...wishes });
    return [cells.at(-1)?.read ?? -1, rules] as const;
  };
  expect((await readBy({}))[0]).toBeGreaterThan(0.6);
  expect((await readBy({ gap: "recorded" }))[0]).toBe(0);
  expect(await readBy({ model: "openai:gpt-4o" })).toEqual([expect.any(Number), "openai:gpt-4o"]);
});

it("the wire bench draws the costs as an SVG or a page, without scripts or anything from elsewhere, and overwrites nothing", async () => {
  const { folder, file } = dump(2, "a<i>.jsonl");
  for (const name of ["costs.svg", "costs.html"]) {
    const wishes = { dumps: [file], as: "seed004,plan", out: join(folder, name) };
    await wire(wishes);
    const drawn = readFileSync(wishes.out, "utf8");
    expect(drawn.match(/<polyline /g)).toHaveLength(3);
    expect(drawn).toContain("a&lt;i&gt;.jsonl");
    expect(drawn).not.toMatch(/<i>|<script|<image|<link|href=|url\(|@import|NaN|Infinity/i);
    await expect(wire(wishes)).rejects.toThrow(`${wishes.out} exists already; name another file`);
  }
});

it.each<[Partial<WireWishes>, string]>([
  [{ as: "seed04" }, 'there is no layout "seed04"; there are none, seed000'],
  [{ gap: "-1" }, "--gap -1 is no number of seconds"],
  [{ out: "costs.pdf" }, "costs.pdf must end in .svg or .html"],
])("the wire bench says what is wrong with %j", async (wishes, message) => {
  await expect(wire(wishes)).rejects.toThrow(message);
});

it("the sovereign bench lives the recorded day at two paces, with another checkout beside this one", async () => {
  const { code, out } = await bench("sovereign", "--root", ROOT, "--json");
  expect(code).toBe(0);
  const { rows } = JSON.parse(out);
  const paces = ["recorded", "recorded", "busy", "busy"];
  expect(rows.map(({ pace }: { pace: string }) => pace)).toEqual(paces);
  expect(rows[0]).toMatchObject({ version: "this", turns: 6, requests: 10 });
  // The same code, the same bill, but for ids of memories, which are never the same.
  expect(rows[1]).toMatchObject({ version: resolve(ROOT), turns: 6, requests: 10 });
  expect(Math.abs(rows[1].weighted / rows[0].weighted - 1)).toBeLessThan(0.01);
  // In a busy day the prefix is still in the cache.
  expect(rows[2].weighted).toBeLessThan(rows[0].weighted);
  expect(rows[2].weighted).toBeLessThan(rows[2].sent);
}, 120_000);

it("a bench that does not exist is answered with those that do", async () => {
  const { code, err } = await bench("walk");
  expect(code).toBe(1);
  expect(err).toContain("npm run bench -- compile");
}, 60_000);

it.skipIf(!existsSync(join(ROOT, "../shared/data/locomo-dev")))(
  "the memory bench measures Strata beside plain full text and a textbook's BM25 (needs ../shared/data)",
  async () => {
    const { code, out } = await bench("memory", "--json");
    expect(code).toBe(0);
    const { rows, recall } = JSON.parse(out);
    const all = rows.filter(({ category }: { category: string }) => category === "all");
    const engines = [
      ...["strata", "fts5, porter, stop words"],
      ...["textbook bm25", "textbook bm25, passages, asker ×2"],
    ];
    // With who asks, and without.
    expect(all.map(({ engine }: { engine: string }) => engine)).toEqual([...engines, ...engines]);
    expect(all[0]).toMatchObject({ size: "own size", questions: 10, recall10: expect.any(Number), share: 1 });
    expect(recall.map(({ asked }: { asked: string }) => asked)).toEqual(["answered", "unanswered", "other talk"]);
  },
  120_000,
);

it("the memory bench says where it looked for data", async () => {
  const { code, err } = await bench("memory", "--data", mkdtempSync(join(tmpdir(), "no-data-")));
  expect(code).toBe(1);
  expect(err).toContain("there is no memories.jsonl in");
}, 120_000);

it("the turns bench costs Strata's turns beside LangGraph's, on each database that there is", async () => {
  const { code, out } = await bench("turns", "--json");
  expect(code).toBe(0);
  const { costs, without }: TurnsReport = JSON.parse(out);
  // What a short turn asks of its database, on either, so that it does not grow unseen.
  for (const { engine, statements } of costs) if (engine === "strata") expect(statements).toBeLessThanOrEqual(85);
  const peers = {
    sqlite: ["langgraph", "langgraph, waits"],
    postgres: without === undefined ? ["langgraph"] : [],
  };
  const engines = Object.entries(peers).flatMap(([database, names]) =>
    (names.length > 0 ? ["strata", ...names] : []).map((engine) => ({ database, engine })),
  );
  const figures = { history: 4, cpu: expect.any(Number), wall: expect.any(Number), grown: expect.any(Number) };
  expect(costs).toMatchObject(engines.map((one) => ({ ...one, ...figures, statements: expect.any(Number) })));
}, 120_000);

it("the crowd bench shows how long 50 senders and a new connection wait", async () => {
  const { code, out } = await bench("crowd", "--json");
  expect(code).toBe(0);
  const waits = { n: expect.any(Number), p50: expect.any(Number), p99: expect.any(Number), max: expect.any(Number) };
  expect(JSON.parse(out)).toMatchObject([{ size: 0, sent: 0, others: waits, health: waits }]);
}, 120_000);

it("the learning bench shows that corrections stick, and that without them nothing does", async () => {
  const { code, out, err } = await bench("learning", "--json");
  expect({ code, err: code === 0 ? "" : err }).toEqual({ code: 0, err: "" });
  const { arms, poison }: LearningReport = JSON.parse(out);
  const last = (name: string): number => arms.find(({ arm }) => arm === name)?.last.median ?? Number.NaN;
  // Corrections alone, of which no rule was made, bring it to 0.8.
  expect(last("on")).toBeLessThan(0.7);
  expect(last("off")).toBe(1);
  expect(poison).toEqual({ campaigns: 5, active: [], waiting: [] });
}, 240_000);
