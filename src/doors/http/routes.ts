import type { Operation } from "../../features/index.ts";
import { routeOf } from "./operations.ts";
import type { Route } from "./route.ts";

/** Every route that takes a token: these are served, described in the OpenAPI document and covered by the tests. */
export function routesOf(operations: readonly Operation[]): readonly Route[] {
  const made = operations.flatMap((operation) =>
    operation.at === undefined ? [] : [routeOf(operation, operation.at)],
  );
  // Not an ordinary sort: for most pairs of routes the order does not matter, and they keep the order of their features.
  const routes: Route[] = [];
  for (const route of made) {
    const at = routes.findIndex((other) => standsBefore(route, other));
    routes.splice(at === -1 ? routes.length : at, 0, route);
  }
  return routes;
}

/** Of two routes that match one path, the one with a literal word comes before the one with a field there. */
function standsBefore(one: Route, other: Route): boolean {
  const [some, others] = [one.url.split("/"), other.url.split("/")];
  const at = some.findIndex((word, n) => word !== others[n]);
  return some[at]?.startsWith("{") === false && others[at]?.startsWith("{") === true;
}
