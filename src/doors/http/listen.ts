import { setTimeout as pause } from "node:timers/promises";
import { type ServerType, serve } from "@hono/node-server";
import { StrataError } from "../../protocol/index.ts";
import type { Server } from "./create-server.ts";
import { type Address, inUrl } from "./site.ts";

/** A server that answers. */
export interface Listening {
  readonly url: string;
  /** Takes no more requests, stops the turns and approved calls that run and waits for their ends, and ends all connections. */
  readonly close: () => Promise<void>;
}

/** Answers that are on their way get so many milliseconds to arrive. */
const FAREWELL = 1_000;

/**
 * Listens until it is closed.
 * @param serverAt makes the server for the port it got, for a server must know its own name
 * @throws StrataError `port_taken`
 */
export function listen(serverAt: (port: number) => Server, { host, port }: Address): Promise<Listening> {
  const { promise, resolve, reject } = Promise.withResolvers<Listening>();
  let server: Server | undefined;
  // No request can come before the port is known: the server is there when the first one does.
  const fetch = (request: Request) => server?.fetch(request) ?? new Response(null, { status: 503 });
  // The package would put its own Request and Response in the place of the global ones, for the models' fetch as well.
  const options = { fetch, hostname: host, port, overrideGlobalObjects: false };
  const begin = (got: number): Listening => {
    const made = serverAt(got);
    server = made;
    return { url: `http://${inUrl(host)}:${got}`, close: () => end(listening, made) };
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

async function end(listening: ServerType, server: Server): Promise<void> {
  const closed = new Promise<void>((done) => listening.close(() => done()));
  await server.close();
  // Whoever does not read what was sent to them must not hold up the end.
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
