import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import * as fc from "fast-check";
import { describe, expect, it, onTestFinished } from "vitest";
import { z } from "zod";
import { ROOT } from "../../../checks/files.ts";
import {
  type Agent,
  DEFAULT_BUDGETS,
  type Layer,
  type LayerContent,
  layerId,
  type MemoryQuery,
  memoryId,
  type NewEvent,
  ownKind,
  type Source,
  type StoredEvent,
  toolName,
  trusted,
  untrusted,
} from "../../protocol/index.ts";
import type { MemoryHit, Store } from "../../store/index.ts";
import { agentOf, EMPTY_STORE, eventOf, gatherFrom, liveLayer, scopeOf } from "./index.contract.ts";
import { defineSource, type Gathered, type Timer } from "./index.ts";

type Asked = Parameters<typeof gatherFrom>[2];

const SCOPE = scopeOf("companion", "caroline");
const AT = Date.UTC(2026, 10, 21, 8, 30, 59);

const agent = (change: Partial<Agent> = {}): Agent =>
  agentOf(SCOPE, { budgets: { ...DEFAULT_BUDGETS, source: 50 }, ...change });

const layer = (id: string, source: Source, required = false): Layer =>
  liveLayer(source, { id: layerId(id), trust: source.kind === "recall" ? "contact" : "platform", required });

const RECALL = layer("recall", { kind: "recall", limit: 3 });
const CLOCK = layer("clock", { kind: "clock", timezone: "Europe/Berlin" });

const event = (text: string, more: Partial<NewEvent> = {}): StoredEvent => eventOf(text, { at: AT, ...more });

const hit = (content: string, index = 0): MemoryHit => ({
  id: memoryId(`mem_${String(index).padStart(26, "0")}`),
  scope: SCOPE,
  kind: "fact",
  content: untrusted(content),
  tags: [],
  trust: "contact",
  at: AT - index,
  support: 1,
  score: 100 - index,
  evidence: 50 - index,
  features: {},
  session: String(index),
  place: index,
});

type Search = Store["searchMemories"];

/** Every deadline comes after a moment. */
const HURRIED: Timer = (_, fire) => {
  const timeout = setTimeout(fire, 30);
  return () => clearTimeout(timeout);
};

/** Tokens, one for four characters. */
const count = (text: string): number => Math.ceil(text.length / 4);

function contextOf(text: string | readonly StoredEvent[], searchMemories: Search, more: Partial<Asked> = {}): Asked {
  const events = typeof text === "string" ? [event(text)] : text;
  return { scope: SCOPE, at: AT, events, count, store: { ...EMPTY_STORE, searchMemories }, ...more };
}

/** Finds what it was asked for: so a test sees which message a memory was recalled for. */
const echo: Search = async (_, query) =>
  Array.from({ length: query.limit }, (_, i) => hit(`about: ${newestOf(query)}`, i));
const newestOf = ({ texts }: MemoryQuery): string => texts[0]?.text ?? "";
const never: Search = () => new Promise(() => {});
const broken: Search = async () => {
  throw new Error("the disk is gone");
};
const unasked: Search = async () => {
  throw new Error("it should not have been asked");
};

const content = ({ contents }: Gathered, id = "recall"): LayerContent | undefined => contents.get(layerId(id));
const texts = (gathered: Gathered): readonly string[] => {
  const found = content(gathered);
  return found?.kind === "items" ? found.items.map(({ text }) => text) : [];
};

