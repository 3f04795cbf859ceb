import { createRequire } from "node:module";
import { MessageChannel, receiveMessageOnPort, Worker } from "node:worker_threads";
import { z } from "zod";
import { digestOf, type JsonObject } from "../../../protocol/index.ts";

const SCHEMA: z.ZodType<JsonObject> = z.record(z.string(), z.json());
const COMPILED = z.union([
  z.object({ root: z.string(), schema: SCHEMA, shown: SCHEMA }),
  z.object({ problem: z.string() }),
]);

/** A parsed XSD: the payload's element, its JSON Schema, and the same with one field of each choice, for an example. */
export type CompiledXsd = Readonly<z.output<typeof COMPILED>>;

const PROGRAM = new URL(import.meta.url.endsWith(".ts") ? "./worker.ts" : "./worker.js", import.meta.url);

/** Milliseconds that one XSD may take. */
const SLOWEST = 20_000;

const MOST_COMPILED = 200;
const known = new Map<string, CompiledXsd>();

/** Why XSDs cannot be read here; undefined if nothing is missing. */
export function xsdMissing(): string | undefined {
  try {
    createRequire(import.meta.url).resolve("libxml2-wasm");
    return undefined;
  } catch {
    return "an XSD is judged by libxml2-wasm, which is not installed: run `npm install libxml2-wasm`";
  }
}

/**
 * Reads an XSD, in at most `slowest` milliseconds. Agents are loaded synchronously, but libxml2 can only be loaded asynchronously: so a
 * worker thread does it, and this one blocks until it has finished.
 */
export function compileXsd(xsd: string, type: string | undefined, slowest = SLOWEST): CompiledXsd {
  const missing = xsdMissing();
  if (missing !== undefined) return { problem: missing };
  const key = digestOf(JSON.stringify([xsd, type ?? null]));
  const before = known.get(key);
  if (before !== undefined) return before;
  const compiled = inThread(xsd, type, slowest);
  // The machine may have been busy: it is tried again the next time.
  if (compiled === undefined)
    return {
      problem: `the XSD could not be read within ${slowest / 1_000} seconds; make it simpler, or try again when the machine is less busy`,
    };
  if (known.size >= MOST_COMPILED) known.clear();
  known.set(key, compiled);
  return compiled;
}

/** Undefined: it took too long. */
function inThread(xsd: string, type: string | undefined, slowest: number): CompiledXsd | undefined {
  const flag = new Int32Array(new SharedArrayBuffer(4));
  const { port1, port2 } = new MessageChannel();
  const workerData = { xsd, flag, port: port2, ...(type !== undefined && { type }) };
  const worker = new Worker(PROGRAM, { workerData, transferList: [port2], env: {}, execArgv: [], stdout: true });
  try {
    Atomics.wait(flag, 0, 0, slowest);
    const message: unknown = receiveMessageOnPort(port1)?.message;
    return message === undefined ? undefined : COMPILED.parse(message);
  } finally {
    port1.close();
    void worker.terminate();
  }
}
