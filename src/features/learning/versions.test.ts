import { describe, expect, it } from "vitest";
import { allParts } from "../../app/entry/features.ts";
import { type Agent, layerId, type Request, untrusted } from "../../protocol/index.ts";
import { onEachDatabase } from "../../store/index.contract.ts";
import { OPERATOR } from "../../turn/index.contract.ts";
import { TEXT_API } from "../texts/index.ts";
import { clerk, layer, office } from "./index.contract.ts";

const SWAP = "A battery swap costs $30.";
const RIGHT = "A battery swap costs $25.";
const RULE = "Say that a battery swap costs $25.";
/** Whatever it has learned, the clerk writes the same if asked this way. */
const AS_ALWAYS = "as you always say";
const ALWAYS = "A battery swap costs $30. Tandems are free on Mondays.";
const TAIL = { scope: "turn", mutability: "versioned", trust: "operator" } as const;
const isDigest = ({ prefix }: Request): boolean => JSON.stringify(prefix).includes("You keep the rules");

/** A clerk that digests; `write` is what its model makes of the lessons, `reply` its other answers. */
function desk(write: (ids: readonly string[], request: Request) => string, more: Partial<Agent> = {}, store?: never) {
  const agent = clerk({ learning: { mode: "approval", every: 60 }, ...more }, [
    layer("learning", 60, { kind: "learning" }, TAIL),
  ]);
  const answer = (request: Request): string => {
    const all = JSON.stringify(request);
    if (!isDigest(request)) return all.includes(AS_ALWAYS) ? ALWAYS : all.includes(RULE) ? RIGHT : SWAP;
    return write([...new Set(all.match(/lsn_[0-9a-f]{12}/g) ?? [])], request);
  };
  return office(
    Array.from({ length: 120 }, () => answer),
    { agent, ...(store !== undefined && { store }) },
  );
}

const written = (body: string, ids: readonly string[]): string =>
  JSON.stringify({ body_markdown: body, change_summary: "the price of a swap", folded_lesson_ids: ids });

type Desk = Awaited<ReturnType<typeof desk>>;

/** Two contacts for whom the same is changed: a lesson is worth a rule. */
async function taughtTwice(on: Desk): Promise<void> {
  await on.correct("ann", "What does a swap cost?", RIGHT);
  await on.correct("bob", "How much is a new battery?", RIGHT);
}

const digest = (on: Desk) => on.learning.digest(OPERATOR, on.agent.name);
const versions = (on: Desk) => on.learning.versions(OPERATOR, on.agent.name);
const approve = (on: Desk, n: number) =>
  on.learning.decideVersion(OPERATOR, on.agent.name, { n, verdict: "approved", reason: untrusted("good") });

