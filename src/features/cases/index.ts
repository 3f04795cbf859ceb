/** Layers that say one of several declared texts, as a fact of the conversation chooses. The platform knows the facts; no message states one. */

import type { Agent, LayerContent, Source, StoredEvent } from "../../protocol/index.ts";
import type { TurnParts, TurnSteps } from "../../turn/index.ts";
import type { LiveSource } from "../../turn/sources/index.ts";
import { openQuestions } from "../approvals/index.ts";
import { wayOf } from "../drafts/index.ts";
import type { Feature } from "../feature.ts";
import { isOpenAt } from "../organization/index.ts";
import type { Fact } from "./config.ts";

type Case = Extract<Source, { readonly kind: "case" }>;

function contentFor({ by, texts }: Case, value: string | undefined): LayerContent {
  if (value === undefined) return { kind: "empty", because: `${by} is not known here` };
  const text = Object.hasOwn(texts, value) ? texts[value] : undefined;
  // The operator wrote it in strata.yaml: only the choice is the platform's.
  if (text !== undefined) return { kind: "text", text };
  return { kind: "empty", because: `${by} is ${value}, for which it says nothing` };
}

interface Now {
  readonly parts: Pick<TurnParts, "store" | "clock" | "channels">;
  readonly agent: Agent;
  readonly at: number;
  /** The newest message that the turn is about. */
  readonly newest: StoredEvent | undefined;
  readonly scope: Parameters<LiveSource>[1]["scope"];
}

/** The facts as the turn begins, each in one word. */
const FACTS: Readonly<Record<Fact, (now: Now) => Promise<string | undefined>>> = {
  channel: async ({ newest }) => newest?.channel,
  caller: async ({ parts, newest }) => newest && callerOn(parts, newest.channel),
  delivery: async ({ agent, newest }) => newest && wayOf(agent, newest.channel),
  hours: async ({ agent, at }) => {
    const isOpen = isOpenAt(agent, at);
    return isOpen === undefined ? undefined : isOpen ? "open" : "closed";
  },
  kind: async ({ newest }) => newest?.kind,
  line: async ({ newest }) => newest?.line,
  questions: async ({ parts, scope, newest }) =>
    newest && ((await openQuestions(parts, { scope, thread: newest.thread })) === undefined ? "none" : "open"),
  speaker: async ({ newest }) => newest?.trust,
};

/** Whether another agent asks, on a separate channel. */
const callerOn = ({ channels }: Pick<TurnParts, "channels">, channel: string): "agent" | "nobody" =>
  channels.some(({ name, answersCalls }) => name === channel && answersCalls) ? "agent" : "nobody";

const isFact = (name: string): name is Fact => Object.hasOwn(FACTS, name);

const steps: TurnSteps = {
  // The prefix holds only what is the same for the whole conversation.
  setup: async (parts, setup, { thread: { id, scope } }) => {
    const layers = setup.agent.layers.filter(({ source, scope: where }) => source.kind === "case" && where !== "turn");
    const { contact } = scope;
    if (layers.length === 0) return setup;
    const thread = id && contact ? await parts.store.thread({ ...scope, contact }, id) : undefined;
    const known: Partial<Record<Fact, string>> =
      thread === undefined ? {} : { channel: thread.channel, caller: callerOn(parts, thread.channel) };
    const texts = layers.flatMap(({ id: layer, source }) =>
      source.kind === "case" && isFact(source.by) ? [[layer, contentFor(source, known[source.by])] as const] : [],
    );
    return { ...setup, texts: new Map([...(setup.texts ?? []), ...texts]) };
  },
  sources: (parts, agent) => {
    const chosen: LiveSource = async ({ source }, { at, events, scope }) => {
      if (source.kind !== "case" || !isFact(source.by)) return { kind: "empty", because: "it names no fact" };
      const now = { parts, agent, at, scope, newest: events.at(-1) };
      return contentFor(source, await FACTS[source.by](now));
    };
    return { case: Object.assign(chosen, { readsStore: true as const }) };
  },
};

export const FEATURE: Feature = {
  name: "cases",
  needs: ["approvals", "drafts", "organization"],
  steps,
  operations: [],
};
