import { mkdtempSync, readdirSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import type { AgentState, SeenState, TurnEvent } from "../../protocol/index.ts";
import { PARTS } from "../../store/index.contract.ts";
import { openSqlite } from "../../store/index.ts";
import { collect, endOf, message, OPERATOR } from "../../turn/index.contract.ts";
import { type Living, livingRuntime } from "./index.contract.ts";
import { LIFE_STORE } from "./store.ts";

const LOOK = { parts: [{ call: "look", input: { at: "the sea" } }] };

const HANGS = { parts: [{ text: "Hm" }], end: "hang" } as const;

/** The states that the events of a turn meet, without repetitions. */
async function statesIn({ life }: Living, turn: AsyncIterable<TurnEvent>): Promise<SeenState[]> {
  const states: SeenState[] = [];
  for await (const _ of turn) {
    const { state } = (await life()).vitals;
    if (states.at(-1) !== state) states.push(state);
  }
  return states;
}

describe("a turn of an agent that lives by itself", () => {
  it("000.20 leads through its states; its start and its end are written down", async () => {
    const on = await livingRuntime([LOOK, "I saw the sea.", "Well."]);
    const thread = await on.open();
    expect((await on.life()).vitals.state).toBe("bootstrapping");
    await on.runtime.post(OPERATOR, thread, [message("Look.", on.time.at)]);
    const written: (AgentState | undefined)[] = [];
    const watched = async function* (): AsyncGenerator<TurnEvent> {
      for await (const event of on.runtime.run(OPERATOR, thread)) {
        written.push((await on.store.part(LIFE_STORE).life(on.owner))?.state);
        yield event;
      }
    };
    expect(await statesIn(on, watched())).toEqual([
      "bootstrapping",
      "inferring",
      "executing actions",
      "inferring",
      "sleeping",
    ]);
    expect([...new Set(written)]).toEqual([undefined, "loading context", "sleeping"]);

    await on.runtime.post(OPERATOR, thread, [message("And now?", on.time.at)]);
    expect(await statesIn(on, on.runtime.run(OPERATOR, thread))).toEqual(["sleeping", "inferring", "sleeping"]);
    expect((await on.life()).vitals.turn).toBe(2);
  });

  it("that fails leaves it faulted with the reason, and the next one heals it", async () => {
    const on = await livingRuntime([new Error("the model is down"), "Well."]);
    const thread = await on.open();
    expect(endOf(await on.say(thread, "Hi")).type).toBe("failed");
    const faulted = await on.life();
    expect(faulted.vitals.state).toBe("faulted");
    expect(faulted.because).toContain("the model is down");
    expect(endOf(await on.say(thread, "Again")).type).toBe("done");
    expect(await on.life()).toMatchObject({ vitals: { state: "sleeping" } });
    expect((await on.life()).because).toBeUndefined();
  });

  it("law 5 that failed over a contact's words leaves none of them where an erasure does not reach", async () => {
    const folder = mkdtempSync(join(tmpdir(), "strata-life-"));
    const store = await openSqlite(join(folder, "record.sqlite"), { parts: [...PARTS, LIFE_STORE] });
    const on = await livingRuntime([new Error("refused: Quincewell is not allowed"), "Well."], {}, { store });
    const thread = await on.open();
    await on.say(thread, "I am Quincewell.");
    expect((await on.life()).because).toContain("Quincewell");
    await on.runtime.erase(OPERATOR, thread.scope);
    expect((await on.life()).because).toBe("(erased)");
    await store.close();
    const files = readdirSync(folder).map((name) => readFileSync(join(folder, name)));
    expect(files.filter((bytes) => bytes.includes("Quincewell"))).toEqual([]);
    rmSync(folder, { recursive: true });
  });

  it("that is cancelled, or left by who listened, ends faulted like any that failed", async () => {
    const on = await livingRuntime([HANGS, HANGS, "Well."]);
    const thread = await on.open();
    await on.runtime.post(OPERATOR, thread, [message("Hi", on.time.at)]);
    for await (const { type } of on.runtime.run(OPERATOR, thread)) {
      if (type === "text-delta") await on.runtime.cancel(OPERATOR, thread.id);
    }
    expect(await on.life()).toMatchObject({
      vitals: { state: "faulted" },
      because: expect.stringContaining("cancelled"),
    });

    for await (const { type } of on.runtime.run(OPERATOR, thread)) if (type === "text-delta") break;
    expect(await on.life()).toMatchObject({
      vitals: { state: "faulted" },
      because: expect.stringContaining("abandoned"),
    });
    expect(endOf(await collect(on.runtime.run(OPERATOR, thread))).type).toBe("done");
    expect((await on.life()).vitals.state).toBe("sleeping");
  });

  it.each<AgentState>(["loading context", "inferring", "executing actions", "persisting"])(
    "heals what a program left as %s that ended in the middle of a turn",
    async (state) => {
      const on = await livingRuntime(["Well."]);
      await on.store.part(LIFE_STORE).moveLife(on.owner, { from: undefined, state, at: on.time.at });
      expect(await on.life()).toMatchObject({
        vitals: { state: "faulted" },
        because: "its program ended in the middle of a turn",
      });
      expect(endOf(await on.say(await on.open(), "Hi")).type).toBe("done");
      expect((await on.life()).vitals.state).toBe("sleeping");
    },
  );

  it("beside another keeps it awake until the last of them ends, in whichever program", async () => {
    const on = await livingRuntime([HANGS, "Well."]);
    const other = await livingRuntime([], {}, { agent: on.agent, store: on.store });
    const [ann, bob] = [await on.open("ann"), await on.open("bob")];
    await on.runtime.post(OPERATOR, ann, [message("Hi", on.time.at)]);
    const said = Promise.withResolvers<void>();
    const slow = (async () => {
      for await (const { type } of on.runtime.run(OPERATOR, ann)) if (type === "text-delta") said.resolve();
    })();
    await said.promise;
    expect(endOf(await on.say(bob, "Hi")).type).toBe("done");
    expect((await on.life()).vitals.state).toBe("inferring");
    expect((await on.store.part(LIFE_STORE).life(on.owner))?.state).toBe("loading context");
    // Another program knows that a turn runs and since when, and not how far it has come.
    const begun = (await on.life()).since;
    expect(await other.life()).toMatchObject({ vitals: { state: "in a turn", turn: 2 }, since: begun });

    await on.runtime.cancel(OPERATOR, ann.id);
    await slow;
    expect((await on.life()).vitals.state).toBe("faulted");
    expect((await other.life()).vitals.state).toBe("faulted");
  });

  it("changes nothing where the agent only answers", async () => {
    const on = await livingRuntime(["Well."], {}, { agent: (await livingRuntime([])).agent });
    const { life: _, ...mere } = on.agent;
    const plain = await livingRuntime(["Well."], {}, { agent: mere });
    await plain.say(await plain.open(), "Hi");
    expect(await plain.store.part(LIFE_STORE).life(plain.owner)).toBeUndefined();
    expect((await plain.life()).vitals).toMatchObject({ state: "idle", tier: "Normal", turn: 1 });
  });
});
