import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { joinParts, type Layer, type LayerContent, layerId, trusted } from "../protocol/index.ts";
import { compile } from "./index.ts";
import {
  agentOf,
  bytes3,
  clock,
  contentsOf,
  entryOf,
  event,
  immutable,
  inputOf,
  item,
  layer,
  memoryNumber,
  recall,
  recount,
  refusal,
  reply,
  request,
  said,
  says,
  systemText,
  tool,
  turnNumber,
} from "./samples.contract.ts";

/** About 100 tokens a section: 293 characters, the heading and 4 around. */
const long = (word: string): string => `${word} `.repeat(400).slice(0, 270);
const core = immutable("core", { rank: 0, text: long("core") });

describe("soft budgets", () => {
  const persona = layer("persona", { rank: 3, budget: 60, text: long("persona") });
  const style = layer("style", { rank: 8, budget: 40, text: long("style") });
  const agent = agentOf(core, persona, style);
  const all = compile(inputOf({ agent })).ledger.tokens;

  it("change nothing while all fits", () => {
    const made = compile(inputOf({ agent, limit: all }));
    expect(made.ledger.tokens).toBe(all);
    expect(entryOf(made, "style").fate).toBe("kept");
  });

  it("001.25 are applied from the highest rank number down, and no further than needed", () => {
    const made = compile(inputOf({ agent, limit: all - 1 }));
    expect(entryOf(made, "style")).toMatchObject({ fate: "truncated", because: "budget" });
    expect(entryOf(made, "persona").fate).toBe("kept");
    expect(entryOf(made, "style").tokens).toBeLessThanOrEqual(40);
    expect(entryOf(made, "style").tokens).toBeGreaterThan(35);
  });

  it("reach the next lower rank when the first was not enough", () => {
    const made = compile(inputOf({ agent, limit: all - 70 }));
    expect(entryOf(made, "style").fate).toBe("truncated");
    expect(entryOf(made, "persona").fate).toBe("truncated");
  });

  it("say in the text where it was cut", () => {
    const made = compile(inputOf({ agent, limit: all - 1 }));
    expect(systemText(made)).toMatch(/# Layer 8 · style\n(style )+[a-z]*\n\(Truncated: style exceeds its budget\.\)$/);
  });
});

describe("when soft budgets are not enough", () => {
  const persona = layer("persona", { rank: 3, text: long("persona") });
  const style = layer("style", { rank: 8, text: long("style") });

  it("layers go, from the highest rank number down", () => {
    const agent = agentOf(core, persona, style);
    const { tokens } = compile(inputOf({ agent })).ledger;
    const made = compile(inputOf({ agent, limit: tokens - 50 }));
    expect(entryOf(made, "style")).toMatchObject({ fate: "dropped", because: "budget", trust: "platform" });
    expect(entryOf(made, "style").wanted).toBeGreaterThan(90);
    expect(entryOf(made, "persona").fate).toBe("kept");
    expect(systemText(made)).toMatch(/\n\n# Layer 8 · style: \(Omitted: over budget\.\)$/);
  });

  it("a layer is trimmed before it is dropped, and no further than it must", () => {
    const agent = agentOf(core, persona, layer("manual", { rank: 8, budget: 500, text: long("manual").repeat(6) }));
    const { tokens } = compile(inputOf({ agent })).ledger;
    for (const [less, most] of [
      [1, 500],
      [200, 400],
      [300, 300],
    ] as const) {
      const made = compile(inputOf({ agent, limit: tokens - less }));
      expect([less, entryOf(made, "manual").fate, entryOf(made, "persona").fate]).toEqual([less, "truncated", "kept"]);
      expect(entryOf(made, "manual").tokens).toBeLessThanOrEqual(most);
      expect(entryOf(made, "manual").tokens).toBeGreaterThan(most - 100);
    }
  });

  it("what was cut or dropped is given back where it fits after all", () => {
    const large = layer("large", { rank: 8, budget: 100, text: long("large").repeat(6) });
    const note = layer("note", { rank: 9, budget: 70, text: long("note") });
    const agent = agentOf(core, persona, large, note);
    const { tokens } = compile(inputOf({ agent })).ledger;
    // The note goes to its budget first, and the large one then gives far more than was missing.
    const made = compile(inputOf({ agent, limit: tokens - 60 }));
    expect(entryOf(made, "large").fate).toBe("truncated");
    expect(entryOf(made, "note").fate).toBe("kept");
    const contents = contentsOf({ memory: { kind: "items", items: [item(long("only").repeat(4))] } });
    const live = agentOf(core, recall({ rank: 8 }), layer("status", { rank: 9, scope: "turn", text: long("fine") }));
    const whole = compile(inputOf({ agent: live, contents })).ledger.tokens;
    // The status goes first; then the memory goes whole, because it is a single item.
    const back = compile(inputOf({ agent: live, contents, limit: whole - 110 }));
    expect(entryOf(back, "memory").fate).toBe("dropped");
    expect(entryOf(back, "status").fate).toBe("kept");
  });

  it("a small layer stays where a larger one can be cut for it, and goes where even that is not enough", () => {
    const manual = layer("manual", { rank: 8, text: long("manual").repeat(6) });
    const agent = agentOf(core, manual, layer("host", { rank: 9, text: "It runs on a small host." }));
    const { tokens } = compile(inputOf({ agent })).ledger;
    for (const less of [1, 20, 300, 400]) {
      const made = compile(inputOf({ agent, limit: tokens - less }));
      expect([less, entryOf(made, "host").fate, entryOf(made, "manual").fate]).toEqual([less, "kept", "truncated"]);
    }
    expect(entryOf(compile(inputOf({ agent, limit: tokens - 555 })), "host").fate).toBe("dropped");
  });

  it("law 6: the line that says so is the platform's, also in the place of what contacts wrote", () => {
    const contents = contentsOf({ memory: { kind: "items", items: [item(long("only").repeat(4))] } });
    const events = [event("Go.", { kind: "instruction", trust: "operator" })];
    const input = inputOf({ agent: agentOf(core, recall({ rank: 8 })), contents, events });
    const made = compile({ ...input, limit: compile(input).ledger.tokens - 60 });
    expect(request(made).tail.map(({ text }) => text)).toEqual(["# Layer 8 · memory: (Omitted: over budget.)"]);
    expect(made.taint).toBe("operator");
  });

  it("where there is no room even for the line, it goes, before anything is refused", () => {
    const agent = agentOf(core, layer("persona", { rank: 3, text: long("persona") }));
    const { tokens } = compile(inputOf({ agent: agentOf(core) })).ledger;
    const made = compile(inputOf({ agent, limit: tokens + 5 }));
    expect(entryOf(made, "persona")).toMatchObject({ fate: "dropped", tokens: 0 });
  });

  it("a minimum stays reserved", () => {
    const agent = agentOf(core, persona, { ...style, minimum: 50 });
    const made = compile(inputOf({ agent, limit: compile(inputOf({ agent })).ledger.tokens - 130 }));
    expect(entryOf(made, "persona").fate).toBe("dropped");
    expect(entryOf(made, "style").fate).toBe("truncated");
    expect(entryOf(made, "style").tokens).toBeGreaterThan(40);
  });

  it("a layer that is needed stays whole, or at its budget or minimum, while others go", () => {
    for (const changes of [{}, { budget: 60 }, { budget: 60, minimum: 40 }]) {
      const agent = agentOf(core, persona, { ...style, required: true, ...changes });
      const made = compile(inputOf({ agent, limit: compile(inputOf({ agent })).ledger.tokens - 61 }));
      expect(entryOf(made, "style").fate).toBe(changes.budget === undefined ? "kept" : "truncated");
      expect(systemText(made)).toContain("# Layer 8 · style\nstyle");
    }
  });

  it("immutable layers are never cut and never dropped: rather nothing is sent", () => {
    const agent = agentOf(core, immutable("safety", { rank: 9, budget: 10, text: long("safety") }));
    const { tokens } = compile(inputOf({ agent })).ledger;
    expect(systemText(compile(inputOf({ agent, limit: tokens })))).toContain(long("safety"));
    expect(refusal(() => compile(inputOf({ agent, limit: tokens - 1 }))).code).toBe("budget_too_small");
  });

  it("an immutable layer stays even where nobody called it required", () => {
    const agent = agentOf({ ...core, required: false });
    const { tokens } = compile(inputOf({ agent })).ledger;
    expect(refusal(() => compile(inputOf({ agent, limit: tokens - 1 }))).code).toBe("budget_too_small");
  });

  it("items go whole, those that fit least first, and the rest are counted", () => {
    const items = ["best", "good", "last"].map((word) => item(long(word)));
    const agent = agentOf(core, recall({ budget: 270 }));
    const contents = contentsOf({ memory: { kind: "items", items } });
    const whole = compile(inputOf({ agent, contents }));
    const made = compile(inputOf({ agent, contents, limit: whole.ledger.tokens - 1 }));
    const [part] = request(made).tail;
    expect(part?.text).toContain(long("best"));
    expect(part?.text).toContain(long("good"));
    expect(part?.text).toMatch(/\n\(1 more not shown\.\)$/);
    expect(part?.text).not.toContain("last");
    expect(entryOf(made, "memory")).toMatchObject({ fate: "truncated", items: { shown: 2, of: 3 } });
  });

  it("a single item that does not fit is dropped whole", () => {
    const agent = agentOf(core, recall({ minimum: 40 }));
    const contents = contentsOf({ memory: { kind: "items", items: [item(long("only"))] } });
    const whole = compile(inputOf({ agent, contents }));
    const made = compile(inputOf({ agent, contents, limit: whole.ledger.tokens - 1 }));
    expect(request(made).tail.map(({ text }) => text)).toEqual(["# Layer 30 · memory: (Omitted: over budget.)"]);
    expect(entryOf(made, "memory")).toMatchObject({ fate: "dropped", items: { shown: 0, of: 1 } });
  });
});

it("001.17 where a layer of parts is cut, the mark says how many are not shown, with those that the text only counts", () => {
  const parts = [
    ...Array.from({ length: 12 }, (_, n) => ({ name: `s${n}`, text: trusted(`- s${n}: For ${long("thing")}.`) })),
    { name: "missing", text: trusted(""), because: "it is gone" },
    { name: "more", text: trusted("- and 1234 more"), others: 1_234 },
  ];
  const skills: Layer = { ...layer("skills", { rank: 8 }), source: { kind: "skills" } };
  const agent = agentOf(core, skills);
  const contents = contentsOf({ skills: { kind: "text", text: joinParts(parts), parts } });
  const { tokens } = compile(inputOf({ agent, contents })).ledger;
  for (let less = 1; less < 1_000; less += 7) {
    const text = systemText(compile(inputOf({ agent, contents, limit: tokens - less })));
    if (text.includes("(Omitted: over budget.)")) continue;
    const shown = text.split("\n").filter((line) => line.startsWith("-")).length;
    expect(text).toMatch(
      new RegExp(`\\(Truncated: skills exceeds its budget; ${12 - shown + 1_234} more not shown\\.\\)$`),
    );
    expect(text).not.toContain("- and");
  }
});

describe("a live source that floods", () => {
  const flood = (changes: Partial<Layer> = {}): Layer => ({ ...clock(changes), id: layerId("flood"), rank: 13 });
  const megabyte = says("flood ".repeat(170_000));
  const others = [recall({ rank: 14 }), clock({ rank: 15 }), { ...clock({ rank: 16 }), id: layerId("runtime") }];
  const small = {
    memory: { kind: "items", items: [item(long("one")), item(long("two"))] },
    time: says(long("tick")),
    runtime: says(long("run")),
  } as const;
  const contents = contentsOf({ flood: megabyte, ...small });
  const limit = 120_000;

  it("takes a quarter of the tail's room at the most, and nothing from the others", () => {
    const made = compile(inputOf({ agent: agentOf(core, flood(), ...others), contents, limit }));
    for (const section of ["core", "memory", "time", "runtime"])
      expect(entryOf(made, section).fate, section).toBe("kept");
    expect(entryOf(made, "flood")).toMatchObject({ fate: "truncated", because: "budget" });
    expect(entryOf(made, "flood").tokens).toBeLessThanOrEqual(limit / 4);
    expect(entryOf(made, "flood").tokens).toBeGreaterThan(limit / 5);
  });

  it("takes its budget where it names one", () => {
    const made = compile(inputOf({ agent: agentOf(core, flood({ budget: 500 }), ...others), contents, limit }));
    expect(entryOf(made, "runtime").fate).toBe("kept");
    expect(entryOf(made, "flood").tokens).toBeLessThanOrEqual(500);
    expect(entryOf(made, "flood").tokens).toBeGreaterThan(450);
  });

  it("takes no more where it must be there, and in items", () => {
    const items = { kind: "items", items: Array.from({ length: 3_000 }, () => item(long("flood"))) } as const;
    for (const content of [megabyte, items]) {
      const agent = agentOf(core, flood({ required: true }), ...others);
      const made = compile(inputOf({ agent, contents: contentsOf({ ...small, flood: content }), limit }));
      expect(entryOf(made, "runtime").fate).toBe("kept");
      expect(entryOf(made, "flood").tokens).toBeLessThanOrEqual(limit / 4);
    }
  });

  it("keeps its minimum, also where that is all that it has and the message leaves next to nothing", () => {
    const state = { ...clock({ rank: 10, minimum: 200 }), id: layerId("state") };
    const agent = agentOf(core, state, recall({ rank: 30 }));
    const said = {
      state: says(long("tier")),
      memory: { kind: "items", items: [item(long("old").repeat(5))] },
    } as const;
    const events = [event("word ".repeat(4_000))];
    const made = compile(inputOf({ agent, contents: contentsOf(said), events, limit: 700 }));
    expect(entryOf(made, "state").fate).toBe("kept");
  });

  it("neither shortens the prefix nor takes the room of frozen memory", () => {
    const agent = agentOf(core, layer("persona", { rank: 20, text: long("persona") }), flood());
    const memory = { layer: recall(), items: [{ ...item(long("saved")), id: memoryNumber(1) }], because: "cheaper" };
    const made = compile(inputOf({ agent, contents, limit, memory }));
    expect(entryOf(made, "persona").fate).toBe("kept");
    expect(entryOf(made, "memory").fate).toBe("kept");
  });

  it("does not cut a conversation that its share leaves room for", () => {
    const agent = agentOf(core, flood());
    const { epoch } = compile(inputOf({ agent, limit: 4_000 }));
    const transcript = Array.from({ length: 20 }, (_, n) => reply(long("talk"), turnNumber(n + 2)));
    const made = compile(
      inputOf({
        agent,
        limit: 4_000,
        epoch: { ...epoch, transcript },
        contents: contentsOf({ flood: says("flood ".repeat(1_500)) }),
      }),
    );
    expect(made.epoch.cut).toBe(0);
    expect(entryOf(made, "flood").tokens).toBeLessThanOrEqual(1_000);
  });
});

describe("fill", () => {
  const words = (tokens: number): string => "word and ".repeat(tokens).slice(0, tokens * 3);
  const size = fc.integer({ min: 30, max: 3_000 });
  const sizes = fc.array(
    fc.record({
      size,
      isLive: fc.boolean(),
      parts: fc.integer({ min: 0, max: 20 }),
      budget: fc.option(fc.integer({ min: 30, max: 200 })),
    }),
    { minLength: 6, maxLength: 14 },
  );

  /** How full a request of such layers is, where they do not fit. */
  function fillOf(all: typeof sizes extends fc.Arbitrary<infer T> ? T : never, share: number): number {
    const contents: Record<string, LayerContent> = {};
    const layers = all.map(({ size, isLive, parts, budget }, n) => {
      const id = `layer-${n}`;
      const soft = { rank: n + 1, ...(budget !== null && { budget: Math.ceil((size * budget) / 100) }) };
      if (!isLive) return layer(id, { ...soft, text: words(size) });
      const items = Array.from({ length: parts }, () => item(words(Math.ceil(size / parts))));
      contents[id] = parts === 0 ? says(words(size)) : { kind: "items", items };
      return { ...(parts === 0 ? clock(soft) : recall(soft)), id: layerId(id) };
    });
    const input = inputOf({ agent: agentOf(core, ...layers), contents: contentsOf(contents), limit: 1e7 });
    const limit = Math.floor(compile(input).ledger.tokens * share);
    const made = compile({ ...input, limit });
    expect(recount(request(made), bytes3)).toBeLessThanOrEqual(limit);
    return made.ledger.tokens / limit;
  }

  for (const [name, isLive] of [
    ["of the prefix", false],
    ["of the tail", true],
    ["of both", undefined],
  ] as const) {
    it(`law 8: where layers ${name} give way, a request is at least 95 % full in the median of random cases, and never over`, () => {
      const fills: number[] = [];
      fc.assert(
        fc.property(sizes, fc.integer({ min: 30, max: 99 }), (all, percent) => {
          fills.push(
            fillOf(
              all.map((one) => ({ ...one, ...(isLive !== undefined && { isLive }) })),
              percent / 100,
            ),
          );
        }),
        { numRuns: 200 },
      );
      fills.sort((a, b) => a - b);
      expect(fills[fills.length >> 1]).toBeGreaterThanOrEqual(0.95);
    });
  }
});

describe("budgets of the whole", () => {
  const prefix = agentOf(
    core,
    ...[10, 20, 30].map((rank) => layer(`text-${rank}`, { rank, text: long(`word${rank}`).repeat(8) })),
  );
  const whole = compile(inputOf({ agent: prefix, limit: 1e6 }));
  const systemOf = (made: ReturnType<typeof compile>): number =>
    made.ledger.entries.reduce((sum, { place, tokens }) => sum + (place === "system" ? tokens : 0), 0);
  const system = Math.floor(systemOf(whole) * 0.6);
  const capped = { ...prefix, budgets: { ...prefix.budgets, system } };

  it("001.14 001.16 `system` cuts the prefix only where not everything fits, the highest rank first, and the core never", () => {
    expect(compile(inputOf({ agent: capped, limit: whole.ledger.tokens + 50 })).ledger.tokens).toBe(
      whole.ledger.tokens,
    );
    const events = [event("word ".repeat(systemOf(whole)))];
    const made = compile(inputOf({ agent: capped, events, limit: systemOf(whole) + 200 }));
    expect(systemOf(made)).toBeLessThanOrEqual(system);
    expect(systemOf(made)).toBeGreaterThan(system * 0.9);
    expect(entryOf(made, "core").fate).toBe("kept");
    expect(entryOf(made, "text-10").fate).toBe("kept");
    expect(entryOf(made, "text-30").fate).not.toBe("kept");
  });

  it.each([1, 40, 400])("001.16 law 8: `system` of %i tokens takes no more than what is missing", (small) => {
    const tiny = { ...capped, budgets: { ...capped.budgets, system: small } };
    const all = compile(inputOf({ agent: tiny, limit: 1e6 })).ledger.tokens;
    const made = compile(inputOf({ agent: tiny, limit: all - 1 }));
    expect(made.ledger.tokens).toBeGreaterThan(all * 0.9);
    expect(entryOf(made, "text-10").fate).toBe("kept");
    expect(entryOf(made, "text-20").fate).toBe("kept");
    expect(entryOf(made, "text-30").fate).toBe("truncated");
  });

  it("001.16 what a long message leaves of the limit goes to the prefix, also beyond `system`", () => {
    const tiny = { ...capped, budgets: { ...capped.budgets, system: 40 } };
    const events = [event("word ".repeat(20_000))];
    const made = compile(inputOf({ agent: tiny, events, limit: 3_000 }));
    expect(entryOf(made, "message").tokens).toBeGreaterThan(1_400);
    expect(made.ledger.tokens).toBeGreaterThan(2_700);
  });

  it("law 8: with `history: log`, `system` leaves the prefix the same bytes whatever the message says", () => {
    const alone = { ...capped, history: "log" } as const;
    const prefixes = [1, 200, 2_000].map((words) =>
      systemText(
        compile(inputOf({ agent: alone, limit: whole.ledger.tokens, events: [event("word ".repeat(words))] })),
      ),
    );
    expect(new Set(prefixes).size).toBe(1);
  });

  it("001.14 `history` is a claim and no maximum: it cuts nothing that fits, and at a cut as much stays as without it", () => {
    const talk = Array.from({ length: 40 }, (_, n) => reply("talk ".repeat(60), turnNumber(n + 2)));
    const { epoch } = whole;
    const sizeOf = (made: ReturnType<typeof compile>): number => entryOf(made, "transcript").tokens;
    const at = (agent: typeof prefix, limit: number) =>
      compile(inputOf({ agent, limit, epoch: { ...epoch, transcript: talk } }));
    const claiming = { ...prefix, budgets: { ...prefix.budgets, history: 400 } };
    const all = sizeOf(at(claiming, 1e6));
    expect(all).toBeGreaterThan(3_000);
    const limit = systemOf(whole) + Math.floor(all * 0.9);
    expect(sizeOf(at(claiming, limit))).toBeGreaterThan(450);
    expect(sizeOf(at(claiming, limit))).toBeLessThan(all * 0.9);
    expect(sizeOf(at(claiming, limit))).toBe(sizeOf(at(prefix, limit)));
  });
});

describe("the message", () => {
  it("is there whatever else wants the room", () => {
    const agent = agentOf(core, layer("big", { rank: 9, text: long("big").repeat(20) }), clock());
    const contents = contentsOf({ time: says(long("tick").repeat(20)) });
    const made = compile(inputOf({ agent, contents, limit: 300, events: [event("Are you there?")] }));
    expect(said(made)).toContain("| Are you there?");
    expect(entryOf(made, "message").fate).toBe("kept");
    expect(recount(request(made), bytes3)).toBeLessThanOrEqual(300);
  });

  it("may take more than half of the room when it cannot be cut and the rest allows it", () => {
    const picture = { type: "image", mediaType: "image/png", data: "AAAA" } as const;
    const made = compile(inputOf({ limit: 2_000, events: [event("", { content: [picture] })] }));
    expect(entryOf(made, "message")).toMatchObject({ fate: "kept" });
  });
});

describe("budget_too_small", () => {
  it("names what takes the room, the dearest first, and the way out", () => {
    const agent = agentOf(core, immutable("safety", { rank: 1, text: long("safety").repeat(3) }));
    const found = refusal(() => compile(inputOf({ agent, limit: 200, tools: [tool("find")] })));
    expect(found.code).toBe("budget_too_small");
    expect(found.message).toMatch(
      /^what must be sent needs \d+ tokens and only 200 may be sent \(safety \d+, core \d+, tools \d+, message \d+\); raise budgets\.total/,
    );
    expect(found.details).toMatchObject({ limit: 200 });
  });

  it("names the layers also where the prefix is frozen already", () => {
    const first = compile(inputOf({ agent: agentOf(core), tools: [tool("find")] }));
    const found = refusal(() => compile(inputOf({ epoch: first.epoch, limit: 60 })));
    expect(found.message).toMatch(/\(core \d+, tools \d+, message \d+\)/);
  });

  it("names what takes the room also where a little is left for the message", () => {
    const { tokens } = compile(inputOf({ agent: agentOf(core) })).ledger;
    const events = [event(long("hello").repeat(2))];
    const found = refusal(() => compile(inputOf({ agent: agentOf(core), limit: tokens + 10, events })));
    expect(found.code).toBe("budget_too_small");
    expect(found.message).toMatch(/\(message \d+, core \d+\)/);
  });

  it("comes before a layer that is needed would go", () => {
    const agent = agentOf(core, layer("persona", { rank: 3, required: true, text: long("persona") }));
    const { tokens } = compile(inputOf({ agent })).ledger;
    const found = refusal(() => compile(inputOf({ agent, limit: tokens - 1 })));
    expect(found.message).toMatch(/\(persona \d+, core \d+, message \d+\)/);
  });

  it("names a layer that is needed and has no room for even its beginning", () => {
    const persona = layer("persona", { rank: 3, budget: 8, required: true, text: long("persona") });
    const agent = agentOf(core, persona);
    const { tokens } = compile(inputOf({ agent })).ledger;
    const found = refusal(() => compile(inputOf({ agent, limit: tokens - 1 })));
    expect(found.code).toBe("budget_too_small");
    expect(found.message).toContain("persona");
  });
});

describe("the prefix of a thread's first request", () => {
  const persona = layer("persona", { rank: 3, budget: 60, text: long("persona") });
  const style = layer("style", { rank: 8, budget: 40, text: long("style") });
  const agent = agentOf(core, persona, style);
  const prefixOf = (words: number, limit: number): string =>
    systemText(compile(inputOf({ agent, limit, events: [event("word ".repeat(words))] })));

  it("is the same whatever a message says that leaves too little room: all such threads share it", () => {
    const whole = prefixOf(1, 10_000);
    for (const limit of [330, 400]) {
      const cut = [200, 300, 1_000, 20_000].map((words) => prefixOf(words, limit));
      expect(new Set(cut).size, `${limit}`).toBe(1);
      expect([whole, cut[0]]).toContain(prefixOf(1, limit));
    }
    expect(prefixOf(300, 330)).not.toBe(whole);
  });
});
