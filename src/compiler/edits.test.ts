import fc from "fast-check";
import { describe, expect, it } from "vitest";
import {
  type Epoch,
  type Layer,
  type LayerContent,
  layerId,
  spoken,
  type TailWay,
  type TextPart,
  trusted,
} from "../protocol/index.ts";
import { type Compilation, type CompileInput, compile, extend } from "./index.ts";
import { longText, operatorText, randomEvents, randomRound } from "./random.contract.ts";
import {
  agentOf,
  answeredWith,
  bytes3,
  clock,
  committed,
  entryOf,
  immutable,
  inputOf,
  layer,
  messageOf,
  recount,
  reply,
  request,
  sentBeforeTail,
  systemText,
  turnNumber,
  unlessTooSmall,
} from "./samples.contract.ts";

const LAYERS = [
  immutable("core", { rank: 0, text: "Lower layers win." }),
  layer("loop", { rank: 6, text: "Look, weigh, act." }),
  layer("mail", { rank: 7, text: "Answer what was asked." }),
  clock(),
];

/** The store's versions of the layers: declared, or a version of the agent's. */
const active = (texts: Readonly<Record<string, string | undefined>>, version = 1): CompileInput["contents"] =>
  new Map(
    Object.entries(texts).map(([id, text]): [Layer["id"], LayerContent] => [
      layerId(id),
      text === undefined
        ? { kind: "text", text: declared(id) }
        : { kind: "text", text: trusted(text), trust: "agent", version },
    ]),
  );

const declared = (id: string) => {
  const source = LAYERS.find((one) => one.id === id)?.source;
  return source?.kind === "text" ? source.text : trusted("");
};

const DECLARED = active({ loop: undefined, mail: undefined });

const shownLayersIn = (made: Compilation): TextPart[] =>
  request(made).messages.flatMap(({ role, parts }) =>
    role === "user" ? parts.flatMap((part) => (part.type === "text" && part.told ? [part] : [])) : [],
  );

/** A conversation of this many tokens that has gone on for a while. */
function long(epoch: Epoch, tokens: number, turns = 4): Epoch {
  const words = "abc".repeat(Math.floor(tokens / turns / 2));
  const said = Array.from({ length: turns }, (_, i) => [
    messageOf({ role: "user", parts: [{ type: "text", text: trusted(words) }] }, turnNumber(50 + i)),
    reply(words, turnNumber(50 + i)),
  ]);
  return { ...epoch, transcript: said.flat() };
}

const begun = (contents = DECLARED) => compile(inputOf({ agent: agentOf(...LAYERS), contents }));

const next = (epoch: Epoch, contents: CompileInput["contents"], change: Partial<CompileInput> = {}) =>
  compile(inputOf({ agent: agentOf(...LAYERS), epoch, contents, turn: turnNumber(2), ...change }));

