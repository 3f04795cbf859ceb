import { type AgentName, type Allowed, authorize } from "../protocol/index.ts";
import { recordedAgents } from "./access.ts";
import { knownScopes } from "./intake/senders.ts";
import type { Parts } from "./parts.ts";
import type { Forgotten } from "./runtime.ts";

/** Erases a contact with everything derived of them and their files, agent by agent. Gives the agents that knew them. */
export async function erase(
  parts: Parts,
  actor: Allowed<"view">,
  { contact, agent }: Forgotten,
): Promise<readonly AgentName[]> {
  const names = await agentsOf(parts, actor, agent);
  // Everything is authorized before anything is erased: half an erasure would look like a whole one.
  const scopes = await knownScopes(
    parts,
    names.map((name) => ({ org: actor.org, agent: name, contact })),
  );
  for (const scope of scopes) authorize(actor, scope);
  const erased: AgentName[] = [];
  for (const scope of scopes) {
    if ((await parts.store.eraseContact(scope, actor, parts.clock.recorded())) !== undefined) erased.push(scope.agent);
  }
  await finishErasures(parts);
  return erased;
}

/**
 * Deletes the files of contacts whose rows are erased, then the entry that says they are to be deleted. A start of a program calls
 * it, too, to finish what a killed one had begun.
 */
export async function finishErasures({ store, removeFiles }: Pick<Parts, "store" | "removeFiles">): Promise<void> {
  for (const scope of await store.unfinishedErasures()) {
    await removeFiles(scope);
    await store.finishErasure(scope);
  }
}

async function agentsOf(
  parts: Parts,
  actor: Allowed<"view">,
  agent: AgentName | undefined,
): Promise<readonly AgentName[]> {
  const recorded = await recordedAgents(parts, actor, agent);
  if ((agent ?? actor.agent) !== undefined) return recorded;
  const declared = parts.agents.all.filter(({ org }) => org === actor.org).map(({ name }) => name);
  return [...new Set([...recorded, ...declared])].sort();
}
