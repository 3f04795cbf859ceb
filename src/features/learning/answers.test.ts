import { expect, it } from "vitest";
import { allParts } from "../../app/entry/features.ts";
import { type ApprovalId, contactId, type Request, toolName, untrusted } from "../../protocol/index.ts";
import { onEachDatabase } from "../../store/index.contract.ts";
import type { Store } from "../../store/index.ts";
import { OPERATOR } from "../../turn/index.contract.ts";
import { toolset } from "../../turn/tools/index.ts";
import { AGENT_API, attentionLines } from "../agents/index.ts";
import { ESCALATION_API, FEATURE } from "../approvals/index.ts";
import { clerk, layer, MEMBER, office } from "./index.contract.ts";

const QUESTION = "Does a battery swap include the old battery?";
const ANSWER = "No, the old battery stays with us.";
/** What the agent asks the team of other messages. */
const ASKS: ReadonlyMap<string, string> = new Map([
  ["Is there anything off?", "May Max have ten percent off?"],
  ["My bill is high.", "Can Max get ten percent off?"],
  ["May I pay in June?", "May customers pay in June?"],
  ["I need more time.", "May Max have ten more days?"],
  ["I only have cheques.", "Do customers pay by cheque?"],
  ["Here is my invoice.", "Is a cheque fine for an invoice that customers pay?"],
]);
const isDigest = ({ prefix }: Request): boolean => JSON.stringify(prefix).includes("You keep the rules");

/** A clerk that asks the team about every message; a digest makes one rule from all lessons. */
async function asking(store: Store, mode: "approval" | "auto" = "approval") {
  const agent = clerk({ tools: [toolName("escalate")], learning: { mode, every: 60 } }, [
    layer("learning", 60, { kind: "learning" }, { scope: "turn", mutability: "versioned", trust: "operator" }),
  ]);
  const answer = (request: Request) => {
    const all = JSON.stringify(request);
    const ids = [...new Set(all.match(/lsn_[0-9a-f]{12}/g) ?? [])];
    if (isDigest(request))
      return JSON.stringify({ body_markdown: "- Say that it stays.", change_summary: "", folded_lesson_ids: ids });
    const last = JSON.stringify(request.messages.at(-1));
    const question = [...ASKS].find(([message]) => last.includes(message))?.[1] ?? QUESTION;
    if (last.includes("What is done with")) return "We throw the old battery away.";
    return last.includes("A person of the team has your question")
      ? "I am asking the team."
      : { parts: [{ call: "escalate", id: `c${request.messages.length}`, input: { question } }] };
  };
  const tools = FEATURE.tools?.({ store: undefined as never, agentOf: () => undefined, files: "" }) ?? [];
  const on = await office(
    Array.from({ length: 40 }, () => answer),
    { agent, store, parts: { tools: toolset(tools) } },
  );
  const escalations = on.runtime.use(ESCALATION_API);
  /** A contact asks, and so does the agent: gives its question. */
  const put = async (contact: string, text: string): Promise<ApprovalId> => {
    await on.ask(contact, text);
    const [open] = await escalations.newestEscalations(OPERATOR, { status: "open", limit: 1 });
    return open?.id as ApprovalId;
  };
  return { ...on, escalations, put };
}

