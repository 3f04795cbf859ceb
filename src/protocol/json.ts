import { createHmac, createSecretKey, hash } from "node:crypto";
import type { Brand } from "./brand.ts";

/** A JSON value. */
export type Json = null | boolean | number | string | readonly Json[] | { readonly [key: string]: Json };
export type JsonObject = { readonly [key: string]: Json };

export const isJsonObject = (value: Json | undefined): value is JsonObject =>
  typeof value === "object" && value !== null && !Array.isArray(value);

/** SHA-256 in 64 hexadecimal digits: plain for shared text, keyed (HMAC) for personal text. */
export type Digest = Brand<string, "Digest">;

/** JSON with sorted keys and no blanks: the same value gives the same bytes. `undefined` members are left out. Pure. */
export function canonicalJson(value: unknown): string {
  return JSON.stringify(sorted(value));
}

function sorted(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(sorted);
  if (value === null || typeof value !== "object") return value;
  const entries = Object.entries(value).filter(([, member]) => member !== undefined);
  return Object.fromEntries(entries.sort(([a], [b]) => (a < b ? -1 : a > b ? 1 : 0)).map(([k, v]) => [k, sorted(v)]));
}

/** The digest of shared text: equal text, equal digest. */
export function digestOf(text: string): Digest {
  return hash("sha256", text, "hex") as Digest;
}

/** The digest of personal text under its contact's key: without the key a guess cannot be confirmed. */
export function keyedDigest(key: Uint8Array, text: string): Digest {
  // For bytes, Node would first find out, by thrown and caught errors, that they are not a key object: three times the work.
  return createHmac("sha256", createSecretKey(key)).update(text, "utf8").digest("hex") as Digest;
}

/** The next link of a chain of digests: what came before, then this. */
export function chained(before: Digest | null, next: string): Digest {
  return digestOf(`${before ?? ""}\n${next}`);
}
