import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { allParts } from "../../../app/entry/features.ts";
import {
  contactId,
  DEFAULT_BUDGETS,
  type MemoryId,
  memoryId,
  type Request,
  untrusted,
} from "../../../protocol/index.ts";
import type { MemoryHit } from "../../../store/index.ts";
import { openSqlite, type Store } from "../../../store/index.ts";
import {
  collect,
  message,
  OPERATOR,
  sampleAgent,
  type TestRuntime,
  testRuntime,
} from "../../../turn/index.contract.ts";
import { scopeOf } from "../../../turn/sources/index.contract.ts";
import { mayShow, worthShowing } from "./gate.ts";

const id = (n: number): MemoryId => memoryId(`mem_${String(n).padStart(26, "0")}`);

const THINGS = ["key", "boat", "pot", "cat"] as const;
const PLACES = ["garden", "harbour", "kitchen", "attic"] as const;
const saying = fc
  .tuple(fc.constantFrom(...THINGS), fc.constantFrom(...PLACES), fc.nat(2))
  .map(
    ([thing, place, form]) =>
      [
        `The ${thing} is in the ${place}.`,
        `Where is the ${thing}?`,
        `The ${thing} is in the ${place}, ${`beside the old ${place} wall, `.repeat(14)}and stays there.`,
      ][form] ?? thing,
  );

const action = fc.oneof(
  {
    weight: 6,
    arbitrary: fc.record({
      do: fc.constant("say" as const),
      contact: fc.constantFrom("ann", "ann", "bob"),
      key: fc.constantFrom("main", "main", "other"),
      text: saying,
      reply: saying,
    }),
  },
  {
    weight: 1,
    arbitrary: fc.record({
      do: fc.constant("save" as const),
      contact: fc.constantFrom("ann", null),
      text: saying,
      replaces: fc.boolean(),
    }),
  },
  { weight: 1, arbitrary: fc.record({ do: fc.constant("forget" as const) }) },
);
type Action = typeof action extends fc.Arbitrary<infer A> ? A : never;

const sent = ({ prefix, messages, tail }: Request): string => JSON.stringify([prefix, messages, tail]);

interface Life {
  readonly on: TestRuntime;
  readonly searches: () => number;
  readonly reply: (text: string) => void;
}

/** A runtime that counts its searches. With `always`, it never learns that all memories are in the request. */
async function life(always: boolean, recall: "auto" | "search"): Promise<Life> {
  const store = await openSqlite(":memory:", { parts: await allParts() });
  let searches = 0;
  let reply = "";
  const UNSEEN = {
    id: id(0),
    kind: "fact",
    content: untrusted("x"),
    tags: [],
    trust: "contact",
    at: 0,
    support: 1,
  } as const;
  const counting: Store = {
    ...store,
    searchMemories: (...given) => {
      searches++;
      return store.searchMemories(...given);
    },
    ...(always && { memoriesBeside: async (scopes) => scopes.slice(0, 1).map((scope) => ({ ...UNSEEN, scope })) }),
  };
  const agent = sampleAgent({ recall, budgets: { ...DEFAULT_BUDGETS, total: 2_600, reply: 200, keep: 300 } });
  const on = await testRuntime(
    Array.from({ length: 60 }, () => () => reply),
    { agent, store: counting },
  );
  return {
    on,
    searches: () => searches,
    reply: (text) => {
      reply = text;
    },
  };
}

async function act({ on, reply }: Life, one: Action, n: number, saved: MemoryId[]): Promise<void> {
  const scopeOf = (contact: string | null) => ({
    org: on.agent.org,
    agent: on.agent.name,
    contact: contact === null ? null : contactId(contact),
  });
  on.time.at += 60_000;
  if (one.do === "say") {
    reply(one.reply);
    const conversation = { agent: on.agent.name, contact: contactId(one.contact), channel: "test", key: one.key };
    const thread = await on.runtime.open(OPERATOR, conversation);
    await on.runtime.post(OPERATOR, thread, [message(one.text, on.time.at)]);
    expect((await collect(on.runtime.run(OPERATOR, thread))).at(-1)?.type).toBe("done");
  } else if (one.do === "save") {
    const scope = scopeOf(one.contact);
    const last = one.replaces ? (await on.store.memories(scope, 1))[0]?.id : undefined;
    const content = untrusted(`${one.text} (${n})`);
    const what = { content, tags: [], trust: "contact", at: on.time.at, ...(last && { supersedes: last }) } as const;
    saved.push((await on.store.saveMemory(scope, id(n + 1), what)).memory.id);
  } else {
    const gone = saved.pop();
    if (gone !== undefined) for (const contact of ["ann", null]) await on.store.forgetMemory(scopeOf(contact), gone);
  }
}

