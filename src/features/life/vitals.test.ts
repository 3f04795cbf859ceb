import { describe, expect, it } from "vitest";
import { contactId, layerId, untrusted, type Vitals } from "../../protocol/index.ts";
import { OPERATOR, sampleAgent, testRuntime } from "../../turn/index.contract.ts";
import { livingAgent } from "./index.contract.ts";
import { vitalsText } from "./vitals.ts";

const AT = Date.UTC(2026, 10, 21, 9, 30, 5);
const ADA = "0x52908400098527886e0f7030069857d2e4169ee7";
const _AGENT = livingAgent({ credits: { low: 5, critical: 1, modelCalls: 2 } });

describe("vitals", () => {
  const VITALS: Vitals = { tier: "Normal", turn: 17, state: "loading context", at: AT };
  const told = (more: Partial<Vitals>): unknown => {
    const content = vitalsText({ ...VITALS, ...more });
    return content.kind === "text" ? content.text.split("\n") : content;
  };
  it("000.20 000.25 tells balance, runway, tier, wallet, native balance with its age, turn, time and state, a line each", () => {
    const wallet = "0x52908400098527886E0F7030069857D2E4169EE7";
    const native = { wei: 1_234_567_890_123_456_789n, at: AT - 125_000 };
    expect(told({ balance: 4.2051, runway: 31.9, tier: "LowCycles", wallet, native })).toEqual([
      "- balance: 4.21 US dollars",
      "- runway: 31 hours",
      "- tier: LowCycles",
      "- wallet: 0x52908400098527886E0F7030069857D2E4169EE7",
      "- native balance: 1.234567 in its native coin, read 2 minutes ago",
      "- turn: 17",
      "- time: 2026-11-21T09:30:05Z",
      "- state: loading context",
    ]);
  });

  it("000.20 the time is left out where the frame of an event in the request says it to the minute, and nowhere else", () => {
    const lines = ["- tier: Normal", "- turn: 17", "- time: 2026-11-21T09:30:05Z", "- state: loading context"];
    const withEvent = (at: number | undefined) => {
      const content = vitalsText(VITALS, at);
      return content.kind === "text" ? content.text.split("\n") : content;
    };
    for (const at of [undefined, AT - 60_000, AT - 6_000, AT + 55_000, AT - 86_400_000])
      expect(withEvent(at)).toEqual(lines);
    for (const at of [AT, AT - 5_000, AT + 54_000]) expect(withEvent(at)).toEqual(lines.toSpliced(2, 1));
  });

  it("000.20 25.21 what an agent does not have, and what nobody knows, is left out", async () => {
    const rest = ["- tier: Normal", "- turn: 17", "- time: 2026-11-21T09:30:05Z", "- state: loading context"];
    expect(told({})).toEqual(rest);
    expect(told({ balance: 4 })).toEqual(["- balance: 4.00 US dollars", ...rest]);
    expect(told({ wallet: ADA })).toEqual(["- tier: Normal", `- wallet: ${ADA}`, ...rest.slice(1)]);
  });

  it.each([
    [0, "less than a minute ago"],
    [60, "1 minute ago"],
    [3_600, "60 minutes ago"],
    [7_200, "2 hours ago"],
    [400_000, "4 days ago"],
  ])("000.20 a balance that was read %i s ago was read %s", async (seconds, message) => {
    const native = { wei: 1n, at: AT - seconds * 1_000 };
    expect(told({ wallet: ADA, native })).toContain(`- native balance: 0.000000 in its native coin, read ${message}`);
  });

  it("000.20 small sums keep their cents, and a short runway is no zero", async () => {
    expect(told({ balance: 0.0123, runway: 0.4, tier: "Critical" })).toEqual(
      expect.arrayContaining(["- balance: 0.0123 US dollars", "- runway: less than 1 hour", "- tier: Critical"]),
    );
  });

  it("000.20 an agent that does not live by itself has none", async () => {
    const { layers } = sampleAgent();
    const clock = layers.flatMap((layer) => (layer.source.kind === "clock" ? [layer] : []));
    const vitals = clock.map((layer) => ({
      ...layer,
      id: layerId("vitals"),
      rank: 55,
      source: { kind: "vitals" } as const,
    }));
    const on = await testRuntime([], { agent: sampleAgent({ layers: [...layers, ...vitals] }) });
    const conversation = { agent: on.agent.name, contact: contactId("ann"), channel: "test", key: "main" };
    const { ledger } = await on.runtime.compose(OPERATOR, conversation, untrusted("Hi"));
    const [entry] = ledger.entries.filter(({ section }) => section === "vitals");
    expect(entry).toMatchObject({ fate: "empty", because: "the agent does not live by itself" });
  });
});
