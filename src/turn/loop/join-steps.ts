import { type Agent, type ContactId, SELF, StrataError, type ThreadId } from "../../protocol/index.ts";
import { heldNow } from "../intake/lease.ts";
import type { Steps, TurnParts, TurnSteps } from "./steps.ts";

/** Runs the steps one after the other, in the order of the list. */
export function inOrder(list: readonly TurnSteps[]): Steps {
  const blockedNow: Steps["blockedThreads"] = async (parts, agent) => {
    const blocked = new Map<ThreadId, StrataError>();
    for (const step of list)
      for (const [id, why] of (await step.blockedThreads?.(parts, agent)) ?? []) blocked.set(id, why);
    return blocked;
  };
  const refusal: Steps["refusal"] = async (parts, beginning) => {
    const { agent, thread, alone } = beginning;
    const busy = alone === undefined ? undefined : await runningWith(parts, agent, alone);
    const rests = thread === undefined ? undefined : (await blockedNow(parts, agent)).get(thread.id);
    if (busy !== undefined || rests !== undefined) return busy ?? rests;
    for (const step of list) {
      const because = await step.checkStart?.(parts, beginning);
      if (because !== undefined) return because;
    }
    return undefined;
  };
  return {
    admit: async (parts, said) => {
      for (const step of list) await step.admit?.(parts, said);
    },
    setup: async (parts, setup, around) => {
      let now = setup;
      for (const step of list) now = (await step.setup?.(parts, now, around)) ?? now;
      return now;
    },
    refusal,
    checkStart: async (parts, beginning) => {
      const because = await refusal(parts, beginning);
      if (because !== undefined) throw because;
    },
    blockedThreads: blockedNow,
    prepare: async (parts, agent, signal) => {
      for (const step of list) await step.prepare?.(parts, agent, signal);
    },
    onStart: async (turn) => {
      for (const step of list) await step.onStart?.(turn);
    },
    sources: (parts, agent) => Object.assign({}, ...list.map((step) => step.sources?.(parts, agent))),
    restated: (parts, agent) => Object.assign({}, ...list.map((step) => step.restated?.(parts, agent))),
    stored: (parts, agent, active) => Object.assign({}, ...list.map((step) => step.stored?.(parts, agent, active))),
    frozenBlock: async (parts, setup, found) => {
      for (const step of list) {
        const frozenBlock = await step.frozenBlock?.(parts, setup, found);
        if (frozenBlock !== undefined) return frozenBlock;
      }
      return undefined;
    },
    gathered: (agent, layers, gathered) =>
      list.reduce((now, step) => step.gathered?.(agent, layers, now) ?? now, gathered),
    phase: (turn, phase) => {
      for (const step of list) step.phase?.(turn, phase);
    },
    beforeCall: (turn, made) => {
      for (const step of list) {
        const instead = step.beforeCall?.(turn, made);
        if (instead !== undefined) return instead;
      }
      return undefined;
    },
    saidToCaller: (turn, ending) => {
      for (const step of list) {
        const sentence = step.saidToCaller?.(turn, ending);
        if (sentence !== undefined) return sentence;
      }
      return undefined;
    },
    onReplyRead: async (turn) => {
      for (const step of list) await step.onReplyRead?.(turn);
    },
    funds: list.flatMap(({ funds }) => funds ?? []),
    allowances: list.flatMap(({ allowance }) => allowance ?? []),
    received: (parts, agent, actor, also) => {
      const all = [...list.map(({ received }) => received?.(parts, agent, actor)), also].flatMap((one) => one ?? []);
      if (all.length === 0) return undefined;
      return async (tx, scope, thread, events) => {
        for (const one of all) await one(tx, scope, thread, events);
      };
    },
    answers: list.flatMap(({ answer }) => answer ?? []),
    outgoing: (agent, thread) => list.flatMap(({ outgoing }) => (outgoing?.applies(agent, thread) ? outgoing : [])),
    ended: async (turn, ending, kept) => {
      for (const step of list) await step.ended?.(turn, ending, kept);
    },
  };
}

/** The error that a turn of the agent with that contact is running now; undefined if none is. */
async function runningWith(
  parts: TurnParts,
  { org, name }: Agent,
  contact: ContactId | null,
): Promise<StrataError | undefined> {
  const held = await heldNow(parts, org);
  if (!held.some(({ scope }) => scope.agent === name && scope.contact === contact)) return undefined;
  const whose = contact === SELF ? `${name}'s own` : `${name} with ${contact ?? "nobody"}`;
  const sentence = `a turn of ${whose} is already running; try again when it has ended`;
  return new StrataError("thread_busy", sentence, { agent: name });
}
