import { type Agent, asStrataError, StrataError } from "../../protocol/index.ts";
import type { World } from "../operation.ts";

/** Which model answers for an agent, and why it cannot where it cannot. */
export interface Answering {
  readonly agent: Agent;
  readonly model: string;
  readonly problem?: StrataError;
}

/** Opens each agent's model as a turn would; nothing is asked of a provider. */
export function answeringOf(
  world: Pick<World, "modelNameOf" | "modelOf">,
  agents: readonly Agent[],
): Promise<readonly Answering[]> {
  return Promise.all(
    agents.map(async (agent) => {
      const model = world.modelNameOf(agent);
      try {
        await world.modelOf(agent);
        return { agent, model };
      } catch (thrown) {
        return { agent, model, problem: asStrataError(thrown) };
      }
    }),
  );
}

/** Why agents cannot answer: one sentence for each cause, whichever of them share it. */
export function problemsOf(found: readonly Answering[]): readonly StrataError[] {
  const causes = new Map<string, { readonly error: StrataError; readonly names: string[] }>();
  for (const { agent, problem } of found) {
    if (problem === undefined) continue;
    const cause = causes.get(problem.message) ?? { error: problem, names: [] };
    cause.names.push(agent.name);
    causes.set(problem.message, cause);
  }
  return [...causes.values()].map(({ error: { code, message, details }, names }) => {
    return new StrataError(code, `${names.join(", ")} cannot answer yet: ${message}`, details);
  });
}
