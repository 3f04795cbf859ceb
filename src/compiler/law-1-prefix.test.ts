import fc from "fast-check";
import { expect, it } from "vitest";
import { firstRuns } from "../../tests/spread.ts";
import {
  EPHEMERAL_TAIL,
  type Epoch,
  type FrozenMemory,
  type Layer,
  type LayerId,
  layerId,
  type Message,
  MODES,
  readFrames,
  StrataError,
  type TailPlan,
  type TextPart,
  type ToolSchema,
  trusted,
} from "../protocol/index.ts";
import { type Compilation, type CompileInput, compile, extend, roomLeft } from "./index.ts";
import {
  longText,
  operatorText,
  randomContents,
  randomEvents,
  randomKeep,
  randomLayers,
  randomRound,
} from "./random.contract.ts";
import {
  agentOf,
  answeredWith,
  bytes3,
  clock,
  committed,
  contentsOf,
  immutable,
  inputOf,
  item,
  keeping,
  memoryNumber,
  recall,
  recount,
  reply,
  request,
  says,
  sentBeforeTail,
  tool,
  turnNumber,
} from "./samples.contract.ts";

const LIMIT = 3_000;

/** One turn as the world may bring it: other tools, edited layers, another mode, a restart, rounds. */
interface TurnPlan {
  readonly input: Partial<CompileInput>;
  readonly edit: string | undefined;
  readonly rounds: readonly (readonly ReturnType<typeof reply>[])[];
  readonly answer: string;
  readonly restart: boolean;
  readonly keep: number | undefined;
  readonly limit: number;
}

const someTools: fc.Arbitrary<readonly ToolSchema[]> = fc
  .shuffledSubarray(["find", "save", "mail"])
  .map((names) => names.map((name) => tool(name)));

/** The memories saved when the turn begins: sometimes more, sometimes fewer, sometimes none of the frozen ones. */
const savedNow: fc.Arbitrary<FrozenMemory> = fc.shuffledSubarray(["a cat", "a boat", "a garden"]).map((saved) => ({
  layer: recall(),
  items: saved.map((text, i) => ({ ...item(`She has ${text}.`), id: memoryNumber(i) })),
  because: "for a test",
}));

type Contents = fc.Arbitrary<CompileInput["contents"]>;

interface Gathered {
  readonly contents: Contents;
  readonly limit: number;
}

const turnPlan = (n: number, { contents, limit }: Gathered): fc.Arbitrary<TurnPlan> =>
  fc.record({
    keep: randomKeep.map(({ keep }) => keep),
    input: fc.record({
      events: randomEvents(longText),
      contents,
      tools: someTools,
      mode: fc.constantFrom(...MODES),
      memory: savedNow,
      rates: randomKeep.map(({ rates }) => rates),
    }),
    edit: fc.option(operatorText, { nil: undefined }),
    rounds: fc
      .array(fc.nat(999), { maxLength: 3 })
      .chain((labels) => fc.tuple(...labels.map((label, i) => randomRound(turnNumber(n), `c${n}-${i}-${label}`)))),
    answer: longText,
    restart: fc.boolean(),
    limit: fc.integer({ min: limit - 1_000, max: limit }),
  });

const threadOf = (layers: readonly Layer[], gathered: Gathered): fc.Arbitrary<[readonly Layer[], TurnPlan[]]> =>
  fc.tuple(
    fc.constant(layers),
    fc
      .integer({ min: 2, max: 7 })
      .chain((turns) => fc.tuple(...Array.from({ length: turns }, (_, i) => turnPlan(i + 1, gathered)))),
  );

const threadPlan = randomLayers.chain((layers) => threadOf(layers, { contents: randomContents(layers), limit: LIMIT }));

/** Live layers whose contents come and go, as those of a thread do: the same memories, orders and lines, now these and now those. */
const LIVE = [
  immutable("core", { rank: 0 }),
  clock(),
  recall(),
  clock({ id: layerId("state"), rank: 25 }),
  recall({ id: layerId("orders"), rank: 40, source: { kind: "own", name: "orders" } }),
];
const some = (what: string): fc.Arbitrary<string[]> =>
  fc.shuffledSubarray(
    ["one", "two", "three", "four"].map((n) => `${what} ${n}, which is told at some length, as they are`),
  );
const comingAndGoing: Contents = fc
  .record({ time: operatorText, memory: some("A memory"), state: some("The state"), orders: some("An order") })
  .map(({ time, memory, state, orders }) =>
    contentsOf({
      time: says(time),
      memory: { kind: "items", items: memory.map((text) => item(text)) },
      state: says(state.join("\n")),
      orders: { kind: "items", items: orders.map((text) => item(text, { kind: "data" })) },
    }),
  );

