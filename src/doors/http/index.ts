/**
 * The HTTP server: it translates between HTTP and the runtime and decides nothing. It has no access to databases, models or prompts;
 * it gets the runtime as an argument. It listens only on the configured address, and everything except `/` and `/health` needs the
 * operator's token or a key.
 */
export {
  type AgentHealth,
  createServer,
  type Health,
  type HealthReport,
  type Server,
  type ServerParts,
} from "./create-server.ts";
export { errorResponse } from "./route.ts";
export {
  actorsBy,
  type Listening,
  listen,
  type Served,
  type ServeOptions,
  type Serving,
  serveOperator,
} from "./serve.ts";
export { type Address, type Site, siteOf } from "./site.ts";
export { isSameToken, operatorToken } from "./token.ts";
