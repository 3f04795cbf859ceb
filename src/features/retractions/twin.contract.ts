import type { ScriptedReply } from "../../models/index.ts";
import {
  canonicalJson,
  contactId,
  type DraftId,
  digestOf,
  draftId,
  type EventId,
  type Request,
  untrusted,
} from "../../protocol/index.ts";
import type { EVERYTHING } from "../../store/index.contract.ts";
import type { Store } from "../../store/index.ts";
import { collect, OPERATOR, ORG, sampleAgent } from "../../turn/index.contract.ts";
import { clerk, layer, office } from "../learning/index.contract.ts";
import { LEARNING_STORE } from "../learning/store.ts";
import { MEMORY_API } from "../memories/index.ts";
import { RETRACTION_API } from "./index.ts";

/** What happens in an office: contacts write, people decide, summaries and rules are made. */
export type Step =
  | { readonly do: "say"; readonly contact: string; readonly kind: "chat" | "save" | "price"; readonly pick: number }
  | { readonly do: "decide"; readonly of: number; readonly how: "edit" | "approve" | "discard"; readonly pick: number }
  | { readonly do: "note"; readonly contact: string; readonly pick: number; readonly over: number }
  | { readonly do: "forget"; readonly contact: string; readonly pick: number }
  | { readonly do: "dismiss"; readonly pick: number }
  | { readonly do: "digest" }
  | { readonly do: "sum"; readonly contact: string }
  | { readonly do: "pause" };

export const CONTACTS = ["ann", "bob", "cleo"];
const FACTS = ["Likes tea with milk.", "Rides a green bicycle.", "Lives near the harbour.", "Works on Fridays."];
const THINGS = ["a battery swap", "a new saddle", "wheel truing", "a full service"];

/** A word that appears in one message alone, and in all that only that message led to. */
export const canaryOf = (step: number): string => `zqx${step}wv`;

/** What the contact of a step writes, which says what the model should do. */
const saying = ({ kind, pick }: Extract<Step, { do: "say" }>, step: number): string => {
  const word = canaryOf(step);
  if (kind === "save")
    return pick % 3 === 0 ? `Remember ${word}: My word is ${word} for good.` : `Remember ${word}: ${FACTS[pick % 4]}`;
  if (kind === "price") return `Ref ${word}: what does ${THINGS[pick % 4]} cost?`;
  return `Hello there, my ref today is ${word} and I ride along the river.`;
};

const textsOf = ({ messages, tail }: Request): readonly string[] => [
  ...messages.flatMap(({ parts }) => parts.flatMap((part) => ("text" in part ? [part.text] : []))),
  ...tail.map(({ text }) => text),
];

/** The model's answers: each depends on this turn's message alone, as in a recording; summaries and rules on their sources. */
function answer(request: Request): string | ScriptedReply {
  if (JSON.stringify(request.prefix).includes("You keep the rules")) return digested(request);
  if (request.tail.some((part) => part.layer === "summary")) {
    const said = [
      ...new Set(
        textsOf(request)
          .join("\n")
          .match(/zqx\d+wv/g) ?? [],
      ),
    ].sort();
    return `They spoke of ${said.join(", ")}.`;
  }
  const last = request.messages.at(-1);
  const text = textsOf({ ...request, messages: last === undefined ? [] : [last], tail: [] }).join("\n");
  if (last?.role === "tool") return "It is noted.";
  const [, word = "", content] = /Remember (zqx\d+wv): (.+)/.exec(text) ?? [];
  if (content !== undefined) return { parts: [{ call: "memory_save", id: word, input: { content } }] };
  const [, ref, thing] = /Ref (zqx\d+wv): what does (.+) cost/.exec(text) ?? [];
  if (thing !== undefined) return `A customer pays 30 dollars for ${thing}. Your ref is ${ref}.`;
  return `Good to hear from you, ${/my ref today is (zqx\d+wv)/.exec(text)?.[1] ?? "friend"}.`;
}

