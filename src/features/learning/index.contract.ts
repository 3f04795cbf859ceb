import {
  type Agent,
  type Allowed,
  actorId,
  allow,
  type DraftId,
  type Layer,
  layerId,
  trusted,
} from "../../protocol/index.ts";
import { collect, endOf, message, OPERATOR, ORG, sampleAgent, testRuntime } from "../../turn/index.contract.ts";
import { DRAFT_API } from "../drafts/index.ts";
import { LEARNING_API } from "./index.ts";

export const MEMBER = allow({ org: ORG, id: actorId("member:mia"), role: "member" }, "decide", "read");

export const layer = (id: string, rank: number, source: Layer["source"], more: Partial<Layer> = {}): Layer => ({
  ...{ mutability: "immutable", scope: "agent", trust: "operator", minimum: 0, required: false },
  modes: { full: "whole", compact: "whole", minimal: "whole" },
  ...more,
  ...{ id: layerId(id), rank, source },
});

const LIVE = { scope: "turn", mutability: "live" } as const;

/** An agent whose replies are drafts, and that reads what it has learned. */
export const clerk = (more: Partial<Agent> = {}, layers: readonly Layer[] = []): Agent =>
  sampleAgent({
    delivery: { way: "draft", overdue: 240 },
    tools: [],
    recall: "none",
    layers: [
      layer("core", 0, { kind: "text", text: trusted("You are a clerk.") }),
      ...layers,
      layer("corrections", 70, { kind: "corrections", limit: 3 }, { ...LIVE, trust: "contact" }),
    ],
    ...more,
  });

type Options = NonNullable<Parameters<typeof testRuntime>[1]>;

/** A clerk at work: contacts ask, and people change what it has drafted. */
export async function office(replies: Parameters<typeof testRuntime>[0], options: Options = {}) {
  const agent = options.agent ?? clerk();
  const on = await testRuntime(replies, { ...options, agent });
  const [drafts, learning] = [on.runtime.use(DRAFT_API), on.runtime.use(LEARNING_API)];
  const threads = new Map<string, Awaited<ReturnType<typeof on.open>>>();
  const threadOf = async (contact: string) => {
    const thread = threads.get(contact) ?? (await on.open(contact));
    threads.set(contact, thread);
    return thread;
  };
  const ask = async (contact: string, text: string) => {
    on.time.at += 60_000;
    const thread = await threadOf(contact);
    await on.runtime.post(OPERATOR, thread, [message(text, on.time.at)]);
    return endOf(await collect(on.runtime.run(OPERATOR, thread, { replyTo: "outbox" })));
  };
  const decide = async (sent: string | undefined, actor: Allowed<"decide"> = OPERATOR): Promise<DraftId> => {
    on.time.at += 60_000;
    const [open] = await drafts.newestDrafts(OPERATOR, { status: "open", limit: 1 });
    const id = open?.id as DraftId;
    await drafts.decideDraft(
      actor,
      id,
      sent === undefined ? { verdict: "approved" } : { verdict: "edited", text: sent },
    );
    return id;
  };
  /** A contact asks, and a person sends something else than the draft. */
  const correct = async (contact: string, text: string, sent: string, actor?: Allowed<"decide">) => {
    await ask(contact, text);
    return decide(sent, actor);
  };
  const tail = (): string =>
    on.sent
      .at(-1)
      ?.tail.map(({ text }) => text)
      .join("\n") ?? "";
  const verified = async (): Promise<readonly unknown[]> => {
    const found = [];
    for await (const one of on.store.verify(ORG)) if (one.type === "problem") found.push(one);
    return found;
  };
  const lessons = () => learning.lessons(OPERATOR, agent.name);
  return { ...on, drafts, learning, threads, threadOf, ask, decide, correct, tail, verified, lessons };
}
