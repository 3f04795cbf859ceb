import { type ChildProcessByStdio, spawn } from "node:child_process";
import { once } from "node:events";
import { rmSync } from "node:fs";
import { join } from "node:path";
import { createInterface } from "node:readline";
import type { Readable, Writable } from "node:stream";
import { setTimeout } from "node:timers/promises";
import { fileURLToPath } from "node:url";
import { afterAll, afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import { databases, server, title } from "../../tests/postgres.ts";
import { spread } from "../../tests/spread.ts";
import { newFolder } from "./contract/folder.contract.ts";
import { ANN, exchange, open, PARTS, problems, ran, said, scopeOf, take } from "./contract/sample.contract.ts";
import { openStore } from "./index.ts";
import { tablesOfToday } from "./postgres/fresh.contract.ts";
import { type Deed, END } from "./race.contract.ts";

const PROGRAM = fileURLToPath(new URL("./race.contract.ts", import.meta.url));

let folder: string;
let address: string;

type Program = ChildProcessByStdio<Writable, Readable, null>;

/** Programs that have nothing to do: to start one takes longer than most deeds. */
const idle: Program[] = [];
/** Those that a failed test left at work would keep the whole run from ending. */
const atWork = new Set<Program>();

beforeEach(() => {
  folder = newFolder();
});
afterEach(() => {
  for (const child of atWork) child.kill("SIGKILL");
  atWork.clear();
  rmSync(folder, { recursive: true, force: true });
});
afterAll(() => {
  for (const child of idle.splice(0)) child.kill("SIGKILL");
});

/** Another program on the same file, and the lines that it told so far. It ends with its deed, or when it is killed. */
function program(
  deed: Deed["deed"],
  count = 0,
): { readonly child: Program; readonly lines: string[]; readonly end: Promise<unknown> } {
  const child = idle.pop() ?? spawn(process.execPath, [PROGRAM], { stdio: ["pipe", "pipe", "inherit"] });
  atWork.add(child);
  const lines: string[] = [];
  const output = createInterface({ input: child.stdout });
  const done = new Promise<void>((resolve) => {
    output.on("line", (line) => {
      if (line !== END) return void lines.push(line);
      atWork.delete(child);
      idle.push(child);
      output.close();
      resolve();
    });
  });
  child.stdin.write(`${JSON.stringify({ address, deed, count } satisfies Deed)}\n`);
  return { child, lines, end: Promise.race([done, once(child, "close")]) };
}

async function together(deed: Deed["deed"], programs: number, count: number): Promise<string[][]> {
  const all = Array.from({ length: programs }, () => program(deed, count));
  await Promise.all(all.map(({ end }) => end));
  return all.map(({ lines }): string[] => JSON.parse(lines[0] ?? "null"));
}

/** What a program did with a thread. */
interface Work {
  readonly thread: string;
  readonly turn: string;
  readonly did: string;
  readonly at: number;
}

const worksOf = (lines: readonly string[]): Work[] => lines.map((line): Work => JSON.parse(line));

/** Turns that were at work on one thread at the same time, of those that were committed. */
function overlaps(works: readonly Work[]): readonly string[] {
  const spans = works
    .filter(({ did }) => did === "commit")
    .map(({ thread, turn, at }) => ({ thread, from: works.find((one) => one.turn === turn)?.at ?? 0, to: at }));
  return spans
    .filter((one) =>
      spans.some((two) => two !== one && two.thread === one.thread && two.from < one.to && one.from < two.to),
    )
    .map(({ thread }) => thread);
}

/** Names a new database: an unused one, or one that has its tables. */
type Begin = (isMade: boolean) => Promise<string>;

function raceContract(begin: Begin): void {
  beforeEach(async () => {
    address = await begin(true);
  });

  it("law 7 that open the same new file and the same conversations at once get the same threads", async () => {
    address = await begin(false);
    const [first, ...others] = await together("open", 3, 30);
    expect(first).toHaveLength(30);
    for (const other of others) expect(other).toEqual(first);
  }, 60_000);

  it("law 7 that want the same threads at once share them: every turn is run once, by one of them", async () => {
    const store = await openStore(address, { parts: PARTS });
    for (let n = 0; n < 40; n++) {
      const thread = await open(store, ANN, `key ${n}`);
      await store.receive(ANN, thread.id, [said(`message ${n}`)]);
    }
    const turns = (await together("run", 3, 40)).flat();
    expect(turns).toHaveLength(40);
    expect(new Set(turns).size).toBe(40);
    for (const { id } of await store.threads(ANN, 99)) expect(await store.slots(ANN, id)).toHaveLength(2);
    expect(await problems(store, ANN.org)).toEqual([]);
    await store.close();
  }, 60_000);

  it("law 7 that deliver at once deliver each message once", async () => {
    const store = await openStore(address, { parts: PARTS });
    const replies: string[] = [];
    for (let n = 0; n < 40; n++) {
      const { outcome } = await exchange(store, await open(store, ANN), `message ${n}`);
      replies.push(outcome.replyId);
    }
    const given = (await together("deliver", 3, 0)).flat();
    expect(given.sort()).toEqual(replies.sort());
    await store.close();
  }, 60_000);

  it("law 7 that edit the same texts at once: one of each becomes active, and the others wait", async () => {
    const active = (await together("edit", 3, 30)).flat();
    expect(active.sort()).toEqual(Array.from({ length: 30 }, (_, n) => `agent-${n}`).sort());
    const store = await openStore(address, { parts: PARTS });
    for (let n = 0; n < 30; n++) {
      const versions = await store.textVersions(scopeOf("ann", `agent-${n}`), { limit: 9 });
      expect(versions.map(({ status }) => status)).toEqual(["proposed", "proposed", "kept"]);
    }
    expect(await problems(store, ANN.org)).toEqual([]);
    await store.close();
  }, 60_000);

  const kills = spread([0, 1, 2, 3, 4], 3);
  it(kills.title("law 7 killed at any moment, lose nothing that was stored and do nothing twice"), async () => {
    const stored: string[] = [];
    for (const kill of kills.cases) {
      const { child, lines, end } = program("go on");
      while (lines.length < 3 + kill * 2) await setTimeout(5);
      await setTimeout(kill * 3);
      child.kill("SIGKILL");
      await end;
      stored.push(...lines);
    }
    const store = await openStore(address, { parts: PARTS });
    const thread = await open(store, ANN, "endless");
    const claim = await take(store, thread, { alive: () => false }).catch(() => undefined);
    if (claim) await store.settle(claim, ran(claim).outcome);
    const slots = await store.slots(ANN, thread.id);
    const handled = slots.filter(({ kind }) => kind === "message").map(({ text }) => text as string);
    expect(new Set(handled).size).toBe(handled.length);
    expect(handled).toEqual(expect.arrayContaining(stored));
    expect(handled.length).toBeLessThanOrEqual(stored.length + kills.cases.length);
    const turns = await store.turns(ANN, thread.id);
    expect(turns.every(({ status }) => status !== "running")).toBe(true);
    expect(turns.map(({ seq }) => seq)).toEqual(turns.map((_, i) => i + 1));
    expect(await problems(store, ANN.org)).toEqual([]);
    await store.close();
  }, 60_000);

  it("law 7 over many threads: none is ever on two at once, both continue, and one that stood still writes nothing late", async () => {
    const store = await openStore(address, { parts: PARTS });
    const fill = async (_: unknown, n: number): Promise<void> => {
      const thread = await open(store, ANN, `key ${n}`);
      await store.receive(ANN, thread.id, [said(`first ${n}`), said(`second ${n}`)]);
    };
    await Promise.all(Array.from({ length: THREADS }, fill));
    const [one, two] = [program("work", 5), program("work", 5)];
    while (one.lines.length < 15 || one.lines.length % 2 === 0) await setTimeout(1);
    one.child.kill("SIGSTOP");
    const [seen, before] = [one.lines.length, two.lines.length];
    // PostgreSQL ends a stalled transaction, and only then do others of its organization continue.
    await vi.waitFor(() => expect(two.lines.length).toBeGreaterThan(before), { timeout: 20_000, interval: 50 });
    await setTimeout(500);
    expect(one.lines).toHaveLength(seen);
    one.child.kill("SIGCONT");
    await Promise.all([one.end, two.end]);
    const works = worksOf([...one.lines, ...two.lines]);
    expect(overlaps(works)).toEqual([]);
    for (const { lines } of [one, two])
      expect(worksOf(lines).filter(({ did }) => did === "commit").length).toBeGreaterThan(5);
    const committed = works.filter(({ did }) => did === "commit").map(({ thread }) => thread);
    expect(committed).toHaveLength(THREADS);
    expect(new Set(committed).size).toBe(THREADS);
    const threads = await store.threads(ANN, THREADS);
    const slots = await Promise.all(threads.map(({ id }) => store.slots(ANN, id)));
    expect(slots.map(({ length }) => length)).toEqual(threads.map(() => 3));
    expect(await problems(store, ANN.org)).toEqual([]);
    await store.close();
  }, 120_000);
}

/** As many as two programs share. */
const THREADS = 200;

const { make, url } = databases();

describe("several programs on one file", () => raceContract(async () => join(folder, "record.sqlite")));
describe.skipIf(server === undefined)(title("several programs on one database of PostgreSQL"), () =>
  raceContract(async (isMade) => url(await make(isMade ? await tablesOfToday(PARTS) : undefined))),
);
