import fc from "fast-check";
import { describe, expect, it } from "vitest";
import {
  EPHEMERAL_TAIL,
  type Epoch,
  type LayerId,
  layerId,
  readFrames,
  type TailPlan,
  type TextPart,
} from "../protocol/index.ts";
import { type Compilation, type CompileInput, clearedTail, compile, extend } from "./index.ts";
import { randomContents, randomLayers } from "./random.contract.ts";
import {
  agentOf,
  bytes3,
  clock,
  committed,
  contentsOf,
  entryOf,
  immutable,
  inputOf,
  item,
  recall,
  reply,
  request,
  says,
  toolRound,
  turnNumber,
} from "./samples.contract.ts";

const DELTA: TailPlan = { trusted: "delta", framed: "delta", place: "after-events" };
const SCOPED: TailPlan = { ...EPHEMERAL_TAIL, trusted: "turn-scoped" };

const state = clock({ id: layerId("state"), rank: 25 });
const orders = recall({ id: layerId("orders"), rank: 40, source: { kind: "own", name: "orders" } });
const agent = agentOf(immutable("core", { rank: 0 }), clock(), state, recall(), orders);
const OPEN = "The shop is open until six o'clock in the evening, and every day but Sunday.";

interface Live {
  readonly time?: string;
  readonly state?: readonly string[];
  readonly memory?: readonly string[];
  readonly orders?: readonly string[];
}

/** A turn as the runtime would live it; the next one begins with the epoch that it leaves. */
function turn(n: number, live: Live, tail: TailPlan, changes: Partial<CompileInput> = {}): [Compilation, Epoch] {
  const items = (texts: readonly string[] = []) => ({ kind: "items", items: texts.map((text) => item(text)) }) as const;
  const contents = contentsOf({
    ...(live.time === undefined ? {} : { time: says(live.time) }),
    ...(live.state === undefined ? {} : { state: says(live.state.join("\n")) }),
    memory: items(live.memory),
    orders: items(live.orders),
  });
  const made = compile(inputOf({ agent, contents, turn: turnNumber(n), tail, ...changes }));
  return [made, committed(made, reply("Yes.", turnNumber(n)))];
}

/** What a compilation reports about a layer, and stores. */
const told = ({ own }: Compilation, layer: LayerId): readonly TextPart[] =>
  own.flatMap(({ message }) =>
    message.role === "user"
      ? message.parts.flatMap((part) => (part.type === "text" && part.told?.layer === layer ? [part] : []))
      : [],
  );
const textsOf = (made: Compilation, layer: string): readonly string[] =>
  told(made, layerId(layer)).map(({ text }) => text);

