import { type Context, Hono } from "hono";
import { HOOK_API } from "../../features/hooks/index.ts";
import { fieldsOf, type Operation } from "../../features/index.ts";
import { type Actor, allow, type ModelRef, may, StrataError, type TurnEvent } from "../../protocol/index.ts";
import { readBody, readSignedBody } from "./read-body.ts";
import { errorResponse, type HttpContext, type Route } from "./route.ts";
import { routesOf } from "./routes.ts";
import { checkSite, type Site } from "./site.ts";
import { openTurns, stopping } from "./turns.ts";

/** What a server is made from. */
export interface ServerParts extends Omit<HttpContext, "turns"> {
  /** What is served, beside the hand-written routes. */
  readonly operations: readonly Operation[];
  readonly site: Site;
  /**
   * The actor with that key or token; undefined if it is not valid. Called with an empty text if none was sent: that takes the same work.
   */
  readonly actorOf: (secret: string) => Promise<Actor | undefined> | Actor | undefined;
  readonly health: () => Promise<HealthReport>;
  /** Of every error that a route may answer with. */
  readonly errorCodes: () => Promise<readonly string[]>;
  /** Receives the events of turns that clients request, for the server's operator. */
  readonly watch?: ((event: TurnEvent) => void) | undefined;
  /** Milliseconds in which a body has to arrive. Default: 30,000. */
  readonly bodyTimeout?: number;
}

/** A request in, a response out. No port, no process. */
export interface Server {
  readonly fetch: (request: Request) => Promise<Response>;
  /** The same for programs in this process: `request("/health", …)`. */
  readonly request: (path: string, init?: RequestInit) => Promise<Response>;
  /**
   * Refuses new requests with 503, lets the turns and approved calls that run go on for this many milliseconds, and then stops them.
   * Resolves when each has ended.
   */
  readonly close: (drain?: number) => Promise<void>;
}

type Env = { Variables: { actor: Actor | undefined } };

/** What a server of this machine alone answers without a key. Nothing private is shown there. */
const OPEN: readonly string[] = ["/", "/health"];

/** The routes over what they answer with. Every request is let in by its host first, then by its key. */
export function createServer(parts: ServerParts): Server {
  const turns = openTurns(parts.watch);
  const routes = routesOf(parts.operations);
  let isStopping = false;
  const server = new Hono<Env>();
  server.use(async (context, next) => {
    await next();
    for (const [name, value] of HEADERS) context.res.headers.set(name, value);
    // This connection closes, so it must not be reused for the next request.
    if (isStopping) context.res.headers.set("connection", "close");
  });
  server.use(async (context, next) => {
    checkSite(parts.site, context.req.raw.headers);
    if (isStopping) throw stopping();
    // A webhook has a signature in place of a key.
    if (!isHook(context)) context.set("actor", await actorOf(parts, context));
    await next();
  });
  serveOpen(server, parts);
  serveDocument(server, parts, routes);
  serveHooks(server, parts);
  for (const route of routes) {
    const respond = (context: Context<Env>): Promise<Response> => responseOf({ ...parts, turns }, route, context);
    server.on(route.method.toUpperCase(), route.url.replaceAll(/\{(\w+)\}/g, ":$1"), respond);
  }
  server.notFound(({ req }) => nowhere(routes, req.method, req.path));
  server.onError((thrown) => errorResponse(thrown));
  return {
    fetch: async (request) => turns.answer(Promise.resolve(server.fetch(request))),
    request: async (path, init) => turns.answer(Promise.resolve(server.request(path, init))),
    close: (drain = 0) => {
      isStopping = true;
      return turns.close(drain);
    },
  };
}

/** Pages of other sites must not show, guess or keep the answers. */
const HEADERS = [
  ["cache-control", "no-store"],
  ["x-content-type-options", "nosniff"],
  ["x-frame-options", "DENY"],
  ["cross-origin-resource-policy", "same-origin"],
  ["referrer-policy", "no-referrer"],
  ["content-security-policy", "default-src 'none'; frame-ancestors 'none'"],
] as const;

