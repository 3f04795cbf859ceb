import { spawnSync } from "node:child_process";
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as wait } from "node:timers/promises";
import { setFlagsFromString } from "node:v8";
import { runInNewContext } from "node:vm";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { ATTEMPTS, bundled, handlerOf, holds } from "./index.contract.ts";
import {
  type Answer,
  bundle,
  cageMissing,
  DEFAULT_LIMITS,
  LEVELS,
  mappedStack,
  type Outcome,
  openCage,
  type Task,
} from "./index.ts";
import { Pool } from "./pool.ts";
import type { Seat } from "./seat.ts";
import { slice } from "./slice.ts";

const taskOf = (code: string, change: Partial<Task> = {}): Task => ({
  code,
  input: JSON.stringify({ payload: { name: "Ann" }, metadata: { own_name: "greeter" }, history: [] }),
  answers: [],
  seed: 7,
  now: 1_700_000_000_000,
  limits: DEFAULT_LIMITS,
  ...change,
});
const handler = (body: string, change: Partial<Task> = {}): Task => taskOf(handlerOf({ body }), change);

setFlagsFromString("--expose-gc");
const collectGarbage: () => void = runInNewContext("gc");

/** Bytes of values that are still in use after this work. */
async function heapAfter(work: () => Promise<unknown>): Promise<number> {
  await work();
  await wait(0);
  collectGarbage();
  return process.memoryUsage().heapUsed;
}

/** Runs a handler to its end; each question is answered with its own message. */
async function toEnd(pool: Pool, task: Task) {
  const answers: Answer[] = [];
  for (;;) {
    const outcome = await pool.run({ ...task, answers });
    if (outcome.kind !== "waits") return outcome;
    answers.push(
      ...outcome.asks.map((ask) => ({ value: JSON.stringify({ text: `re: ${JSON.parse(ask).request.message}` }) })),
    );
  }
}

for (const level of LEVELS) {
  const missing = cageMissing(level);
  describe.skipIf(missing !== undefined)(
    `the cage at the level \`${level}\`${missing === undefined ? "" : ` (${missing})`}`,
    () => {
      let pool: Pool;
      beforeAll(() => {
        pool = openCage(level, { seats: 1 });
      });
      afterAll(() => pool.close());

      it("003.3 gives a handler its payload and metadata, and takes what it returns", async () => {
        expect(await pool.run(handler("return {p, m, ports: Object.keys(ports)}"))).toMatchObject({
          kind: "returned",
          value: '{"p":{"name":"Ann"},"m":{"own_name":"greeter"},"ports":["complete","log","history"]}',
        });
      });

      it("holds nothing while a handler waits: it is run again with each answer, and asks the same", async () => {
        const body =
          "const a=await ports.complete({message:'a'}); const [b,c]=await Promise.all([ports.complete({message:'b'}),ports.complete({message:'c'})]); globalThis.n=(globalThis.n??0)+1; ports.log(n); return [a.text,b.text,c.text,n]";
        const first = await pool.run(handler(body));
        expect(first).toMatchObject({ kind: "waits", asks: ['{"port":"complete","request":{"message":"a"}}'] });
        const end = { kind: "returned", value: '["re: a","re: b","re: c",1]', logs: ["1"] };
        expect(await toEnd(pool, handler(body))).toMatchObject(end);
        expect(await toEnd(pool, handler(body))).toMatchObject(end);
      });

      it("gives an error in place of an answer, which a handler may catch", async () => {
        const task = handler("try { await ports.complete({message:'a'}) } catch (e) { return e.message }", {
          answers: [{ error: "not now" }],
        });
        expect(await pool.run(task)).toMatchObject({ kind: "returned", value: '"not now"' });
      });

      it("has a clock and a chance that the task decides", async () => {
        const body = "return [Date.now(), Math.random(), performance.timeOrigin + performance.now()]";
        const [one, same, other] = await Promise.all([7, 7, 8].map((seed) => pool.run(handler(body, { seed }))));
        const said = (outcome?: object) => (outcome && "value" in outcome ? outcome.value : undefined);
        expect(said(one)).toMatch(/^\[1700000000000,0\.\d+,1700000000000\]$/);
        expect(said(same)).toBe(said(one));
        expect(said(other)).not.toBe(said(one));
      });

      it("tries a slice that used too much CPU time once more, with twice as much", async () => {
        const long = handler("for(let i=0;i<1e7;i++); return 1");
        expect(await pool.run(long)).toMatchObject({
          reason: "cpu",
          message: expect.stringContaining(
            `more than ${DEFAULT_LIMITS.cpuMs} ms of CPU time, which is its limit, and with twice as much`,
          ),
        });
      });

      it.each(ATTEMPTS.map((attempt) => [attempt.name, attempt] as const))(
        "does not let it: %s",
        async (_, attempt) => {
          const outcome = await toEnd(pool, taskOf(handlerOf(attempt), { limits: { ...DEFAULT_LIMITS, cpuMs: 25 } }));
          expect(holds(attempt.want, outcome), JSON.stringify(outcome)).toBe(true);
        },
      );

      it("shows the beginning of a long message, and of a long stack", async () => {
        const outcome = await pool.run(
          handler(
            "const e = new Error('not a name: ' + 'x'.repeat(9_000)); e.stack = '    at one (a.js:1:1)\\n'.repeat(900); throw e",
          ),
        );
        expect(outcome).toMatchObject({ kind: "failed", reason: "threw" });
        const { message = "", stack = "" } = "message" in outcome ? outcome : {};
        expect(message).toBe(`not a name: ${"x".repeat(488)}`);
        expect(stack).toMatch(/^ {4}at one \(a\.js:1:1\)\n/);
        expect(stack).toHaveLength(2_000);
      });

      it("logs every value: an error with its message, and also what JSON cannot say", async () => {
        const body =
          "const o = {}; o.o = o; ports.log('now', new TypeError('no name'), { a: 1 }); ports.log(10n, o, undefined, { toJSON() { throw 1 }, toString() { throw 2 } })";
        expect(await pool.run(handler(body))).toMatchObject({
          kind: "returned",
          logs: ['now TypeError: no name {"a":1}', "10 [object Object] undefined ?"],
        });
      });

      it("keeps nothing of what slices said once they have ended", async () => {
        const long = handler(`return 'x'.repeat(60_000)`);
        const before = await heapAfter(() => pool.run(long));
        const after = await heapAfter(async () => {
          for (let n = 0; n < 100; n++) await pool.run(long);
        });
        // Each of them says 60 KB.
        expect((after - before) / 60_000).toBeLessThan(30);
      });

      it("is whole afterwards", async () => {
        expect(await pool.run(handler("return 'whole'"))).toMatchObject({ value: '"whole"' });
      });
    },
  );
}

