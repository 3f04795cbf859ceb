import { readFileSync, utimesSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import fc from "fast-check";
import { expect, it } from "vitest";
import { type App, openApp } from "../../src/app.ts";
import { scripted, wireBody } from "../../src/models/index.ts";
import type { Request, TurnEvent } from "../../src/protocol/index.ts";
import { firstRuns } from "../spread.ts";
import { home, said, strata, thread } from "./home.ts";

/** What a turn of the property does, and what happens before it. */
interface Step {
  readonly text: string;
  readonly tools: readonly ("memory_save" | "memory_search" | "write" | "nothing_known")[];
  readonly hours: number;
  readonly restart: boolean;
  readonly fails: boolean;
  /** What somebody changes in the project before the turn. */
  readonly edit: Edit;
}

const EDITS = ["none", "recall", "tools", "module", "clock"] as const;
type Edit = (typeof EDITS)[number];

const STEP: fc.Arbitrary<Step> = fc.record({
  text: fc.string({ unit: "binary", minLength: 1, maxLength: 300 }),
  tools: fc.array(fc.constantFrom("memory_save", "memory_search", "write", "nothing_known"), { maxLength: 3 }),
  hours: fc.integer({ min: 0, max: 30 }),
  restart: fc.boolean(),
  fails: fc.boolean(),
  edit: fc.constantFrom(...EDITS),
});

const BELL = (sentence: string): string => `import { defineTool, z } from "strata";

export const bell = defineTool({
  name: "bell",
  description: "Rings a bell. ${sentence}",
  input: z.object({ ${sentence.replaceAll(/\W/g, "_")}: z.string().optional() }),
  effect: "none",
  trust: "contact",
  run: () => "rang",
});
`;

/** The companion with a tool of its own, whose module may change. */
function homeWithBell(): string {
  const folder = home();
  const file = join(folder, "strata.yaml");
  const yaml = readFileSync(file, "utf8").replace("tools: [list,", "tools: [bell, list,");
  writeFileSync(file, `${yaml}\nmodules: [bell.ts]\n`);
  writeFileSync(join(folder, "bell.ts"), BELL("first"));
  return folder;
}

/** Changes the project as people do: what a source gives, which tools there are, how a tool is described, where the clock stands. */
function edit(folder: string, what: Edit, n: number): void {
  const file = join(folder, "strata.yaml");
  const change = (from: RegExp, to: string): void => writeFileSync(file, readFileSync(file, "utf8").replace(from, to));
  if (what === "recall") change(/limit: \d+/, `limit: ${1 + (n % 9)}`);
  if (what === "tools") change(/tools: \[bell, (?:list, )?/, n % 2 === 0 ? "tools: [bell, " : "tools: [bell, list, ");
  if (what === "clock") change(/timezone: \S+/, `timezone: ${n % 2 === 0 ? "UTC" : "Asia/Tokyo"}`);
  if (what !== "module") return;
  writeFileSync(join(folder, "bell.ts"), BELL(`time ${n}`));
  utimesSync(join(folder, "bell.ts"), new Date(), new Date(Date.now() + n * 1_000));
}

const INPUT = {
  memory_save: { content: "something to keep" },
  memory_search: { query: "something" },
  write: { path: "a.txt", content: "x" },
  nothing_known: {},
} as const;

const SONNET = "anthropic:claude-sonnet-4-5";

/** How each model's card carries the tail, and whether it binds what was sent: then the tail stays, too. */
const WAYS: readonly (readonly [way: string, wire: string, binds: boolean])[] = [
  ["at the end, and gone", SONNET, false],
  ["cleared by the provider", "anthropic:claude-opus-5", false],
  ["cleared by the provider, and changed lines of what others wrote", "anthropic:claude-opus-5-5", true],
  ["changed lines", "bedrock:anthropic.claude-opus-5-5", true],
];

/** All that stands before the tail, as bytes, without the breakpoints: what law 1 speaks of. */
const stableBytes = (request: Request, wire = SONNET): Promise<string> => bytesOf({ ...request, tail: [] }, wire);

async function bytesOf(request: Request, wire: string): Promise<string> {
  const body: unknown = JSON.parse(await wireBody({ ...request, breakpoints: [] }, wire));
  const { tools, system, messages } = body as { tools: unknown; system: unknown; messages: unknown };
  return JSON.stringify([tools, system, messages]).slice(0, -"]}]]".length);
}

/** A request of a turn that failed: what its live layers changed is not kept either, and is told again when it is. */
function untold(request: Request): Request {
  const messages = request.messages.map((message, at) =>
    message.role === "user" && at === request.messages.length - 1
      ? { ...message, parts: message.parts.filter((part) => part.type !== "text" || part.told === undefined) }
      : message,
  );
  return { ...request, messages };
}

async function play(app: App, step: Step, wire = SONNET): Promise<readonly Request[]> {
  const calls = step.tools.map((tool) => ({ parts: [{ text: `using ${tool}` }, { call: tool, input: INPUT[tool] }] }));
  const { model, sent } = scripted([...calls, step.fails ? new Error("down") : "That was it."], wire);
  const ann = await thread(app);
  await app.runtime.post(app.operator, ann, [said(step.text, 0)]);
  const events: TurnEvent[] = [];
  for await (const event of app.runtime.run(app.operator, ann, { model })) events.push(event);
  expect(events.filter((event) => event.type === "done" || event.type === "failed")).toHaveLength(1);
  const [start] = events;
  if (start?.type !== "turn-start") throw new Error("the turn did not start");
  for (const [n, request] of sent.entries()) {
    const rebuilt = await app.runtime.rebuilt(app.operator, start.turn, n + 1);
    expect(await wireBody(rebuilt.request, rebuilt.wire)).toBe(await wireBody(request, rebuilt.wire));
  }
  return sent;
}

// Midnight, memory writes, tool rounds, failed turns (their first request counts), restarts and edits of the project, at random:
// eight days, and three for each other way of the tail. `checks/whole.ts` tries twice as many.
it.each(WAYS)(
  "law 1, law 9, law 14, S6 each request continues the one before it byte for byte, can be had again, and each turn has one end; the tail: %s",
  async (_way, wire, binds) => {
    await fc.assert(
      fc.asyncProperty(fc.array(STEP, { minLength: 2, maxLength: 6 }), async (steps) => {
        const folder = homeWithBell();
        let app = await strata(folder);
        let at = Date.UTC(2026, 10, 21, 20);
        let before = "";
        let whole = "";
        for (const [n, step] of steps.entries()) {
          edit(folder, step.edit, n);
          if (step.restart) {
            await app.close();
            app = await strata(folder);
          } else {
            await app.reload();
          }
          at += step.hours * 3_600_000;
          app.setClock(at);
          for (const request of await play(app, step, wire)) {
            expect((await stableBytes(request, wire)).startsWith(before)).toBe(true);
            expect((await bytesOf(request, wire)).startsWith(whole)).toBe(true);
            // What a failed turn said is not in the transcript: its first request is what the next one continues.
            before = await stableBytes(step.fails ? untold(request) : request, wire);
            if (step.fails) break;
            if (binds) whole = await bytesOf(request, wire);
          }
        }
        await app.close();
      }),
      { numRuns: (wire === SONNET ? firstRuns(15, 8) : firstRuns(5, 3)).numRuns },
    );
  },
  120_000,
);

it("two programs on one folder continue the same prefix", async () => {
  const folder = home();
  const one = await strata(folder);
  const two = await openApp({ folder, data: `${folder}/.strata`, env: {} });
  const step = {
    text: "Hello there, my friend",
    tools: ["memory_save"],
    hours: 0,
    restart: false,
    fails: false,
    edit: "none",
  } as const;
  let before = "";
  for (const app of [one, two, one, two]) {
    for (const request of await play(app, step)) {
      const bytes = await stableBytes(request);
      expect(bytes.startsWith(before)).toBe(true);
      before = bytes;
    }
  }
  await two.close();
});
