/**
 * The HTTP door: it translates between HTTP and the runtime and decides nothing. It knows no database, no model and no
 * prompt; what it answers with is handed in. It listens where it is told to and nowhere else, and lets nobody further
 * than `/` and `/health` without the operator's token.
 */
export { createServer, type Server, type ServerParts } from "./create-server.ts";
export { errorResponse } from "./error-response.ts";
export type { AgentHealth, Health, HealthReport } from "./health.ts";
export { type Listening, listen } from "./listen.ts";
export { type Served, type ServeOptions, type Serving, serveOperator } from "./serve.ts";
export { type Address, type Site, siteOf } from "./site.ts";
export { isSameToken, operatorToken } from "./token.ts";