describe("no search while the request shows all that could be found", () => {
  it("sends the same bytes as if everything had been searched, whatever happened", async () => {
    let [saved, needed] = [0, 0];
    await fc.assert(
      fc.asyncProperty(
        fc.array(action, { minLength: 4, maxLength: 40 }),
        fc.constantFrom("auto" as const, "search" as const),
        async (actions, recall) => {
          const [plain, always] = await Promise.all([life(false, recall), life(true, recall)]);
          const kept: [MemoryId[], MemoryId[]] = [[], []];
          for (const [n, one] of actions.entries()) {
            await act(plain, one, n, kept[0]);
            await act(always, one, n, kept[1]);
            expect(plain.on.sent.map(sent)).toEqual(always.on.sent.map(sent));
          }
          saved += always.searches() - plain.searches();
          needed += plain.searches();
          for (const { on } of [plain, always]) await on.store.close();
        },
      ),
      { numRuns: 25, interruptAfterTimeLimit: 200_000 },
    );
    // Both happen.
    expect(saved).toBeGreaterThan(20);
    expect(needed).toBeGreaterThan(20);
  });

  it("takes what a cut has left for seen, and a long reply that it has not left for unseen", async () => {
    for (const long of [-1, 6]) {
      const { on, searches, reply } = await life(false, "search");
      const thread = await on.open();
      for (let n = 0; n < 30; n++) {
        reply(
          n === long ? "It stands behind the old wall of the harbour, where the nets are dried. ".repeat(4) : "Aye.",
        );
        await on.say(thread, `Is the boat of day ${n} in the harbour?`);
      }
      expect((await on.store.epoch(thread.scope, thread.id))?.cut).toBeGreaterThan(0);
      if (long < 0) expect(searches()).toBe(0);
      else expect(searches()).toBeGreaterThan(0);
      await on.store.close();
    }
  });

  it("says so in the ledger, and searches again once another conversation has something", async () => {
    const { on, searches, reply } = await life(false, "search");
    reply("Under the blue pot in the garden.");
    const layer = async (key: string, text: string) => {
      const conversation = { agent: on.agent.name, contact: contactId("ann"), channel: "test", key };
      const thread = await on.runtime.open(OPERATOR, conversation);
      const events = await on.say(thread, text);
      const entries = events.flatMap((event) => (event.type === "compiled" ? event.ledger.entries : []));
      return entries.find(({ section }) => section === "recall");
    };
    await layer("main", "Where did we hide the key?");
    expect(await layer("main", "Tell me once more where the key is, please")).toMatchObject({
      because: "nothing was searched: the request shows all that could be found",
    });
    expect(searches()).toBe(0);
    await layer("other", "Where is the key of the boat house?");
    expect(searches()).toBeGreaterThan(0);
    await on.store.close();
  });
});

const FEATURES = [
  { turn: 1 },
  { rule: 1 },
  { turn: 1, rule: 1 },
  { turn: 1, wishHelps: 1 },
  { vector: 1, behind: 1 },
] as const;
const hit = fc
  .record({
    kind: fc.constantFrom("message" as const, "fact" as const),
    content: fc.constantFrom(
      "The key is in the pot.",
      "Always answer in French.",
      "When I ask about boats, say their length.",
      "I would rather travel by boat.",
    ),
    evidence: fc.constantFrom(0, 0.05, 0.12, 0.3, 0.6),
    features: fc.constantFrom(...FEATURES),
    score: fc.double({ min: 0, max: 9, noNaN: true }),
    place: fc.nat(5),
  })
  .map(({ content, ...more }): MemoryHit => {
    const what = {
      content: untrusted(content),
      tags: [],
      trust: "contact",
      at: more.place,
      support: 1,
      session: "one",
    } as const;
    return { ...what, ...more, id: id(more.place), scope: scopeOf("companion", "ann") };
  });

describe("no second search where nothing of it could be shown", () => {
  it("shows nothing then, whatever it finds", () => {
    let shut = 0;
    const asked = fc.constantFrom(
      "Where is the key?",
      "The boat is blue",
      "Help me choose a boat, please",
      "Why boats?",
    );
    fc.assert(
      fc.property(asked, fc.array(hit, { maxLength: 4 }), fc.array(hit, { maxLength: 6 }), (newest, judged, found) => {
        if (mayShow(newest, judged)) return;
        shut++;
        expect(worthShowing(newest, found, judged)).toEqual([]);
      }),
      { numRuns: 3_000 },
    );
    expect(shut).toBeGreaterThan(300);
  });
});