describe("a text of the prefix that was edited while an epoch runs", () => {
  it("is shown once in the turn's message if rewriting what follows would be expensive", () => {
    const epoch = long(begun().epoch, 4_000);
    const made = next(epoch, active({ loop: "Wait, then act.", mail: undefined }, 3), { limit: 9_000 });
    expect(made.opened).toEqual([]);
    expect(made.ledger.edits).toMatchObject({ layers: ["loop"], way: "told" });
    expect(shownLayersIn(made).map(({ text }) => text)).toEqual([
      "# Layer 6 · loop (version 3; replaces the text under this heading above)\nWait, then act.",
    ]);
    const line = made.ledger.entries.find(({ section, place }) => section === "loop" && place === "tail");
    expect(line).toMatchObject({ edited: 3, trust: "agent", fate: "kept" });
    expect(recount(request(made), bytes3)).toBeLessThanOrEqual(made.ledger.tokens);
    const after = next(
      committed(made, reply("Aye.", turnNumber(2))),
      active({ loop: "Wait, then act.", mail: undefined }, 3),
      {
        limit: 9_000,
        turn: turnNumber(3),
      },
    );
    expect(after.ledger.edits).toBeUndefined();
    expect(shownLayersIn(after)).toHaveLength(1);
    const back = next(committed(after, reply("Aye.", turnNumber(3))), DECLARED, { limit: 9_000, turn: turnNumber(4) });
    expect(shownLayersIn(back).at(-1)?.text).toContain("(its original text again; ");
  });

  it("is marked for a system message of its own where the model takes one in the middle of a conversation", () => {
    const epoch = long(begun().epoch, 4_000);
    const edited = active({ loop: "Wait, then act.", mail: undefined }, 3);
    const shown = (trusted: TailWay) => {
      const tail = { trusted, framed: "ephemeral", place: "after-events" } as const;
      return shownLayersIn(next(epoch, edited, { limit: 9_000, tail })).flatMap(({ told }) =>
        told?.layer === "loop" ? [told.system] : [],
      );
    };
    expect([shown("turn-scoped"), shown("ephemeral"), shown("delta")]).toEqual([[true], [undefined], [undefined]]);
  });

  it("begins an epoch where little follows it, or the cache is cold, or there is no room to tell it; the ledger says why", () => {
    const edited = active({ loop: "Wait, then act.", mail: undefined });
    const short = begun(active({ loop: "Look. ".repeat(200), mail: undefined })).epoch;
    const cheap = next(long(short, 60), edited);
    expect(cheap.epoch).toMatchObject({ n: 2, reason: "edited" });
    expect(cheap.ledger.edits).toMatchObject({ way: "epoch", because: expect.stringContaining("costs less") });
    expect(systemText(cheap)).toContain("Wait, then act.");
    expect(cheap.epoch.transcript).toHaveLength(8);
    expect(shownLayersIn(cheap)).toEqual([]);
    expect(entryOf(cheap, "loop")).toMatchObject({ place: "system", edited: 1, trust: "agent" });

    const cold = next(long(begun().epoch, 4_000), edited, { rates: { read: 0.1, write: 1.25, cold: true } });
    expect(cold.ledger.edits).toMatchObject({ way: "epoch", because: "the provider's cache was cold" });
    const uncached = next(long(begun().epoch, 4_000), edited, { rates: { read: 0.1, write: 1.25, uncached: true } });
    expect(uncached.ledger.edits).toMatchObject({ way: "epoch", because: expect.stringContaining("costs less") });
    expect(next(long(begun().epoch, 4_000), edited).ledger.edits).toMatchObject({ way: "told" });
    const full = next(long(begun().epoch, 7_600), edited);
    expect(full.ledger.edits).toMatchObject({ way: "epoch", because: "there was no room to tell it" });
  });

  it("changes nothing where nothing was edited, and nothing of what is not known now", () => {
    const epoch = long(begun().epoch, 400);
    expect(next(epoch, DECLARED).epoch).toBe(epoch);
    expect(next(epoch, new Map()).epoch).toBe(epoch);
  });

  it("law 2: is never an immutable layer's, whatever is gathered", () => {
    const contents = new Map([...DECLARED, ...active({ core: "Higher layers win.", loop: "New." })]);
    const first = begun(contents);
    expect(systemText(first)).toContain("Lower layers win.");
    const made = next(long(begun().epoch, 4_000), contents, { limit: 9_000 });
    expect(JSON.stringify(request(made))).not.toContain("Higher layers win.");
    expect(entryOf(made, "core")).toMatchObject({ trust: "platform" });
  });

  it("is folded into the prefix by a cut, and no longer shown", () => {
    const epoch = long(begun().epoch, 4_000);
    const edited = active({ loop: "Wait, then act.", mail: undefined });
    const told = committed(next(epoch, edited, { limit: 9_000 }), reply("Aye.", turnNumber(2)));
    const cut = next(told, edited, { limit: 2_000, turn: turnNumber(3) });
    expect(cut.epoch.reason).toBe("cut");
    expect(systemText(cut)).toContain("Wait, then act.");
    expect(shownLayersIn(cut)).toEqual([]);
    const forgotten = next(told, edited, { limit: 9_000, forgotten: true });
    expect(forgotten.epoch.reason).toBe("forgotten");
    expect(systemText(forgotten)).toContain("Wait, then act.");
  });

  it("keeps what a provider refused away, and no reasoning that is bound to the old beginning", () => {
    const edited = active({ loop: "Wait, then act.", mail: undefined });
    const cold = { rates: { read: 0.1, write: 1.25, cold: true } };
    const epoch: Epoch = { ...long(begun().epoch, 400), reason: "refused" };
    expect(next(epoch, edited, cold).epoch.reason).toBe("refused");
    const thought = messageOf(
      { role: "assistant", parts: [{ type: "reasoning", text: spoken("Hm.") }] },
      turnNumber(60),
    );
    const bound = { ...long(begun().epoch, 400), transcript: [...long(begun().epoch, 400).transcript, thought] };
    expect(JSON.stringify(next(bound, edited, { ...cold, binds: true }).epoch.transcript)).not.toContain("reasoning");
  });
});

