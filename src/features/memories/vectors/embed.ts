import { setTimeout as pause, setImmediate } from "node:timers/promises";
import {
  type Agent,
  type AgentName,
  asStrataError,
  type MemoryQuery,
  type ModelRef,
  type QueryVector,
  type Scope,
} from "../../../protocol/index.ts";
import type { Store, VectorState } from "../../../store/index.ts";
import { APPROVAL_STORE } from "../../approvals/index.ts";
import type { EmbedProgress } from "../api-types.ts";
import { type QueryVectors, queryVectors } from "./embed-query.ts";
import { type EmbedParts, embedScope } from "./embed-scope.ts";

/** Vectors of memories: asked for when something is searched, made after it was kept. Without an embedder nothing is done. */
export interface Vectors {
  /**
   * The store, whose searches use words and vectors: words alone if there are no vectors, or if the provider fails or is late (law 13). New
   * memories get their vectors afterwards, in the background.
   */
  readonly store: Store;
  /** Why an agent's memories are found by words alone, or not all by vectors; undefined if all is well. */
  trouble(agent: AgentName): string | undefined;
  /** How far the vectors of each scope of an agent are; nothing for an agent without an embedder. */
  states(agent: Agent): Promise<readonly VectorState[]>;
  /** Makes all vectors that an agent's memories lack, and reports after each step. @throws StrataError as `Embedder.embed` */
  catchUp(agent: Agent, signal: AbortSignal): AsyncGenerator<EmbedProgress>;
  /** Makes all that an agent's memories lack in the background. */
  later(agent: Agent): Promise<void>;
  /** Lets the background come to an end, but not for long. */
  close(): Promise<void>;
}

export function openVectors(parts: EmbedParts): Vectors {
  const { store } = parts;
  const troubles: Troubles = { search: new Map(), making: new Map() };
  const queries = queryVectors(parts);
  const background = backgroundOf(parts, troubles);
  const agentOf = ({ org, agent }: Scope): Agent | undefined =>
    parts.agents().find((one) => one.org === org && one.name === agent);
  const wake = (scope: Scope): void => background.wake(scope, agentOf(scope)?.embedder);
  const search: Store["searchMemories"] = async (scopes, query, foundBefore) => {
    const agent = scopes[0] && agentOf(scopes[0]);
    if (agent?.embedder === undefined) return store.searchMemories(scopes, query, foundBefore);
    const vectors = await embedQuery({ store, queries, troubles }, agent, scopes, query);
    return store.searchMemories(scopes, vectors.length === 0 ? query : { ...query, vectors }, foundBefore);
  };
  return {
    store: { ...store, searchMemories: search, ...waking(store, wake) },
    trouble: (agent) => troubleOf(troubles, agent),
    states: (agent) => statesOf(parts, agent),
    catchUp: async function* (agent, signal) {
      // Wait for running work, so that it is not done twice.
      await background.idle();
      yield* catchUp(parts, agent, signal);
    },
    later: async (agent) => {
      for (const { scope } of lacking(agent, await statesOf(parts, agent))) wake(scope);
    },
    close: () => background.close(),
  };
}

type Keeping = Pick<Store, "saveMemory" | "saveMemories" | "settle" | "part">;

/** Whatever keeps a memory wakes its scope once it is kept. */
function waking(store: Store, wake: (scope: Scope) => void): Keeping {
  const after = async <T>(scope: Scope, kept: Promise<T>): Promise<T> => {
    const said = await kept;
    wake(scope);
    return said;
  };
  const approvals = store.part(APPROVAL_STORE);
  const finishApproval: typeof approvals.finishApproval = (scope, ...given) =>
    after(scope, approvals.finishApproval(scope, ...given));
  return {
    saveMemory: (scope, ...given) => after(scope, store.saveMemory(scope, ...given)),
    saveMemories: (scope, ...given) => after(scope, store.saveMemories(scope, ...given)),
    settle: (claim, outcome) => after(claim.thread.scope, store.settle(claim, outcome)),
    part: (of) => ({ ...store.part(of), ...(of.name === APPROVAL_STORE.name && { finishApproval }) }),
  };
}

async function statesOf({ store }: EmbedParts, { org, name, embedder }: Agent): Promise<readonly VectorState[]> {
  return embedder === undefined ? [] : store.vectorStates({ org, agent: name, contact: null }, embedder);
}

/** The scopes that lack vectors of the agent's embedder. */
const lacking = ({ embedder }: Agent, states: readonly VectorState[]): readonly VectorState[] =>
  states.filter(({ model, waiting, serving }) => model === embedder && (waiting > 0 || !serving));

