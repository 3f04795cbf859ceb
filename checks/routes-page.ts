import { readFileSync } from "node:fs";
import { join } from "node:path";
import { allErrors, allOperations } from "../src/app/entry/features.ts";
import { routesOf } from "../src/doors/http/routes.ts";
import { ROOT } from "./files.ts";
import { between } from "./generated.ts";

const PAGE = join(ROOT, "docs/http.md");

/** The page of the REST API: its tables of routes and of error codes are written, the rest is by hand. */
export async function routesPage(): Promise<string> {
  const routes = routesOf(await allOperations());
  const rows = routes.map(({ method, url, message }) => `| \`${method.toUpperCase()} ${url}\` | ${message} |`);
  const withRoutes = between(readFileSync(PAGE, "utf8"), "routes", ["| route | |", "|---|---|", ...rows]);
  const codes = Map.groupBy(await allErrors(), ([, { status }]) => status);
  const statuses = [...codes].toSorted(([one], [other]) => one - other);
  const lines = statuses.map(([status, same]) => `| ${status} | ${same.map(([code]) => `\`${code}\``).join(", ")} |`);
  return between(withRoutes, "codes", ["| status | codes |", "|---|---|", ...lines]);
}
