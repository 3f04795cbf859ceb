import { request as httpRequest, type IncomingMessage } from "node:http";
import { connect, isIP, type Socket } from "node:net";
import type { Readable } from "node:stream";
import { connect as tlsConnect } from "node:tls";
import { createBrotliDecompress, createGunzip, createInflate } from "node:zlib";
import { hostOf, isSameAddress, portOf, type Reach, refusalOf, shownHost } from "./address.ts";
import {
  BROKEN,
  endedElsewhere,
  GIVEN_UP,
  gaveNothing,
  gaveUnreadable,
  noAnswer,
  SLOW_ADDRESS,
  SWITCHES_PROTOCOL,
  tooLarge,
  unknownEncoding,
  unresolved,
} from "./wording.ts";

/** Why nothing came: a sentence for the model. */
export class NotFetched extends Error {}

/** One request to one server; redirects are handled elsewhere. */
export interface Exchange {
  readonly url: URL;
  readonly method: "GET" | "HEAD" | "POST";
  readonly body?: { readonly type: string; readonly text: string };
  /** The most bytes of the body that are read, both compressed and decompressed. */
  readonly bytes: number;
  /** Whether the body is wanted, judging by the head of the answer. @throws NotFetched if it is not */
  readonly wants: (head: Head) => boolean;
  readonly signal: AbortSignal;
}

export interface Head {
  readonly status: number;
  readonly headers: IncomingMessage["headers"];
}

export interface Answer extends Head {
  readonly body: Buffer;
  /** True if there was more than may be read. */
  readonly isCut: boolean;
}

/**
 * Asks one server once. The name is looked up once, every address it has is checked, and the connection goes to a checked one; the peer's
 * address is checked again before the first byte is sent. No proxy, no cookies, nothing kept open.
 * @throws NotFetched
 */
export async function exchange(wish: Exchange, reach: Reach): Promise<Answer> {
  const socket = await connected(wish, reach);
  try {
    const response = await sendRequest(wish, socket);
    const head = { status: response.statusCode ?? 0, headers: response.headers };
    if (!wish.wants(head)) return { ...head, body: Buffer.alloc(0), isCut: false };
    return { ...head, ...(await receiveBody(response, wish.bytes)) };
  } catch (thrown) {
    wish.signal.throwIfAborted();
    throw thrown instanceof NotFetched
      ? thrown
      : new NotFetched(noAnswer(shownHost(hostOf(wish.url)), describeBreak(thrown)));
  } finally {
    socket.destroy();
  }
}

async function connected({ url, signal }: Exchange, reach: Reach): Promise<Socket> {
  const host = hostOf(url);
  const addresses = isIP(host) > 0 ? [host] : await resolved(host, reach, signal);
  for (const address of addresses) checkAddress(host, address, reach);
  let last: unknown;
  for (const address of addresses) {
    try {
      const plain = await dialled(address, Number(portOf(url)), signal);
      return await checkSocket(plain, { url, address, reach, signal });
    } catch (thrown) {
      signal.throwIfAborted();
      if (thrown instanceof NotFetched) throw thrown;
      last = thrown;
    }
  }
  throw new NotFetched(noAnswer(shownHost(host), describeBreak(last)));
}

async function resolved(host: string, { resolve }: Reach, signal: AbortSignal): Promise<readonly string[]> {
  const gone = Promise.withResolvers<never>();
  const stop = (): void => gone.reject(signal.reason);
  signal.addEventListener("abort", stop, { once: true });
  try {
    signal.throwIfAborted();
    const found = await Promise.race([resolve(host), gone.promise]);
    if (found.length > 0) return found;
  } catch {
    signal.throwIfAborted();
  } finally {
    signal.removeEventListener("abort", stop);
  }
  throw new NotFetched(unresolved(host));
}

function checkAddress(host: string, address: string, reach: Reach): void {
  const refusal = refusalOf(host, address, reach);
  if (refusal !== undefined) throw new NotFetched(refusal);
}

/** How long one address may take before the next is tried, in milliseconds. */
const PATIENCE = 5_000;

function dialled(address: string, port: number, signal: AbortSignal): Promise<Socket> {
  const opened = Promise.withResolvers<Socket>();
  const socket = connect({ host: address, port, signal });
  const late = setTimeout(() => socket.destroy(new Error(SLOW_ADDRESS)), PATIENCE);
  socket.once("connect", () => opened.resolve(socket)).once("error", opened.reject);
  // The caller has gone: nobody handles a late error.
  socket.on("error", () => undefined);
  return opened.promise.finally(() => clearTimeout(late));
}

