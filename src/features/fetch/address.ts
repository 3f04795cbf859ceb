import { lookup } from "node:dns/promises";
import { networkInterfaces } from "node:os";
import ipaddr from "ipaddr.js";

/**
 * Where an agent's requests may go. Two walls: the hosts that the declaration names, by their names; and the addresses of the
 * network that nobody outside could reach, which no declaration opens, whatever name leads there.
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

const RANGES: Readonly<Record<string, string>> = {
  unspecified: "is no address of another machine",
  loopback: "is this machine itself",
  private: "is in a private network",
  uniqueLocal: "is in a private network",
  deprecatedSiteLocal: "is in a private network",
  linkLocal: "is in the local network, where clouds keep the keys of their machines",
  carrierGradeNat: "is inside a provider's network",
  multicast: "is of many machines at once",
  broadcast: "is of many machines at once",
};

/** Cloud services that answer only the machines inside, at addresses that look like everybody's. */
const INSIDE_CLOUDS = ["168.63.129.16"];

/**
 * Why an address is not of the public web. What carries another address in it (NAT64, 6to4, Teredo and their like) is refused whole:
 * a gateway would send it on to the one inside.
 * @param own the addresses of this machine, which reach what listens here
 */
function addressProblem(address: string, own: readonly string[] = []): string | undefined {
  if (!ipaddr.isValid(address)) return "is no address that can be checked";
  const parsed = ipaddr.process(address);
  const range = parsed.range();
  const plain = parsed.toString();
  if (range !== "unicast") return RANGES[range] ?? `is reserved (${range})`;
  // Of IPv6, the public web has 2000::/3 and nothing else.
  if (parsed.kind() === "ipv6" && (parsed.toByteArray()[0] ?? 0) >> 5 !== 1) return "is reserved";
  if (INSIDE_CLOUDS.includes(plain)) return "answers only inside a cloud";
  if (own.some((one) => isSameAddress(one, plain))) return "is this machine itself";
  return undefined;
}

export const isSameAddress = (one: string, other: string): boolean =>
  ipaddr.isValid(one) && ipaddr.isValid(other) && ipaddr.process(one).toString() === ipaddr.process(other).toString();
