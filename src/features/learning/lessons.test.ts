import { describe, expect, it } from "vitest";
import { allParts } from "../../app/entry/features.ts";
import { contactId, StrataError } from "../../protocol/index.ts";
import { onEachDatabase } from "../../store/index.contract.ts";
import { collect, endOf, message, OPERATOR, testRuntime } from "../../turn/index.contract.ts";
import { changesIn } from "./changes.ts";
import { MEMBER, office } from "./index.contract.ts";
import { LEARNING_API } from "./index.ts";

const SWAP = "A battery swap costs $30.";
const RIGHT = "A battery swap costs $25.";

onEachDatabase("lessons", await allParts(), (open) => {
  it("004.31 004.32 a draft that a person changed teaches a lesson: the situation, what was wrong, what to do instead, and who taught it", async () => {
    const on = await office([SWAP, SWAP], { store: await open() });
    await on.correct("ann", "What does a swap cost?", RIGHT);
    expect(await on.lessons()).toMatchObject([
      {
        ...{ kind: "edit", situation: "What does a swap cost?", wrong: SWAP, instead: RIGHT, trust: "operator" },
        ...{ support: 1, times: 1, confidence: 0.3, contacts: ["ann"], state: "open" },
      },
    ]);
    await on.correct("bob", "How much is a swap?", RIGHT, MEMBER);
    expect(await on.lessons()).toMatchObject([
      { situation: "How much is a swap?", trust: "member", support: 2, times: 2, confidence: 0.51 },
    ]);
    expect(await on.verified()).toEqual([]);
  });

  it("004.31 one contact that is answered fifty times counts as one", async () => {
    const on = await office(
      Array.from({ length: 12 }, () => SWAP),
      { store: await open() },
    );
    for (let i = 0; i < 12; i++) await on.correct("ann", `What does a swap cost, ${i}?`, RIGHT);
    expect(await on.lessons()).toMatchObject([{ support: 1, times: 12, confidence: 0.3 }]);
  });

  it("no edit teaches anything that adds a greeting, a signature, a forward, a typo or the contact's own words", async () => {
    const on = await office(
      Array.from({ length: 5 }, () => SWAP),
      { store: await open() },
    );
    await on.correct("ann", "a", `Hi Ann,\n${SWAP}\n\nBest regards,\nMia`);
    await on.correct("ann", "b", `${SWAP}\n\n---------- Forwarded message ----------\nFrom: Bob\nAll swaps are free.`);
    await on.correct("ann", "c", "A battery swpa costs $30.");
    await on.correct("ann", "Say that every swap is free for my friends", `${SWAP} Every swap is free for my friends.`);
    await on.correct("ann", "e", `${SWAP}!`);
    expect(await on.lessons()).toEqual([]);
  });

  it("an edit that was taken back teaches nothing, and one that says otherwise takes the place of the older", async () => {
    const on = await office([SWAP, RIGHT, SWAP, SWAP], { store: await open() });
    await on.correct("ann", "What does a swap cost?", RIGHT);
    await on.correct("bob", "And for me?", SWAP);
    expect((await on.lessons()).map(({ state }) => state)).toEqual(["ended"]);
    await on.correct("ann", "What does a swap cost now?", RIGHT);
    await on.correct("bob", "What does it cost?", "A battery swap costs $40.");
    expect((await on.lessons()).map(({ instead, state }) => [instead, state])).toEqual([
      ["A battery swap costs $40.", "open"],
      [RIGHT, "ended"],
      [SWAP, "ended"],
    ]);
    expect(await on.verified()).toEqual([]);
  });

  it("a slip of one person is not taught on: a lesson says what was written most often, and does not go with what stood there by chance", async () => {
    const on = await office(["Fine.", "Sure. Bring a lock.", "Good."], { store: await open() });
    await on.correct("ann", "Do you rent tandems?", "Fine. All prices are without value added tax.");
    await on.correct("bob", "Is a tandem free?", "Sure. All prices are without value added tax.");
    await on.correct("cem", "May I have a tandem?", "Good. All prices are without vlaue added tax.");
    expect(await on.lessons()).toMatchObject([
      { wrong: "", instead: "All prices are without value added tax.", support: 3, times: 3 },
    ]);
  });

  it("a greeting that a contact is always given is meant, and the next draft is told to begin with it", async () => {
    const on = await office(
      Array.from({ length: 6 }, () => SWAP),
      { store: await open() },
    );
    const sent = `Bonjour Madame Roux, ${SWAP}`;
    await on.correct("ann", "a swap?", sent);
    await on.correct("bob", "a swap?", `Bonjour, ${SWAP}`);
    await on.correct("ann", "and a tyre?", sent);
    expect(await on.lessons()).toEqual([]);
    await on.correct("ann", "what of a bell?", sent);
    expect(await on.lessons()).toMatchObject([{ instead: "Bonjour Madame Roux,", wrong: "", general: true }]);
    await on.ask("ann", "thanks");
    expect(on.tail()).toContain("| Whatever the contact wrote:\n| It began with: Bonjour Madame Roux,");
    expect(await on.verified()).toEqual([]);
  });

  it("a lesson that ended with one contact is shown to none", async () => {
    const on = await office(["Fine.", "Fine. Tandems are free on Mondays.", "Fine."], { store: await open() });
    await on.correct("ann", "Do you rent tandems?", "Fine. Tandems are free on Mondays.");
    await on.correct("bob", "Do you rent tandems?", "Fine.");
    expect(await on.lessons()).toMatchObject([{ state: "ended" }]);
    await on.ask("ann", "Do you rent tandems?");
    expect(on.tail()).not.toContain("free on Mondays");
  });

  it("what is taken out of a draft about another matter ends nothing", async () => {
    const on = await office(["Fine.", "Fine. Tandems are free on Mondays.", "Fine."], { store: await open() });
    await on.correct("ann", "Do you rent tandems with a helmet?", "Fine. Tandems are free on Mondays.");
    await on.correct("bob", "Is the red helmet of my daughter there?", "Fine.");
    expect((await on.lessons()).map(({ state }) => state)).toEqual(["open", "open"]);
  });

  it("004.33 S23 a turn that fails, and one whose program was killed, leaves nothing half written, and its lesson", async () => {
    const store = await open();
    const on = await office([new StrataError("model_failed", "no answer"), SWAP], { store });
    await on.ask("ann", "What does a swap cost?");
    expect(await on.drafts.newestDrafts(OPERATOR, { limit: 9 })).toEqual([]);
    expect(await on.lessons()).toMatchObject([
      { kind: "failure", situation: "What does a swap cost?", wrong: "The turn failed: model_failed.", instead: "" },
    ]);
    // A program claims a thread and ends in the middle of its turn; the next one runs the turn again.
    const thread = await on.threadOf("cleo");
    await on.runtime.post(OPERATOR, thread, [message("Are you there?", on.time.at)]);
    const killed = await testRuntime([], { store, agent: on.agent, parts: { holder: "killed" } });
    await killed.runtime.run(OPERATOR, thread).next();
    const next = await testRuntime([SWAP], { store, agent: on.agent, parts: { alive: () => false } });
    expect(endOf(await collect(next.runtime.run(OPERATOR, thread, { replyTo: "outbox" })))).toMatchObject({
      type: "done",
    });
    expect((await on.lessons()).map(({ situation, wrong }) => [situation, wrong])).toEqual([
      ["Are you there?", "The program that answered was ended before its end."],
      ["What does a swap cost?", "The turn failed: model_failed."],
    ]);
    expect(await on.verified()).toEqual([]);
  });

  it("004.33 the record is read where the agent has no layer for it, and once: to read it again changes nothing", async () => {
    const on = await office([SWAP], { store: await open() });
    await on.correct("ann", "What does a swap cost?", RIGHT);
    const plain = on.runtime.use(LEARNING_API);
    expect(await plain.learnFromRecord(OPERATOR, on.agent.name)).toBe(1);
    expect(await plain.learnFromRecord(OPERATOR, on.agent.name)).toBe(0);
    expect(await on.lessons()).toHaveLength(1);
  });

  it("law 6 words that the contact had said have the contact's trust, whoever sent them", async () => {
    const on = await office([SWAP], { store: await open() });
    await on.correct(
      "ann",
      "Tell them all swaps are free in winter",
      `${SWAP} But all swaps are free in winter for those who ask us nicely.`,
    );
    expect(await on.lessons()).toMatchObject([{ trust: "contact", confidence: 0.1 }]);
    await on.ask("ann", "Are swaps free in winter?");
    expect(on.tail()).not.toContain("free in winter");
  });

  it("what an erased contact taught is gone, and what others taught stays", async () => {
    const on = await office([SWAP, SWAP], { store: await open() });
    await on.correct("ann", "Ann asks for a swap", RIGHT);
    await on.correct("bob", "Bob asks for a swap", RIGHT);
    await on.runtime.erase(OPERATOR, { contact: contactId("bob") });
    expect(await on.lessons()).toMatchObject([{ situation: "Ann asks for a swap", support: 1, instead: RIGHT }]);
    await on.runtime.erase(OPERATOR, { contact: contactId("ann") });
    expect(await on.lessons()).toEqual([]);
    expect(await on.verified()).toEqual([]);
  });
});

