import { spawn } from "node:child_process";
import { existsSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, it } from "vitest";
import { ROOT } from "../../checks/files.ts";

/** The bench as `npm run bench` starts it, at its smallest. */
async function bench(...args: readonly string[]): Promise<{ code: number | null; out: string; err: string }> {
  const child = spawn(process.execPath, [join(ROOT, "checks/bench/main.ts"), ...args, "--quick"], { cwd: ROOT });
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

it("the wire bench compares layouts with the optimum, for chat and for agent loops", async () => {
  const { code, out } = await bench("wire");
  expect(code).toBe(0);
  expect(out).toMatch(/^chat \(.+\)$/m);
  expect(out).toMatch(/^agent loops \(.+\)$/m);
  expect(out).toMatch(/^\| plan +\| +\d\.\d\d \(0\.\d\d, \d+\.\d%\) \|$/m);
}, 120_000);

it("the wire bench takes dumped requests of one's own", async () => {
  const folder = mkdtempSync(join(tmpdir(), "strata-bench-"));
  const body = { model: "m", system: "Be brief.", messages: [{ role: "user", content: "Hello" }] };
  const line = JSON.stringify({ thread: "t", turn: "n", request: 1, body: JSON.stringify(body) });
  const file = join(folder, "dump.jsonl");
  writeFileSync(file, `${line}\n${line}\n`);
  const { code, out } = await bench("wire", "--threads", file, "--json");
  rmSync(folder, { recursive: true });
  expect(code).toBe(0);
  expect(JSON.parse(out).cells).toContainEqual(
    expect.objectContaining({ threads: file, layout: "plan", requests: 2, toNone: 1 }),
  );
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

it("the crowd bench shows how long 50 senders and a new connection wait", async () => {
  const { code, out } = await bench("crowd", "--json");
  expect(code).toBe(0);
  const waits = { n: expect.any(Number), p50: expect.any(Number), p99: expect.any(Number), max: expect.any(Number) };
  expect(JSON.parse(out)).toMatchObject([{ size: 0, sent: 0, others: waits, health: waits }]);
}, 120_000);
