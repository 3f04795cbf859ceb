import type { Untrusted } from "../protocol/index.ts";

/** Normalises line ends, removes what is hidden, disarms provider tokens. What it gives has `\n` as its only line break. */
export function clean(text: Untrusted): string {
  return text.toWellFormed().replace(/\r\n?|[\u2028\u2029\u0085\v\f\u001c-\u001e]/g, "\n");
}

/** A claimed name as one short line. */
export function cleanName(name: Untrusted): string {
  return clean(name).replaceAll("\n", " ").slice(0, 64);
}