function troubleOf({ search, making }: Troubles, agent: AgentName): string | undefined {
  const found = search.get(agent);
  if (found !== undefined) return `memories are found by their words alone: ${found}`;
  const made = making.get(agent);
  return made === undefined ? undefined : `what is new is found by its words alone: ${made}`;
}

interface QueryEmbedding extends Pick<EmbedParts, "store"> {
  readonly queries: QueryVectors;
  readonly troubles: Troubles;
}

/** The query as vectors of the models used in its scopes; none if that fails. */
async function embedQuery(
  { store, queries, troubles }: QueryEmbedding,
  agent: Agent,
  scopes: readonly Scope[],
  query: MemoryQuery,
): Promise<readonly QueryVector[]> {
  try {
    const models = await store.servingModels(scopes);
    const vectors = await queries.of(agent, models, query);
    if (vectors.length > 0) troubles.search.delete(agent.name);
    return vectors;
  } catch (thrown) {
    // The search is stopped by the same signal, and reports it better.
    if (query.signal?.aborted !== true) troubles.search.set(agent.name, asStrataError(thrown).message);
    return [];
  }
}

async function* catchUp(parts: EmbedParts, agent: Agent, signal: AbortSignal): AsyncGenerator<EmbedProgress> {
  const { name, embedder } = agent;
  if (embedder === undefined) return;
  const behind = lacking(agent, await statesOf(parts, agent));
  const total = behind.reduce((sum, { waiting }) => sum + waiting, 0);
  let progress: EmbedProgress = { agent: name, model: embedder, total, done: 0, made: 0, refused: 0, tokens: 0 };
  for (const { scope } of behind) {
    for await (const { model, memories, made, refused, tokens } of embedScope(parts, scope, embedder, signal)) {
      progress = {
        ...progress,
        done: Math.min(total, progress.done + (model === embedder ? memories : 0)),
        made: progress.made + made,
        refused: progress.refused + refused,
        tokens: progress.tokens + tokens,
      };
      yield progress;
    }
  }
}

/** What went wrong of late, by agent: in searches, and in making vectors. */
interface Troubles {
  readonly search: Map<AgentName, string>;
  readonly making: Map<AgentName, string>;
}

/** Makes vectors beside everything else, one scope after the other. */
interface Background {
  wake(scope: Scope, model: ModelRef | undefined): void;
  /** When it has nothing to do. */
  idle(): Promise<void>;
  /** Lets it come to an end, but not for long. */
  close(): Promise<void>;
}

/** At the end of a program, new memories get their vectors if that is quick. */
const GRACE = 2_000;

interface Wish {
  readonly scope: Scope;
  readonly model: ModelRef;
}

function backgroundOf(parts: EmbedParts, troubles: Troubles): Background {
  const wishes = new Map<string, Wish>();
  const stop = new AbortController();
  let working: Promise<void> | undefined;
  const work = async (): Promise<void> => {
    for (let next = first(wishes); next !== undefined && !stop.signal.aborted; next = first(wishes)) {
      const [key, wish] = next;
      wishes.delete(key);
      await grant(parts, wish, { wishes, troubles, signal: stop.signal });
    }
    working = undefined;
  };
  return {
    wake: (scope, model) => {
      if (model === undefined || stop.signal.aborted) return;
      wishes.set(JSON.stringify([scope.org, scope.agent, scope.contact]), { scope, model });
      working ??= work();
    },
    idle: async () => working,
    close: async () => {
      const isHopeless = troubles.search.size + troubles.making.size > 0;
      if (working !== undefined && !isHopeless) await Promise.race([working, pause(GRACE, undefined, { ref: false })]);
      stop.abort();
      await working;
    },
  };
}

const first = <K, V>(map: ReadonlyMap<K, V>): readonly [K, V] | undefined => map.entries().next().value;

interface Working {
  readonly wishes: Map<string, Wish>;
  readonly troubles: Troubles;
  readonly signal: AbortSignal;
}

/** Never throws: failures are reported, and retried with the next message. */
async function grant(parts: EmbedParts, { scope, model }: Wish, { wishes, troubles, signal }: Working): Promise<void> {
  const { agent } = scope;
  try {
    // Others first: who woke it has something to say, and an embedder without a network never waits.
    await setImmediate();
    for await (const _ of embedScope(parts, scope, model, signal)) await setImmediate();
    troubles.making.delete(agent);
  } catch (thrown) {
    if (signal.aborted) return;
    troubles.making.set(agent, asStrataError(thrown).message);
    for (const [key, wish] of wishes) if (wish.scope.agent === agent) wishes.delete(key);
  }
}
