import { describe, expect, it } from "vitest";
import { digestOf, trusted } from "../protocol/index.ts";
import { compile } from "./index.ts";
import {
  agentOf,
  clock,
  contentsOf,
  entryOf,
  event,
  immutable,
  inputOf,
  item,
  layer,
  recall,
  refusal,
  request,
  says,
  systemText,
  tool,
} from "./samples.contract.ts";

describe("the order of a request", () => {
  it("has one block per scope, the widest first, and the layers of a block by rank, however they were declared", () => {
    const order = ["core", "house", "first", "second", "mine"];
    const agent = agentOf(
      layer("mine", { scope: "thread", rank: 1 }),
      layer("second", { scope: "agent", rank: 7 }),
      layer("first", { scope: "agent", rank: 2 }),
      layer("house", { scope: "org", rank: 9 }),
      immutable("core", { scope: "all", rank: 0 }),
    );
    const made = compile(inputOf({ agent }));
    expect(made.ledger.entries.flatMap((one) => (one.place === "system" ? [one.section] : []))).toEqual(order);
    const { system } = request(made).prefix;
    expect(system.map((block) => block.scope)).toEqual(["all", "org", "agent", "thread"]);
    expect(system[2]?.text).toBe("# Layer 2 · first\nThis is first.\n\n# Layer 7 · second\nThis is second.");
    expect(system[2]?.layers).toEqual([
      { layer: "first", digest: digestOf("# Layer 2 · first\nThis is first.") },
      { layer: "second", digest: digestOf("# Layer 7 · second\nThis is second.") },
    ]);
  });

  it("puts the layers of the turn into the tail, by rank, and nowhere else", () => {
    const agent = agentOf(recall(), clock());
    const contents = contentsOf({ time: says("Noon."), memory: { kind: "items", items: [item("likes tea")] } });
    const sent = request(compile(inputOf({ agent, contents })));
    expect(sent.tail).toEqual([
      { layer: "time", text: "# Layer 20 · time: Noon." },
      {
        layer: "memory",
        text: "# Layer 30 · memory\n[memory contact 2026-11-21]\n| likes tea",
      },
    ]);
    expect(sent.prefix.system).toEqual([]);
    expect(sent.messages).toHaveLength(1);
  });

  it("tells items in the order they happened, whichever fitted best", () => {
    const items = [item("newer", { at: Date.UTC(2026, 5) }), item("older", { at: Date.UTC(2025, 5) })];
    const contents = contentsOf({ memory: { kind: "items", items } });
    const [part] = request(compile(inputOf({ agent: agentOf(recall()), contents }))).tail;
    expect(part?.text.match(/\| .*/g)).toEqual(["| older", "| newer"]);
  });

  it("sends the tools sorted, in one spelling, however they come", () => {
    const input = { type: "object", properties: { b: { type: "string" }, a: {} } } as const;
    const turned = { properties: { a: {}, b: { type: "string" } }, type: "object" } as const;
    const one = compile(inputOf({ tools: [tool("save", { input }), tool("find")] }));
    const { name, description } = tool("save");
    const other = compile(inputOf({ tools: [tool("find"), { input: turned, description, name }] }));
    expect(request(one).prefix.tools.map((each) => each.name)).toEqual(["find", "save"]);
    expect(JSON.stringify(request(other).prefix)).toBe(JSON.stringify(request(one).prefix));
  });
});

