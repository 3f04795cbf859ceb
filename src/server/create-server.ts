import { Hono } from "hono";
import { StrataError } from "../protocol/index.ts";
import { errorResponse } from "./error-response.ts";
import type { HealthReport } from "./health.ts";

/** What the server is given to answer with. */
export interface Doors {
  readonly health: () => HealthReport;
}

/** The routes over what they answer with. No port, no process: a request in, a response out. */
export function createServer({ health }: Doors): Hono {
  const server = new Hono();
  server.get("/", (context) => context.text(`Strata ${health().version} serves here. See /health.\n`));
  server.get("/health", (context) => context.json(health()));
  server.notFound((context) => errorResponse(noRoute(context.req.method, context.req.path)));
  server.onError((thrown) => errorResponse(thrown));
  return server;
}

const noRoute = (method: string, path: string): StrataError =>
  new StrataError("file_not_found", `nothing answers to ${method} ${path}; GET /health tells what is served`, {
    method,
    path,
  });