describe("what an attempt gets without its wall", () => {
  /** One of each wall that a limit is, with that limit alone lifted. */
  const LIFTED = [
    ["loops for long", { cpuMs: 60_000 }],
    ["loops while it is loaded", { cpuMs: 60_000 }],
    ["takes 64 MB at once", { memory: 128 * 1024 * 1024 }],
    ["fills a typed array", { memory: 1024 * 1024 * 1024, cpuMs: 60_000 }],
    ["answers with many members", { output: 1e9, cpuMs: 60_000 }],
    ["answers with a megabyte", { output: 1e9, cpuMs: 60_000 }],
    ["logs ten thousand lines", { logs: 1e6, logLength: 1e9, cpuMs: 60_000 }],
    ["logs a megabyte", { logs: 1e6, logLength: 1e9, cpuMs: 60_000 }],
    ["asks a thousand times at once", { asks: 1e6, cpuMs: 60_000 }],
    ["asks without waiting", { asks: 1e6, cpuMs: 60_000 }],
  ] as const;
  it.each(LIFTED)("succeeds: %s", async (name, lifted) => {
    const attempt = ATTEMPTS.find((one) => one.name === name);
    if (attempt === undefined) throw new Error(`there is no attempt ${name}`);
    const outcome = await slice(taskOf(handlerOf(attempt), { limits: { ...DEFAULT_LIMITS, ...lifted } }));
    expect(outcome.kind, JSON.stringify(outcome).slice(0, 300)).not.toBe("failed");
  });

  it("succeeds where no VM stands around it", () => {
    const attempts = ATTEMPTS.filter(({ wall }) => wall === "vm");
    const runs = attempts.map(
      ({ name, want: _, ...code }) =>
        `${JSON.stringify(name)}: async () => { ${handlerOf(code)}; return __handler.default({},{},{log(){},async complete(){}}) }`,
    );
    const tell = `(async () => { for (const [name, run] of Object.entries({${runs.join()}})) console.log(JSON.stringify([name, JSON.stringify(await run())])) })()`;
    const { stdout } = spawnSync(process.execPath, ["--eval", tell], { encoding: "utf8", timeout: 20_000 });
    const values = new Map<string, string>(
      stdout
        .split("\n")
        .filter(Boolean)
        .map((line) => JSON.parse(line)),
    );
    const got = attempts.map(({ name, want }) => ({
      name,
      held: holds(want, { kind: "returned", value: values.get(name) ?? "", logs: [], cpuMs: 0 }),
    }));
    const held = got.filter(({ held }) => held).map(({ name }) => name);
    // Node has no such modules, and takes no address of the web.
    expect(held).toEqual([
      "imports qjs:std",
      "imports qjs:os",
      "imports std",
      "imports ./handler.js",
      "imports file:///etc/passwd",
      "imports https://example.org/a.js",
    ]);
  });
});

describe("a pool", () => {
  it("refuses what would wait too long, by name", async () => {
    const pool = openCage("thread", { seats: 1, waiting: 1 });
    const [one, two, three] = await Promise.all([1, 2, 3].map((n) => pool.run(handler(`return ${n}`))));
    expect([one, two]).toMatchObject([{ value: "1" }, { value: "2" }]);
    expect(three).toMatchObject({ kind: "failed", reason: "busy" });
    await pool.close();
  });
});

