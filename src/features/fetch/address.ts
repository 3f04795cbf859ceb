import { lookup } from "node:dns/promises";
import { isIP } from "node:net";
import { networkInterfaces } from "node:os";
import ipaddr from "ipaddr.js";
import {
  HAS_PASSWORD,
  INSIDE_CLOUD,
  NOT_A_URL,
  notSent,
  onlyPublic,
  outsideHosts,
  RANGES,
  reserved,
  resolvesTo,
  UNCHECKED,
  unusualPort,
  wrongScheme,
} from "./wording.ts";

/**
 * Where an agent's requests may go. Two walls: the hosts named in the declaration; and the network addresses that cannot be reached from
 * outside, which no declaration opens, whatever name leads there.
 */
export interface Reach {
  /** All addresses of a name. */
  readonly resolve: (host: string) => Promise<readonly string[]>;
  /** Why nothing may be sent to an address, as the end of a sentence that begins with it; nothing for one of the public web. */
  readonly refuse: (address: string) => string | undefined;
}

export const OPEN_WEB: Reach = {
  resolve: async (host) => (await lookup(host, { all: true })).map(({ address }) => address),
  refuse: (address) => addressProblem(address, ownAddresses()),
};

const ownAddresses = (): readonly string[] =>
  Object.values(networkInterfaces()).flatMap((all = []) => all.map(({ address }) => address));

const ranges: ReadonlyMap<string, string> = new Map(Object.entries(RANGES));

/** Cloud services that answer only the machines inside, at addresses that look like everybody's. */
const INSIDE_CLOUDS = ["168.63.129.16"];

/**
 * Why an address is not on the public web. An address that embeds another (NAT64, 6to4, Teredo and the like) is always refused: a gateway
 * would forward it to the embedded one.
 * @param own the addresses of this machine, which reach services listening here
 */
function addressProblem(address: string, own: readonly string[] = []): string | undefined {
  if (!ipaddr.isValid(address)) return UNCHECKED;
  const parsed = ipaddr.process(address);
  const range = parsed.range();
  const plain = parsed.toString();
  if (range !== "unicast") return ranges.get(range) ?? reserved(range);
  // Of IPv6, the public web has 2000::/3 and nothing else.
  if (parsed.kind() === "ipv6" && (parsed.toByteArray()[0] ?? 0) >> 5 !== 1) return reserved();
  if (INSIDE_CLOUDS.includes(plain)) return INSIDE_CLOUD;
  if (own.some((one) => isSameAddress(one, plain))) return RANGES.loopback;
  return undefined;
}

/** Why nothing is sent to an address that a URL names itself, or a name leads to, as a whole sentence. */
export function refusalOf(host: string, address: string, { refuse }: Pick<Reach, "refuse">): string | undefined {
  const because = refuse(address);
  if (because === undefined) return undefined;
  const isLiteral = host === address || isSameAddress(host, address);
  return onlyPublic(isLiteral ? shownHost(address) : resolvesTo(host, shownHost(address)), because);
}

/** Names that lead to the machine itself without any look-up (RFC 6761). */
const LOCALHOST = /(?:^|\.)localhost$/;

/** The address of a host that needs no look-up. */
const literalOf = (host: string): string | undefined =>
  isIP(host) > 0 ? host : LOCALHOST.test(host) ? "127.0.0.1" : undefined;

/** Why an address as the model wrote it is refused, as far as can be decided without a look-up, as a whole sentence. */
export function plainRefusal(text: string, reach: Pick<Reach, "refuse">): string | undefined {
  const url = readUrl(text);
  if (!(url instanceof URL)) return refusalFor(text, url.because);
  const host = hostOf(url);
  const address = literalOf(host);
  return address === undefined ? undefined : refusalOf(host, address, reach);
}

/** Why an entry of a declaration's list of hosts opens nothing, on any machine, as the end of a sentence that begins with it. */
export function entryProblem(entry: string): string | undefined {
  const [name = "", port = ""] = entry.split(":");
  if (Number(port) > 65_535) return `names the port ${port}, and the highest is 65535`;
  const plain = name.replace(/^\*\./, "");
  if (plain === "*") return undefined;
  const url = URL.canParse(`http://${plain}`) ? new URL(`http://${plain}`) : undefined;
  if (url === undefined) return "is no host of an address";
  if (isIP(url.hostname) > 0 && plain !== name) return "is a name below an address: there is none";
  if (url.hostname !== plain) return `is ${url.hostname} in every address: write that`;
  const address = literalOf(plain);
  const because = address === undefined ? undefined : addressProblem(address);
  return because && `${because}: no request of an agent goes there`;
}

export const isSameAddress = (one: string, other: string): boolean =>
  ipaddr.isValid(one) && ipaddr.isValid(other) && ipaddr.process(one).toString() === ipaddr.process(other).toString();

/** The host as names are compared and looked up: without the brackets of IPv6 and the dot at its end. */
export const hostOf = ({ hostname }: URL): string => hostname.replace(/^\[(.*)\]$/, "$1").replace(/\.$/, "");

/** The same as people write it: an address of IPv6 in brackets. */
export const shownHost = (host: string): string => (host.includes(":") ? `[${host}]` : host);

const PORTS: Readonly<Record<string, string>> = { "http:": "80", "https:": "443" };

export const portOf = ({ port, protocol }: URL): string => (port === "" ? (PORTS[protocol] ?? "") : port);

/** `docs.example.org`, `*.example.org` for the names below it, `*` for all; each with a port if it is not the usual one. */
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
  if (!URL.canParse(text)) return { because: NOT_A_URL };
  const url = new URL(text);
  if (PORTS[url.protocol] === undefined) return { because: wrongScheme(url.protocol) };
  if (url.username !== "" || url.password !== "") return { because: HAS_PASSWORD };
  url.hash = "";
  return url;
}

/** Why that host and port is refused; without `hosts`, any host of the public web is allowed. */
export function hostProblem(url: URL, hosts: readonly string[] | undefined): string | undefined {
  if (hosts !== undefined && !isNamed(hosts, url)) {
    return outsideHosts(`${shownHost(hostOf(url))}:${portOf(url)}`, hosts);
  }
  if (hosts === undefined && url.port !== "") return unusualPort(url.port);
  return undefined;
}

/** That nothing is sent to an address as a model writes it, as a whole sentence. */
export const refusalFor = (text: string, because: string | undefined): string =>
  notSent(JSON.stringify(text.slice(0, 300)), because);
