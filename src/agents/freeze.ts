import { StrataError } from "../protocol/index.ts";

/** Freezes a plain value with everything in it, and returns it. */
export function deepFreeze<T>(value: T): T {
  if (value === null || typeof value !== "object" || Object.isFrozen(value)) return value;
  for (const member of Object.values(value)) deepFreeze(member);
  return Object.freeze(value);
}

/** An immutable map. `Object.freeze` alone does not prevent `set`. */
export function frozenMap<K, V>(entries: Iterable<readonly [K, V]>): ReadonlyMap<K, V> {
  const map = new Map(entries);
  for (const value of map.values()) deepFreeze(value);
  const refuse = (): never => {
    throw new StrataError("unexpected", "a loaded project is frozen; edit strata.yaml and load it again");
  };
  for (const name of ["set", "delete", "clear"]) Object.defineProperty(map, name, { value: refuse });
  return Object.freeze(map);
}
