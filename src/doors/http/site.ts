import { StrataError } from "../../protocol/index.ts";

/** Where to listen. Port 0: the system chooses a free one. */
export interface Address {
  readonly host: string;
  readonly port: number;
}

/** A server's address, under the names that its clients may use. */
export interface Site {
  /** Whether only programs of this machine reach it: then `/` and `/health` answer without a key. */
  readonly isLocal: boolean;
  /** What `Host` may say, in small letters. */
  readonly hosts: ReadonlySet<string>;
  /** What `Origin` may say, if a browser sends one. */
  readonly origins: ReadonlySet<string>;
}

/** Addresses that mean all of a machine's own, each with the one by which this machine reaches itself. */
const EVERYWHERE: ReadonlyMap<string, string> = new Map([
  ["0.0.0.0", "127.0.0.1"],
  ["::", "::1"],
]);

/**
 * The names of a server that listens at an address. A page of another site may make a browser call this machine under another name; such a
 * call names the wrong host or origin.
 * @param named hosts as `Host` gives them, with their port if it is not the usual one: what a proxy passes on
 */
export function siteOf({ host, port }: Address, named: readonly string[] = []): Site {
  const local = ["127.0.0.1", "localhost", "[::1]"];
  const here = [...new Set([...local, inUrl(host)])].flatMap((name) =>
    port === 80 ? [name, `${name}:80`] : [`${name}:${port}`],
  );
  const there = named.map(hostName);
  return {
    isLocal: isLoopback(host),
    hosts: new Set([...here, ...there]),
    origins: new Set([...here.map(plainOrigin), ...there.flatMap((name) => [plainOrigin(name), `https://${name}`])]),
  };
}

/**
 * Lets a request in that names this site, or says why not.
 * @throws StrataError `not_allowed`
 */
export function checkSite({ hosts, origins }: Site, headers: Headers): void {
  const host = headers.get("host")?.toLowerCase() ?? "";
  if (!hosts.has(host)) throw foreign("Host", host, hosts);
  const origin = headers.get("origin");
  if (origin !== null && !origins.has(origin.toLowerCase())) throw foreign("Origin", origin, origins);
}

/** An address as a URL of this machine has it: one that can be called, IPv6 in brackets. */
export function inUrl(host: string): string {
  const one = EVERYWHERE.get(host) ?? host.toLowerCase();
  return one.includes(":") ? `[${one}]` : one;
}

const plainOrigin = (name: string): string => `http://${name}`;

/** Whether only programs of this machine reach the address. */
export function isLoopback(host: string): boolean {
  return host === "localhost" || host === "::1" || /^127(\.\d{1,3}){3}$/.test(host);
}

function hostName(text: string): string {
  const name = text.toLowerCase();
  if (/^([a-z0-9.-]+|\[[0-9a-f:.]+\])(:\d{1,5})?$/.test(name)) return name;
  const form = "a host such as strata.example.org or strata.example.org:8443, without http://";
  throw new StrataError("invalid_input", `${JSON.stringify(text)} is not a host: it must be ${form}`, { host: text });
}

function foreign(header: "Host" | "Origin", value: string, known: ReadonlySet<string>): StrataError {
  const message = `the header ${header} is ${JSON.stringify(value)}, which is not this server; its names are ${[...known].join(", ")}`;
  return new StrataError("not_allowed", message, { header, value });
}
