import { expect, it } from "vitest";
import { project, strata } from "../../../tests/cli/strata.ts";
import { allParts } from "../../app/entry/features.ts";
import { type Agent, contactId, type EventId, eventId, type Request, untrusted } from "../../protocol/index.ts";
import { EVERYTHING, onEachDatabase } from "../../store/index.contract.ts";
import type { Store } from "../../store/index.ts";
import { message, OPERATOR, ORG, sampleAgent, testRuntime } from "../../turn/index.contract.ts";
import { clerk, layer, office } from "../learning/index.contract.ts";
import { RETRACTION_API } from "./index.ts";

const SECRET = "My lodger is called Quillworth, and he snores.";
const RULE = "Say that a battery swap costs $25.";
const [SWAP, RIGHT] = ["A battery swap costs $30.", "A battery swap costs $25."];
const TAIL = { scope: "turn", mutability: "versioned", trust: "operator" } as const;

/** A conversation with an agent, and the events that its contact has posted. */
async function talking(store: Store, replies: Parameters<typeof testRuntime>[0], more: Partial<Agent> = {}) {
  const on = await testRuntime(replies, { store, agent: sampleAgent(more) });
  const thread = await on.open();
  const post = async (...texts: readonly string[]): Promise<readonly EventId[]> => {
    on.time.at += 60_000;
    return (
      await on.runtime.post(
        OPERATOR,
        thread,
        texts.map((text) => message(text, on.time.at)),
      )
    ).map(({ id }) => id);
  };
  const run = async (): Promise<void> => {
    for await (const _ of on.runtime.run(OPERATOR, thread)) void _;
  };
  const say = async (text: string): Promise<EventId> => {
    const [id] = await post(text);
    await run();
    return id as EventId;
  };
  const retract = (id: EventId) => on.runtime.use(RETRACTION_API).retract(OPERATOR, id, "a mistake");
  const slots = async () => (await on.runtime.slots(OPERATOR, thread.id)).map(({ text }) => String(text));
  const problems = async () => {
    const found = [];
    for await (const one of store.verify(ORG)) if (one.type === "problem") found.push(one);
    return found;
  };
  const holds = async (word: string) => (await store.part(EVERYTHING).everything(ORG)).includes(word);
  return { ...on, sayOn: on.say, thread, post, run, say, retract, slots, problems, holds };
}

/** A clerk whose digests make one rule from all lessons. */
async function digesting(store: Store) {
  const agent = clerk({ learning: { mode: "approval", every: 60 } }, [
    layer("learning", 60, { kind: "learning" }, TAIL),
  ]);
  const answer = (request: Request): string => {
    if (!JSON.stringify(request.prefix).includes("You keep the rules")) return SWAP;
    const ids = [...new Set(JSON.stringify(request).match(/lsn_[0-9a-f]{12}/g) ?? [])];
    return JSON.stringify({ body_markdown: `- ${RULE}`, change_summary: "a price", folded_lesson_ids: ids });
  };
  const on = await office(
    Array.from({ length: 60 }, () => answer),
    { agent, store },
  );
  await on.correct("ann", "What does a swap cost?", RIGHT);
  await on.correct("bob", "How much is a new battery?", RIGHT);
  await on.learning.digest(OPERATOR, agent.name);
  await on.learning.decideVersion(OPERATOR, agent.name, { n: 1, verdict: "approved", reason: untrusted("good") });
  await on.ask("cleo", "What does a swap cost?");
  expect(on.tail()).toContain(RULE);
  const rules = async () =>
    (await on.learning.versions(OPERATOR, agent.name)).flatMap(({ rules: all }) => all.map(({ text }) => text));
  return { ...on, rules };
}

