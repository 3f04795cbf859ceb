import { existsSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { wireBench } from "../../checks/bench/wire.ts";
import { spread } from "../spread.ts";
import { child, jsonLines, place, ROOT, recording, strata, untilTurns } from "./strata.ts";

/** Recordings for evaluation, beside the checkout and never in it. Where they are missing, these tests are skipped. */
const THREADS = join(ROOT, "../shared/data/threads");
const LOCOMO = join(THREADS, "locomo/conv-26.jsonl");
const AIRLINE = join(THREADS, "airline/threads.jsonl");

interface Dumped {
  readonly turn: string;
  readonly request: number;
  readonly body: string;
}

/** Every so many dumped requests are compared with `strata turn --wire`. */
async function compare(cwd: string, every: number): Promise<number> {
  const lines = jsonLines<Dumped>(readFileSync(join(cwd, "requests.jsonl"), "utf8"));
  for (const { turn, request, body } of lines.filter((_, i) => i % every === 0)) {
    const { out } = await strata(["turn", turn, "--wire", "--request", `${request}`], { cwd });
    expect(out).toBe(body);
  }
  return lines.length;
}

describe.skipIf(!existsSync(LOCOMO))("five months of two people (LoCoMo, where ../shared/data is)", () => {
  /** Of its 419 lines, 206 runs of the contact's begin an exchange, and three times the agent writes first after days of silence: lines 19, 216 and 381. */
  const EXCHANGES = 206 + 3;
  let gone: ReturnType<typeof goOn> | undefined;

  /** One replay for all tests: it is killed, and continues. */
  async function goOn() {
    const cwd = place();
    // The figures are those of a conversation that is never cut.
    await strata(["init", "companion"], { cwd });
    const file = join(cwd, "strata.yaml");
    const uncut = readFileSync(file, "utf8").replace(/^ {4}layers:/m, "    budgets: {keep: 45000}\n    layers:");
    writeFileSync(file, uncut);
    expect((await strata(["lock"], { cwd })).code).toBe(0);
    const argv = ["replay", LOCOMO, "--agent", "companion", "--replies", "recorded"];
    const killed = child(argv, { cwd });
    await untilTurns(cwd, 20, killed.sofar);
    killed.process.kill("SIGKILL");
    await killed.ended;
    return { cwd, ...(await strata([...argv, "--dump", "requests.jsonl", "--json"], { cwd })) };
  }

  it("are replayed whole, killed in the middle and continued with", async () => {
    gone ??= goOn();
    const { cwd, code, out } = await gone;
    expect(code).toBe(0);
    expect(jsonLines<object>(out)[0]).toMatchObject({
      lines: 419,
      exchanges: EXCHANGES,
      requests: EXCHANGES,
      turns: { failed: 0 },
      messages: { received: 211, said: 208 },
    });
    expect((await strata(["verify"], { cwd })).code).toBe(0);
    expect(await compare(cwd, 10)).toBe(EXCHANGES);
  }, 180_000);

  it("cost about what was measured on such threads", async () => {
    gone ??= goOn();
    const { cwd } = await gone;
    const { cells } = await wireBench({ quick: true, dumps: [join(cwd, "requests.jsonl")], gap: "45" }, () => {});
    const whole = cells.filter(({ requests }) => requests === EXCHANGES);
    const costs = Object.fromEntries(whole.map(({ layout, toOptimum }) => [layout, toOptimum]));
    expect(costs["seed000"]).toBeGreaterThan(5);
    expect(costs["seed000"]).toBeLessThan(10);
    expect(costs["seed004"]).toBeGreaterThan(4);
    expect(costs["seed004"]).toBeLessThan(8);
    expect(costs["last-message"]).toBeGreaterThan(costs["seed004"] ?? 99);
    expect(costs["plan"]).toBeLessThan(1.05);
  }, 120_000);
});

interface Line {
  readonly thread: string;
  readonly from: string;
  readonly calls?: readonly object[];
}

/** The lines of a few of the threads, and what they come to: a turn for each run of the contact's lines, a request for each of these and for each call. */
function someThreads() {
  const lines = existsSync(AIRLINE) ? jsonLines<Line>(readFileSync(AIRLINE, "utf8")) : [];
  const { cases, title } = spread([...new Set(lines.map(({ thread }) => thread))], 20);
  const taken = lines.filter(({ thread }) => cases.includes(thread));
  const begins = ({ from, thread }: Line, i: number): boolean =>
    from === "contact" && (taken[i - 1]?.from !== "contact" || taken[i - 1]?.thread !== thread);
  const exchanges = taken.filter(begins).length;
  const calls = taken.reduce((sum, line) => sum + (line.calls?.length ?? 0), 0);
  return { threads: cases.length, taken, title, exchanges, calls };
}

describe.skipIf(!existsSync(AIRLINE))(
  "a hundred conversations with tool calls (tau-bench, where ../shared/data is)",
  () => {
    const { threads, taken, title, exchanges, calls } = someThreads();

    it(title("are replayed whole"), async () => {
      if (threads === 100) expect({ exchanges, calls }).toEqual({ exchanges: 686, calls: 577 });
      const cwd = place();
      const tools = join(THREADS, "airline/tools.json");
      const how = ["--agent", "companion", "--replies", "recorded", "--tools", tools, "--dump", "requests.jsonl"];
      const { code, out } = await strata(["replay", recording(cwd, taken), ...how, "--json"], { cwd });
      expect(code).toBe(0);
      expect(jsonLines<object>(out)[0]).toMatchObject({
        exchanges,
        turns: { fresh: exchanges, failed: 0 },
        calls,
        epochs: { first: threads },
      });
      expect((await strata(["verify"], { cwd })).code).toBe(0);
      expect(await compare(cwd, 60)).toBe(exchanges + calls);
    }, 300_000);
  },
);