interface Dialled {
  readonly url: URL;
  readonly address: string;
  readonly reach: Reach;
  readonly signal: AbortSignal;
}

/** Who really is at the other end, before a byte is sent, the greeting of TLS included. */
async function checkSocket(plain: Socket, { url, address, reach, signal }: Dialled): Promise<Socket> {
  try {
    const { remoteAddress = "" } = plain;
    checkAddress(hostOf(url), remoteAddress, reach);
    if (!isSameAddress(remoteAddress, address)) {
      const [asked, found] = [address, remoteAddress].map(shownHost);
      throw new NotFetched(endedElsewhere(asked, found));
    }
    if (url.protocol === "http:") return plain;
    return await secured(plain, hostOf(url), signal);
  } catch (thrown) {
    plain.destroy();
    throw thrown;
  }
}

function secured(plain: Socket, host: string, signal: AbortSignal): Promise<Socket> {
  const opened = Promise.withResolvers<Socket>();
  const socket = tlsConnect({ socket: plain, host, ...(isIP(host) === 0 && { servername: host }) });
  const stop = (): void => void socket.destroy(new Error(GIVEN_UP));
  signal.addEventListener("abort", stop, { once: true });
  socket.once("secureConnect", () => opened.resolve(socket)).once("error", opened.reject);
  socket.on("error", () => undefined);
  return opened.promise.finally(() => signal.removeEventListener("abort", stop));
}

function sendRequest({ url, method, body, signal }: Exchange, socket: Socket): Promise<IncomingMessage> {
  const came = Promise.withResolvers<IncomingMessage>();
  const sent = httpRequest({
    // Over the checked socket, TLS included: there is no other way to the network from here.
    createConnection: () => socket,
    method,
    host: url.hostname,
    path: `${url.pathname}${url.search}`,
    setHost: false,
    headers: {
      host: url.host,
      "user-agent": "strata",
      accept: "*/*",
      "accept-encoding": "gzip, br, deflate",
      connection: "close",
      ...(body && { "content-type": body.type, "content-length": Buffer.byteLength(body.text) }),
    },
    signal,
  });
  sent.once("response", came.resolve).once("error", came.reject);
  sent.on("error", () => undefined);
  sent.once("upgrade", () => came.reject(new Error(SWITCHES_PROTOCOL)));
  sent.end(body?.text);
  return came.promise;
}

/** Reads up to the limit, compressed and decompressed: data beyond it is not even decompressed. */
async function receiveBody(response: IncomingMessage, most: number): Promise<Pick<Answer, "body" | "isCut">> {
  const unpacked = unpack(response, most);
  const parts: Buffer[] = [];
  let size = 0;
  try {
    for await (const part of unpacked) {
      if (!Buffer.isBuffer(part)) continue;
      parts.push(part);
      size += part.length;
      if (size > most) return { body: Buffer.concat(parts, most), isCut: true };
    }
    return { body: Buffer.concat(parts), isCut: false };
  } finally {
    unpacked.destroy();
    response.destroy();
  }
}

function unpack(response: IncomingMessage, most: number): Readable {
  const packed = response.headers["content-encoding"]?.trim().toLowerCase() ?? "identity";
  if (packed === "identity" || packed === "") return response;
  const way = { gzip: createGunzip, "x-gzip": createGunzip, br: createBrotliDecompress, deflate: createInflate };
  const make = Object.entries(way).find(([name]) => name === packed)?.[1];
  if (make === undefined) throw new NotFetched(unknownEncoding(packed));
  const unpacked = make();
  let came = 0;
  response.on("data", (part: Buffer) => {
    came += part.length;
    if (came > most) response.destroy(new NotFetched(tooLarge(most)));
  });
  // `pipe` does not forward errors: an error of the response becomes one of the body.
  response.once("error", (error) => unpacked.destroy(error));
  return response.pipe(unpacked);
}

const BREAKS: ReadonlyMap<string, string> = new Map(Object.entries(BROKEN));

function describeBreak(thrown: unknown): string {
  if (!(thrown instanceof Error)) return gaveNothing(String(thrown));
  const code = "code" in thrown ? String(thrown.code) : "";
  return BREAKS.get(code) ?? gaveUnreadable(thrown.message || code);
}
