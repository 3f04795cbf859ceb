import { randomBytes } from "node:crypto";
import { type ServeOptions, type Serving, serveOperator } from "../doors/http/index.ts";
import { allOperations } from "./doors/features.ts";
import type { App } from "./open.ts";
import { VERSION } from "./version.ts";

/**
 * Serves the runtime over HTTP to whoever has the operator's token.
 * @throws StrataError `port_taken`, `invalid_input`, `file_not_found` for the token's file
 */
export async function serve(app: App, port: number, options: Omit<ServeOptions, "port"> = {}): Promise<Serving> {
  const outside = { version: VERSION, clock: () => Date.now(), random: (n: number) => randomBytes(n) };
  return serveOperator({ ...app, ...outside, operations: await allOperations() }, { ...options, port });
}