/** How the tail may be carried, as the cards and the agents ask for it. */
const PLANS: Readonly<Record<string, TailPlan>> = {
  ephemeral: EPHEMERAL_TAIL,
  "before the events": { ...EPHEMERAL_TAIL, place: "before-events" },
  "turn-scoped": { ...EPHEMERAL_TAIL, trusted: "turn-scoped" },
  "turn-scoped beside bound lines": { ...EPHEMERAL_TAIL, trusted: "turn-scoped", framed: "delta" },
  delta: { trusted: "delta", framed: "delta", place: "after-events" },
  "delta before the events": { trusted: "delta", framed: "delta", place: "before-events" },
  "delta where it pays": {
    trusted: "delta",
    framed: "delta",
    place: "after-events",
    keep: { read: 0.1, write: 1.25 },
  },
};

const livelyThread = threadOf(LIVE, { contents: comingAndGoing, limit: 4 * LIMIT });

/** How many messages were cut before a request was made: a turn that failed may have cut some, too. */
const cutBefore = new WeakMap<Compilation, number>();

/** Lives the thread as runtime and store would, and gives every request of the turns that came to their end. */
function live(layers: readonly Layer[], turns: readonly TurnPlan[], tail: TailPlan): Compilation[] {
  const sent: Compilation[] = [];
  let epoch: Epoch | undefined;
  turns.forEach((plan, i) => {
    const turn = turnNumber(i + 1);
    const edited = layers.map((one): Layer => (plan.edit === undefined ? one : edit(one, plan.edit)));
    const agent = keeping(plan.keep, agentOf(...edited));
    const input = inputOf({ ...plan.input, agent, turn, epoch, limit: plan.limit, tail });
    const own: Compilation[] = [];
    try {
      let made = compile(input);
      cutBefore.set(made, epoch?.cut ?? 0);
      own.push(made);
      for (const round of plan.rounds) {
        const { cut } = made.epoch;
        made = extend(made, answeredWith(made, round), bytes3);
        cutBefore.set(made, cut);
        own.push(made);
      }
      epoch = committed(made, reply(plan.answer, turn));
      sent.push(...own);
    } catch (thrown) {
      if (!(thrown instanceof StrataError) || thrown.code !== "budget_too_small") throw thrown;
      // A failed turn adds nothing, but the epochs that it opened stay.
      epoch = own.at(-1)?.opened.at(-1) ?? epoch;
    }
    if (plan.restart && epoch !== undefined) epoch = JSON.parse(JSON.stringify(epoch));
  });
  return sent;
}

function edit(one: Layer, text: string): Layer {
  return one.mutability === "immutable" ? one : { ...one, source: { kind: "text", text: trusted(text) } };
}

const LIVES = firstRuns(100, 40);

it.each(Object.entries(PLANS))(
  LIVES.title(
    "law 1, law 8: within an epoch whatever a request sent before its tail is a byte prefix of every later request, and each fits its budget: %s",
  ),
  (_, tail) => {
    let epochs = 0;
    let pairs = 0;
    fc.assert(
      fc.property(fc.oneof(threadPlan, livelyThread), ([layers, turns]) => {
        const sent = live(layers, turns, tail);
        // Each request against the next one: being a prefix passes on.
        sent.forEach((later, i) => {
          expect(recount(request(later), bytes3)).toBeLessThanOrEqual(later.ledger.tokens);
          expect(later.ledger.tokens).toBeLessThanOrEqual(later.ledger.limit);
          const earlier = sent[i - 1];
          if (earlier === undefined) return;
          if (later.epoch.n === earlier.epoch.n) {
            pairs++;
            expect(sentBeforeTail(later).startsWith(sentBeforeTail(earlier))).toBe(true);
            expect(later.epoch.cut).toBe(earlier.epoch.cut);
            return;
          }
          epochs++;
          const { reason } = later.epoch;
          expect(["cut", "resized"]).toContain(reason);
          expect(later.epoch.n).toBeGreaterThan(earlier.epoch.n);
          if (reason === "cut") expect(later.epoch.cut).toBeGreaterThan(earlier.epoch.cut);
          else expect(later.epoch.cut).toBe(cutBefore.get(later));
          expect(later.ledger.epoch).toEqual({
            n: later.epoch.n,
            reason,
            opened: later.opened.includes(later.epoch),
            cut: later.epoch.cut,
          });
          expect(later.epoch.prefix.tools).toEqual(earlier.epoch.prefix.tools);
        });
      }),
      { numRuns: LIVES.numRuns },
    );
    // The law was tried on both: requests of one epoch, and epochs that end.
    expect(pairs).toBeGreaterThan(50);
    expect(epochs).toBeGreaterThan(20);
  },
);