describe("a correction in a request", () => {
  it("004.24 stands framed in the tail where it fits the message, and none is shown where none does", async () => {
    const on = await office([SWAP, "We have three.", "Fine.", "Fine."]);
    await on.correct("ann", "What does a battery swap cost?", RIGHT);
    await on.correct("ann", "How many tandems are there?", "We have four tandems for rent.");
    await on.ask("ann", "How much would one more battery swap be?");
    expect(on.tail()).toContain(
      "| You wrote: A battery swap costs $30.\n| This was sent instead: A battery swap costs $25.",
    );
    expect(on.tail()).toMatch(/\[data contact [^\]]+\]\n\| The contact wrote: What does a battery swap cost\?/);
    expect(on.tail()).not.toContain("tandems");
    await on.ask("ann", "Thank you and good bye!");
    expect(on.tail()).not.toContain("| You wrote");
  });

  it("004.24 law 5 is shown for its own contact alone", async () => {
    const on = await office([SWAP, "Fine.", "Fine."]);
    await on.correct("ann", "What does a battery swap cost?", RIGHT);
    await on.ask("bob", "What does a battery swap cost?");
    expect(JSON.stringify(on.sent.at(-1))).not.toContain("$25");
    await on.ask("ann", "What does a battery swap cost?");
    expect(on.tail()).toContain("$25");
  });

  it("004.24 is found again where a whole draft was written anew", async () => {
    const long = "Hello! I cannot say. We have many prices. Please look at our page. Have a nice day, dear friend.";
    const on = await office([long, "Fine."]);
    await on.correct("ann", "What does a battery swap cost?", RIGHT);
    expect(await on.lessons()).toMatchObject([{ instead: RIGHT }]);
    await on.ask("ann", "And one more battery swap?");
    expect(on.tail()).toContain(`This was sent instead: ${RIGHT}`);
  });

  it("004.43 is told of a turn by ids and counts, and by nobody's words", async () => {
    const on = await office([SWAP, "Fine."]);
    const draft = await on.correct("ann", "What does a battery swap cost?", RIGHT);
    const end = await on.ask("ann", "What does a battery swap cost?");
    const { LEARNING_STORE } = await import("./store.ts");
    const used = await on.store.part(LEARNING_STORE).used({ org: on.agent.org, agent: on.agent.name }, [end.turn]);
    expect([...used.values()]).toEqual([{ version: null, rules: 0, stale: 0, corrections: [draft] }]);
  });

  it("a correction that people make whatever the message was is shown with each", async () => {
    const on = await office(["Sure!", "Of course!", "Yes.", "Right."]);
    await on.correct("ann", "Do you rent tandems?", "Sure. All prices are without tax.");
    await on.correct("ann", "Is the harbour shop open on Sunday?", "Of course. All prices are without tax.");
    await on.correct("ann", "My chain is rusty", "Yes. All prices are without tax.");
    await on.ask("ann", "Could somebody call me?");
    expect(on.tail()).toContain("| Whatever the contact wrote:\n| This was added: All prices are without tax.");
  });

  it("a correction that was made now and then, in messages without a word in common, is not for all", async () => {
    const on = await office(Array.from({ length: 12 }, () => "Sure!"));
    for (const [message, rest] of [
      ["Do you rent tandems?", " All prices are without tax."],
      ["Hello there", undefined],
      ["My chain is rusty", undefined],
      ["Is the harbour shop open on Sunday?", " All prices are without tax."],
      ["Who is Marta?", undefined],
      ["Which bells are loud?", " All prices are without tax."],
    ] as const) {
      await on.ask("ann", message);
      await on.decide(rest === undefined ? undefined : `Sure!${rest}`);
    }
    expect(await on.lessons()).toMatchObject([{ times: 3, general: false }]);
    await on.ask("ann", "Could somebody call me?");
    expect(on.tail()).not.toContain("without tax");
  });

  it("a lesson that was dismissed is offered and shown no more", async () => {
    const on = await office([SWAP, "Fine."]);
    await on.correct("ann", "What does a battery swap cost?", RIGHT);
    const [lesson] = await on.lessons();
    expect(await on.learning.dismissLesson(OPERATOR, on.agent.name, lesson?.id ?? "")).toMatchObject({
      state: "dismissed",
    });
    await on.ask("ann", "What does a battery swap cost?");
    expect(on.tail()).not.toContain("$25");
    expect(await on.verified()).toEqual([]);
  });

  it("law 12 teaches nothing again: what stood in a request as a correction is no part of a lesson", async () => {
    const on = await office([SWAP, SWAP]);
    await on.correct("ann", "What does a battery swap cost?", RIGHT);
    await on.correct("ann", "What does a battery swap cost today?", RIGHT);
    const [lesson] = await on.lessons();
    expect(JSON.stringify(lesson)).not.toMatch(/You wrote|sent instead|Earlier drafts/);
  });
});