describe("modes", () => {
  const modes = { full: "whole", compact: "line", minimal: "absent" } as const;
  const persona = layer("persona", { rank: 3, modes, line: trusted("Be kind."), text: "Be kind, at great length." });
  const agent = agentOf(immutable("core", { rank: 0 }), persona, clock());
  const contents = contentsOf({ time: says("Noon.") });

  it("full sends every layer whole", () => {
    const made = compile(inputOf({ agent, contents }));
    expect(systemText(made)).toContain("# Layer 3 · persona\nBe kind, at great length.");
    expect(entryOf(made, "persona")).toMatchObject({ fate: "kept", place: "system", rank: 3, scope: "agent" });
    expect(made.epoch.mode).toBe("full");
  });

  it("compact sends a layer's one line instead and says so", () => {
    const made = compile(inputOf({ agent, contents, mode: "compact" }));
    expect(systemText(made)).toContain("# Layer 3 · persona\nBe kind.");
    expect(systemText(made)).not.toContain("at great length");
    expect(entryOf(made, "persona")).toMatchObject({ fate: "lined", because: "mode" });
  });

  it("minimal leaves out what its mode calls absent", () => {
    const made = compile(inputOf({ agent, contents, mode: "minimal" }));
    expect(systemText(made)).toBe("# Layer 0 · core\nThis is core.");
    expect(request(made).tail).toHaveLength(1);
    expect(made.ledger.entries.map((one) => one.section)).not.toContain("persona");
  });

  it("the line of a layer stands even when its source gave items", () => {
    const lined = recall({ modes, line: trusted("You may search your memory.") });
    const gathered = contentsOf({ memory: { kind: "items", items: [item("secret")] } });
    const made = compile(inputOf({ agent: agentOf(lined), contents: gathered, mode: "compact" }));
    expect(request(made).tail[0]?.text).toBe("# Layer 30 · memory: You may search your memory.");
    expect(entryOf(made, "memory")).not.toHaveProperty("items");
  });
});

describe("what there is to say", () => {
  it("a source that failed leaves its layer out and its reason in the ledger", () => {
    const contents = contentsOf({ memory: { kind: "empty", because: "it took longer than 300 ms" } });
    const made = compile(inputOf({ agent: agentOf(recall()), contents }));
    expect(request(made).tail).toEqual([]);
    expect(entryOf(made, "memory")).toMatchObject({ fate: "empty", because: "it took longer than 300 ms", tokens: 0 });
  });

  it("a layer whose source was not asked is empty, not fatal", () => {
    const made = compile(inputOf({ agent: agentOf(clock()) }));
    expect(entryOf(made, "time")).toMatchObject({ fate: "empty", because: "its source was not asked" });
  });

  it("a source that found nothing leaves no bare heading", () => {
    const contents = contentsOf({ memory: { kind: "items", items: [] }, time: says("") });
    const made = compile(inputOf({ agent: agentOf(recall(), clock()), contents }));
    expect(request(made).tail).toEqual([]);
    expect(entryOf(made, "memory")).toMatchObject({ fate: "empty", tokens: 0, wanted: 0 });
    expect(entryOf(made, "time")).toMatchObject({ fate: "empty", tokens: 0, wanted: 0 });
  });

  it("law 2: nothing gathered replaces the text of an immutable layer", () => {
    const agent = agentOf(immutable("core", { text: "Never lie." }), layer("persona"));
    const contents = contentsOf({ core: says("Lie."), persona: says("As stored.") });
    const made = compile(inputOf({ agent, contents }));
    expect(systemText(made)).toBe("# Layer 5 · core\nNever lie.\n\n# Layer 5 · persona\nAs stored.");
  });

  it("items never stand in the prefix: the layer and the way out are named", () => {
    const agent = agentOf(recall({ scope: "agent" }));
    const contents = contentsOf({ memory: { kind: "items", items: [item("hi")] } });
    const { code, message } = refusal(() => compile(inputOf({ agent, contents })));
    expect(code).toBe("unexpected");
    expect(message).toBe("layer memory gathers what others wrote; give it scope turn instead of agent");
  });

  it("the ledger adds up and names what was sent by its digest", () => {
    const made = compile(inputOf({ tools: [tool("find")], events: [event("Hello!")] }));
    const { entries, tokens, limit } = made.ledger;
    expect(entries.map((one) => one.place)).toEqual(["tools", "system", "transcript", "message"]);
    expect(entries.reduce((sum, one) => sum + one.tokens, 0)).toBe(tokens);
    expect(tokens).toBeLessThan(limit);
    expect(entryOf(made, "core").version).toBe(digestOf("# Layer 0 · core\nLower layers win."));
  });
});
