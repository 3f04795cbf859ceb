import { inboxSources } from "../../features/inbox/index.ts";
import { logSources } from "../../features/logs/index.ts";
import { memorySources, withoutDoubles } from "../../features/memories/index.ts";
import {
  type Agent,
  agentName,
  type ContactScope,
  contactId,
  DEFAULT_BUDGETS,
  digestOf,
  eventId,
  type Layer,
  layerId,
  type Memory,
  memoryId,
  type NewEvent,
  orgId,
  type Source,
  type StoredEvent,
  threadId,
  untrusted,
} from "../../protocol/index.ts";
import type { Store } from "../../store/index.ts";
import { type GatherContext, type Gathered, gather } from "./index.ts";

/** A contact of an agent. */
export const scopeOf = (agent: string, contact: string): ContactScope => ({
  org: orgId("home"),
  agent: agentName(agent),
  contact: contactId(contact),
});

/** The agent of that scope, with no layers and tools but those that are given. */
export const agentOf = ({ org, agent }: ContactScope, change: Partial<Agent> = {}): Agent => ({
  org,
  name: agent,
  version: digestOf("1"),
  description: "",
  layers: [],
  tools: [],
  recall: "auto",
  history: "transcript",
  mode: "full",
  budgets: DEFAULT_BUDGETS,
  ...change,
});

/** A layer that a source fills again each turn, under the name of its kind. */
export const liveLayer = (source: Source, change: Partial<Layer> = {}): Layer => ({
  id: layerId(source.kind),
  rank: 50,
  mutability: "live",
  scope: "turn",
  trust: "platform",
  source,
  minimum: 0,
  required: false,
  modes: { full: "whole", compact: "whole", minimal: "whole" },
  ...change,
});

/** A message of the contact that waits. */
export const eventOf = (text: string, change: Partial<NewEvent> & Pick<NewEvent, "at">): StoredEvent => ({
  id: eventId(`evt_${"0".repeat(26)}`),
  thread: threadId(`thr_${"0".repeat(26)}`),
  seq: 1,
  status: "pending",
  kind: "message",
  trust: "contact",
  channel: "cli",
  content: [{ type: "text", text: untrusted(text) }],
  ...change,
});

const UNSEEN: Memory = {
  id: memoryId(`mem_${"z".repeat(26)}`),
  kind: "fact",
  content: untrusted("Something that no request shows"),
  tags: [],
  trust: "contact",
  at: 0,
  support: 1,
};

/** What features ask the store for their sources, if nothing was ever stored. */
export const EMPTY_STORE: AskedStore = {
  searchMemories: async () => [],
  // So that each search is asked for.
  memoriesBeside: async (scopes) => scopes.slice(0, 1).map((scope) => ({ ...UNSEEN, scope })),
  memory: async () => undefined,
  memories: async () => [],
  memoryStats: async () => [],
  log: async () => undefined,
  inboxCount: async () => 0,
};

export type AskedStore = Pick<
  Store,
  "searchMemories" | "memoriesBeside" | "memory" | "memories" | "memoryStats" | "inboxCount"
> &
  Parameters<typeof logSources>[0];

/** Gathers as a turn does, with what features fill live layers with. */
export async function gatherFrom(
  agent: Agent,
  layers: readonly Layer[],
  { store, ...context }: GatherContext & { readonly store: AskedStore },
): Promise<Gathered> {
  const live = { ...memorySources(store, agent), ...logSources(store), ...inboxSources({ store }, agent) };
  const { contents, notes } = await gather(agent, layers, { ...context, live });
  return { contents: withoutDoubles(layers, contents), notes };
}
