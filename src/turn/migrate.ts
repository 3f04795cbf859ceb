import { type Agent, type Allowed, canonicalJson, type Layer, type ThreadId } from "../protocol/index.ts";
import { agentNamed, threadOf } from "./access.ts";
import { checkTalk } from "./intake/own-channels.ts";
import { agentAt, keepVersion, upToDate } from "./loop/setup.ts";
import type { Parts } from "./parts.ts";
import type { Migration } from "./runtime.ts";

/** The differences between the current declaration and the version of the thread's next turn, in plain English; empty if there are none. */
export async function changesSince(parts: Parts, actor: Allowed<"view">, id: ThreadId): Promise<readonly string[]> {
  const thread = await upToDate(parts, await threadOf(parts, actor, id));
  const declared = parts.agents.all.find(({ org, name }) => org === thread.scope.org && name === thread.scope.agent);
  if (declared === undefined || declared.version === thread.version) return [];
  return agentChanges(await agentAt(parts, thread), declared);
}

/** Moves the thread to the declared version of its agent: its next turn begins an epoch, and what was said continues in it. */
export async function migrate(parts: Parts, actor: Allowed<"view">, id: ThreadId): Promise<Migration> {
  const held = await threadOf(parts, actor, id);
  checkTalk(parts, held);
  const declared = agentNamed(parts, actor, held.scope.agent);
  const changes = await changesSince(parts, actor, id);
  if (held.version === declared.version) return { thread: held, from: held.version, changes };
  await keepVersion(parts, declared);
  const { clock, alive } = parts;
  const thread = await parts.store.moveThread(held.scope, id, { version: declared.version, now: clock.real(), alive });
  return { thread, from: held.version, changes };
}

/** Display names of the agent keys that a thread is pinned to, besides layers and tools. */
const KEYS: ReadonlyMap<keyof Agent, string> = new Map([
  ["rules", "what its tools may do"],
  ["output", "the schema of its answers"],
  ["recall", "how it recalls"],
  ["history", "how its history is shown"],
  ["soul", "its soul"],
  ["skills", "its skills"],
  ["liveLayers", "where its live layers are placed"],
  ["summaries", "whether it writes summaries"],
  ["mode", "its mode"],
  ["budgets", "its budgets"],
  ["life", "how it lives"],
  ["handler", "the code that answers for it"],
]);

/** How an agent differs from an earlier version of itself. The model, which no thread is pinned to, is left out. Pure. */
function agentChanges(was: Agent, is: Agent): readonly string[] {
  return [
    ...appeared(idsOf(was), idsOf(is), "layer"),
    ...is.layers.flatMap((layer) =>
      layerChange(
        was.layers.find(({ id }) => id === layer.id),
        layer,
      ),
    ),
    ...appeared(was.tools, is.tools, "tool"),
    ...[...KEYS].flatMap(([key, what]) => (isSameJson(was[key], is[key]) ? [] : [`${what} changed`])),
  ];
}

const idsOf = ({ layers }: Agent): readonly string[] => layers.map(({ id }) => id);

const appeared = (was: readonly string[], is: readonly string[], what: string): readonly string[] => [
  ...is.filter((name) => !was.includes(name)).map((name) => `${what} ${name} is new`),
  ...was.filter((name) => !is.includes(name)).map((name) => `${what} ${name} is gone`),
];

function layerChange(was: Layer | undefined, is: Layer): readonly string[] {
  if (was === undefined || isSameJson(was, is)) return [];
  if (!isSameJson(was.source, is.source)) return [`the text of layer ${is.id} changed`];
  return [
    was.rank === is.rank
      ? `layer ${is.id} is declared differently`
      : `the rank of layer ${is.id} is ${is.rank}, no longer ${was.rank}`,
  ];
}

/** Canonical JSON knows no `undefined`. */
const isSameJson = (one: unknown, other: unknown): boolean =>
  one === other || (one !== undefined && other !== undefined && canonicalJson(one) === canonicalJson(other));
