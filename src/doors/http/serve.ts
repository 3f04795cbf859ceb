import { join } from "node:path";
import { setTimeout as pause } from "node:timers/promises";
import { type ServerType, serve } from "@hono/node-server";
import type { Operation } from "../../features/index.ts";
import { KEY_API } from "../../features/keys/index.ts";
import { type Actor, type Allowed, StrataError, TOKEN_OPERATOR, type TurnEvent } from "../../protocol/index.ts";
import { createServer, type HealthReport, type Server, type ServerParts } from "./create-server.ts";
import type { HttpContext } from "./route.ts";
import { type Address, inUrl, isLoopback, siteOf } from "./site.ts";
import { isSameToken, operatorToken } from "./token.ts";

/** What is served, and what comes from outside. */
export interface Served extends Omit<HttpContext, "turns"> {
  readonly operations: readonly Operation[];
  readonly errorCodes: () => Promise<readonly string[]>;
  readonly operator: Allowed<"operate">;
  /** The data folder, which holds the token. */
  readonly data: string;
  readonly version: string;
  /** Why nothing can be stored any more. Undefined if all is well. */
  readonly trouble: () => Promise<string | undefined>;
  /** `n` bytes of chance. */
  readonly random: (n: number) => Uint8Array;
}

/** Where and under which names to serve. */
export interface ServeOptions {
  readonly port: number;
  /** The address to listen at; without one, this machine alone. */
  readonly host?: string;
  /** More names that clients may call it by, as `Host` gives them: those of a proxy in front of it. */
  readonly hosts?: readonly string[];
  /** Receives the events of turns that clients request. */
  readonly watch?: (event: TurnEvent) => void;
}

/** A server that answers, and the key to it. */
export interface Serving extends Listening {
  /** The address with the operator's token after `#`, so that no server and no log sees it. */
  readonly link: string;
  /** The file with the token. */
  readonly tokenFile: string;
}

/**
 * Serves callers with the operator's token or a key; at an address that other machines reach, all others get no answer, and there must be a
 * key.
 * @throws StrataError `port_taken`, `invalid_input`, `file_not_found` for the token's file, `keys_missing`
 */
export async function serveOperator(served: Served, options: ServeOptions): Promise<Serving> {
  const { host = "127.0.0.1", hosts, port, watch } = options;
  const tokenFile = join(served.data, "operator.token");
  const token = operatorToken(tokenFile, served.random);
  if (!isLoopback(host)) await served.runtime.use(KEY_API).checkAnyKey(served.operator, host);
  const serverAt = (got: number): Server =>
    createServer({
      ...served,
      site: siteOf({ host, port: got }, hosts),
      actorOf: actorsBy(served, token),
      health: () => healthOf(served),
      watch,
    });
  const listening = await listen(serverAt, { host, port });
  return { ...listening, link: `${listening.url}/#token=${token}`, tokenFile };
}

/** The actor with a secret: the operator with the token, or the key's actor. */
export function actorsBy(
  { runtime, operator }: Pick<Served, "runtime" | "operator">,
  token: string,
): ServerParts["actorOf"] {
  const holder: Actor = { ...operator, id: TOKEN_OPERATOR };
  return (secret) => (isSameToken(secret, token) ? holder : runtime.use(KEY_API).actorWith(operator.org, secret));
}

async function healthOf({ runtime, operator, modelNameOf, data, version, trouble }: Served): Promise<HealthReport> {
  const because = await trouble();
  const agents = runtime
    .agents(operator)
    .map((agent) => ({ name: agent.name, version: agent.version, model: modelNameOf(agent) }));
  const report = { version, agents, data, turns: runtime.load() };
  return because === undefined ? { status: "ok", ...report } : { status: "failing", ...report, because };
}

/** A server that answers. */
export interface Listening {
  readonly url: string;
  /**
   * Refuses new requests with 503, lets the turns and approved calls that run go on for this many milliseconds, stops the others and waits
   * for their ends, and ends all connections.
   */
  readonly close: (drain?: number) => Promise<void>;
}

/** Answers on their way get this many milliseconds to arrive. */
const FAREWELL = 1_000;

/**
 * Listens until it is closed.
 * @param serverAt makes the server for the port it got, because a server must know its own name
 * @throws StrataError `port_taken`
 */
export function listen(serverAt: (port: number) => Server, { host, port }: Address): Promise<Listening> {
  const { promise, resolve, reject } = Promise.withResolvers<Listening>();
  let server: Server | undefined;
  // No request can come before the port is known: the server is there when the first one does.
  const fetch = (request: Request) => server?.fetch(request) ?? new Response(null, { status: 503 });
  // The package would replace the global Request and Response with its own, for the models' fetch as well.
  const options = { fetch, hostname: host, port, overrideGlobalObjects: false };
  const begin = (got: number): Listening => {
    const made = serverAt(got);
    server = made;
    return { url: `http://${inUrl(host)}:${got}`, close: (drain) => closeServer(listening, made, drain) };
  };
  const listening = serve(options, ({ port: got }) => {
    try {
      resolve(begin(got));
    } catch (thrown) {
      listening.close();
      reject(thrown);
    }
  });
  listening.once("error", (cause) => reject(notListening(cause, { host, port })));
  return promise;
}

async function closeServer(listening: ServerType, server: Server, drain?: number): Promise<void> {
  // It keeps listening meanwhile: new callers are asked to come back, instead of finding no server.
  await server.close(drain);
  const closed = new Promise<void>((done) => listening.close(() => done()));
  // A client that does not read its answer must not hold up the end.
  await Promise.race([closed, pause(FAREWELL, undefined, { ref: false })]);
  if ("closeAllConnections" in listening) listening.closeAllConnections();
  await closed;
}

function notListening(cause: Error, { host, port }: Address): StrataError {
  const code = "code" in cause ? String(cause.code) : "";
  const why =
    code === "EADDRINUSE"
      ? `another program already uses port ${port} of ${host}`
      : code === "EACCES"
        ? `this user may not use port ${port} of ${host}`
        : `port ${port} of ${host} cannot be used: ${cause.message}`;
  const next = `stop the other program, or choose a port with --port, for example --port ${port === 65_535 ? port - 1 : port + 1}`;
  return new StrataError("port_taken", `${why}; ${next}`, { host, port }, cause);
}