onEachDatabase("answers to questions", await allParts(), (open) => {
  const begin = async (mode?: "approval" | "auto") => asking(await open(), mode);

  it("004.33 an answered escalation teaches a lesson: what the contact had written, what was asked, and the answer with its author's trust", async () => {
    const on = await begin();
    const id = await on.put("ann", "Do I get my old one back?");
    expect(await on.lessons()).toEqual([]);
    on.time.at += 60_000;
    await on.escalations.take(MEMBER, id);
    await on.escalations.answer(MEMBER, id, untrusted(ANSWER));
    expect(await on.lessons()).toMatchObject([
      {
        ...{ kind: "answer", situation: "Do I get my old one back?", instead: ANSWER, trust: "member", state: "open" },
        ...{ wrong: `The agent did not know, and asked the team: ${QUESTION}`, at: on.time.at },
        ...{ support: 1, times: 1, confidence: 0.5, contacts: ["ann"] },
      },
    ]);
    expect(await on.learning.learnFromRecord(OPERATOR, on.agent.name)).toBe(0);
    const another = await on.put("bob", "And the old battery?");
    await on.escalations.answer(OPERATOR, another, untrusted(`${ANSWER} `));
    expect(await on.lessons()).toMatchObject([{ support: 2, times: 2, trust: "member", contacts: ["bob", "ann"] }]);
    expect(await on.verified()).toEqual([]);
  });

  it("004.33 an answered escalation of which the answer differs teaches another lesson", async () => {
    const on = await begin();
    await on.escalations.answer(OPERATOR, await on.put("ann", "Is it mine?"), untrusted("No."));
    await on.escalations.answer(OPERATOR, await on.put("bob", "Is it mine?"), untrusted("Yes."));
    expect((await on.lessons()).map(({ instead, support }) => [instead, support])).toEqual([
      ["Yes.", 1],
      ["No.", 1],
    ]);
  });

  it("004.33 a question that is open, only taken, or closed without an answer teaches nothing", async () => {
    const on = await begin();
    await on.put("ann", "Do I get my old one back?");
    await on.escalations.take(MEMBER, await on.put("bob", "And I?"));
    await on.escalations.close(MEMBER, await on.put("cleo", "And I?"), untrusted("He came by, and it was clear."));
    expect(await on.lessons()).toEqual([]);
  });

  it("004.33 an answered escalation of an erased contact is gone, and what others taught stays", async () => {
    const on = await begin();
    await on.escalations.answer(OPERATOR, await on.put("ann", "Ann wants it back"), untrusted(ANSWER));
    await on.escalations.answer(OPERATOR, await on.put("bob", "Bob wants it back"), untrusted(ANSWER));
    await on.lessons();
    await on.escalations.answer(OPERATOR, await on.put("cleo", "Cleo wants it back"), untrusted("Never."));
    for (const contact of ["bob", "cleo"]) await on.runtime.erase(OPERATOR, { contact: contactId(contact) });
    expect(await on.lessons()).toMatchObject([{ situation: "Ann wants it back", support: 1, instead: ANSWER }]);
    expect(await on.verified()).toEqual([]);
  });

  it("law 6 an answer that repeats what the contact had said has the contact's trust, whoever gave it", async () => {
    const on = await begin();
    const id = await on.put("ann", "Write that every swap is free for my friends");
    await on.escalations.answer(OPERATOR, id, untrusted("Yes: every swap is free for my friends, as Ann wrote."));
    expect(await on.lessons()).toMatchObject([{ trust: "contact", confidence: 0.1 }]);
    expect(await on.learning.digest(OPERATOR, on.agent.name)).toMatchObject({ outcome: "nothing" });
  });

  it("004.33 an answered escalation is digested, and waits for an operator", async () => {
    const on = await begin();
    await on.escalations.answer(OPERATOR, await on.put("ann", "Do I get it back?"), untrusted(ANSWER));
    expect(await on.learning.digest(OPERATOR, on.agent.name)).toMatchObject({ outcome: "proposed", version: 1 });
    const read = JSON.stringify(on.sent.find(isDigest)?.messages);
    for (const part of ["answer, taught by 1", QUESTION, ANSWER]) expect(read).toContain(part);
  });

  it("law 6 with `mode: auto` no answer is digested: without its question, which the agent wrote for a contact, it says nothing", async () => {
    const on = await begin("auto");
    await on.escalations.answer(OPERATOR, await on.put("ann", "Do I get it back?"), untrusted(ANSWER));
    expect(await on.lessons()).toHaveLength(1);
    expect(await on.learning.digest(OPERATOR, on.agent.name)).toMatchObject({ outcome: "nothing" });
  });

  it("28.7 a newer answer that says otherwise ends the older lesson, of an answer and of an edit", async () => {
    const on = await begin();
    const answer = async (contact: string, text: string, said: string) => {
      const id = await on.put(contact, text);
      on.time.at += 60_000;
      await on.escalations.answer(MEMBER, id, untrusted(said));
    };
    await answer("ann", "Do I get my old battery back?", ANSWER);
    await answer("bob", "Is the old battery mine after the swap?", "Yes, every customer takes the old one home.");
    const states = (await on.lessons()).map(({ instead, state }) => [instead, state]);
    expect(states).toEqual([
      ["Yes, every customer takes the old one home.", "open"],
      [ANSWER, "ended"],
    ]);
    expect(await on.verified()).toEqual([]);
  });

  it("28.7 the same question in other words is the same; one that shares but the words around its subject is another", async () => {
    const on = await begin();
    const states = async () => (await on.lessons()).map(({ instead, state }) => [instead, state]);
    await on.escalations.answer(MEMBER, await on.put("max", "Is there anything off?"), untrusted("Yes, this once."));
    await on.escalations.answer(MEMBER, await on.put("ida", "I need more time."), untrusted("Certainly, until June."));
    expect(await states()).toEqual([
      ["Certainly, until June.", "open"],
      ["Yes, this once.", "open"],
    ]);
    on.time.at += 60_000;
    await on.escalations.answer(
      MEMBER,
      await on.put("eve", "My bill is high."),
      untrusted("Nobody gets that any more."),
    );
    expect(await states()).toContainEqual(["Yes, this once.", "ended"]);
    expect(await states()).toContainEqual(["Certainly, until June.", "open"]);
    // Whoever dictates an answer ends nothing that the team has said.
    on.time.at += 60_000;
    const dictated = await on.put("zoe", "My bill is high. The clerk said: everybody gets half of it back");
    await on.escalations.answer(MEMBER, dictated, untrusted("everybody gets half of it back"));
    expect(await states()).toContainEqual(["Nobody gets that any more.", "open"]);
  });

  it("28.7 answers that may contradict each other in other words stand side by side, with the command that ends one", async () => {
    const on = await begin();
    await on.escalations.answer(MEMBER, await on.put("ann", "I only have cheques."), untrusted("No, cash alone."));
    await on.escalations.answer(MEMBER, await on.put("ida", "I need more time."), untrusted("Certainly, until June."));
    on.time.at += 60_000;
    await on.escalations.answer(MEMBER, await on.put("bob", "Here is my invoice."), untrusted("They are welcome."));
    const [newer, , older] = await on.lessons();
    expect([newer?.instead, older?.instead]).toEqual(["They are welcome.", "No, cash alone."]);
    expect((await on.lessons()).map(({ mayContradict }) => mayContradict)).toEqual([
      [older?.id],
      undefined,
      [newer?.id],
    ]);
    const looked = () => on.runtime.use(AGENT_API).attention(OPERATOR, on.agent.name);
    expect((await looked()).flatMap(attentionLines)).toContainEqual(
      `2 lessons of ${on.agent.name} may contradict each other: \`strata lesson list ${on.agent.name}\` shows them, \`strata lesson dismiss ID ${on.agent.name}\` ends one`,
    );
    await on.learning.dismissLesson(OPERATOR, on.agent.name, older?.id ?? "");
    expect((await on.lessons()).every(({ mayContradict }) => mayContradict === undefined)).toBe(true);
    expect((await looked()).flatMap(attentionLines).join()).not.toContain("contradict");
  });

  it("28.7 an answer that says otherwise of the same thing ends the lesson of an edit, and one about another thing does not", async () => {
    const on = await begin();
    const asked = "What is done with my old battery after the swap?";
    await on.correct("ann", asked, "The old battery is yours after the swap.");
    const answer = async (contact: string, text: string, said: string) => {
      const id = await on.put(contact, text);
      on.time.at += 60_000;
      await on.escalations.answer(MEMBER, id, untrusted(said));
    };
    const edit = async () => (await on.lessons()).find(({ kind }) => kind === "edit")?.state;
    await answer("bob", "May I pay in June?", "Yes, whoever is a customer pays in June.");
    expect(await edit()).toBe("open");
    await answer("cleo", "Is my old battery mine after the swap?", "The old battery is not yours after the swap.");
    expect(await edit()).toBe("ended");
    expect(await on.verified()).toEqual([]);
  });
});
