import { mkdtempSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { agentSpec } from "../../agents/index.ts";
import { loadProject, reviveAgent } from "../../app/entry/agents.ts";
import { allToolFamilies } from "../../app/entry/features.ts";
import { type Script, scripted } from "../../models/index.ts";
import { type Agent, agentName, contactId, type Json, type NewEvent, type Request } from "../../protocol/index.ts";
import type { Thread } from "../../store/index.ts";
import { collect, OPERATOR, testRuntime } from "../../turn/index.contract.ts";
import { toolset } from "../../turn/tools/index.ts";
import { cardOf } from "../../wire/index.ts";

/** Agents that ask each other. `greeter` is the entry and asks `shouter`; no agent asks `stranger`. */
export const GREETER = `organization: home
entry: [greeter]
agents:
  greeter:
    description: Greets people.
    peers: [shouter]
    layers:
      - {id: core, rank: 0, text: You are a friendly greeter.}
  shouter:
    description: Says it loudly.
    payload:
      type: Greeting
      schema:
        type: object
        properties: {name: {type: string, maxLength: 40}, volume: {type: integer, maximum: 11}}
        required: [name]
        additionalProperties: false
    layers:
      - {id: core, rank: 0, text: SHOUT.}
  stranger:
    description: Nobody asks it.
    peers: []
    layers:
      - {id: core, rank: 0, text: Keep to yourself.}
`;

/** The agents of a file like that. */
export function loadYaml(yaml: string, files: Readonly<Record<string, string>> = {}) {
  const folder = mkdtempSync(join(tmpdir(), "strata-peers-"));
  for (const [name, text] of Object.entries({ ...files, "strata.yaml": yaml })) writeFileSync(join(folder, name), text);
  return loadProject(folder, { env: {} });
}

/** The script of each agent's model, in the order in which that agent is asked. */
export type Scripts = Readonly<Record<string, readonly Script<Request>[]>>;

/** A runtime with these agents, each with its own scripted model; everything else is real. */
export async function organism(
  declared: string | ReturnType<typeof loadYaml>,
  scripts: Scripts,
  given: Pick<NonNullable<Parameters<typeof testRuntime>[1]>, "store" | "parts" | "steps"> = {},
) {
  const all = [...(typeof declared === "string" ? loadYaml(declared) : declared).agents.values()];
  const models = new Map(all.map(({ name }) => [String(name), scripted(scripts[name] ?? [])]));
  const [agent] = all;
  if (agent === undefined) throw new Error("the file has no agent");
  const on = await testRuntime([], {
    agent,
    ...(given.store && { store: given.store }),
    ...(given.steps && { steps: given.steps }),
    parts: {
      agents: { all, spec: agentSpec, revive: reviveAgent },
      tools: toolset([], await allToolFamilies()),
      cardOf: () => cardOf("anthropic:claude-sonnet-4-5"),
      modelOf: async ({ name }: Agent) => {
        const scriptedOne = models.get(name);
        if (scriptedOne === undefined) throw new Error(`there is no script for ${name}`);
        return scriptedOne.model;
      },
      ...given.parts,
    },
  });
  const open = (to = "greeter", contact = "ann", key = "main") =>
    on.runtime.open(OPERATOR, { agent: agentName(to), contact: contactId(contact), channel: "test", key });
  const post = (thread: Thread, change: Partial<NewEvent> & Pick<NewEvent, "content">) =>
    on.runtime.post(OPERATOR, thread, [
      { kind: "message", trust: "contact", channel: "test", at: on.time.at, ...change },
    ]);
  return {
    ...on,
    open,
    post,
    say: async (thread: Thread, change: Partial<NewEvent> & Pick<NewEvent, "content">) => {
      await post(thread, change);
      return collect(on.runtime.follow(OPERATOR, thread));
    },
    sentTo: (name: string): readonly Request[] => models.get(name)?.sent ?? [],
    /** The threads on which others ask an agent, the newest first. */
    asked: (name: string, contact = "ann") =>
      on.store.threads({ org: agent.org, agent: agentName(name), contact: contactId(contact) }, 100, {
        channel: "peer",
      }),
  };
}

/** A reply that asks a peer. */
export const asks = (name: string, input: Json, id = `ask ${JSON.stringify(input)}`) => ({
  parts: [{ call: `ask_${name}`, id, input }],
});
