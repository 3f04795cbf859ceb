import { type AgentName, type Allowed, StrataError } from "../../protocol/index.ts";
import { agentNamed, type Parts } from "../../turn/index.ts";

/** An agent's present name and its earlier one. */
interface Renaming {
  readonly agent: AgentName;
  readonly was: AgentName;
}

/**
 * Moves everything kept of an agent that is no longer declared to one that is: the record, and the files of its workspaces.
 * @throws StrataError `invalid_input` if the old name is still declared or the new one has its own record, `agent_not_found`, `thread_busy`
 * while a turn of it runs
 */
export async function renameAgent(parts: Parts, actor: Allowed<"operate">, { agent, was }: Renaming): Promise<void> {
  const { agents, store, clock } = parts;
  const { org, name } = agentNamed(parts, actor, agent);
  if (agents.all.some((one) => one.org === org && one.name === was)) {
    const message = `${was} is still declared, so what is kept is its own; rename it in strata.yaml, then run this again`;
    throw new StrataError("invalid_input", message, { agent: was });
  }
  const owner = { org, agent: was };
  await parts.renameFiles(owner, name);
  try {
    await store.renameAgent(owner, { to: name, actor, at: clock.recorded(), now: clock.real() });
  } catch (thrown) {
    await parts.renameFiles({ org, agent: name }, was);
    throw thrown;
  }
}
