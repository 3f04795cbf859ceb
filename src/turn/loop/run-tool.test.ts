import { describe, expect, it } from "vitest";
import { z } from "zod";
import { allParts } from "../../app/entry/features.ts";
import { automaton, LOOP } from "../../features/texts/index.contract.ts";
import { promptTools, TEXT_API } from "../../features/texts/index.ts";
import { layerId, toolName, trusted, USUAL_TEXT_LIMITS, type Vault } from "../../protocol/index.ts";
import { openSqlite } from "../../store/index.ts";
import { collect, message, OPERATOR, sampleAgent, testRuntime } from "../index.contract.ts";
import { defineTool, toolset } from "../tools/index.ts";

const VALUE = "hunter22";
const NAME = "[the secret PASSWORD]";
const vault: Vault = {
  secret: () => VALUE,
  hide: (text) => text.replaceAll(VALUE, NAME),
  settled: (text) => text.length,
};

/** Text of this many characters that contains a secret's value. */
const holding = (characters: number): string => `${VALUE} ${"a".repeat(characters - VALUE.length - 1)}`;

/** What is stored for the layer `loop` after the agent's write, and the answer to the agent. */
async function writing(content: string, inbox?: string) {
  const { layers } = automaton();
  const agent = automaton({
    tools: [toolName("update_prompt_layer")],
    layers: layers.map((one) =>
      one.id === "inbox" && inbox !== undefined ? { ...one, source: { kind: "text", text: trusted(inbox) } } : one,
    ),
  });
  const store = await openSqlite(":memory:", { parts: await allParts() });
  const call = { call: "update_prompt_layer", input: { layer_id: layerId("loop"), content } };
  const tools = toolset(promptTools({ store, agentOf: () => agent }));
  const set = await testRuntime([{ parts: [call] }, "Done."], { agent, store, parts: { vault, tools } });
  await set.say(await set.open(), "hello");
  const [version] = await set.runtime.use(TEXT_API).textVersions(OPERATOR, agent.name, LOOP);
  return { kept: version?.text, answered: JSON.stringify(set.sent.at(-1)) };
}

describe("a text that an agent writes with a secret's value in it", () => {
  it("is kept with the secret's name instead", async () => {
    const { kept } = await writing(`Say ${VALUE} at the door.`);
    expect(kept).toBe(`Say ${NAME} at the door.`);
  });

  it("is measured with the name: of a layer, and of all texts together", async () => {
    const longer = NAME.length - VALUE.length;
    const fits = await writing(holding(USUAL_TEXT_LIMITS.layer - longer));
    expect(fits.kept).toHaveLength(USUAL_TEXT_LIMITS.layer);
    const long = await writing(holding(USUAL_TEXT_LIMITS.layer - longer + 1));
    expect(long.kept).toBeUndefined();
    expect(long.answered).toContain("it has 4,001 characters, and 4,000 are left");
    const inbox = "b".repeat(USUAL_TEXT_LIMITS.layer);
    const left = USUAL_TEXT_LIMITS.total - USUAL_TEXT_LIMITS.layer - "A lower layer wins.You are an automaton.".length;
    expect((await writing(holding(left - longer), inbox)).kept).toHaveLength(left);
    expect((await writing(holding(left - longer + 1), inbox)).kept).toBeUndefined();
  });
});

it("a file that a call puts in place while its contact is erased is deleted, also where nobody waits for the call any more", async () => {
  for (const isLeft of [false, true]) {
    const [begun, go, written] = Array.from({ length: 3 }, () => Promise.withResolvers<void>());
    if (begun === undefined || go === undefined || written === undefined) throw new Error("three are made");
    const files = new Set<string>();
    const write = defineTool({
      name: "ring",
      description: "Writes a file.",
      input: z.object({ bell: z.string() }),
      effect: "external",
      trust: "contact",
      run: async ({ bell }) => {
        begun.resolve();
        await go.promise;
        files.add(bell);
        written.resolve();
        return "Wrote it.";
      },
    });
    const removeFiles = async () => files.clear();
    const { runtime, open, time, agent } = await testRuntime(
      [{ parts: [{ call: "ring", input: { bell: "door" } }] }, "Done."],
      {
        agent: sampleAgent({ tools: [toolName("ring")] }),
        parts: { removeFiles, tools: toolset([write]) },
      },
    );
    const thread = await open();
    await runtime.post(OPERATOR, thread, [message("Ring", time.at)]);
    const stop = new AbortController();
    const turn = collect(runtime.run(OPERATOR, thread, { signal: stop.signal }));
    await begun.promise;
    await runtime.erase(OPERATOR, { agent: agent.name, contact: thread.scope.contact });
    if (isLeft) stop.abort();
    if (isLeft) await turn;
    go.resolve();
    await Promise.all([turn, written.promise]);
    await expect.poll(() => [...files]).toEqual([]);
  }
});