describe("a tail of changed lines", () => {
  it("is all that the layers say at first, then what changed, and nothing where nothing did", () => {
    const [first, one] = turn(1, { time: "Nine.", state: [OPEN, "Two tables are free."] }, DELTA);
    expect(textsOf(first, "time")).toEqual(["# Layer 20 · time: Nine."]);
    expect(textsOf(first, "state")).toEqual([`# Layer 25 · state\n${OPEN}\nTwo tables are free.`]);
    expect(request(first).tail).toEqual([]);
    const [second, two] = turn(2, { time: "Ten.", state: [OPEN, "One table is free."] }, DELTA, { epoch: one });
    expect(textsOf(second, "time")).toEqual(["# Layer 20 · time: Ten."]);
    expect(textsOf(second, "state")).toEqual([
      "# Layer 25 · state (changes: - removed, + added)\n- Two tables are free.\n+ One table is free.",
    ]);
    const [third] = turn(3, { time: "Ten.", state: [OPEN, "One table is free."] }, DELTA, { epoch: two });
    expect(textsOf(third, "time")).toEqual([]);
    expect(textsOf(third, "state")).toEqual([]);
    expect(entryOf(third, "state")).toMatchObject({ fate: "kept", tokens: 0 });
  });

  it("is all of a layer again where its lines only stand in another order", () => {
    const [, one] = turn(1, { state: ["a", "b"] }, DELTA);
    const [second] = turn(2, { state: ["b", "a"] }, DELTA, { epoch: one });
    expect(textsOf(second, "state")).toEqual(["# Layer 25 · state\nb\na"]);
  });

  it("adds memories, for those that do not fit any more still hold; other things that are gone do not", () => {
    const [, one] = turn(1, { memory: ["likes tea"], orders: ["tea"] }, DELTA);
    const [second, two] = turn(2, { memory: ["has a cat"], orders: ["tea", "cake"] }, DELTA, { epoch: one });
    expect(textsOf(second, "memory")[0]).toMatch(/^# Layer 30 · memory\n\[memory.*\]\n\| has a cat$/);
    expect(textsOf(second, "orders")[0]).toMatch(/^# Layer 40 · orders \(additional items\)\n\[memory.*\]\n\| cake$/);
    const [third, three] = turn(3, { memory: ["likes tea"], orders: ["cake"] }, DELTA, { epoch: two });
    expect(textsOf(third, "memory")).toEqual([]);
    expect(textsOf(third, "orders")[0]).toMatch(/^# Layer 40 · orders\n\[memory.*\]\n\| cake$/);
    const [fourth] = turn(4, {}, DELTA, { epoch: three });
    expect(textsOf(fourth, "memory")).toEqual([]);
    expect(textsOf(fourth, "orders")).toEqual(["# Layer 40 · orders: (empty)"]);
  });

  it("law 6: makes the message that holds it no more trusted than what it tells", () => {
    const operator = inputOf().events.map((event) => ({ ...event, trust: "operator" as const }));
    const [made] = turn(1, { memory: ["likes tea"] }, DELTA, { events: operator });
    expect(made.own[0]?.trust).toBe("contact");
    const [plain] = turn(1, { time: "Nine." }, DELTA, { events: operator });
    expect(plain.own[0]?.trust).toBe("operator");
  });

  it("stands before the events where the agent asks for it", () => {
    const [made] = turn(1, { time: "Nine." }, { ...DELTA, place: "before-events" });
    const [part] = made.own[0]?.message.parts ?? [];
    expect(part).toMatchObject({ text: "# Layer 20 · time: Nine." });
  });

  it("is shown whole after a cut, also after one in the middle of a turn", () => {
    const live = { state: [OPEN, "Two tables are free."] };
    const [, one] = turn(1, live, DELTA);
    const old = [...one.transcript, ...[2, 3, 4].map((n) => reply("x".repeat(1_500), turnNumber(n)))];
    const epoch = { ...one, transcript: old };
    const whole = `# Layer 25 · state\n${live.state.join("\n")}`;
    const [cut] = turn(5, live, DELTA, { epoch, limit: 1_000 });
    expect(cut.epoch.reason).toBe("cut");
    expect(textsOf(cut, "state")).toEqual([whole]);
    const [running] = turn(5, live, DELTA, { epoch, limit: 1_800 });
    expect(running.epoch).toBe(epoch);
    expect(textsOf(running, "state")).toEqual([]);
    const next = extend(running, toolRound(turnNumber(5), ["y".repeat(1_500)]), bytes3);
    expect(next.epoch.reason).toBe("cut");
    expect(next.own.at(-1)?.message).toMatchObject({ role: "user", parts: [{ text: whole }] });
    expect(next.ledger.tokens).toBeLessThanOrEqual(1_800);
  });

  it("is kept where nothing makes it only while that is cheaper: w c + r c (T - 1) / 2 < d", () => {
    const keep = { read: 0.1, write: 1.25 };
    const plan = { ...DELTA, keep };
    const lines = Array.from({ length: 12 }, (_, n) => `${n}: ${OPEN}`);
    const [, one] = turn(1, { state: lines }, plan);
    const few = { state: [...lines.slice(1), "Something new is told here."] };
    const many = { state: lines.map((line) => `${line} Not any more.`) };
    const [kept] = turn(2, few, plan, { epoch: one, limit: 3_000 });
    expect(textsOf(kept, "state")[0]).toContain("changes: - removed, + added");
    expect(request(kept).tail).toEqual([]);
    // As many changes as lines never pay, and with a cut far away the few do not either.
    for (const [live, limit] of [
      [many, 3_000],
      [few, 1_000_000],
    ] as const) {
      const [passing] = turn(2, live, plan, { epoch: one, limit });
      expect(textsOf(passing, "state")).toEqual([]);
      expect(request(passing).tail.map(({ layer }) => layer)).toEqual(["state"]);
      const [bound] = turn(2, live, DELTA, { epoch: one, limit });
      expect(textsOf(bound, "state")).toHaveLength(1);
    }
  });
});

describe("a tail that the provider clears", () => {
  it("law 4: holds what the platform and the operator say, and nothing that others wrote", () => {
    const [made] = turn(1, { time: "Nine.", memory: ["likes tea"], orders: ["cake"] }, SCOPED);
    expect(request(made).tail.map(({ layer, way }) => [layer, way])).toEqual([
      ["memory", undefined],
      ["orders", undefined],
      ["time", "turn-scoped"],
    ]);
    expect(JSON.stringify(clearedTail(made)?.message)).not.toContain("tea");
  });

  it("law 4: never holds a frame, nor a word of anybody else, whatever the layers and whatever they gathered", () => {
    let scoped = 0;
    fc.assert(
      fc.property(
        randomLayers.chain((layers) => fc.tuple(fc.constant(layers), randomContents(layers))),
        fc.constantFrom(SCOPED, { ...SCOPED, framed: "delta" } as const),
        ([layers, contents], tail) => {
          const made = compile(inputOf({ agent: agentOf(...layers), contents, tail, limit: 1_000_000 }));
          const speaks = new Map(layers.map(({ id, trust }) => [id, trust]));
          for (const part of request(made).tail.filter(({ way }) => way === "turn-scoped")) {
            scoped++;
            expect(readFrames(part.text)).toEqual([]);
            expect(["platform", "operator"]).toContain(speaks.get(part.layer));
          }
        },
      ),
      { numRuns: 200 },
    );
    expect(scoped).toBeGreaterThan(20);
  });

  it("stays where it stood, costs nothing there, and is said again after each result", () => {
    const [first, epoch] = turn(1, { time: "Nine." }, SCOPED);
    expect(epoch.transcript.map(({ message, tokens }) => [message.role, tokens > 0])).toEqual([
      ["user", true],
      ["system", false],
      ["assistant", true],
    ]);
    const cleared = clearedTail(first);
    if (cleared === undefined) throw new Error("nothing was cleared");
    expect(cleared).toEqual({
      message: { role: "system", parts: [{ type: "text", text: "# Layer 20 · time: Nine." }] },
      trust: "platform",
    });
    expect(request(extend(first, toolRound(turnNumber(1), ["ok"]), bytes3)).tail).toEqual(request(first).tail);
  });

  it("is none where nothing trusted is said", () => {
    const [made] = turn(1, { memory: ["likes tea"] }, SCOPED);
    expect(clearedTail(made)).toBeUndefined();
  });
});

describe("a tail before the events", () => {
  it("is shown as such, part by part", () => {
    const [made] = turn(1, { time: "Nine.", memory: ["likes tea"] }, { ...EPHEMERAL_TAIL, place: "before-events" });
    expect(request(made).tail.map(({ way }) => way)).toEqual(["before-events", "before-events"]);
  });
});
