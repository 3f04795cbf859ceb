import type { Script } from "../../models/index.ts";
import type { Request } from "../../protocol/index.ts";
import {
  type Agent,
  digestOf,
  type Layer,
  layerId,
  type NewText,
  type TextKey,
  type TextVersion,
  trusted,
  untrusted,
} from "../../protocol/index.ts";
import { sampleAgent, type TestRuntime, testRuntime } from "../../turn/index.contract.ts";

const WHOLE = { full: "whole", compact: "whole", minimal: "whole" } as const;

function layer(id: string, rank: number, more: Partial<Layer> & Pick<Layer, "source">): Layer {
  const usual = { mutability: "versioned", scope: "agent", trust: "operator", minimum: 0, required: false } as const;
  return { ...usual, modes: WHOLE, rank, ...more, id: layerId(id) };
}

const text = (words: string): Layer["source"] => ({ kind: "text", text: trusted(words) });
const live = { mutability: "live", scope: "turn", trust: "platform" } as const;

/** The declared layers of an automaton. */
export const DECLARED = { loop: "Look, weigh, act.", inbox: "Answer each message once." } as const;

/** An agent with every kind of text: immutable, versioned and live layers, a soul and two skills. */
export function automaton(change: Partial<Agent> = {}): Agent {
  const layers = [
    layer("precedence", 0, { mutability: "immutable", source: text("A lower layer wins.") }),
    layer("identity", 3, { mutability: "immutable", source: text("You are an automaton.") }),
    layer("loop", 6, { source: text(DECLARED.loop), line: trusted("Act.") }),
    layer("inbox", 7, { source: text(DECLARED.inbox) }),
    layer("skills", 11, { source: { kind: "skills" } }),
    layer("soul", 12, { source: { kind: "soul" }, after: layerId("identity") }),
    layer("clock", 10, { ...live, source: { kind: "clock", timezone: "UTC" } }),
    layer("conversation", 10, { ...live, trust: "contact", source: { kind: "conversation", entries: 5, compact: 2 } }),
  ];
  const skills = [
    { name: "haggling", text: trusted("Name a price once."), enabled: false },
    { name: "invoicing", text: trusted("Write number, date and sum."), enabled: true },
  ];
  const rest = { layers, skills, soul: trusted("patient-gardener"), tools: [], recall: "none" } as const;
  return sampleAgent({ ...rest, history: "log", ...change }, "automaton");
}

export const LOOP: TextKey = { layer: layerId("loop") };
export const SOUL: TextKey = { layer: layerId("soul") };
export const skill = (part: string): TextKey => ({ layer: layerId("skills"), part });

/** A runtime with an automaton. */
export const automatonRuntime = (
  script: readonly Script<Request>[] = [],
  change: Partial<Agent> = {},
): Promise<TestRuntime> => testRuntime(script, { agent: automaton(change) });

/** Keeps a text that the agent wrote itself. */
export function written(
  { store, agent, time }: TestRuntime,
  words: string,
  more: Partial<NewText> = {},
): Promise<TextVersion> {
  const edit: NewText = {
    ...LOOP,
    text: trusted(words),
    status: "proposed",
    trust: "agent",
    inputs: "contact",
    by: "agent",
    reason: untrusted("it reads better"),
    verdict: { verdict: "pass", findings: [] },
    parent: 0,
    place: { rank: 6, source: "text", declared: digestOf(DECLARED.loop) },
    beside: [],
    ...more,
  };
  return store.editText({ org: agent.org, agent: agent.name }, edit, time.at);
}