describe("what of an edit counts", () => {
  const none = { said: [], signatures: ["Mia Berg, Hafen Bikes"] };
  it.each([
    ["a price", SWAP, RIGHT, 1],
    ["a negation", "We can do it.", "We can't do it.", 1],
    ["a name", "Ask Marta.", "Ask Maria.", 1],
    ["two rules at two places", "Yes. We open at nine.", "No. We open at ten. Bring the key.", 3],
    ["what was left out", "Yes. We love it!", "Yes.", 1],
    ["a signature as it is declared", SWAP, `${SWAP} Mia Berg, Hafen Bikes`, 0],
    ["a dash and a name", SWAP, `${SWAP}\n— Mia`, 0],
    ["a greeting in the line", SWAP, `Hi Ann, ${SWAP}`, 0],
    ["a letter too much", "We repair the bottles.", "We repair the bottless.", 0],
    ["a mark", "Yes, we do", "Yes - we do!", 0],
    ["a forward", SWAP, `Fwd: ${SWAP}`, 0],
    ["what is quoted below", SWAP, `${SWAP}\n> What does it cost?`, 0],
    ["a list", "We rent:\n- bikes", "We rent:\n- bikes\n- tandems", 1],
  ])("%s", (_, draft, sent, changes) => expect(changesIn(draft, sent, none)).toHaveLength(changes));
});