it(
  LIVES.title("law 1: a tail of changed lines is kept as it was sent, and tells at every moment what the layers say"),
  () => {
    let changes = 0;
    fc.assert(
      fc.property(fc.oneof(threadPlan, livelyThread), fc.boolean(), ([layers, turns], early) => {
        const place = early ? "before-events" : "after-events";
        for (const made of live(layers, turns, { trusted: "delta", framed: "delta", place })) {
          const sent = request(made);
          expect(sent.tail).toEqual([]);
          const parts = sent.messages.flatMap(userTexts);
          // After a cut in the middle of a turn everything is sent again, unless there is no room for it.
          const all = made.kept.whole.reduce((sum, { text }) => sum + bytes3(text) + 4, 4);
          if (made.epoch.reason === "cut" && made.own.length > 1 && roomLeft(made) < all) continue;
          changes += parts.filter(({ told }) => told !== undefined && told.as !== "whole").length;
          for (const { text, told } of made.kept.whole) {
            if (told === undefined) throw new Error("a layer without a name");
            const known = read(parts, told.layer);
            const frames = readFrames(text);
            if (frames.length > 0) for (const frame of frames) expect(known.frames).toContainEqual(frame);
            else expect([...known.lines].toSorted()).toEqual([...linesOf(text)].toSorted());
          }
        }
      }),
      { numRuns: LIVES.numRuns },
    );
    expect(changes).toBeGreaterThan(20);
  },
);

const userTexts = (message: Message): TextPart[] =>
  message.role === "user" ? message.parts.flatMap((part) => (part.type === "text" ? [part] : [])) : [];

/** A layer's text as the lines below its heading; the one line of a layer that has no more. */
const linesOf = (text: string): ReadonlySet<string> => {
  const [head = "", ...lines] = text.split("\n");
  return new Set((lines.length === 0 ? [head] : lines).filter((line) => line.trim() !== ""));
};

/** What a reader of a request's texts in order knows of a layer at their end. */
function read(parts: readonly TextPart[], layerOf: LayerId) {
  let lines = new Set<string>();
  let frames: ReturnType<typeof readFrames> = [];
  for (const { text, told } of parts) {
    if (told?.layer !== layerOf) continue;
    if (told.as === "whole") lines = new Set(linesOf(text));
    if (told.as === "whole") frames = readFrames(text);
    if (told.as === "more") frames = [...frames, ...readFrames(text)];
    if (told.as !== "lines") continue;
    for (const line of text.split("\n").slice(1)) {
      if (line.startsWith("- ")) lines.delete(line.slice(2));
      else lines.add(line.slice(2));
    }
  }
  return { lines, frames };
}

it("law 1: the prefix does not know the tail: other memories, another time, the same bytes", () => {
  fc.assert(
    fc.property(
      randomLayers.chain((layers) => fc.tuple(fc.constant(layers), randomContents(layers), randomContents(layers))),
      randomEvents(),
      ([layers, one, other], events) => {
        const input = inputOf({ agent: agentOf(...layers), events, limit: 1_000_000 });
        expect(sentBeforeTail(compile({ ...input, contents: one }))).toBe(
          sentBeforeTail(compile({ ...input, contents: other })),
        );
      },
    ),
    { numRuns: 100 },
  );
});

it("law 1: the same input gives the same bytes, and nothing that is given is changed", () => {
  fc.assert(
    fc.property(
      randomLayers.chain((layers) => fc.tuple(fc.constant(layers), randomContents(layers))),
      randomEvents(longText),
      fc.integer({ min: 500, max: 20_000 }),
      ([layers, contents], events, limit) => {
        const input = frozen(inputOf({ agent: agentOf(...layers), contents, events, limit }));
        const made = () => {
          try {
            return JSON.stringify(compile(input));
          } catch (thrown) {
            return String(thrown);
          }
        };
        const first = made();
        expect(first).not.toContain("TypeError");
        expect(made()).toBe(first);
      },
    ),
    { numRuns: 100 },
  );
});

function frozen<T>(value: T): T {
  if (typeof value === "object" && value !== null && !Object.isFrozen(value)) {
    Object.freeze(value);
    for (const part of Object.values(value)) frozen(part);
  }
  return value;
}
