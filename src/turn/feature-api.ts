/** The functions that a feature adds to a runtime, put under the feature's token. */
export interface OpenedApi {
  readonly addTo: (runtime: object) => void;
}

/** A token for the functions that a feature adds to the runtime: `runtime.use(TOKEN)` gives them. */
export interface FeatureApi<Functions extends object> {
  readonly name: string;
  readonly open: (functions: Functions) => OpenedApi;
  readonly of: (runtime: object) => Functions | undefined;
}

/** The token of the feature with that name. */
export function featureApi<Functions extends object>(name: string): FeatureApi<Functions> {
  const all = new WeakMap<object, Functions>();
  return {
    name,
    open: (functions) => ({ addTo: (runtime) => void all.set(runtime, functions) }),
    of: (runtime) => all.get(runtime),
  };
}
