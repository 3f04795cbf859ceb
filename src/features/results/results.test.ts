import { describe, expect, it } from "vitest";
import { z } from "zod";
import { allParts } from "../../app/entry/features.ts";
import {
  type Agent,
  ANSWER_KIND,
  contactId,
  DEFAULT_BUDGETS,
  type Message,
  type Request,
  type ResultPart,
  readFrames,
  toolName,
} from "../../protocol/index.ts";
import { EVERYTHING, onEachDatabase, problems } from "../../store/index.contract.ts";
import type { Store } from "../../store/index.ts";
import { collect, endOf, message, OPERATOR, ORG, sampleAgent, testRuntime } from "../../turn/index.contract.ts";
import { answersLater } from "../../turn/index.ts";
import { defineTool, toolset } from "../../turn/tools/index.ts";
import { RETRACTION_API } from "../retractions/index.ts";
import { FEATURE } from "./index.ts";

/** A log of a thousand lines, of which each says its number; one in the middle says more. */
const LINES = Array.from(
  { length: 1_000 },
  (_, i) => `entry ${i + 1}: all is quiet${i === 499 ? ", but Quillworth rang" : ""}`,
);
const LOG = LINES.join("\n");

const input = z.strictObject({ what: z.string() });
const ask = { call: "fetch_log", input: { what: "log" } };
const readOn = (given: object) => ({ call: "read_result", input: { result: 1, ...given } });

function sampleTools(log: string) {
  const rung: string[] = [];
  const base = { input, trust: "contact" } as const;
  const tools = [
    defineTool({ ...base, name: "fetch_log", description: "Gets it.", effect: "none", run: () => log }),
    defineTool({
      ...{ ...base, name: "ring_log", description: "Rings.", effect: "external" },
      run: ({ what }) => {
        rung.push(what);
        return log;
      },
    }),
    defineTool({
      ...base,
      name: "recalled",
      description: "Recalls.",
      effect: "none",
      returnsMemories: true,
      run: () => log,
    }),
    defineTool({
      ...{ ...base, name: "ask_client", description: "Asks.", effect: "none" },
      run: (_, context) => answersLater(context, { waitsFor: "client" }),
    }),
  ];
  return { rung, tools: [...tools, ...(FEATURE.tools?.(Object.create(null)) ?? [])] };
}

const NAMES = ["ask_client", "fetch_log", "read_result", "recalled", "ring_log"];

/** A runtime whose agent can read long results, unless `change` says otherwise. */
async function reading(
  script: Parameters<typeof testRuntime>[0],
  {
    log = LOG,
    store,
    change = {},
  }: { readonly log?: string; readonly store?: Store; readonly change?: Partial<Agent> } = {},
) {
  const { rung, tools } = sampleTools(log);
  const budgets = { ...DEFAULT_BUDGETS, result: 600 };
  const agent = sampleAgent({ tools: NAMES.map(toolName), recall: "none", budgets, ...change });
  const made = await testRuntime(script, { agent, parts: { tools: toolset(tools) }, ...(store && { store }) });
  return { ...made, rung };
}

const resultsIn = (request: Request | undefined): readonly ResultPart[] =>
  (request?.messages ?? []).flatMap((one: Message) => (one.role === "tool" ? one.parts : []));
const lastResult = (request: Request | undefined): ResultPart => {
  const last = resultsIn(request).at(-1);
  if (last === undefined) throw new Error("there is no result");
  return last;
};
const count = (text: string): number => Math.ceil(Buffer.byteLength(text) / 3);

