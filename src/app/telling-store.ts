import type { Change, Claim, Store, StorePart } from "../store/index.ts";

/** The same store, which also reports a change after this program has stored something that others may be waiting for. */
export function telling(store: Store, tell: (change: Change) => void): Store {
  const after = async <T>(kept: Promise<T>, changeOf: (result: T) => Change): Promise<T> => {
    const result = await kept;
    tell(changeOf(result));
    return result;
  };
  return {
    ...store,
    receive: (scope, thread, events, also) =>
      after(store.receive(scope, thread, events, also), (stored) => messages({ scope, id: thread }, stored)),
    openAndReceive: (scope, ...given) =>
      after(store.openAndReceive(scope, ...given), ({ thread, events }) => messages(thread, events)),
    receiveAndClaim: async (scope, thread, ...given) => {
      const kept = await store.receiveAndClaim(scope, thread, ...given);
      kept.onDisk.then(
        () => tell(messages({ scope, id: thread }, kept.events)),
        () => undefined,
      );
      return kept;
    },
    settle: (claim, outcome) =>
      after(store.settle(claim, outcome), () => {
        const { scope, id: thread } = claim.thread;
        return { kind: "turn", scope, thread, ids: [claim, ...(claim.batchMembers ?? [])].map(({ turn }) => turn) };
      }),
    part: (of) => tellingPart(store.part(of), of.changes ?? {}, tell),
  };
}

const messages = (
  { scope, id: thread }: Pick<Claim["thread"], "scope" | "id">,
  events: readonly { readonly id: string }[],
): Change => ({ kind: "message", scope, thread, ids: events.map(({ id }) => id) });

function tellingPart<Functions extends object>(
  functions: Functions,
  changes: NonNullable<StorePart["changes"]>,
  tell: (change: Change) => void,
): Functions {
  return new Proxy(functions, {
    get: (own, name) => {
      const found: unknown = Reflect.get(own, name);
      const changeOf = changes[String(name)];
      if (typeof found !== "function" || changeOf === undefined) return found;
      return async (...given: readonly never[]) => {
        const result: unknown = await found(...given);
        tell(changeOf(...given));
        return result;
      };
    },
  });
}
