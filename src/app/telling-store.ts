import type { Store } from "../store/index.ts";

/** The same store, which calls `changed` after this program has stored something that background work may be waiting for. */
export function telling(store: Store, changed: () => void): Store {
  const after = async <T>(kept: Promise<T>): Promise<T> => {
    const said = await kept;
    changed();
    return said;
  };
  return {
    ...store,
    receive: (...given) => after(store.receive(...given)),
    openAndReceive: (...given) => after(store.openAndReceive(...given)),
    settle: (...given) => after(store.settle(...given)),
    part: (of) => tellingPart(store.part(of), of.wakes ?? [], after),
  };
}

function tellingPart<Functions extends object>(
  functions: Functions,
  wakes: readonly string[],
  after: <T>(kept: Promise<T>) => Promise<T>,
): Functions {
  return new Proxy(functions, {
    get: (own, name) => {
      const found: unknown = Reflect.get(own, name);
      if (typeof found !== "function" || !wakes.includes(String(name))) return found;
      return (...given: readonly unknown[]) => after(found(...given));
    },
  });
}