/** @throws StrataError `unauthenticated` */
async function actorOf(
  parts: Pick<ServerParts, "site" | "actorOf">,
  { req }: Context<Env>,
): Promise<Actor | undefined> {
  const secret = secretIn(req.raw.headers);
  const isOpen = parts.site.isLocal && OPEN.includes(req.path);
  if (secret === undefined && isOpen) return undefined;
  // Checked even if none was sent: a missing, unknown, expired or revoked secret gets the same answer for the same work.
  const actor = await parts.actorOf(secret ?? "");
  if (actor !== undefined || isOpen) return actor;
  throw unauthenticated("no valid key was sent");
}

/** The key or token of a request, in either of the two headers that clients know. */
function secretIn(headers: Headers): string | undefined {
  const [, bearer] = /^Bearer +([\w-]{1,200})$/i.exec(headers.get("authorization") ?? "") ?? [];
  const [apiKey] = /^[\w-]{1,200}$/.exec(headers.get("x-api-key") ?? "") ?? [];
  if (bearer !== undefined && apiKey !== undefined && bearer !== apiKey)
    throw unauthenticated("`Authorization` and `x-api-key` hold different keys");
  return bearer ?? apiKey;
}

function unauthenticated(why: string): StrataError {
  const next =
    "send `Authorization: Bearer` or `x-api-key` with one key that `strata key create` made, or the token from operator.token in the data folder";
  return new StrataError("unauthenticated", `${why}; ${next}`);
}

function serveOpen(server: Hono<Env>, { health }: ServerParts): void {
  server.get("/", async ({ text, req }) => text(welcome((await health()).version, new URL(req.url).origin)));
  server.get("/health", async (context) => {
    const whole = await health();
    const { status, version } = whole;
    // The reason names folders, so it is only for actors who may see everything on this server.
    const bare = { status, version, ...(status === "failing" && { next: ASK_WITH_TOKEN }) };
    return context.json(seesAll(context.get("actor")) ? whole : bare, status === "ok" ? 200 : 503);
  });
}

const HOOK = "/v1/hooks/{agent}/{channel}";

const isHook = ({ req }: Context<Env>): boolean =>
  req.method === "POST" && /^\/v1\/hooks\/[^/]+\/[^/]+$/.test(req.path);

/**
 * Messages from a provider that signs them. With a wrong signature, nothing beyond the body is read, and nothing about what exists is
 * revealed.
 */
function serveHooks(server: Hono<Env>, { runtime, bodyTimeout }: Pick<ServerParts, "runtime" | "bodyTimeout">): void {
  server.post("/v1/hooks/:agent/:channel", async ({ req, json }) => {
    const { text, value } = await readSignedBody(req.raw, bodyTimeout);
    const [id, timestamp, signature] = ["webhook-id", "webhook-timestamp", "webhook-signature"].map((name) =>
      req.header(name),
    );
    const signed = { id, timestamp, signature, text, value };
    return json(await runtime.use(HOOK_API).receive(req.param("agent"), req.param("channel"), signed), 202);
  });
}

const seesAll = (actor: Actor | undefined): boolean =>
  actor !== undefined && may(actor, "operate") && actor.agent === undefined && actor.contact === undefined;

const ASK_WITH_TOKEN =
  "nothing can be stored any more; ask again with the operator's token, and `because` gives the reason";

const welcome = (version: string, origin: string): string =>
  `Strata ${version} serves here. It is a REST API for programs, and there is no page to look at.

  ${origin}/health            tells whether it is well
  ${origin}/v1/agents         the agents that are served; needs a key
  ${origin}/v1/openapi.json   describes every route; needs a key, too

The operator's token is such a key. It is in the file operator.token of the data folder, which \`strata start\` names. From where it was started:

  curl -H "Authorization: Bearer $(cat .strata/operator.token)" ${origin}/v1/agents

\`strata key create\` makes keys for other people and programs.

To talk to an agent in a terminal, run \`strata chat AGENT\`.
`;