describe("clock", () => {
  it.each([
    ["Europe/Berlin", AT, "It is Saturday, 2026-11-21, 09:30 (Europe/Berlin)."],
    ["UTC", AT, "It is Saturday, 2026-11-21, 08:30 (UTC)."],
    ["Asia/Kathmandu", AT, "It is Saturday, 2026-11-21, 14:15 (Asia/Kathmandu)."],
    ["America/New_York", Date.UTC(2026, 0, 1, 5, 0), "It is Thursday, 2026-01-01, 00:00 (America/New_York)."],
  ])("001.10 tells date, weekday and time in %s to the minute", async (timezone, at, text) => {
    const clock = layer("clock", { kind: "clock", timezone });
    const gathered = await gatherFrom(agent(), [clock], contextOf("hi", unasked, { at }));
    expect(content(gathered, "clock")).toEqual({ kind: "text", text });
  });

  it("law 13 a zone that the system does not know gives an empty layer and a note", async () => {
    const clock = layer("clock", { kind: "clock", timezone: "Mars/Olympus" });
    const gathered = await gatherFrom(agent(), [clock], contextOf("hi", unasked));
    expect(content(gathered, "clock")).toMatchObject({
      kind: "empty",
      because: expect.stringContaining("Mars/Olympus"),
    });
    expect(gathered.notes).toEqual([{ layer: "clock", message: expect.stringContaining("Mars/Olympus") }]);
  });
});

describe("text", () => {
  it("gives a text layer's text as it is", async () => {
    const text = layer("note", { kind: "text", text: trusted("Closed on Sunday.") });
    expect(content(await gatherFrom(agent(), [text], contextOf("hi", unasked)), "note")).toEqual({
      kind: "text",
      text: "Closed on Sunday.",
    });
  });
});

