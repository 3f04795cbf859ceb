import { asItStands, type Reading } from "./readings.ts";
import { unreadableOf } from "./unreadable.ts";
import type { GuardFinding } from "./verdict.ts";
import { VOCABULARY } from "./vocabulary.ts";

const ENCODINGS: ReadonlySet<string> = new Set(["base64", "hex", "bits", "numbers"]);
const DISGUISES: ReadonlySet<string> = new Set([
  "entities",
  "percent signs",
  "escapes",
  "reversal",
  "reversal of words",
  "mirrored letters",
  "shifted letters",
  "letters set apart",
  "doubled letters",
  "look-alike letters",
  "digits for letters",
  "pictures inside words",
]);
/** Words that must appear before a way of writing counts as a disguise. */
const APPEARING = 2;

/** A text that shows more plain words once it is read otherwise than it stands: no honest layer has a use for that, whatever it says. */
export const disguiseOf = (text: string, readings: readonly Reading[]): GuardFinding | undefined =>
  wornBy(text, readings) ?? unreadableOf(text);

function wornBy(text: string, readings: readonly Reading[]): GuardFinding | undefined {
  const [base] = readings;
  if (base === undefined) return undefined;
  const standing = known(base.text);
  if (standing - known(asItStands(text)) >= APPEARING) return finding("hidden", "odd letters", base.text);
  for (const { by, text: read } of readings) {
    if (ENCODINGS.has(by) && known(read) >= APPEARING) return finding("blob", by, read);
    if (DISGUISES.has(by) && known(read) - standing >= APPEARING) return finding("hidden", by, read);
  }
  return undefined;
}

const known = (text: string): number =>
  text.split(/[^\p{L}\p{N}\p{M}]+/u).filter((word) => word.length > 1 && VOCABULARY.has(word)).length;

const finding = (kind: "hidden" | "blob", by: string, read: string): GuardFinding => ({
  kind,
  says: `it is written so that a reader misses what it says (${by})`,
  words: read.slice(0, 120),
});