describe("a pool whose seats fail", () => {
  const task = handler("return 1");
  const returned: Outcome = { kind: "returned", value: "1", logs: [], cpuMs: 0 };
  const seat = (run: Seat["run"]): Seat => ({ run, used: async () => 0, end: async () => undefined });

  it("refuses everybody who waits if no seat can be opened, and opens one again for who comes later", async () => {
    let canOpen = false;
    const open = async () => (canOpen ? seat(async () => returned) : Promise.reject(new Error("no more processes")));
    const pool = new Pool(open, { seats: 1 });
    const waiting = await Promise.allSettled([1, 2, 3].map(() => pool.run(task)));
    expect(waiting.map(({ status }) => status)).toEqual(["rejected", "rejected", "rejected"]);
    canOpen = true;
    expect(await pool.run(task)).toEqual(returned);
  });

  it("opens another in place of one that fails with an error", async () => {
    const runs: Seat["run"][] = [() => Promise.reject(new Error("it says nonsense")), async () => returned];
    const pool = new Pool(async () => seat(runs.shift() ?? (async () => undefined)), { seats: 1 });
    const [first, second] = await Promise.allSettled([pool.run(task), pool.run(task)]);
    expect(first).toMatchObject({ status: "rejected", reason: { message: "it says nonsense" } });
    expect(second).toEqual({ status: "fulfilled", value: returned });
  });
});

describe("a bundle", () => {
  let folder: string;
  const write = (name: string, text: string): string => {
    writeFileSync(join(folder, name), text);
    return join(folder, name);
  };
  beforeAll(() => {
    folder = mkdtempSync(join(tmpdir(), "strata-bundle-"));
    mkdirSync(join(folder, "lib"));
  });
  afterAll(() => rmSync(folder, { recursive: true, force: true }));

  it("holds what the handler imports, without its types, and tells errors by the author's lines", async () => {
    write(
      "lib/loud.ts",
      "export function loud(text: string): string {\n  if (text === '') throw new Error('nothing to shout');\n  return text.toUpperCase();\n}\n",
    );
    const file = write(
      "shouter.ts",
      "import { loud } from './lib/loud.ts';\ninterface Said { readonly text: string }\nexport default (payload: Said) => ({ payload: loud(payload.text) });\n",
    );
    const { code, map } = bundled(file, folder);
    const pool = openCage("thread", { seats: 1 });
    const shout = (text: string) =>
      pool.run(taskOf(code, { input: JSON.stringify({ payload: { text }, metadata: {}, history: [] }) }));
    expect(await shout("hello")).toMatchObject({ value: '{"payload":"HELLO"}' });
    const failed = await shout("");
    expect(failed).toMatchObject({ kind: "failed", reason: "threw", message: "nothing to shout" });
    const stack = mappedStack("stack" in failed ? failed.stack : "", map);
    expect(stack).toContain("lib/loud.ts:2:");
    expect(stack).toContain("shouter.ts:3:");
    expect(stack).not.toContain("prelude");
    await pool.close();
  });

  it("is the same bytes each time", () => {
    const file = write("same.ts", "export default () => 1;\n");
    expect(bundled(file, folder)).toEqual(bundled(file, folder));
  });

  it("takes what is imported without `type` and used only as a type", () => {
    write("types.ts", "export interface Said { readonly text: string }\n");
    const typed = "import { Said } from './types.ts';\nexport default (said: Said) => ({ payload: said.text });\n";
    expect(bundled(write("typed.ts", typed), folder).code).toContain("said.text");
  });

  it.each([
    [
      "import { readFileSync } from 'node:fs';\nexport default () => readFileSync('/etc/passwd');",
      'bad.ts:1: a handler cannot import "node:fs"',
    ],
    // Nothing uses it, and the bundler would leave it out.
    ["\nimport fs from 'node:fs';\nexport default () => 1;", 'bad.ts:2: a handler cannot import "node:fs"'],
    ["export default () => 1;\nimport 'net';", 'bad.ts:2: a handler cannot import "net"'],
    ["import './gone.ts';\nexport default () => 1;", "bad.ts:1: there is no file ./gone.ts"],
    ["export default () => {\n  const;\n}", "bad.ts:2: "],
    ["export const answer = () => 1;", "bad.ts:1: the module has no default export"],
    ["const a = 1;\nmodule.exports = () => a;", "bad.ts:2: the module has no default export"],
    ["const a = 1;\nexport default { answer: () => a };", "bad.ts:2: its default export is not a function"],
    ["\n\nexport default 'shout';", "bad.ts:3: its default export is not a function"],
  ])("refuses %j with its line", (text, message) => {
    const made = bundle(write("bad.ts", text), folder);
    expect("problems" in made ? made.problems.join("\n") : "bundled").toContain(message);
  });
});