it("law 1, law 8: whatever is edited when, a request begins with the one before it or with a new epoch, fits, and says the newest text last", () => {
  const texts = fc.option(operatorText, { nil: undefined });
  const turn = (n: number) =>
    fc.record({
      events: randomEvents(longText),
      loop: texts,
      mail: texts,
      limit: fc.integer({ min: 1_500, max: 6_000 }),
      cold: fc.boolean(),
      rounds: fc
        .array(fc.nat(99), { maxLength: 2 })
        .chain((labels) => fc.tuple(...labels.map((label, i) => randomRound(turnNumber(n), `c${n}-${i}-${label}`)))),
    });
  const seen = { told: 0, edited: 0, cut: 0 };
  fc.assert(
    fc.property(fc.tuple(...Array.from({ length: 6 }, (_, i) => turn(i + 1))), (turns) => {
      let epoch: Epoch | undefined;
      let last: Compilation | undefined;
      turns.forEach(({ events, loop, mail, limit, cold, rounds }, i) => {
        const contents = active({ loop, mail }, i + 1);
        const rates = { read: 0.1, write: 1.25, cold: cold && i % 3 === 0 };
        const input = { ...inputOf({ events, limit, contents, epoch, rates }), agent: agentOf(...LAYERS) };
        const whole = unlessTooSmall(() => {
          const all = [compile({ ...input, turn: turnNumber(i + 1) })];
          for (const round of rounds) {
            const now = all.at(-1);
            if (now !== undefined) all.push(extend(now, answeredWith(now, round), bytes3));
          }
          return all;
        });
        for (const made of whole ?? []) {
          expect(recount(request(made), bytes3)).toBeLessThanOrEqual(made.ledger.tokens);
          expect(made.ledger.tokens).toBeLessThanOrEqual(made.ledger.limit);
          if (last?.epoch.n === made.epoch.n) expect(sentBeforeTail(made).startsWith(sentBeforeTail(last))).toBe(true);
          for (const [id, text] of Object.entries({ loop, mail }))
            expect(saysLast(made, id)).toBe(keptWhole(made, id) ? (text ?? declared(id)) : undefined);
          seen.told += made.ledger.edits?.way === "told" ? 1 : 0;
          seen.edited += made.epoch.reason === "edited" ? 1 : 0;
          seen.cut += made.epoch.reason === "cut" ? 1 : 0;
          last = made;
        }
        const end = whole?.at(-1);
        if (end !== undefined) epoch = committed(end, reply("Aye.", turnNumber(i + 1)));
      });
    }),
    { numRuns: 80 },
  );
  expect(Math.min(seen.told, seen.edited, seen.cut)).toBeGreaterThan(5);
});

/** Whether a layer's text was reported, or is in the prefix: a message that needs the room may leave none for it. */
const keptWhole = (made: Compilation, id: string): boolean =>
  shownLayersIn(made).some(({ told }) => told?.layer === id) || entryOf(made, id).fate === "kept";

/** The last state of a layer that a reader of the request in order knows; undefined if it was left out. */
function saysLast(made: Compilation, id: string): string | undefined {
  const rank = id === "loop" ? 6 : 7;
  const told = shownLayersIn(made).findLast(({ told: one }) => one?.layer === id);
  if (told !== undefined) return told.text.slice(told.text.indexOf("\n") + 1);
  const heading = `# Layer ${rank} · ${id}\n`;
  const block = systemText(made);
  if (!block.includes(heading)) return undefined;
  const from = block.indexOf(heading) + heading.length;
  const end = block.indexOf("\n\n# Layer ", from);
  return block.slice(from, end < 0 ? undefined : end);
}
