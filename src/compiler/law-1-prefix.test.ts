import fc from "fast-check";
import { expect, it } from "vitest";
import { type Epoch, type Layer, MODES, StrataError, type ToolSchema, trusted } from "../protocol/index.ts";
import { type Compilation, type CompileInput, compile, extend } from "./index.ts";
import { longText, operatorText, randomContents, randomEvents, randomLayers, randomRound } from "./random.contract.ts";
import { agentOf, bytes3, committed, inputOf, reply, sentBeforeTail, tool, turnNumber } from "./samples.contract.ts";

const LIMIT = 3_000;

/** One turn as the world may bring it: other tools, edited layers, another mode, a restart, rounds. */
interface TurnPlan {
  readonly input: Partial<CompileInput>;
  readonly edit: string | undefined;
  readonly rounds: readonly (readonly ReturnType<typeof reply>[])[];
  readonly answer: string;
  readonly restart: boolean;
  readonly limit: number;
}

const someTools: fc.Arbitrary<readonly ToolSchema[]> = fc
  .shuffledSubarray(["find", "save", "mail"])
  .map((names) => names.map((name) => tool(name)));

const turnPlan = (layers: readonly Layer[], n: number): fc.Arbitrary<TurnPlan> =>
  fc.record({
    input: fc.record({
      events: randomEvents(longText),
      contents: randomContents(layers),
      tools: someTools,
      mode: fc.constantFrom(...MODES),
    }),
    edit: fc.option(operatorText, { nil: undefined }),
    rounds: fc
      .array(fc.nat(999), { maxLength: 3 })
      .chain((labels) => fc.tuple(...labels.map((label, i) => randomRound(turnNumber(n), `c${n}-${i}-${label}`)))),
    answer: longText,
    restart: fc.boolean(),
    limit: fc.integer({ min: LIMIT - 1_000, max: LIMIT }),
  });

const threadPlan = randomLayers.chain((layers) =>
  fc.tuple(
    fc.constant(layers),
    fc
      .integer({ min: 2, max: 7 })
      .chain((turns) => fc.tuple(...Array.from({ length: turns }, (_, i) => turnPlan(layers, i + 1)))),
  ),
);

/** Lives the thread as runtime and store would, and gives every request of the turns that came to their end. */
function live(layers: readonly Layer[], turns: readonly TurnPlan[]): Compilation[] {
  const sent: Compilation[] = [];
  let epoch: Epoch | undefined;
  turns.forEach((plan, i) => {
    const turn = turnNumber(i + 1);
    const edited = layers.map((one): Layer => (plan.edit === undefined ? one : edit(one, plan.edit)));
    const input = inputOf({ ...plan.input, agent: agentOf(...edited), turn, epoch, limit: plan.limit });
    const own: Compilation[] = [];
    try {
      let made = compile(input);
      own.push(made);
      for (const round of plan.rounds) {
        made = extend(made, round, bytes3);
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

it("law 1: within an epoch whatever a request sent before its tail is a byte prefix of every later request", () => {
  let epochs = 0;
  let pairs = 0;
  fc.assert(
    fc.property(threadPlan, ([layers, turns]) => {
      const sent = live(layers, turns);
      // Each request against the next one: being a prefix passes on.
      sent.forEach((later, i) => {
        const earlier = sent[i - 1];
        if (earlier === undefined) return;
        if (later.epoch.n === earlier.epoch.n) {
          pairs++;
          expect(sentBeforeTail(later).startsWith(sentBeforeTail(earlier))).toBe(true);
          expect(later.epoch.cut).toBe(earlier.epoch.cut);
          return;
        }
        epochs++;
        expect(later.epoch.reason).toBe("cut");
        expect(later.epoch.n).toBeGreaterThan(earlier.epoch.n);
        expect(later.epoch.cut).toBeGreaterThan(earlier.epoch.cut);
        expect(later.ledger.epoch).toEqual({
          n: later.epoch.n,
          reason: "cut",
          opened: later.opened.includes(later.epoch),
          cut: later.epoch.cut,
        });
        expect(JSON.stringify(later.epoch.prefix)).toBe(JSON.stringify(earlier.epoch.prefix));
      });
    }),
    { numRuns: 100 },
  );
  // The law was tried on both: requests of one epoch, and epochs that end.
  expect(pairs).toBeGreaterThan(50);
  expect(epochs).toBeGreaterThan(20);
});

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
