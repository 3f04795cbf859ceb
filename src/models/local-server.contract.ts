import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { crc32 } from "node:zlib";
import { afterAll, afterEach } from "vitest";
import type { Retry } from "./index.ts";

export type Answer = (response: ServerResponse) => void;

export interface Received {
  readonly url: string | undefined;
  readonly headers: IncomingMessage["headers"];
  readonly body: string;
}

/**
 * A server on this machine in a provider's place: it stores its requests and gives the answers passed to `say`, repeating the last one. It
 * lives as long as the test file, and forgets after each test.
 */
export async function localServer() {
  const received: Received[] = [];
  const answers: Answer[] = [];
  const server = createServer(async (incoming, response) => {
    const pieces: Buffer[] = [];
    for await (const piece of incoming) pieces.push(piece);
    received.push({ url: incoming.url, headers: incoming.headers, body: Buffer.concat(pieces).toString("utf8") });
    const answer = answers.length > 1 ? answers.shift() : answers[0];
    answer?.(response);
  });
  await new Promise<void>((listening) => server.listen(0, "127.0.0.1", listening));
  const { port } = server.address() as AddressInfo;
  afterEach(() => {
    received.length = 0;
  });
  afterAll(() => {
    server.closeAllConnections();
    server.close();
  });
  return {
    url: `http://127.0.0.1:${port}/v1`,
    received,
    say: (...next: Answer[]) => void answers.splice(0, answers.length, ...next),
  };
}

/** What Node's fetch says by itself, and the versions of the packages. */
const BY_ITSELF =
  "host connection accept accept-language accept-encoding sec-fetch-mode content-length user-agent transfer-encoding";

/** The headers that a provider's package adds to a call, all of them. */
export function ownHeaders(received: Received | undefined): Readonly<Record<string, unknown>> {
  return Object.fromEntries(
    Object.entries(received?.headers ?? {}).filter(([name]) => !BY_ITSELF.split(" ").includes(name)),
  );
}

/** The chunks of a stream: texts, or bytes for a binary provider. */
export type Piece = string | Uint8Array;

/** An answer that streams: these texts unchanged. */
export const streamed =
  (...texts: readonly Piece[]): Answer =>
  (response) => {
    begin(response, texts);
    response.end();
  };

/** The same, and then the connection breaks. */
export const broken =
  (...texts: readonly Piece[]): Answer =>
  (response) => {
    begin(response, texts);
    setImmediate(() => response.destroy());
  };

/** The same, and then nothing. `gone` is called when the caller has left. */
export const stalled =
  (gone: () => void, ...texts: readonly Piece[]): Answer =>
  (response) => {
    response.on("close", gone);
    if (texts.length > 0) begin(response, texts);
  };

function begin(response: ServerResponse, texts: readonly Piece[]): void {
  response.writeHead(200, { "content-type": "text/event-stream" });
  response.write(Buffer.concat(texts.map((piece) => Buffer.from(piece))));
}

/** An answer that says no. */
export const refused =
  (status: number, body: unknown, headers: Readonly<Record<string, string>> = {}): Answer =>
  (response) => {
    response.writeHead(status, { "content-type": "application/json", ...headers });
    response.end(typeof body === "string" ? body : JSON.stringify(body));
  };

/** Retries whose pauses take no time and are kept. Chance gives the longest pause. */
export function instantRetry(times = 4): Retry & { readonly pauses: number[] } {
  const pauses: number[] = [];
  return {
    times,
    random: () => 1,
    clock: { real: () => Date.UTC(2026, 10, 21, 9, 30) },
    sleep: (milliseconds) => Promise.resolve(pauses.push(milliseconds)),
    pauses,
  };
}

/** One frame of AWS's event stream: two lengths and their sum, headers, the payload, and the sum of all of it. */
export function eventFrame(headers: Readonly<Record<string, string>>, payload: unknown): Buffer {
  const named = Buffer.concat(Object.entries(headers).map(([name, value]) => frameHeader(name, value)));
  const body = Buffer.from(typeof payload === "string" ? payload : JSON.stringify(payload));
  const prelude = Buffer.alloc(8);
  prelude.writeUInt32BE(12 + named.length + body.length + 4, 0);
  prelude.writeUInt32BE(named.length, 4);
  const head = Buffer.concat([prelude, checksum(prelude), named, body]);
  return Buffer.concat([head, checksum(head)]);
}

/** A header whose value is a string, which is type 7. */
function frameHeader(name: string, value: string): Buffer {
  const [key, text] = [Buffer.from(name), Buffer.from(value)];
  return Buffer.concat([Buffer.from([key.length]), key, Buffer.from([7, text.length >> 8, text.length & 255]), text]);
}

function checksum(bytes: Buffer): Buffer {
  const sum = Buffer.alloc(4);
  sum.writeUInt32BE(crc32(bytes));
  return sum;
}
