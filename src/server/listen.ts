import type { AddressInfo } from "node:net";
import { serve } from "@hono/node-server";
import type { Hono } from "hono";
import { StrataError } from "../protocol/index.ts";

/** Where to listen. Port 0: the system chooses a free one. */
export interface Address {
  readonly host: string;
  readonly port: number;
}

/** A server that answers. */
export interface Listening {
  readonly url: string;
  /** Takes no more requests, and ends the connections that only wait. */
  readonly close: () => Promise<void>;
}

/**
 * Listens until it is closed.
 * @throws StrataError `port_taken`
 */
export function listen(server: Hono, { host, port }: Address): Promise<Listening> {
  const { promise, resolve, reject } = Promise.withResolvers<Listening>();
  // The package would put its own Request and Response in the place of the global ones, for the models' fetch as well.
  const options = { fetch: server.fetch, hostname: host, port, overrideGlobalObjects: false };
  const listening = serve(options, (info) => resolve(listened(info)));
  listening.once("error", (cause) => reject(notListening(cause, { host, port })));

  const close = (): Promise<void> => new Promise((done) => listening.close(() => done()));
  const listened = ({ port: got }: AddressInfo): Listening => ({ url: `http://${host}:${got}`, close });
  return promise;
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
