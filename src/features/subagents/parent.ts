/** Updates to the caller: what an agent sends before it answers. */
import { z } from "zod";
import { rankBelowLocked } from "../../agents/index.ts";
import { inPromptOrder, type Layer, layerId, type Tool, trusted } from "../../protocol/index.ts";
import { TELL_CALLER } from "../../store/index.ts";
import { callerOf } from "../../turn/index.ts";
import { defineTool, refused } from "../../turn/tools/index.ts";
import { ENQUEUE_PARENT, PEER } from "./config.ts";
import { delegated, ENQUEUE_DESCRIPTION, ENQUEUE_TEXT, ENQUEUED, NO_PARENT } from "./wording.ts";

/** How often in a turn, and how much at a time. */
const MOST = 5;
const LONGEST = 4_000;

export function parentTool(): Tool {
  return defineTool({
    name: ENQUEUE_PARENT,
    description: ENQUEUE_DESCRIPTION,
    input: z.object({ text: z.string().trim().min(1).max(LONGEST).describe(ENQUEUE_TEXT) }),
    effect: "store",
    trust: "agent",
    limits: { calls: MOST },
    states: ["executing actions"],
    run: ({ text }, context) => {
      const thread = callerOf(context)?.lease.claim.thread;
      if (thread?.caller === undefined) return refused(NO_PARENT);
      const name = thread.parties?.target ?? thread.scope.agent;
      // The agent's own words; the turn's taint limits them (law 6).
      const message = { caller: thread.caller, name, channel: PEER.name, text, trust: "agent" } as const;
      return { text: ENQUEUED, writes: [TELL_CALLER.plan(message)] };
    },
  });
}

/** Adds the layer of a called agent, which names its caller and explains how to send updates. */
export const withDelegation = (layers: readonly Layer[], by: string): readonly Layer[] =>
  inPromptOrder([...layers, addedLayer(layers, "delegated", delegated(by))]);

/** A layer that the platform adds to those of an agent: below all that are locked, under a name that none of them has. */
export function addedLayer(layers: readonly Layer[], name: string, text: string): Layer {
  const ids = new Set<string>(layers.map(({ id }) => id));
  let id = name;
  while (ids.has(id)) id = `${id}-x`;
  return {
    id: layerId(id),
    rank: rankBelowLocked(layers),
    mutability: "immutable",
    scope: "agent",
    trust: "operator",
    minimum: 0,
    required: true,
    modes: { full: "whole", compact: "whole", minimal: "whole" },
    private: false,
    source: { kind: "text", text: trusted(text) },
  };
}