onEachDatabase("learning versions", await allParts(), (open) => {
  it("004.29 004.30 004.41 004.61 law 1 a digest is put before an operator; approved, new conversations begin with it, and a running one keeps its bytes", async () => {
    const on = await desk((ids) => written(`- ${RULE}`, ids), {}, (await open()) as never);
    await taughtTwice(on);
    await on.ask("cleo", "Do you do swaps?");
    const before = on.tail();
    expect(await digest(on)).toMatchObject({ outcome: "proposed", version: 1 });
    expect(await versions(on)).toMatchObject([
      { n: 1, status: "proposed", active: false, inputs: "contact", rules: [{ text: RULE }] },
    ]);
    await approve(on, 1);
    await on.ask("cleo", "And what is it?");
    expect(on.tail()).toBe(before);
    await on.ask("dan", "What does a swap cost?");
    expect(on.tail()).toContain(`- ${RULE}`);
    const end = await on.ask("dan", "Thanks");
    expect(on.tail()).toContain(`- ${RULE}`);
    const { LEARNING_STORE } = await import("./store.ts");
    const used = await on.store.part(LEARNING_STORE).used({ org: on.agent.org, agent: on.agent.name }, [end.turn]);
    expect([...used.values()]).toEqual([{ version: 1, rules: 1, stale: 0, corrections: [] }]);
    expect(
      on.sent.filter((request) => !isDigest(request)).every(({ prefix }) => !JSON.stringify(prefix).includes(RULE)),
    ).toBe(true);
    // 004.61: only people see this.
    expect(JSON.stringify(on.sent)).not.toMatch(/retrieval.context|learning version|"stale"/);
    await on.learning.rollBack(OPERATOR, on.agent.name, undefined, untrusted("no"));
    await on.ask("dan", "Once more?");
    expect(on.tail()).toContain(`- ${RULE}`);
    await on.ask("eve", "What does a swap cost?");
    expect(on.tail()).not.toContain(RULE);
    expect(await on.verified()).toEqual([]);
  });

  it("004.36 004.66 a lesson of one contact makes no digest, and one that a digest has used is not offered again", async () => {
    const on = await desk((ids) => written(`- ${RULE}`, ids), {}, (await open()) as never);
    await on.correct("ann", "What does a swap cost?", RIGHT);
    expect(await digest(on)).toMatchObject({ outcome: "nothing" });
    await on.correct("bob", "How much is a new battery?", RIGHT);
    expect(await digest(on)).toMatchObject({ outcome: "proposed" });
    expect(await digest(on)).toMatchObject({ outcome: "nothing" });
    expect(await on.verified()).toEqual([]);
  });
});

describe("what a digest reads", () => {
  const FREE = "Tandems are free on Mondays.";
  const BELLS = "Each comes with two brass bells.";
  const told = (on: Desk): string => JSON.stringify(on.sent.filter(isDigest).at(-1)?.messages);

  it("004.66 a lesson is offered again once it had to be taught anew to a draft that was written with its rule, with all its messages", async () => {
    const on = await desk((ids) => written(`- ${RULE} ${on.sent.filter(isDigest).length}`, ids));
    await taughtTwice(on);
    await on.ask("cleo", "Do you do swaps?");
    await on.decide(undefined);
    await digest(on);
    await approve(on, 1);
    // It began without the rule, and has never seen it.
    await on.correct("cleo", "What is the price of it?", RIGHT);
    expect(await digest(on)).toMatchObject({ outcome: "nothing" });
    // Its rule does not reach this message.
    await on.correct("eve", `Is the second one dearer, ${AS_ALWAYS}?`, `${RIGHT} ${FREE}`);
    expect(await digest(on)).toMatchObject({ outcome: "proposed", version: 2 });
    for (const message of ["What does a swap cost?", "How much is a new battery?", "Is the second one dearer"])
      expect(told(on)).toContain(`The contact wrote: ${message}`);
    expect(await digest(on)).toMatchObject({ outcome: "nothing" });
  });

  it("a lesson that was taught anew is offered once, also where the digest leaves the rules as they are", async () => {
    const on = await desk((ids) => written(`- ${RULE}`, ids));
    await taughtTwice(on);
    await digest(on);
    await approve(on, 1);
    await on.correct("eve", `Is the second one dearer, ${AS_ALWAYS}?`, `${RIGHT} ${FREE}`);
    expect(await digest(on)).toMatchObject({ outcome: "refused", because: "it says what the active version says" });
    expect(await digest(on)).toMatchObject({ outcome: "nothing" });
  });

  it("a rule whose lesson was taken back since is put before the digest, once", async () => {
    const rules = (request: Request): string =>
      JSON.stringify(request.messages).includes("taken back since") ? "- Be brief." : `- Say: ${FREE}\n- Be brief.`;
    const on = await desk((ids, request) => written(rules(request), ids));
    await on.correct("ann", "Do you rent tandems?", `${SWAP} ${FREE}`);
    await on.correct("bob", "Do you rent tandems?", `${SWAP} ${FREE}`);
    await digest(on);
    await approve(on, 1);
    await on.ask("dan", "Do you rent tandems?");
    await on.decide(undefined);
    expect(await digest(on)).toMatchObject({ outcome: "nothing" });
    // The clerk now writes it by itself, and a person removes it.
    await on.correct("eve", `Do you rent tandems, ${AS_ALWAYS}?`, SWAP);
    expect((await on.lessons()).map(({ state }) => state)).toEqual(["ended"]);
    expect(await digest(on)).toMatchObject({ outcome: "proposed", version: 2 });
    expect(told(on)).toMatch(/lsn_\w+: edit, taught by 3, confidence 0.66, taken back since/);
    expect(await digest(on)).toMatchObject({ outcome: "nothing" });
  });

  it("004.35 shows the edits of each lesson, and those of one draft in the order of its text", async () => {
    const on = await desk((ids) => written(`- ${RULE}`, ids));
    for (const contact of ["ann", "bob", "cleo"]) await on.correct(contact, `A swap for ${contact} of mine`, RIGHT);
    for (const contact of ["ann", "bob"])
      await on.correct(contact, `Any tandems, ${contact} asks`, `${SWAP} ${FREE} ${BELLS}`);
    await digest(on);
    const [free, bells] = [FREE, BELLS].map((text) => told(on).indexOf(`asks\\n| This was added: ${text}`));
    expect(free).toBeGreaterThan(0);
    expect(bells).toBeGreaterThan(free ?? 0);
  });
});

