import type { SummaryGroup } from "../../../compiler/index.ts";
import {
  type Agent,
  type AgentName,
  type Allowed,
  asStrataError,
  authorize,
  type Scope,
} from "../../../protocol/index.ts";
import { type Parts, setupOf, type TurnParts } from "../../../turn/index.ts";
import type { Consolidated, ConsolidateWish, ConsolidationTrouble } from "../api-types.ts";

/** At most this many of an agent's threads are searched, newest activity first. */
const MOST_THREADS = 1_000;

/** An agent whose model failed is left alone for so long, in milliseconds: what failed for one contact mostly fails for the next. */
const REST = 60 * 60_000;

/** What idle time did before. */
export interface IdleRecord {
  /** Up to which activity each contact was looked after. */
  readonly done: Map<string, number>;
  /** Until when an agent rests. */
  readonly pausedUntil: Map<AgentName, number>;
}

/** The actor, the time limit, and how one contact's talk is summarized. */
interface Idling {
  readonly actor: Allowed<"view">;
  /** All agents by default. */
  readonly only: AgentName | undefined;
  readonly signal: AbortSignal;
  readonly record: IdleRecord;
  readonly consolidate: (scope: Scope, wish: Pick<ConsolidateWish, "groupBy" | "gap">) => AsyncGenerator<Consolidated>;
}

/** Summarizes what is due for all agents that declare it, one contact after the other. Failures are reported and not thrown. */
export async function consolidateIdle(parts: TurnParts, idling: Idling): Promise<readonly ConsolidationTrouble[]> {
  const { actor, only, signal, record } = idling;
  const troubles: ConsolidationTrouble[] = [];
  for (const agent of parts.agents.all) {
    const { org, name } = agent;
    if (only !== undefined && name !== only) continue;
    if (
      org !== actor.org ||
      agent.consolidate === undefined ||
      (record.pausedUntil.get(name) ?? 0) > parts.clock.real()
    )
      continue;
    authorize(actor, { org, agent: name, contact: null });
    try {
      await lookAfter(parts, idling, agent, agent.consolidate);
    } catch (thrown) {
      if (signal.aborted) break;
      record.pausedUntil.set(name, parts.clock.real() + REST);
      troubles.push({ agent: name, because: asStrataError(thrown).message });
    }
  }
  return troubles;
}

async function lookAfter(
  parts: TurnParts,
  { signal, record, consolidate }: Idling,
  agent: Agent,
  { after, groupBy }: NonNullable<Agent["consolidate"]>,
): Promise<void> {
  const gap = after * 60_000;
  const groups: readonly SummaryGroup[] = groupBy === "both" ? ["session", "topic"] : [groupBy ?? "session"];
  const { org, name, version } = agent;
  const { model } = await setupOf(parts, { scope: { org, agent: name }, version }, {});
  if (["rehearsal", "recording"].includes(model.ref)) return;
  for (const { key, scope, activity } of await contacts(parts, agent)) {
    if (activity + gap > parts.clock.recorded() || record.done.get(key) === activity) continue;
    for (const group of groups) {
      for await (const _ of consolidate(scope, { gap, groupBy: group })) signal.throwIfAborted();
    }
    record.done.set(key, activity);
  }
}

interface Contact {
  readonly key: string;
  readonly scope: Scope;
  readonly activity: number;
}

/** Each contact with its last activity, counting only conversation. */
async function contacts({ store, channels }: Parts, { org, name }: Agent): Promise<readonly Contact[]> {
  const threads = await store.threads({ org, agent: name, contact: null }, MOST_THREADS, {
    except: channels.map(({ name: channel }) => channel),
  });
  const newest = new Map<string, Contact>();
  for (const { scope, lastActivity: activity } of threads) {
    const key = JSON.stringify([org, name, scope.contact]);
    // The newest activity comes first.
    if (!newest.has(key)) newest.set(key, { key, scope, activity });
  }
  return [...newest.values()];
}
