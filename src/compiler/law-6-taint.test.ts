import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { lowestTrust, type Trust, trusted } from "../protocol/index.ts";
import { type Compilation, compile, extend } from "./index.ts";
import { randomContents, randomEvents, randomLayers, randomTranscript, trustLevel } from "./random.contract.ts";
import {
  agentOf,
  bytes3,
  committed,
  contentsOf,
  entryOf,
  event,
  immutable,
  inputOf,
  item,
  layer,
  messageOf,
  recall,
  reply,
  toolRound,
  turnNumber,
} from "./samples.contract.ts";

const platform = { kind: "instruction", trust: "platform" } as const;

describe("the lowest trust of what is sent", () => {
  it("is the message's where nothing else is lower", () => {
    for (const trust of ["platform", "operator", "member", "agent", "contact"] as const) {
      const agent = agentOf(immutable("core"));
      expect(compile(inputOf({ agent, events: [event("hi", { trust })] })).taint).toBe(trust);
    }
  });

  it("counts layers, items, transcript, results and replies", () => {
    const input = inputOf({
      agent: agentOf(immutable("core"), recall({ trust: "platform" })),
      events: [event("", platform)],
    });
    const items = [item("a", { trust: "operator" }), item("b", { trust: "member" })];
    expect(compile(input).taint).toBe("platform");
    expect(compile({ ...input, agent: agentOf(layer("notes", { trust: "agent" })) }).taint).toBe("agent");
    expect(compile({ ...input, contents: contentsOf({ memory: { kind: "items", items } }) }).taint).toBe("member");
    const told = committed(compile(input), reply("x", turnNumber(1)));
    expect(compile({ ...input, epoch: told }).taint).toBe("contact");
    expect(extend(compile(input), toolRound(turnNumber(1), ["x"]), bytes3).taint).toBe("contact");
  });

  it("leaves out what is not sent: an empty or dropped layer, an item that was cut off", () => {
    const big = "word ".repeat(100);
    const items = [item(big, { trust: "member" }), item(big, { trust: "contact" })];
    const memory = recall({ trust: "platform", budget: 220 });
    const input = inputOf({
      agent: agentOf(memory),
      events: [event("", platform)],
      contents: contentsOf({ memory: { kind: "items", items } }),
    });
    const whole = compile(input);
    expect(whole.taint).toBe("contact");
    const cut = compile({ ...input, limit: whole.ledger.tokens - 1 });
    expect(entryOf(cut, "memory")).toMatchObject({ items: { shown: 1, of: 2 }, trust: "member" });
    expect(cut.taint).toBe("member");
    expect(compile({ ...input, limit: 100 }).taint).toBe("platform");
    expect(compile({ ...input, contents: contentsOf({ memory: { kind: "empty", because: "late" } }) }).taint).toBe(
      "platform",
    );
  });
});

describe("law 6", () => {
  it("S14: a turn stays tainted to its end, even when a cut takes the tainted words out of the request", () => {
    const turn = turnNumber(2);
    const { epoch } = compile(inputOf({ events: [event("", platform)] }));
    const old = messageOf({ role: "user", parts: [{ type: "text", text: trusted("x".repeat(900)) }] }, turnNumber(1));
    const input = inputOf({ epoch: { ...epoch, transcript: [old] }, events: [event("", platform)], turn, limit: 500 });
    const first = compile(input);
    expect(first.taint).toBe("contact");
    const harmless = { ...reply("y".repeat(600), turn), trust: "platform" as const };
    const second = extend(first, [harmless], bytes3);
    expect(second.epoch.reason).toBe("cut");
    expect(second.taint).toBe("contact");
    expect(compile({ ...input, epoch: second.epoch, turn: turnNumber(3) }).taint).toBe("platform");
  });

  it("law 6: the taint is the lowest trust of all that a turn has sent, for any layers, transcript, events and rounds", () => {
    const sent = ({ ledger, epoch, own }: Compilation): Trust[] => [
      ...ledger.entries.filter((one) => one.tokens > 0 && one.place !== "transcript").map((one) => one.trust),
      ...[...epoch.transcript, ...own].map((one) => one.trust),
    ];
    fc.assert(
      fc.property(
        randomLayers.chain((layers) => fc.tuple(fc.constant(layers), randomContents(layers))),
        randomTranscript(turnNumber),
        randomEvents(),
        fc.array(trustLevel, { maxLength: 3 }),
        ([layers, contents], transcript, events, rounds) => {
          const input = inputOf({ agent: agentOf(...layers), contents, events, limit: 1_000_000 });
          const { epoch } = compile(input);
          let made = compile({ ...input, epoch: { ...epoch, transcript } });
          const seen: Trust[] = [...sent(made), ...events.map((one) => one.trust)];
          expect(made.taint).toBe(lowestTrust(seen));
          for (const trust of rounds) {
            made = extend(made, [{ ...reply("x", input.turn), trust }], bytes3);
            seen.push(trust);
            expect(made.taint).toBe(lowestTrust(seen));
          }
        },
      ),
      { numRuns: 100 },
    );
  });
});
