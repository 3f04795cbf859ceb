import { setTimeout as pause, setImmediate } from "node:timers/promises";
import { type AgentName, asStrataError, type ModelRef, type Scope } from "../../protocol/index.ts";
import type { EmbedParts } from "./embed-parts.ts";
import { embedScope } from "./embed-scope.ts";

/** What went wrong of late, by agent: in searches, and in making vectors. */
export interface Troubles {
  readonly search: Map<AgentName, string>;
  readonly making: Map<AgentName, string>;
}

/** Makes vectors beside everything else, one scope after the other. */
export interface Background {
  wake(scope: Scope, model: ModelRef | undefined): void;
  /** When it has nothing to do. */
  idle(): Promise<void>;
  /** Lets it come to an end, but not for long. */
  close(): Promise<void>;
}

/** At the end of a program what was just said gets its vectors as far as that is quick. */
const GRACE = 2_000;

interface Wish {
  readonly scope: Scope;
  readonly model: ModelRef;
}

export function backgroundOf(parts: EmbedParts, troubles: Troubles): Background {
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

/** Never throws: what fails is told, and tried again when something is said again. */
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