describe("a result that is too long", () => {
  it("shows its beginning and its end, says what is missing, and is read by lines and by words", async () => {
    const on = await reading([
      { parts: [ask] },
      { parts: [readOn({ from: 500, to: 501 })] },
      { parts: [readOn({ find: "quillWORTH" })] },
      { parts: [readOn({ find: "quiet" })] },
      { parts: [readOn({ from: 300 })] },
      "Read.",
    ]);
    await on.say(await on.open(), "Get the log");
    const [first, ...rest] = on.sent.slice(1).map(lastResult);
    const mark =
      /^\(Lines (\d+) to (\d+) of 1000 are not shown: the result has \d+ characters\. To read or search them, call read_result with result 1\.\)$/m;
    const [, from, to] = mark.exec(first?.text ?? "") ?? [];
    const frames = readFrames(first?.text ?? "");
    expect(frames.map(({ kind, trust }) => [kind, trust])).toEqual([
      ["result", "contact"],
      ["result", "contact"],
    ]);
    expect(frames[0]?.text).toBe(LINES.slice(0, Number(from) - 1).join("\n"));
    expect(frames[1]?.text).toBe(LINES.slice(Number(to)).join("\n"));
    expect(rest.slice(0, 2).map(({ text }) => text)).toEqual([
      `[result contact]\n| Lines 500 to 501 of 1000:\n| ${LINES[499]}\n| ${LINES[500]}`,
      `[result contact]\n| Found in 1 line:\n| 500: ${LINES[499]}`,
    ]);
    for (const { text, kept } of rest.slice(2)) {
      expect([kept, /truncated/.test(text)]).toEqual([undefined, false]);
      expect(count(text)).toBeLessThanOrEqual(600);
      expect(count(text)).toBeGreaterThan(400);
    }
    expect(rest[2]?.text).toMatch(/^\[result contact\]\n\| Found in 1000 lines; the first \d+:\n\| 1: entry 1:/);
    expect(rest[3]?.text).toMatch(/^\[result contact\]\n\| Lines 300 to \d+ of 1000:\n\| entry 300:/);
  });

  it("is cut as before where the agent has no tool to read it, and of memories", async () => {
    const tools = NAMES.filter((name) => name !== "read_result").map(toolName);
    const without = await reading([{ parts: [ask] }, "Got it."], { change: { tools } });
    await without.say(await without.open(), "Get the log");
    const memories = await reading([{ parts: [{ ...ask, call: "recalled" }] }, "Got it."]);
    await memories.say(await memories.open(), "Recall it");
    for (const { text, kept } of [without, memories].map(({ sent }) => lastResult(sent[1]))) {
      expect(kept).toBeUndefined();
      expect(text).toMatch(/\(The result above is truncated: its first \d+ of \d+ characters are shown\.\)$/);
    }
  });

  it("is read in a later turn, and says why it cannot be read", async () => {
    const on = await reading([
      { parts: [readOn({})] },
      { parts: [ask] },
      "Got it.",
      { parts: [readOn({ from: 500, find: "x" }), { call: "read_result", input: { result: 7 } }] },
      { parts: [readOn({ find: "nobody" }), readOn({ from: 1_001 }), readOn({ from: 500, to: 500 })] },
      "Read.",
    ]);
    const thread = await on.open();
    await on.say(thread, "Get the log");
    await on.say(thread, "What about 500?");
    const said = resultsIn(on.sent.at(-1)).map(({ text }) => text);
    expect(said.filter((_, i) => i !== 1)).toEqual([
      expect.stringMatching(/^\[result platform\]\n\| There is no such result: none is kept in/),
      "[result platform]\n| Give either `find`, or `from` and `to`.",
      "[result platform]\n| There is no result 7. Kept are: 1.",
      "[result platform]\n| Not found in its 1000 lines.",
      "[result platform]\n| There is no line 1001: the result has 1000.",
      `[result contact]\n| Lines 500 to 500 of 1000:\n| ${LINES[499]}`,
    ]);
  });

  it("in one line is divided, and every word in it is found", async () => {
    const log = JSON.stringify(LINES.map((line) => ({ line, at: 1 })));
    const on = await reading([{ parts: [ask] }, { parts: [readOn({ find: "quiet, but Quillworth" })] }, "Read."], {
      log,
    });
    await on.say(await on.open(), "Get the log");
    expect(lastResult(on.sent[2]).text).toMatch(/Found in 1 line:\n\| \d+: .*but/);
  });

  it("that comes later, from outside, is kept, too; each has a number of its own", async () => {
    const on = await reading([
      { parts: [ask, { ...ask, call: "ask_client", id: "c9" }] },
      { parts: [{ call: "read_result", input: { result: 2, from: 500, to: 500 } }] },
      "Read.",
    ]);
    const thread = await on.open();
    await on.say(thread, "Ask the client");
    const [open] = await on.runtime.openCalls(OPERATOR, thread.id);
    if (open === undefined) throw new Error("nothing is open");
    const answer = { ...message(LOG, on.time.at), kind: ANSWER_KIND, answers: open.id };
    await on.runtime.post(OPERATOR, thread, [answer]);
    await collect(on.runtime.follow(OPERATOR, thread));
    expect(resultsIn(on.sent[1]).map(({ kept }) => kept?.n)).toEqual([1, 2]);
    expect(lastResult(on.sent[2]).text).toContain(`Lines 500 to 500 of 1000:\n| ${LINES[499]}`);
  });

  it("law 5: is read on its own thread and its forks, and on no other", async () => {
    const on = await reading([
      { parts: [ask] },
      "Got it.",
      { parts: [readOn({ from: 2, to: 2 })] },
      "Read.",
      { parts: [readOn({ from: 2, to: 2 })] },
      "Not read.",
    ]);
    const thread = await on.open();
    await on.say(thread, "Get the log");
    const fork = await on.runtime.fork(OPERATOR, thread.id, { key: "other" });
    await on.say(fork, "Read on");
    expect(lastResult(on.sent[3]).text).toContain("| entry 2: all is quiet");
    const other = await on.runtime.open(OPERATOR, {
      ...{ agent: on.agent.name, contact: contactId("ann"), channel: "test", key: "second" },
    });
    await on.say(other, "Read on");
    expect(lastResult(on.sent[5]).text).toContain("There is no such result");
  });

  it("goes with a cut, and the agent is told", async () => {
    const fillers = 8;
    const budgets = { ...DEFAULT_BUDGETS, total: 6_000, reply: 500, result: 600 };
    const said = Array.from({ length: fillers }, () => "Said.");
    const on = await reading([{ parts: [ask] }, ...said, "Said.", { parts: [readOn({})] }, { parts: [ask] }, "Done."], {
      change: { budgets },
    });
    const thread = await on.open();
    for (let n = 0; n <= fillers; n++)
      await on.say(thread, `Message ${n} ${"of many words ".repeat(n === 0 ? 1 : 150)}`);
    await on.say(thread, "Read on");
    const [told, again] = resultsIn(on.sent.at(-1));
    expect(told?.text).toContain(
      "There is no such result: none is kept in the part of the conversation that is shown.",
    );
    expect(again?.kept?.n).toBe(1);
    for (const [n, request] of on.sent.entries())
      if (n > 0 && resultsIn(request).length > 0)
        expect(JSON.stringify(request.prefix)).toBe(JSON.stringify(on.sent[0]?.prefix));
  });

  it("law 7: of a call that acted outside is the same when the turn runs again, and the call does not run again", async () => {
    const ring = { parts: [{ ...ask, call: "ring_log" }] };
    let fails = true;
    const on = await reading([
      ring,
      () => {
        if (!fails) return "Done.";
        fails = false;
        throw new Error("the model is gone");
      },
      ring,
      "Done.",
    ]);
    const thread = await on.open();
    await on.say(thread, "Ring");
    expect(endOf(await collect(on.runtime.run(OPERATOR, thread)))).toMatchObject({ type: "done" });
    expect(on.rung).toEqual(["log"]);
    const [before, again] = [on.sent[1], on.sent.at(-1)].map(lastResult);
    expect({ ...again, id: before?.id }).toEqual(before);
    expect(lastResult(on.sent.at(-1)).kept?.text).toBe(LOG);
  });

  it("is kept to a length, and says so; together they have one, too", async () => {
    const long = Array.from({ length: 30_000 }, (_, i) => `entry ${i + 1}`).join("\n");
    const on = await reading([{ parts: Array.from({ length: 6 }, () => ask) }, "Got it."], {
      log: long,
      change: { budgets: { ...DEFAULT_BUDGETS, result: 600 } },
    });
    await on.say(await on.open(), "Get the logs");
    const results = resultsIn(on.sent[1]);
    expect(results.map(({ kept }) => kept?.text.length)).toEqual([
      ...Array.from({ length: 5 }, () => 200_000),
      undefined,
    ]);
    expect(results[0]?.text).toContain(`has ${long.length} characters, of which the first 200000 are kept. To read`);
  });
});