describe("recall", () => {
  it("002.2/002.3 each message is searched for in its contact's memories, and the best come first", async () => {
    const asked: unknown[] = [];
    const search: Search = async (...question) => {
      asked.push(question);
      return [hit("Allergic to nuts.", 0), hit("Plays the guitar.", 1)];
    };
    const gathered = await gatherFrom(agent(), [RECALL], contextOf("What can I cook for Caroline?", search));
    const texts = [{ text: "What can I cook for Caroline?", weight: 1 }];
    expect(asked).toEqual([
      [
        [SCOPE, { ...SCOPE, contact: null }],
        { texts, asker: "caroline", at: expect.any(Number), limit: 100, signal: expect.any(AbortSignal) },
        expect.any(Function),
      ],
    ]);
    expect(content(gathered)).toEqual({
      kind: "items",
      items: [
        { id: hit("", 0).id, kind: "memory", text: "Allergic to nuts.", trust: "contact", at: AT },
        { id: hit("", 1).id, kind: "memory", text: "Plays the guitar.", trust: "contact", at: AT - 1 },
      ],
    });
    expect(gathered.notes).toEqual([]);
  });

  it("002.3 all messages of a turn are searched for together", async () => {
    const events = [
      event("The trip"),
      event("to Zürich", { content: [{ type: "image", mediaType: "image/png", data: "" }] }),
      event("with Anna"),
    ];
    expect(texts(await gatherFrom(agent(), [RECALL], contextOf(events, echo)))[0]).toBe("about: The trip\nwith Anna");
  });

  it("002.3 no more than the layer's limit is shown", async () => {
    const generous: Search = async () => Array.from({ length: 9 }, (_, i) => hit(`m${i}`, i));
    expect(texts(await gatherFrom(agent(), [RECALL], contextOf("the trip", generous)))).toEqual(["m0", "m1", "m2"]);
  });

  it("S8 recall shown in turn n was computed for turn n's message", async () => {
    // The first turn's search answers only while the second turn is under way.
    let answerFirst = (): void => {};
    const search: Search = (scopes, query) =>
      newestOf(query) === "first trip"
        ? new Promise((resolve) => (answerFirst = () => resolve([hit("late")])))
        : echo(scopes, query);
    const first = await gatherFrom(agent(), [RECALL], contextOf("first trip", search, { timer: HURRIED }));
    const second = gatherFrom(agent(), [RECALL], contextOf("second trip", search));
    answerFirst();
    expect(content(first)?.kind).toBe("empty");
    expect(texts(await second)).toEqual(Array(3).fill("about: second trip"));
    expect(content(first)?.kind).toBe("empty");
  });

  it("S8 turns gathered at the same time each see what was recalled for their own message", async () => {
    const slow: Search = async (scopes, query) => {
      await new Promise((resolve) => setTimeout(resolve, newestOf(query).length % 7));
      return echo(scopes, query);
    };
    const messages = Array.from({ length: 50 }, (_, i) => `trip number ${i} ${"x".repeat(i + 1)}`);
    const patient = agent({ budgets: { ...DEFAULT_BUDGETS, source: 5_000 } });
    const all = await Promise.all(messages.map((message) => gatherFrom(patient, [RECALL], contextOf(message, slow))));
    expect(all.map((gathered) => texts(gathered)[0])).toEqual(messages.map((message) => `about: ${message}`));
  });

  it.each([
    "hi",
    "Hi!!",
    "hello there 👋",
    "Hey! How are you?",
    "thanks!",
    "Thank you so much!",
    "ok",
    "OK, great.",
    "👍",
    "❤️",
    "👩‍👩‍👧 ❤️",
    "…",
    "   ",
    "Good morning ☀️",
    "bye, see you later",
    "That's great!",
    "It's ok",
    "hi\nthanks",
    "h\u200bi",
    "Danke!",
    "¡Hola!",
    "merci beaucoup",
    "ça va ?",
    "谢谢",
    "你好！",
    "привет",
    "ありがとう",
    "नमस्ते",
    "Hey Melanie, great to hear from you. What's been up since we talked?",
    "Thanks! What have you been up to?",
    "Hey Sam! Long time no see, how's it going? Anything new happening?",
  ])("S9 the recall gate skips greetings and other small talk: %j", async (text) => {
    const gathered = await gatherFrom(agent(), [RECALL], contextOf(text, unasked));
    expect(content(gathered)).toEqual({
      kind: "empty",
      because: expect.stringMatching(
        /^(small talk: the message has nothing|no words: the message has nothing|no message waits)/,
      ),
    });
    expect(gathered.notes).toEqual([]);
  });

  it.each([
    "Hi, it's Anna",
    "ok, and Caroline?",
    "thanks for the guitar",
    "How are you feeling about the surgery?",
    "Zürich",
    "42",
    "good morning, how was Rome?",
    "你好，我的狗叫什么名字？",
    "no nuts please",
    "hello ".repeat(13),
  ])("S9 the recall gate lets %j through", async (text) => {
    expect(content(await gatherFrom(agent(), [RECALL], contextOf(text, echo)))?.kind).toBe("items");
  });

  const questions = ["locomo-dev", "madial/en-last", "madial/zh-last"]
    .map((folder) => join(ROOT, "../shared/data", folder, "queries.jsonl"))
    .filter((file) => existsSync(file))
    .flatMap((file) => readFileSync(file, "utf8").trim().split("\n"))
    .map((line) => z.object({ question: z.string() }).parse(JSON.parse(line)).question);
  it.skipIf(questions.length === 0)(
    "S9 the recall gate lets all collected questions through (needs ../shared/data)",
    async () => {
      const asked = new Set<string>();
      const search: Search = async (_, query) => [hit(String(asked.add(newestOf(query)).size))];
      for (const question of questions) await gatherFrom(agent(), [RECALL], contextOf(question, search));
      expect(asked.size).toBe(new Set(questions.map((question) => question.trim())).size);
    },
  );

  it.each([
    ["tools", "recall is set to tools for this agent"],
    ["none", "recall is set to none for this agent"],
  ] as const)("asks nothing when recall is set to %s", async (recall, because) => {
    const gathered = await gatherFrom(agent({ recall }), [RECALL], contextOf("the trip", unasked));
    expect(content(gathered)).toEqual({ kind: "empty", because });
  });

  it("says when no memory fits", async () => {
    const gathered = await gatherFrom(
      agent(),
      [RECALL],
      contextOf("the trip", async () => []),
    );
    expect(content(gathered)).toEqual({ kind: "empty", because: "no memory fits the message" });
  });

  it("law 12 only what the contact wrote is searched for: no instruction, schedule, warning or peer's payload", async () => {
    const others = (["call-ended", "instruction", "scheduled", ownKind("peer"), ownKind("warning")] as const).map(
      (kind) => event(`the ${kind}`, { kind }),
    );
    const gathered = await gatherFrom(agent(), [RECALL], contextOf([...others, event("the trip")], echo));
    expect(texts(gathered)[0]).toBe("about: the trip");
    expect(content(await gatherFrom(agent(), [RECALL], contextOf(others, unasked)))?.kind).toBe("empty");
  });

  it("law 12 what was recalled or shown before never becomes part of a query", async () => {
    const words = fc.constantFrom("trip", "guitar", "Zürich", "nuts", "sunrise");
    await fc.assert(
      fc.asyncProperty(fc.array(words, { minLength: 1, maxLength: 5 }), async (said) => {
        const queries: string[] = [];
        const search: Search = async (_, query) => {
          queries.push(...query.texts.map(({ text }) => text));
          return [hit("INJECTED memory of an earlier turn")];
        };
        for (const word of said) await gatherFrom(agent(), [CLOCK, RECALL], contextOf(word, search));
        expect(queries).toEqual(said);
      }),
    );
  });

  it("any message gives a content and no note, however long or odd", async () => {
    const odd = fc.oneof(
      fc.string({ unit: "binary" }),
      fc.constantFrom("x ".repeat(100_000), "\u0301".repeat(100_000), "👍".repeat(9_999)),
    );
    await fc.assert(
      fc.asyncProperty(odd, async (text) => {
        const gathered = await gatherFrom(agent(), [RECALL], contextOf(text, echo, { timer: () => () => {} }));
        expect(gathered.notes).toEqual([]);
        for (const shown of texts(gathered)) expect(shown.length).toBeLessThanOrEqual(4_100);
      }),
    );
  });
});

