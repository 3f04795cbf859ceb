import { type Actor, type Approval, authorize, type Scope } from "../protocol/index.ts";
import type { Thread } from "../store/index.ts";
import { agentNamed } from "./access.ts";
import type { Parts } from "./parts.ts";
import type { ApprovalWish, Whose } from "./runtime.ts";
import { knownScopes } from "./senders.ts";

/** The newest threads of one agent or of all, the last active first. */
export async function newestThreads(
  parts: Parts,
  actor: Actor,
  { limit, channel, except, ...whose }: Whose,
): Promise<readonly Thread[]> {
  const scopes = await scopesOf(parts, actor, whose);
  const found = await Promise.all(scopes.map((scope) => parts.store.threads(scope, limit, { channel, except })));
  return newest(found.flat(), limit, ({ lastActivity }) => lastActivity);
}

/** The same for tool calls that wait or waited for a person, the last asked first. */
export async function newestApprovals(parts: Parts, actor: Actor, wish: ApprovalWish): Promise<readonly Approval[]> {
  const { limit, statuses, ...whose } = wish;
  const filters = statuses?.map((status) => ({ status })) ?? [{}];
  const scopes = await scopesOf(parts, actor, whose);
  const found = await Promise.all(
    scopes.flatMap((scope) => filters.map((filter) => parts.store.approvals(scope, filter, limit))),
  );
  return newest(found.flat(), limit, ({ askedAt }) => askedAt);
}

/** One scope for each agent, for no read is wider. What was recorded counts, also of an agent that is declared no more. */
async function scopesOf(
  parts: Parts,
  actor: Actor,
  { agent, contact }: Omit<Whose, "limit">,
): Promise<readonly Scope[]> {
  const recorded = await parts.store.agents(actor.org);
  // A name that was never heard of is told, and not taken for an agent that holds nothing.
  if (agent !== undefined && !recorded.includes(agent)) agentNamed(parts, actor, agent);
  const one = agent ?? actor.agent;
  const asked = contact ?? actor.contact ?? null;
  const names = one === undefined ? recorded : [one];
  const scopes = await knownScopes(
    parts,
    names.map((name): Scope => ({ org: actor.org, agent: name, contact: asked })),
  );
  for (const scope of scopes) authorize(actor, "read", scope);
  return scopes;
}

const newest = <T>(found: readonly T[], limit: number, at: (one: T) => number): readonly T[] =>
  found.toSorted((a, b) => at(b) - at(a)).slice(0, limit);
