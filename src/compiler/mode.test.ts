import { describe, expect, it } from "vitest";
import { DEFAULT_BUDGETS, layerId } from "../protocol/index.ts";
import { chooseMode, compile, roomIn } from "./index.ts";
import {
  agentOf,
  bytes3,
  clock,
  immutable,
  inputOf,
  layer,
  recall,
  says,
  systemText,
  tool,
} from "./samples.contract.ts";

const words = (tokens: number): string => "abc".repeat(tokens);
const lined = { full: "whole", compact: "line", minimal: "absent" } as const;

const auto = (tokens: number, budgets: Partial<typeof DEFAULT_BUDGETS> = {}) => ({
  ...agentOf(
    immutable("core", { rank: 0, text: "Lower layers win." }),
    layer("long", { rank: 6, text: words(tokens), modes: lined }),
    recall({ budget: 400 }),
  ),
  mode: "auto" as const,
  budgets: { ...DEFAULT_BUDGETS, ...budgets },
});

const choose = (
  agent: ReturnType<typeof auto>,
  window: number,
  change: Partial<Parameters<typeof chooseMode>[0]> = {},
) => chooseMode({ agent, window, tools: [], count: bytes3, ...change });

describe("the mode of a turn", () => {
  it("000.45 001.30 a small window gets compact, a large one full", () => {
    const agent = auto(2_000);
    expect(choose(agent, 4_096)).toBe("compact");
    expect(choose(agent, 128_000)).toBe("full");
  });

  it("is full exactly where a quarter of the room is left beside prefix, live budgets, tools and reply", () => {
    const sizes = Array.from({ length: 60 }, (_, i) => 3_000 + i * 50);
    for (const window of sizes) {
      const { whole, limit } = roomIn(window, DEFAULT_BUDGETS);
      const agent = auto(1_500);
      const sent = compile(inputOf({ agent, limit: 60_000, tools: [tool("look")] }));
      const prefix = sent.ledger.entries.filter(({ place }) => place !== "message" && place !== "tail");
      const taken = prefix.reduce((sum, { tokens }) => sum + tokens, 0) + 400;
      const expected = limit - taken >= whole / 4 ? "full" : "compact";
      expect(choose(agent, window, { tools: [tool("look")] })).toBe(expected);
    }
    expect(new Set(sizes.map((window) => choose(auto(1_500), window, { tools: [tool("look")] })))).toEqual(
      new Set(["full", "compact"]),
    );
  });

  it("follows from what stands in the prefix now, not from what was declared", () => {
    const contents = new Map([[layerId("long"), says(words(6_000))]]);
    expect(choose(auto(10), 10_000)).toBe("full");
    expect(choose(auto(10), 10_000, { contents })).toBe("compact");
  });

  it("is compact while the tier is Critical, and as declared where it is declared", () => {
    expect(choose(auto(10), 128_000, { tier: "Critical" })).toBe("compact");
    expect(choose(auto(10), 128_000, { tier: "LowCycles" })).toBe("full");
    const fixed = { ...auto(10), mode: "full" as const };
    expect(chooseMode({ agent: fixed, window: 1_000, tools: [], count: bytes3, tier: "Critical" })).toBe("full");
  });

  it("reserves no more than a quarter of a small window for the reply", () => {
    expect(roomIn(4_096, DEFAULT_BUDGETS)).toEqual({ whole: 4_096, reply: 1_024, limit: 3_072 });
    expect(roomIn(200_000, DEFAULT_BUDGETS)).toEqual({ whole: 64_000, reply: 4_096, limit: 59_904 });
  });
});

describe("the order of the prompt", () => {
  it("S12 what stands after another layer keeps its own rank: it stands there and wins nothing", () => {
    const agent = agentOf(
      immutable("core", { rank: 0, scope: "agent" }),
      immutable("identity", { rank: 3, scope: "agent" }),
      immutable("ethics", { rank: 4, scope: "agent" }),
      layer("skills", { rank: 11 }),
      layer("soul", { rank: 12, after: layerId("identity"), trust: "operator" }),
    );
    const made = compile(inputOf({ agent }));
    const headings = systemText(made)
      .split("\n")
      .filter((line) => line.startsWith("# Layer"));
    expect(headings).toEqual([
      "# Layer 0 · core",
      "# Layer 3 · identity",
      "# Layer 12 · soul",
      "# Layer 4 · ethics",
      "# Layer 11 · skills",
    ]);
    const ledger = made.ledger.entries.filter(({ place }) => place === "system");
    expect(ledger.map(({ section }) => section)).toEqual(["core", "identity", "soul", "ethics", "skills"]);
    expect(ledger.find(({ section }) => section === "soul")).toMatchObject({ rank: 12, trust: "operator" });
  });

  it("000.2 000.3 000.8 joins the layers of a block in their order by one separator, whatever order they are declared in", () => {
    const layers = [5, 2, 9, 0, 7].map((rank) => layer(`layer-${rank}`, { rank, text: `Text ${rank}.` }));
    const made = compile(inputOf({ agent: agentOf(...layers) }));
    expect(systemText(made)).toBe(
      [0, 2, 5, 7, 9].map((rank) => `# Layer ${rank} · layer-${rank}\nText ${rank}.`).join("\n\n"),
    );
  });

  it("keeps live layers of one rank as they are declared", () => {
    const live = ["vitals", "obligations", "allowance"].map((id) => ({ ...clock({ rank: 10 }), id: layerId(id) }));
    const contents = new Map(live.map(({ id }) => [id, says(`This is ${id}.`)]));
    const made = compile(inputOf({ agent: agentOf(immutable("core", { rank: 0 }), ...live), contents }));
    expect(made.tail.map(({ layer: id }) => id)).toEqual(live.map(({ id }) => id));
  });
});