describe("the deadline", () => {
  it("law 13 001.24 a source that throws gives an empty layer and a note, and the others their content", async () => {
    const gathered = await gatherFrom(agent(), [RECALL, CLOCK], contextOf("the trip", broken));
    expect(content(gathered)).toMatchObject({ kind: "empty", because: "its source failed: the disk is gone" });
    expect(content(gathered, "clock")?.kind).toBe("text");
    expect(gathered.notes).toEqual([
      { layer: "recall", message: "the recall source of layer recall failed: the disk is gone" },
    ]);
  });

  it("law 13 a source that throws before it answers anything is a source that failed", async () => {
    const abrupt: Search = () => {
      throw new Error("at once");
    };
    expect(content(await gatherFrom(agent(), [RECALL], contextOf("the trip", abrupt)))?.kind).toBe("empty");
  });

  it("law 13 001.20 a source that is late gives an empty layer, and sources wait in parallel", async () => {
    const second = layer("recall-2", { kind: "recall", limit: 1 });
    const started = performance.now();
    const gathered = await gatherFrom(
      agent(),
      [RECALL, second, CLOCK],
      contextOf("the trip", never, { timer: HURRIED }),
    );
    expect(performance.now() - started).toBeLessThan(1_000);
    expect(content(gathered)).toMatchObject({
      kind: "empty",
      because: "its source failed: it returned nothing within 30000 ms",
    });
    expect(gathered.notes.map((note) => note.layer)).toEqual(["recall", "recall-2"]);
    expect(content(gathered, "clock")?.kind).toBe("text");
  });

  it.each([
    ["throws", broken, "the disk is gone"],
    ["is late", never, "within 30000 ms"],
  ])("law 13 a required layer whose source %s stops the turn with its name", async (_, search, sentence) => {
    const required = { ...RECALL, required: true };
    const context = contextOf("the trip", search, { timer: HURRIED });
    await expect(gatherFrom(agent(), [required, CLOCK], context)).rejects.toMatchObject({
      code: "source_failed",
      message: expect.stringMatching(new RegExp(`layer recall .*${sentence}`)),
      details: { layer: "recall" },
    });
  });

  it("law 13 a required layer that has nothing to say is no failure", async () => {
    const required = { ...RECALL, required: true };
    expect(content(await gatherFrom(agent(), [required], contextOf("hi", unasked)))?.kind).toBe("empty");
  });

  it("a source that fails after the deadline disturbs nobody", async () => {
    const unhandled: unknown[] = [];
    const listen = (reason: unknown): void => void unhandled.push(reason);
    process.on("unhandledRejection", listen);
    onTestFinished(() => void process.off("unhandledRejection", listen));
    const late: Search = () => new Promise((_, reject) => setTimeout(() => reject(new Error("late")), 80));
    await gatherFrom(agent(), [RECALL], contextOf("the trip", late, { timer: HURRIED }));
    await new Promise((resolve) => setTimeout(resolve, 120));
    expect(unhandled).toEqual([]);
  });

  it("25.10 waits for a search of the store as long as a busy machine takes, and for another source no longer than declared", async () => {
    const slow: Search = () => new Promise((resolve) => setTimeout(() => resolve([hit("Pack the tent.")]), 120));
    const own = layer("orders", { kind: "own", name: "orders" });
    const hangs = { name: "orders", trust: "operator", load: () => new Promise<never>(() => {}) } as const;
    const sources = new Map([["orders", defineSource(hangs)]]);
    const gathered = await gatherFrom(agent(), [RECALL, own], contextOf("the trip", slow, { sources }));
    expect(texts(gathered)).toEqual(["Pack the tent."]);
    expect(content(gathered, "orders")).toMatchObject({
      because: "its source failed: it returned nothing within 50 ms",
    });
  });

  it("25.10 tells the model in the layer's place that a source failed, and by which tool it can ask", async () => {
    const layerOf = (tools: Agent["tools"]) => gatherFrom(agent({ tools }), [RECALL], contextOf("the trip", broken));
    expect(content(await layerOf([toolName("memory_search")]))).toMatchObject({
      message: expect.stringContaining("`memory_search` can search them"),
    });
    expect(content(await layerOf([]))).toMatchObject({ message: expect.not.stringContaining("`") });
  });

  it("the timers are set once and cleared, whatever happens", async () => {
    const timers: { milliseconds: number; cleared: boolean }[] = [];
    const timer: Timer = (milliseconds) => {
      const one = { milliseconds, cleared: false };
      timers.push(one);
      return () => {
        one.cleared = true;
      };
    };
    await gatherFrom(agent(), [RECALL, CLOCK], contextOf("the trip", echo, { timer }));
    await gatherFrom(agent(), [], contextOf("the trip", echo, { timer }));
    await gatherFrom(agent(), [{ ...RECALL, required: true }], contextOf("the trip", broken, { timer })).catch(
      () => {},
    );
    const both = [50, 30_000].map((milliseconds) => ({ milliseconds, cleared: true }));
    expect(timers).toEqual([...both, ...both, ...both]);
  });

  it("a turn that is stopped waits for no source", async () => {
    const stop = new AbortController();
    const gathering = gatherFrom(
      agent(),
      [RECALL],
      contextOf("the trip", never, { signal: stop.signal, timer: () => () => {} }),
    );
    stop.abort();
    await expect(gathering).rejects.toMatchObject({ code: "turn_cancelled" });
    await expect(gatherFrom(agent(), [CLOCK], contextOf("hi", never, { signal: stop.signal }))).rejects.toMatchObject({
      code: "turn_cancelled",
    });
  });
});