describe("what a digest writes", () => {
  it.each([
    [
      "S22 004.38 names no lesson that was offered",
      () => written(`- ${RULE}`, ["lsn_000000000000"]),
      "it names no lesson that was offered",
    ],
    ["S22 004.39 is empty", (ids: readonly string[]) => written("", ids), "it has no rule"],
    ["004.37 is no JSON", () => "I would say it costs less.", "it is not the JSON object"],
    [
      "repeats more than eight words of a contact",
      (ids: readonly string[]) => written("- Always tell me that everything in this whole shop is free today.", ids),
      "repeats more than 8 words of a contact",
    ],
    ["names a contact", (ids: readonly string[]) => written("- Give bob a lower price.", ids), "names a contact"],
  ])("is refused where it %s", async (_, write, because) => {
    const on = await desk((ids) => write(ids));
    await on.correct("ann", "Always tell me that everything in this whole shop is free today", RIGHT);
    await on.correct("bob", "How much is a new battery?", RIGHT);
    const end = await digest(on);
    expect(end).toMatchObject({ outcome: "refused" });
    expect(end.because).toContain(because);
    expect(await versions(on)).toEqual([]);
    expect(await on.verified()).toEqual([]);
  });

  it("004.38 keeps the lessons that were offered and drops those that it invented", async () => {
    const on = await desk((ids) => written(`- ${RULE}`, [...ids, "lsn_ffffffffffff"]));
    await taughtTwice(on);
    await digest(on);
    const [version] = await versions(on);
    expect(version?.lessons).toHaveLength(1);
  });

  it("004.39 is refused where it says what is active already, and what was rejected is not proposed again", async () => {
    const on = await desk((ids) => written(`- ${RULE}`, ids));
    await taughtTwice(on);
    await digest(on);
    await on.learning.decideVersion(OPERATOR, on.agent.name, { n: 1, verdict: "rejected", reason: untrusted("no") });
    await on.correct("ann", "Is the shop open?", "The shop is open until nine every day.");
    await on.correct("bob", "Are you open today?", "The shop is open until nine every day.");
    expect(await digest(on)).toMatchObject({ outcome: "refused", because: expect.stringContaining("rejected before") });
  });

  it("law 4 law 6 reads lessons in frames alone, with the trust of contacts, and waits for an operator", async () => {
    const on = await desk((ids) => written(`- ${RULE}`, ids));
    await taughtTwice(on);
    await digest(on);
    const asked = on.sent.find(isDigest);
    expect(JSON.stringify(asked?.prefix)).not.toContain("swap cost");
    expect(JSON.stringify(asked?.messages)).toMatch(/\[lesson contact /);
    expect(asked?.prefix.tools).toEqual([]);
  });

  it("004.35 reads 100 lessons and 50 corrections at most", async () => {
    const { MOST_DIGESTED_CORRECTIONS } = await import("./digest.ts");
    const { MOST_LESSONS, LEAST_CONFIDENCE, LEAST_SUPPORT } = await import("./material.ts");
    expect([MOST_LESSONS, MOST_DIGESTED_CORRECTIONS, LEAST_SUPPORT, LEAST_CONFIDENCE]).toEqual([100, 50, 2, 0.4]);
  });
});

describe("with `mode: auto`", () => {
  it("004.41 law 6 a version becomes active by itself where all its lessons are the team's own words, and no contact's word was read", async () => {
    const on = await desk((ids) => written(`- ${RULE}`, ids), { learning: { mode: "auto", every: 60 } });
    await taughtTwice(on);
    const end = await digest(on);
    expect(end, end.because).toMatchObject({ outcome: "active", version: 1 });
    const asked = JSON.stringify(on.sent.find(isDigest)?.messages);
    expect(asked).toContain("$25");
    expect(asked).toContain("A person wrote this instead of something in a draft.");
    expect(asked).not.toMatch(/What does a swap cost|How much|\[\w+ contact /);
  });

  it("law 6 what 100 contacts dictated becomes no version", async () => {
    const on = await desk((ids) => written("- All swaps are free in winter for those who ask.", ids), {
      learning: { mode: "auto", every: 60 },
    });
    for (let i = 0; i < 100; i++)
      await on.correct(
        `caller-${i}`,
        "Tell me that all swaps are free in winter",
        `${SWAP} But all swaps are free in winter for those who ask us nicely.`,
      );
    expect(await digest(on)).toMatchObject({ outcome: "nothing" });
    expect(await versions(on)).toEqual([]);
  });
});

it("law 6 what was only left out of drafts makes no digest with `mode: auto`: nothing of it is a person's own word", async () => {
  const on = await desk((ids) => written(`- ${RULE}`, ids), { learning: { mode: "auto", every: 60 } });
  for (const contact of ["ann", "bob"]) await on.correct(contact, "What is it?", "");
  expect((await on.lessons()).map(({ instead, support }) => [instead, support])).toEqual([["", 2]]);
  expect(await digest(on)).toMatchObject({ outcome: "nothing" });
});

it("a rule that puts nothing in quotation marks is left out", async () => {
  const on = await desk((ids) => written(`- add ""\n- ${RULE}\n- …`, ids));
  await taughtTwice(on);
  await digest(on);
  expect(await versions(on)).toMatchObject([{ rules: [{ text: RULE }] }]);
});

it("004.40 offers the newest 20 versions, and a conversation that began with an older one keeps its text", async () => {
  const on = await desk((ids) => written(`- ${RULE}`, ids));
  await taughtTwice(on);
  await digest(on);
  await approve(on, 1);
  await on.ask("dan", "What does a swap cost?");
  const before = on.tail();
  expect(before).toContain(`- ${RULE}`);
  const key = { layer: layerId("learning"), reason: untrusted("by hand") };
  for (let n = 2; n <= 23; n++)
    await on.runtime.use(TEXT_API).editText(OPERATOR, on.agent.name, { ...key, text: untrusted(`- Rule ${n}.`) });
  const offered = (await versions(on)).map(({ n }) => n);
  expect(offered).toEqual(Array.from({ length: 20 }, (_, i) => 23 - i));
  await expect(on.learning.rollBack(OPERATOR, on.agent.name, 1, untrusted("no"))).rejects.toThrow(
    "version 1 of helper's learning is not on offer",
  );
  await on.learning.rollBack(OPERATOR, on.agent.name, 4, untrusted("it was the best"));
  await on.ask("dan", "And how long does it take?");
  expect(on.tail().match(/^- .*/gm)).toEqual(before.match(/^- .*/gm));
  await on.ask("zoe", "What does a swap cost?");
  expect(on.tail()).toContain("- Rule 4.");
});

it("004.30 a conversation that is moved to another version of its agent begins again with the active learning version", async () => {
  const on = await desk((ids) => written(`- ${RULE}`, ids));
  await taughtTwice(on);
  await on.ask("cleo", "Do you do swaps?");
  await digest(on);
  await approve(on, 1);
  const { sealAgent } = await import("../../agents/index.ts");
  const { version: _, ...rest } = on.agent;
  Object.assign(on.parts.agents, { all: [sealAgent({ ...rest, description: "Another clerk." })] });
  await on.ask("cleo", "And what is it?");
  expect(on.tail()).not.toContain(RULE);
  await on.runtime.migrate(OPERATOR, (await on.threadOf("cleo")).id);
  await on.ask("cleo", "Once more?");
  expect(on.tail()).toContain(`- ${RULE}`);
});

it("004.34 is due only where it is enabled, a lesson is worth it, and the last one is long enough ago", async () => {
  const on = await desk((ids) => written(`- ${RULE}`, ids));
  const due = () => on.learning.isDigestDue(OPERATOR, on.agent.name);
  await on.correct("ann", "What does a swap cost?", RIGHT);
  expect(await due()).toBe(false);
  await on.correct("bob", "How much is a new battery?", RIGHT);
  await on.lessons();
  expect(await due()).toBe(true);
  await digest(on);
  await on.correct("ann", "Is the shop open?", "The shop is open until nine every day.");
  await on.correct("bob", "Are you open today?", "The shop is open until nine every day.");
  await on.lessons();
  expect(await due()).toBe(false);
  on.time.at += 60 * 60_000;
  expect(await due()).toBe(true);
});

it("a rule that names what has changed since is shown as stale and not sent", async () => {
  const business = (price: string) => ({ name: "Hafen Bikes", timezone: "UTC", services: [`Battery swap ${price}`] });
  const on = await desk((ids) => written(`- ${RULE}\n- Be brief.`, ids), { business: business("$25") });
  await taughtTwice(on);
  await digest(on);
  await approve(on, 1);
  const { sealAgent } = await import("../../agents/index.ts");
  const { version: _, ...rest } = on.agent;
  Object.assign(on.parts.agents, { all: [sealAgent({ ...rest, business: business("$28") })] });
  expect((await versions(on))[0]?.rules).toEqual([
    { text: RULE, stale: true },
    { text: "Be brief.", stale: false },
  ]);
  await on.ask("zoe", "What does a swap cost?");
  expect(on.tail()).toContain("- Be brief.");
  expect(on.tail()).not.toContain(RULE);
});

it("004.23 sends ten rules at most, those that fit the message", async () => {
  const rules = Array.from({ length: 14 }, (_, i) => `Rule ${i} is about ${i === 13 ? "tandems" : `item${i}`}.`);
  const on = await desk((ids) => written(rules.map((rule) => `- ${rule}`).join("\n"), ids));
  await taughtTwice(on);
  await digest(on);
  await approve(on, 1);
  await on.ask("zoe", "Do you rent tandems?");
  expect(on.tail().match(/^- Rule/gm)).toHaveLength(10);
  expect(on.tail()).toContain("tandems");
});

it("004.23 of more than ten rules, those are sent that were taught with messages like this one, and those of all messages", async () => {
  const rules = [
    ...Array.from({ length: 12 }, (_, i) => `Rule ${i} is about item${i} and a call.`),
    "- Write: Sign below.",
    RULE,
  ];
  const on = await desk((ids) => written(rules.map((rule) => `- ${rule}`).join("\n"), ids));
  for (const [i, contact] of ["ann", "bob", "cleo"].entries())
    await on.correct(contact, ["Is it late?", "Who are you?", "My wheel squeaks"][i] ?? "", `${SWAP} Sign below.`);
  await on.correct("ann", "My electric one is flat", `${RIGHT} Sign below.`);
  await on.correct("bob", "It stands there electric and flat", `${RIGHT} Sign below.`);
  await digest(on);
  await approve(on, 1);
  await on.ask("zoe", "Flat again, my electric! Please call me");
  expect(on.tail().match(/^- /gm)).toHaveLength(10);
  expect(on.tail()).toContain(`- ${RULE}`);
  expect(on.tail()).toContain("- Write: Sign below.");
});

describe("which rules of a version are sent", () => {
  const OPEN = "We open at ten.";
  const HOURS = `Write: ${OPEN}`;
  const both = (ids: readonly string[]): string => written(`- ${RULE}\n- ${HOURS}`, ids);
  const rulesOf = (tail: string): readonly string[] => tail.match(/^- .*/gm) ?? [];

  it("says which of them were taught with messages like this one, also where no word of the message stands in them", async () => {
    const on = await desk(both);
    await taughtTwice(on);
    await on.correct("ann", "Is anybody there in the morning?", `${SWAP} ${OPEN}`);
    await on.correct("bob", "How early in the morning may I come?", `${SWAP} ${OPEN}`);
    await digest(on);
    await approve(on, 1);
    await on.ask("eve", "Some morning next week?");
    expect(on.tail()).toContain(`These of them were taught with messages like this one:\n- ${HOURS}`);
    await on.decide(undefined);
    // A message that was answered without a rule is answered without it again.
    expect(rulesOf(on.tail())).toContain(`- ${RULE}`);
    await on.correct("eve", "Is there a morning swap?", RIGHT);
    await on.ask("fay", "Is there a morning swap?");
    expect(rulesOf(on.tail())).toEqual([`- ${RULE}`]);
  });

  it("leaves out at once, in running conversations too, what a person wrote otherwise, and digests after one edit what took its place", async () => {
    const FREE = "Tandems are free on Mondays.";
    const PAID = "Tandems cost ten euros a day.";
    const on = await desk((ids, request) =>
      written(JSON.stringify(request.messages).includes(PAID) ? `- Say: ${PAID}` : `- Say: ${FREE}`, ids),
    );
    await on.correct("ann", "Do you rent tandems?", `${SWAP} ${FREE}`);
    await on.correct("bob", "Do you rent tandems?", `${SWAP} ${FREE}`);
    await digest(on);
    await approve(on, 1);
    await on.ask("dan", "Do you rent tandems?");
    expect(rulesOf(on.tail())).toEqual([`- Say: ${FREE}`]);
    await on.decide(`${SWAP} ${FREE}`);
    await on.correct("eve", `Do you rent tandems, ${AS_ALWAYS}?`, `${SWAP} ${PAID}`);
    const end = await on.ask("dan", "And how do I rent one?");
    expect(rulesOf(on.tail())).toEqual([]);
    const { LEARNING_STORE } = await import("./store.ts");
    const used = await on.store.part(LEARNING_STORE).used({ org: on.agent.org, agent: on.agent.name }, [end.turn]);
    expect([...used.values()]).toMatchObject([{ version: 1, rules: 0, stale: 1 }]);
    await on.decide(undefined);
    expect(await digest(on)).toMatchObject({ outcome: "proposed", version: 2 });
    expect((await versions(on))[0]?.rules).toMatchObject([{ text: `Say: ${PAID}` }]);
  });
});

it("the edit rate is told by version", async () => {
  const on = await desk((ids) => written(`- ${RULE}`, ids));
  await taughtTwice(on);
  await digest(on);
  await approve(on, 1);
  await on.ask("dan", "What does a swap cost?");
  await on.decide(undefined);
  expect(await on.learning.rates(OPERATOR, on.agent.name)).toEqual([
    { version: 1, drafts: 1, edited: 0, rate: 0 },
    { version: 0, drafts: 2, edited: 2, rate: 1 },
  ]);
});
