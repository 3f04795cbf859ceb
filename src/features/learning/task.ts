import type { z } from "zod";
import { type Compilation, compile } from "../../compiler/index.ts";
import {
  eventId,
  issueId,
  type Layer,
  layerId,
  type OwnChannel,
  type StoredEvent,
  type Trust,
  type TurnId,
  threadId,
  trusted,
  untrusted,
} from "../../protocol/index.ts";
import { limitOf, type TurnParts, type TurnSetup } from "../../turn/index.ts";

/** What a model is asked once, beside all conversations: a task of ours, and material in frames. */
export interface Task {
  readonly id: string;
  /** The platform's own words. */
  readonly text: string;
  readonly events: readonly StoredEvent[];
  readonly turn: TurnId;
}

/** The request of a task, by the compiler: the task is its only layer, and there are no tools. @throws StrataError `budget_too_small` */
export function taskRequest(setup: TurnSetup, { id, text, events, turn }: Task): Compilation {
  const task: Layer = {
    id: layerId(id),
    ...{ rank: 0, mutability: "immutable", scope: "all", trust: "platform", minimum: 0, required: true },
    modes: { full: "whole", compact: "whole", minimal: "whole" },
    source: { kind: "text", text: trusted(text) },
  };
  return compile({
    agent: { ...setup.agent, layers: [task], tools: [] },
    ...{ turn, tools: [], epoch: undefined, contents: new Map(), limit: limitOf(setup), count: setup.count },
    mode: "full",
    events,
  });
}

/** One piece of the material, as an event that is stored nowhere. */
export function materialEvent(
  { clock, random }: Pick<TurnParts, "clock" | "random">,
  { name: channel }: Pick<OwnChannel, "name">,
  { kind, trust, text }: { readonly kind: StoredEvent["kind"]; readonly trust: Trust; readonly text: string },
): StoredEvent {
  return {
    id: eventId(issueId("event", clock.real(), random(10))),
    thread: threadId(issueId("thread", clock.real(), random(10))),
    ...{ seq: 1, status: "pending", kind, trust, channel, at: clock.recorded() },
    content: [{ type: "text", text: untrusted(text) }],
  };
}

/** The JSON object in a model's answer, whatever stands around it; nothing where there is none of that form. */
export function readObject<Form extends z.ZodType>(text: string, form: Form): z.output<Form> | undefined {
  const [from, to] = [text.indexOf("{"), text.lastIndexOf("}")];
  if (from < 0 || to < from) return undefined;
  try {
    return form.safeParse(JSON.parse(text.slice(from, to + 1))).data;
  } catch {
    return undefined;
  }
}
