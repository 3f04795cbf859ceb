/** The sentences about web requests that a model reads. `tests/house/golden/wording.txt` lists them all. */

export const notSent = (url: string, because: string | undefined): string => `Nothing was sent: ${url} ${because}.`;
/** A URL that is not sent, as the rest of a sentence about it. */
export const NOT_A_URL = "is not a URL; write it in full, such as https://example.org/page";
export const wrongScheme = (scheme: string): string => `begins with ${scheme}, and only https: and http: are supported`;
export const HAS_PASSWORD = "contains a user name or password, which are never sent";
export const outsideHosts = (place: string, hosts: readonly string[]): string =>
  `leads to ${place}, and this agent may reach ${hosts.length === 0 ? "no host" : `only ${hosts.join(", ")}`}`;
export const unusualPort = (port: string): string => `names the port ${port}; only the usual ports are allowed`;

/** An address of the network that is not public. */
export const onlyPublic = (who: string, because: string): string =>
  `Nothing was sent: ${who} ${because}. Only the public web can be reached.`;
export const resolvesTo = (host: string, address: string): string => `${host} is ${address}, which`;
export const RANGES = {
  unspecified: "is not the address of another machine",
  loopback: "is this machine itself",
  private: "is in a private network",
  uniqueLocal: "is in a private network",
  deprecatedSiteLocal: "is in a private network",
  linkLocal: "is in the local network, where clouds keep the keys of their machines",
  carrierGradeNat: "is inside a provider's network",
  multicast: "is a multicast address",
  broadcast: "is a broadcast address",
} as const;
export const UNCHECKED = "is not an address that can be checked";
export const reserved = (range?: string): string => (range === undefined ? "is reserved" : `is reserved (${range})`);
export const INSIDE_CLOUD = "answers only inside a cloud";
export const endedElsewhere = (asked: string | undefined, found: string | undefined): string =>
  `Nothing was sent: the connection to ${asked} ended at ${found}.`;
export const unresolved = (host: string): string => `The address of ${host} is unknown.`;

/** A redirect that is not followed. */
export const tooManyRedirects = (host: string, most: number): string => `${host} redirects too often (${most} times).`;
export const badRedirect = (host: string, to: string, because: string): string =>
  `${host} redirects to ${to}, which ${because}.`;
export const redirectAfterPost = (host: string, to: string): string =>
  `${host} accepted the request and redirects to ${to}; nothing is posted there.`;
export const unencryptedRedirect = (host: string, to: string): string =>
  `${host} redirects to ${to}, which is not encrypted; call http_fetch with that URL if this is acceptable.`;
export const otherHost = (host: string, to: string): string =>
  `${host} redirects to ${to}; call http_fetch with that URL if it is the right one.`;

/** An answer that cannot be read. */
export const tooSlow = (seconds: number): string => `No answer came within ${seconds} s.`;
export const notText = (type: string, bytes: string | undefined, status: number): string =>
  `The answer is ${type}${bytes === undefined ? "" : ` of ${bytes} bytes`} (status ${status}); only text can be read.`;
export const UNTYPED = "The answer has no content type and is not text.";
export const unknownEncoding = (encoding: string): string =>
  `The answer is compressed in an unsupported way (${encoding}).`;
export const tooLarge = (bytes: number): string => `The answer has more than ${bytes} bytes even compressed.`;
export const noAnswer = (host: string, because: string): string => `${host} ${because}.`;
export const BROKEN = {
  ECONNREFUSED: "refused the connection",
  ECONNRESET: "broke the connection off",
  EHOSTUNREACH: "cannot be reached",
  ENETUNREACH: "cannot be reached",
  ETIMEDOUT: "did not answer in time",
} as const;
export const SLOW_ADDRESS = "did not answer in time";
export const GIVEN_UP = "was given up";
export const SWITCHES_PROTOCOL = "asked to switch protocols, which is not supported";
export const gaveNothing = (why: string): string => `gave no answer (${why})`;
export const gaveUnreadable = (why: string): string => `gave no answer that can be read (${why})`;

/** Behind the head of an answer. */
export const EMPTY = "(The answer is empty.)";
export const beginningRead = (bytes: number): string =>
  `(The answer is truncated: only its first ${bytes} bytes were read.)`;