onEachDatabase("what is kept of a long result", [...(await allParts()), EVERYTHING], (open) => {
  const got = async () => {
    const store = await open();
    const on = await reading([{ parts: [ask] }, "Got it."], { store });
    const thread = await on.open();
    const [event] = await on.runtime.post(OPERATOR, thread, [message("Get the log", on.time.at)]);
    await collect(on.runtime.run(OPERATOR, thread));
    if (event === undefined) throw new Error("nothing was posted");
    const left = async (): Promise<boolean> => (await store.part(EVERYTHING).everything(ORG)).includes("Quillworth");
    expect([await left(), await problems(store, ORG)]).toEqual([true, []]);
    return { ...on, store, thread, event: event.id, left };
  };

  it("is exported, verifies, can be rebuilt, and is erased with its contact", async () => {
    const { runtime, store, thread, sent, left } = await got();
    const { rows } = await store.contactRows(thread.scope, 1_000);
    expect(JSON.stringify(rows)).toContain("Quillworth");
    const [turn] = await runtime.turns(OPERATOR, thread.id);
    if (turn === undefined) throw new Error("there is no turn");
    const { request } = await runtime.rebuilt(OPERATOR, turn.id, 2);
    expect(JSON.stringify(request.messages)).toBe(JSON.stringify(sent[1]?.messages));
    await store.eraseContact(thread.scope, OPERATOR, 1);
    expect([await left(), await problems(store, ORG)]).toEqual([false, []]);
    await store.close();
  });

  it("goes with the event that led to it", async () => {
    const { runtime, store, event, left } = await got();
    await runtime.use(RETRACTION_API).retract(OPERATOR, event, "a mistake");
    expect([await left(), await problems(store, ORG)]).toEqual([false, []]);
    await store.close();
  });
});
