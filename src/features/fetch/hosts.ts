import { isIP } from "node:net";

/** The host as names are compared and looked up: without the brackets of IPv6 and the dot at its end. */
export const hostOf = ({ hostname }: URL): string => hostname.replace(/^\[(.*)\]$/, "$1").replace(/\.$/, "");

/** The same as people write it: an address of IPv6 in brackets. */
export const shownHost = (host: string): string => (host.includes(":") ? `[${host}]` : host);

const PORTS: Readonly<Record<string, string>> = { "http:": "80", "https:": "443" };

export const portOf = ({ port, protocol }: URL): string => (port === "" ? (PORTS[protocol] ?? "") : port);

/** `docs.example.org`, `*.example.org` for the names below it, `*` for all; each with a port where it is not the usual one. */
export const HOST_FORM = /^(?:\*|(?:\*\.)?[a-z0-9](?:[a-z0-9.-]*[a-z0-9])?)(?::\d{1,5})?$/;

/** Whether a list of hosts names the one of an address, with its port. */
export function isNamed(hosts: readonly string[], url: URL): boolean {
  const host = hostOf(url);
  return hosts.some((pattern) => {
    const [name = "", port] = pattern.split(":");
    const isPort = port === undefined ? PORTS[url.protocol] === portOf(url) : port === portOf(url);
    const isHost = name === "*" || name === host || (name.startsWith("*.") && host.endsWith(name.slice(1)));
    return isPort && isHost && (isIP(host) === 0 || name === host || name === "*");
  });
}

/** An address as a model writes it, or why nothing is sent there, as the end of a sentence. */
export function readUrl(text: string): URL | { readonly because: string } {
  if (!URL.canParse(text)) return { because: "is no address; write it whole, as in https://example.org/page" };
  const url = new URL(text);
  if (PORTS[url.protocol] === undefined)
    return { because: `begins with ${url.protocol}, and only https: and http: are read` };
  if (url.username !== "" || url.password !== "") return { because: "holds a name or a password; none is sent" };
  url.hash = "";
  return url;
}

/** Why nothing is sent to that host and port; `hosts` left out, any host of the public web will do. */
export function hostProblem(url: URL, hosts: readonly string[] | undefined): string | undefined {
  if (hosts !== undefined && !isNamed(hosts, url)) {
    return `leads to ${shownHost(hostOf(url))}:${portOf(url)}, and this agent may reach ${hosts.length === 0 ? "no host" : `only ${hosts.join(", ")}`}`;
  }
  if (hosts === undefined && url.port !== "") return `names the port ${url.port}; only the usual ones are asked`;
  return undefined;
}

/** That nothing is sent to an address as a model writes it, as a whole sentence. */
export const notSent = (text: string, because: string | undefined): string =>
  `Nothing was sent: ${JSON.stringify(text.slice(0, 300))} ${because}.`;