/** Rules: the present ones, and what each lesson says. */
function digested(request: Request): string {
  const all = textsOf(request).join("\n").replace(/^\| /gm, "");
  const rules = [...all.matchAll(/^- (Say that .+)$/gm)].map(([, rule]) => rule ?? "");
  const taught = [...all.matchAll(/instead: (A customer pays \d+ dollars for [a-z ]+)/g)].map(
    ([, one]) => `Say that ${one}.`,
  );
  const ids = [...new Set(all.match(/lsn_[0-9a-f]{12}/g) ?? [])];
  const body = [...new Set([...rules, ...taught])]
    .sort()
    .map((rule) => `- ${rule}`)
    .join("\n");
  return JSON.stringify({ body_markdown: body, change_summary: "prices", folded_lesson_ids: ids });
}

const TAIL = { scope: "turn", mutability: "versioned", trust: "operator" } as const;
const LIVE = { scope: "turn", mutability: "live" } as const;
const MINUTE = 60_000;

export type Office = Awaited<ReturnType<typeof openOffice>>;

/** An office over a store, in which steps are played. */
export async function openOffice(store: Store, part: typeof EVERYTHING) {
  const agent = clerk(
    { learning: { mode: "approval", every: 60 }, tools: sampleAgent({}).tools.slice(0, 2), recall: "search" },
    [
      layer("learning", 60, { kind: "learning" }, TAIL),
      layer("recall", 65, { kind: "recall", limit: 5 }, { ...LIVE, trust: "contact" }),
    ],
  );
  const on = await office(
    Array.from({ length: 4_000 }, () => answer),
    { agent, store },
  );
  const begun = on.time.at;
  const memory = on.runtime.use(MEMORY_API);
  const scopeOf = (contact: string) => ({ org: ORG, agent: agent.name, contact: contactId(contact) });
  const events = new Map<number, EventId>();
  const drafts = new Map<number, DraftId>();
  let hours = 0;

  const known = async (contact: string, content: string) =>
    (await memory.memories(OPERATOR, scopeOf(contact), 500, { kinds: ["fact"] })).find(
      (one) => String(one.content) === content,
    );
  const approveNewest = async (): Promise<void> => {
    await on.learning.digest(OPERATOR, agent.name);
    for (const { n, status } of await on.learning.versions(OPERATOR, agent.name))
      if (status === "proposed")
        await on.learning.decideVersion(OPERATOR, agent.name, { n, verdict: "approved", reason: untrusted("good") });
  };
  const sumUp = (contact: string) => collect(memory.consolidate(OPERATOR, scopeOf(contact), {}));

  async function act(step: Step, i: number): Promise<void> {
    switch (step.do) {
      case "say": {
        const thread = await on.threadOf(step.contact);
        const text = saying(step, i);
        const [event] = await on.runtime.post(OPERATOR, thread, [
          {
            kind: "message",
            trust: "contact",
            channel: "test",
            content: [{ type: "text", text: untrusted(text) }],
            at: on.time.at,
          },
        ]);
        if (event !== undefined) events.set(i, event.id);
        const end = (await collect(on.runtime.run(OPERATOR, thread, { replyTo: "outbox" }))).at(-1);
        if (end?.type !== "done") throw new Error(`step ${i} ended as ${JSON.stringify(end)}`);
        const [open] = await on.drafts.newestDrafts(OPERATOR, { status: "open", limit: 1 });
        if (open !== undefined) drafts.set(i, draftId(open.id));
        return;
      }
      case "decide": {
        const id = drafts.get(step.of);
        const [open] = (await on.drafts.newestDrafts(OPERATOR, { status: "open", limit: 100 })).filter(
          (one) => one.id === id,
        );
        if (open === undefined) return;
        const edited = open.text.replace("30 dollars", `${20 + (step.pick % 3)} dollars`);
        const verdict =
          step.how === "edit"
            ? ({ verdict: "edited", text: edited } as const)
            : ({ verdict: step.how === "approve" ? "approved" : "discarded" } as const);
        await on.drafts.decideDraft(OPERATOR, draftId(open.id), verdict);
        return;
      }
      case "note": {
        const content = `${FACTS[step.pick % 4]}`;
        const over = await known(step.contact, `${FACTS[step.over % 4]}`);
        const supersedes = over !== undefined && String(over.content) !== content ? { supersedes: over.id } : {};
        await memory.remember(OPERATOR, scopeOf(step.contact), {
          content: untrusted(content),
          tags: ["noted"],
          ...supersedes,
        });
        return;
      }
      case "forget": {
        const one = await known(step.contact, `${FACTS[step.pick % 4]}`);
        if (one !== undefined) await memory.forget(OPERATOR, scopeOf(step.contact), one.id);
        return;
      }
      case "dismiss": {
        const open = (await on.lessons()).filter(
          // Whether a lesson is ended may depend on the retracted event; a person's decision may not.
          ({ state, instead }) => state !== "dismissed" && instead.includes(`${THINGS[step.pick % 4]}`),
        );
        for (const { id } of open) await on.learning.dismissLesson(OPERATOR, agent.name, id);
        return;
      }
      case "digest":
        return approveNewest();
      case "sum":
        await sumUp(step.contact);
        return;
      case "pause":
        hours++;
        return;
    }
  }

  /** Plays the steps, optionally without one: then everything that only that one led to is skipped. */
  async function play(steps: readonly Step[], without?: number): Promise<void> {
    for (const [i, step] of steps.entries()) {
      on.time.at = begun + hours * 60 * MINUTE + (i + 1) * MINUTE;
      if (i !== without) await act(step, i);
    }
  }

  /** What the next summary and the next digest make again, and an operator's decision. */
  async function settle(): Promise<void> {
    on.time.at += 48 * 60 * MINUTE;
    for (const contact of CONTACTS) await sumUp(contact);
    await on.learning.learnFromRecord(OPERATOR, agent.name);
    await approveNewest();
  }

  const retract = (step: number) => {
    const id = events.get(step);
    if (id === undefined) throw new Error(`step ${step} said nothing`);
    on.time.at += MINUTE;
    return on.runtime.use(RETRACTION_API).retract(OPERATOR, id, "a mistake");
  };

  /** All that is derived, without ids: those of the twin are others. */
  async function derived() {
    const labels = new Map<string, string>(
      [...events].flatMap(([step, id]) => [
        [id, `event ${step}`] as const,
        [`mem_${id.slice(4)}`, `event ${step}`] as const,
      ]),
    );
    const ofContact = async (contact: string) => {
      const scope = scopeOf(contact);
      const all = await memory.memories(OPERATOR, scope, 1_000, {
        kinds: ["fact", "block", "summary", "message"],
        superseded: true,
      } as never);
      const contents = new Map<string, string>(all.map(({ id, content }) => [id, String(content)]));
      const memories = all.map(
        ({ id: _, turn: __, sources = [], supersedes, supersededBy, session: ___, ...rest }) => ({
          ...rest,
          // The platform's additions to a message may have accompanied another one.
          sources: sources.flatMap((one) => labels.get(one) ?? contents.get(one) ?? []).sort(),
          ...(supersedes !== undefined && { supersedes: contents.get(supersedes) ?? "gone" }),
          ...(supersededBy !== undefined && { supersededBy: { at: supersededBy.at } }),
        }),
      );
      const thread = await on.threadOf(contact);
      const slots = (await on.runtime.slots(OPERATOR, thread.id)).map(({ kind, text, at }) => ({ kind, text, at }));
      await store.part(part).reindexed(scope);
      const found = await Promise.all(
        ["green bicycle", "tea", "what did the ref cost", "harbour on Fridays"].map(async (query) =>
          (await memory.searchMemories(OPERATOR, scope, { query, limit: 5 } as never)).map((hit) =>
            String(hit.content),
          ),
        ),
      );
      const stats = await memory.memoryStats(OPERATOR, scope);
      return { memories: sorted(memories), slots, found, stats };
    };
    const contacts = [];
    for (const contact of CONTACTS) contacts.push(await ofContact(contact));
    const lessons = (await on.lessons()).map(({ id: _, threads: __, contacts: of, ...rest }) => ({
      ...rest,
      contacts: [...of].sort(),
    }));
    const versions = await on.learning.versions(OPERATOR, agent.name);
    const open = await on.drafts.newestDrafts(OPERATOR, { status: "open", limit: 100 });
    return {
      contacts,
      lessons: sorted(lessons),
      rules: versions
        .filter(({ active }) => active)
        .flatMap(({ rules }) => rules.map(({ text }) => text))
        .sort(),
      proposals: versions.filter(({ status }) => status === "proposed").length,
      drafts: sorted(open.map(({ text, at, scope }) => ({ text, at, contact: scope.contact }))),
    };
  }

  /** One more message of each contact, and the request for it. */
  async function nextRequests(): Promise<string> {
    const from = on.sent.length;
    for (const contact of CONTACTS) {
      on.time.at += MINUTE;
      await on.ask(contact, "Is my ref still there, and what does a battery swap cost along the river?");
    }
    return JSON.stringify(on.sent.slice(from));
  }

  return {
    ...on,
    events,
    play,
    settle,
    retract,
    derived,
    nextRequests,
    everything: () => store.part(part).everything(ORG),
    kept: store.part(LEARNING_STORE),
  };
}