/** Made when it is asked for: most runs never need it. */
function serveDocument(server: Hono<Env>, { health, errorCodes }: ServerParts, routes: readonly Route[]): void {
  server.get("/v1/openapi.json", async ({ json }) => {
    const { openApiOf } = await import("./openapi.ts");
    return json(openApiOf(routes, { version: (await health()).version, codes: await errorCodes() }));
  });
}

async function responseOf(
  doors: HttpContext & Pick<ServerParts, "bodyTimeout">,
  route: Route,
  { req, get }: Context<Env>,
): Promise<Response> {
  const actor = get("actor");
  if (actor === undefined) throw unauthenticated("no valid key was sent");
  // Before the query and the body are read, so that a refused actor learns nothing about their form.
  allow(actor, route.may);
  return route.respond(doors, {
    actor,
    path: req.param(),
    query: queryOf(route, new URL(req.url).searchParams),
    body: route.method === "post" ? await readBody(req.raw, doors.bodyTimeout) : undefined,
    accept: req.header("accept"),
    gone: req.raw.signal,
  });
}

/** The fields of a query. A list may occur several times; for any other field that would be ambiguous. */
function queryOf({ shapes }: Route, fields: URLSearchParams): unknown {
  const doubled = [...new Set(fields.keys())].filter((name) => fields.getAll(name).length > 1);
  if (doubled.length === 0) return Object.fromEntries(fields);
  const lists = fieldsOf(shapes.query).flatMap(({ name, type }) => (type === "list" ? [name] : []));
  const name = doubled.find((one) => !lists.includes(one));
  if (name !== undefined)
    throw new StrataError("invalid_input", `the query names \`${name}\` more than once; name it once`, { field: name });
  return { ...Object.fromEntries(fields), ...Object.fromEntries(doubled.map((one) => [one, fields.getAll(one)])) };
}

/** Another method's path, or no path at all. */
function nowhere(routes: readonly Route[], method: string, path: string): Response {
  const known = [
    { method: "get", url: "/v1/openapi.json" },
    { method: "post", url: HOOK },
    ...OPEN.map((url) => ({ method: "get", url })),
    ...routes,
  ];
  const here = known.filter(({ url }) => new RegExp(`^${url.replaceAll(/\{\w+\}/g, "[^/]+")}$`).test(path));
  if (here.length === 0) {
    const message = `there is no route ${method} ${path}; GET /v1/openapi.json lists the routes`;
    return errorResponse(new StrataError("route_not_found", message, { method, path }));
  }
  const allow = here.map((one) => one.method.toUpperCase()).join(", ");
  const message = `${path} does not support ${method}; it supports ${allow}`;
  const response = errorResponse(new StrataError("method_not_allowed", message, { method, path, allow }));
  response.headers.set("allow", allow);
  return response;
}

/** One agent that is served, and who answers for it. */
export interface AgentHealth {
  readonly name: string;
  readonly version: string;
  readonly model: ModelRef;
}

/** What `/health` says publicly: that the server works or, with status 503, that nothing can be stored any more. */
export interface Health {
  readonly status: "ok" | "failing";
  readonly version: string;
  /** If it fails, for callers other than operators: how to learn why. */
  readonly next?: string;
}

/** What `/health` says to an operator of the whole organization: also what it serves. */
export interface HealthReport extends Health {
  readonly agents: readonly AgentHealth[];
  /** The data folder. */
  readonly data: string;
  /** How many turns run just now, and how many wait for their place. */
  readonly turns: { readonly running: number; readonly waiting: number };
  /** Why it fails, in a sentence. */
  readonly because?: string;
}