onEachDatabase("retracting an event", [...(await allParts()), EVERYTHING], (open) => {
  it("28.9 the next request begins a new epoch without it, which `explain` says, and the record stays whole", async () => {
    const on = await talking(await open(), ["Hello.", `I note that ${SECRET}`, "Fine.", "Aye.", "Aye."]);
    await on.say("I ride a green bicycle to work.");
    const id = await on.say(SECRET);
    await on.say("Is it going to rain today?");
    expect(JSON.stringify(on.sent.at(-1))).toContain("Quillworth");
    expect(await on.retract(id)).toMatchObject({ event: id, thread: on.thread.id, memories: 2 });
    expect(await on.holds("Quillworth")).toBe(false);
    expect(await on.slots()).toEqual([
      "I ride a green bicycle to work.",
      "Hello.",
      "Is it going to rain today?",
      "Fine.",
    ]);
    await on.say("What was my lodger called?");
    const next = JSON.stringify(on.sent.at(-1));
    expect(next).not.toContain("Quillworth");
    expect([next.includes("green bicycle"), next.includes("going to rain")]).toEqual([true, true]);
    const [turn] = (await on.runtime.turns(OPERATOR, on.thread.id)).slice(-1);
    expect(turn?.requests[0]?.ledger.epoch).toMatchObject({ n: 2, reason: "retracted", opened: true });
    await on.say("And once more?");
    const [last] = (await on.runtime.turns(OPERATOR, on.thread.id)).slice(-1);
    expect(last?.requests[0]?.ledger.epoch).toMatchObject({ n: 2, opened: false });
    expect(await on.problems()).toEqual([]);
  });

  it("28.9 what else was said in its turn stays, and so does what was said again in the same words", async () => {
    const on = await talking(await open(), ["Yes.", "Aye.", "Aye."]);
    const [first] = await on.post(SECRET, "The shop opens at nine.");
    await on.run();
    await on.say(SECRET);
    await on.retract(first as EventId);
    expect(await on.slots()).toEqual(["The shop opens at nine.", "Yes.", SECRET, "Aye."]);
    await on.say("Hello?");
    expect(JSON.stringify(on.sent.at(-1)).split("Quillworth").length - 1).toBe(1);
    expect(await on.problems()).toEqual([]);
  });

  it("28.9 a later reply that repeats it goes too, and one that a contact has said as well stays", async () => {
    const on = await talking(await open(), ["Aye.", `You said: ${SECRET}`, "Aye."]);
    const id = await on.say(SECRET);
    await on.say("What did I tell you about my house?");
    await on.retract(id);
    expect(await on.slots()).toEqual(["What did I tell you about my house?"]);
    expect(await on.holds("Quillworth")).toBe(false);
    await on.say("Hello?");
    expect(JSON.stringify(on.sent.at(-1))).not.toContain("Quillworth");
    expect(await on.problems()).toEqual([]);
  });

  it("28.9 what was saved of it is gone, also where a later turn was shown it", async () => {
    const save = {
      parts: [{ call: "memory_save", id: "c1", input: { content: "The door code of the shed is Quillworth." } }],
    };
    const on = await talking(await open(), [save, "Noted.", "Aye."], { recall: "search" });
    const id = await on.say("Please keep that in mind.");
    const elsewhere = await on.runtime.open(OPERATOR, {
      ...{ agent: on.agent.name, contact: contactId("ann"), channel: "test", key: "other" },
    });
    on.time.at += 60_000;
    await on.sayOn(elsewhere, "What is the door code of the shed?");
    expect(JSON.stringify(on.sent.at(-1)?.tail)).toContain("The door code of the shed is Quillworth.");
    await on.retract(id);
    expect(await on.holds("Quillworth")).toBe(false);
    expect(await on.problems()).toEqual([]);
  });

  it("28.9 one that waits is handled by no turn, one that its channel sends again does not come back, and one is retracted once", async () => {
    const on = await talking(await open(), ["Aye."]);
    const { time, thread, runtime } = on;
    const [event] = await runtime.post(OPERATOR, thread, [message(SECRET, time.at, "m1")]);
    const id = event?.id as EventId;
    await on.retract(id);
    await runtime.post(OPERATOR, thread, [message(SECRET, time.at, "m1")]);
    await on.run();
    expect(on.sent).toEqual([]);
    await expect(on.retract(id)).rejects.toMatchObject({ code: "event_not_found" });
    const none = eventId("evt_01jd8k3v5x9m2q7r4t6w8y0zab");
    await expect(on.retract(none)).rejects.toMatchObject({ code: "event_not_found" });
    expect(await on.problems()).toEqual([]);
  });

  it("28.9 an active version that was made from it goes back to the one before, in running conversations at once", async () => {
    const on = await digesting(await open());
    const ann = await on.threadOf("ann");
    const [turn] = await on.runtime.turns(OPERATOR, ann.id);
    const event = turn?.events[0]?.id as EventId;
    const done = await on.runtime.use(RETRACTION_API).retract(OPERATOR, event, "a mistake");
    expect(done.versions).toEqual([{ layer: "learning", n: 1 }]);
    expect(await on.rules()).toEqual([]);
    await on.ask("cleo", "And what does it cost now?");
    expect(on.tail()).not.toContain(RULE);
    expect(await on.store.part(EVERYTHING).everything(ORG)).not.toContain(RULE);
    expect(await on.lessons()).toMatchObject([{ support: 1, contacts: ["bob"], state: "open" }]);
    // The next digest makes it from the rest, once that is worth a rule.
    await on.correct("dan", "What do I pay for a battery?", RIGHT);
    expect(await on.learning.digest(OPERATOR, on.agent.name)).toMatchObject({ outcome: "proposed" });
    expect(await on.verified()).toEqual([]);
  });

  it("28.9 erasing a contact takes the rules that were made of what was learned from the contact", async () => {
    const on = await digesting(await open());
    await on.runtime.erase(OPERATOR, { contact: contactId("ann"), agent: on.agent.name });
    expect(await on.rules()).toEqual([]);
    await on.ask("cleo", "And what does it cost now?");
    expect(on.tail()).not.toContain(RULE);
    expect(await on.store.part(EVERYTHING).everything(ORG)).not.toContain(RULE);
    expect(await on.verified()).toEqual([]);
  });
});

it("28.9 `turn show` prints a turn's events, and `event retract` takes one as it stands there", async () => {
  const cwd = project();
  await strata(["ask", "My lodger is called Quillworth.", "--as", "ann"], { cwd });
  const [thread] = JSON.parse((await strata(["thread", "list", "--json"], { cwd })).out);
  const [turn] = /trn_[0-9a-z]{26}/.exec((await strata(["explain", thread.id], { cwd })).out) ?? [];
  const shown = (await strata(["turn", "show", turn ?? ""], { cwd })).out;
  const [, event] = /^(evt_[0-9a-z]{26}) · message · .*Quillworth/m.exec(shown) ?? [];
  const done = await strata(["event", "retract", event ?? "", "--reason", "a mistake", "--yes"], { cwd });
  expect(done.out).toContain(`Retracted ${event}: 1 turn`);
  expect(done.out).toMatch(/^Not undone: the reply out_[0-9a-z]{26} of trn_[0-9a-z]{26} was delivered\.$/m);
});