function sorted<T>(rows: readonly T[]): readonly T[] {
  const keyOf = (row: T): string => canonicalJson(JSON.parse(JSON.stringify(row)));
  return rows.toSorted((a, b) => (keyOf(a) < keyOf(b) ? -1 : 1));
}

export const digestOfState = (state: unknown): string => digestOf(canonicalJson(JSON.parse(JSON.stringify(state))));

/** Random steps from a seed. */
export function randomSteps(seed: number, length: number): readonly Step[] {
  let state = seed * 2_654_435_761 + 1;
  const below = (n: number): number => {
    state = (Math.imul(state ^ (state >>> 15), 2_246_822_519) + 0x9e3779b9) | 0;
    return ((state ^ (state >>> 13)) >>> 0) % n;
  };
  const contact = (): string => CONTACTS[below(CONTACTS.length)] ?? "ann";
  const steps: Step[] = [];
  for (let i = 0; i < length; i++) {
    const chance = below(20);
    const pick = below(12);
    if (chance < 4) steps.push({ do: "say", contact: contact(), kind: "save", pick });
    else if (chance < 6) steps.push({ do: "say", contact: contact(), kind: "chat", pick });
    else if (chance < 9) {
      steps.push({ do: "say", contact: contact(), kind: "price", pick });
      if (below(4) > 0)
        steps.push({
          do: "decide",
          of: steps.length - 1,
          how: below(5) > 0 ? "edit" : below(2) > 0 ? "approve" : "discard",
          pick,
        });
    } else if (chance < 12) steps.push({ do: "note", contact: contact(), pick, over: below(12) });
    else if (chance < 13) steps.push({ do: "forget", contact: contact(), pick });
    else if (chance < 14) steps.push({ do: "dismiss", pick });
    else if (chance < 16) steps.push({ do: "digest" });
    else if (chance < 18) steps.push({ do: "sum", contact: contact() });
    else steps.push({ do: "pause" });
  }
  return steps;
}

/** The differences between a run in which one step was retracted and a run without that step: there must be none. */
export async function twins(
  open: () => Promise<Store>,
  part: typeof EVERYTHING,
  steps: readonly Step[],
  retracted: number,
) {
  const [here, there] = [await openOffice(await open(), part), await openOffice(await open(), part)];
  await here.play(steps);
  await here.retract(retracted);
  await there.play(steps, retracted);
  await here.settle();
  await there.settle();
  const [is, would] = [await here.derived(), await there.derived()];
  const canary = canaryOf(retracted);
  const next = await here.nextRequests();
  const problems = await here.verified();
  const stored = await here.everything();
  await here.store.close();
  await there.store.close();
  return {
    is,
    would,
    isSame: digestOfState(is) === digestOfState(would),
    inRecord: stored.includes(canary),
    where: stored.split("\n").filter((line) => line.includes(canary)),
    inRequests: next.includes(canary),
    problems,
  };
}
