import { createHash } from "node:crypto";
import { wordlist } from "@scure/bip39/wordlists/english.js";
import { isIssuedId } from "../protocol/index.ts";

/** Bits a sign that a value of chance has at least; words and names have fewer. */
const BITS = 3.2;

const UUID = /^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$/i;

/** Whether a value looks drawn at random: letters and digits mixed, hardly a sign twice. No id that opens nothing. */
export function isRandom(value: string): boolean {
  const bare = value.replace(/[.=]+$/, "");
  if (bare.length < 16 || UUID.test(bare) || isIssuedId(bare)) return false;
  if (!/\d/.test(bare) || !/[A-Za-z]/.test(bare)) return false;
  // Words joined by hyphens, dots or slashes are names of things: `token-bucket-v2`, `src/guard/secrets.ts`.
  const longest = Math.max(...bare.split(/[^A-Za-z0-9]+/).map((part) => part.length));
  return longest >= 12 && bitsPerSign(bare) >= BITS;
}

function bitsPerSign(text: string): number {
  const counts = new Map<string, number>();
  for (const sign of text) counts.set(sign, (counts.get(sign) ?? 0) + 1);
  let bits = 0;
  for (const count of counts.values()) bits -= (count / text.length) * Math.log2(count / text.length);
  return bits;
}

/** Whether a value looks like a password and not like a word of a sentence: letters with digits or with symbols that words do not have. */
export function isPasswordLike(value: string): boolean {
  const bare = value.replace(/[.,;:!?)]+$/, "");
  if (bare.length < 6 || UUID.test(bare) || isIssuedId(bare)) return false;
  if (/^https?:|^\d+$|^\d[\d./:-]*$/i.test(bare)) return false;
  const hasDigit = /\d/.test(bare);
  const hasSign = /[!@#$%^&*+=~|\\?]/.test(bare);
  return /\p{L}/u.test(bare) ? hasDigit || hasSign : hasDigit && hasSign;
}

/** A call in code: `db.Column(`, `getpass()`, `hash(password`. Brackets around digits alone are a play on a word. */
const CALL = /^[a-z_$][\w$]*(?:\.[a-z_$][\w$]*)+[([]|^[a-z_$][\w$]*[([](?:$|[)\]a-z_$])/i;
/** A hashed password has a prefix: `pbkdf2:sha256:…`, `$2b$12$…`. */
const HASHED = /^(?:pbkdf2|scrypt|argon2\w*|bcrypt|\$2[abxy]?|\$argon2\w*|sha-?\d+)[:$]/i;

/** Whether a value that is called a password is code that makes one, its hash, or an example that names what it represents. */
export function isOfCode(value: string, before: string): boolean {
  const isLiteral = /["'`]$/.test(before);
  const isExample = isLiteral && /[\w$][_.]pass\w*\s*=\s*["'`]$/i.test(before) && /pass(?:word|wort)/i.test(value);
  return (!isLiteral && CALL.test(value)) || HASHED.test(value) || isExample;
}

/** Which lengths go with which beginnings: Visa, Mastercard, American Express, Discover, JCB, Diners Club, UnionPay. */
const CARDS: readonly (readonly [RegExp, readonly number[]])[] = [
  [/^4/, [16, 19]],
  [/^(?:5[1-5]|2(?:2[2-9]|[3-6]|7[01]|720))/, [16]],
  [/^3[47]/, [15]],
  [/^6(?:011|5|4[4-9])/, [16]],
  [/^35(?:2[89]|[3-8])/, [16]],
  [/^3(?:0[0-5]|[689])/, [14]],
  [/^62/, [16, 19]],
];

/** The names of numbers of that length that are not card numbers. */
const OTHER_NUMBER =
  /(?:order|invoice|tracking|shipment|parcel|ticket|booking|reference|serial|article|part|case|customer|account|bestell\w*|rechnung\w*|sendung\w*|isbn|imei|iban|ean|gtin|sku|ref|id|nr|no)\b[^\d\n]{0,15}$/i;

/** Whether digits, perhaps in groups, are a payment card's: a known beginning, its length, and a sum that fits. */
export function isCardNumber(value: string, before: string): boolean {
  const digits = value.replace(/\D/g, "");
  if (!CARDS.some(([start, lengths]) => start.test(digits) && lengths.includes(digits.length))) return false;
  if (OTHER_NUMBER.test(before) && !/card|karte|carte|tarjeta/i.test(before)) return false;
  if (!/^(?:\d+|\d{4}([ -])\d{4}\1\d{4}\1\d{4}(?:\1\d{3})?|\d{4}([ -])\d{6}\2\d{4,5})$/.test(value)) return false;
  return new Set(digits).size > 1 && luhn(digits);
}

function luhn(digits: string): boolean {
  let sum = 0;
  for (let i = 0; i < digits.length; i++) {
    const digit = Number(digits.charAt(digits.length - 1 - i)) * (i % 2 === 0 ? 1 : 2);
    sum += digit > 9 ? digit - 9 : digit;
  }
  return sum % 10 === 0;
}

/** What 64 hexadecimal digits are called that open nothing. */
const DIGEST =
  /(?:sha-?\d*|hash\w*|digest\w*|checksum|sum|commit|revision|tx(?:id|n)?|transaction|transakt\w*|block|receipt|topic|root|integrity|fingerprint|event|version|prev\w*|parent|state|merkle|image|layer|etag|md5|blake\w*)\b[^\n]{0,24}$/i;

/** Whether 64 hexadecimal digits may be a key: a digest is named as one, or is in a list of them. */
export function isBareKey(value: string, before: string): boolean {
  const digits = value.replace(/^0x/, "").toLowerCase();
  return new Set(digits).size >= 8 && !DIGEST.test(before);
}

/** The words of BIP-39's English list, of which wallets make the phrases that open them. */
const WALLET_WORDS = new Map(wordlist.map((word, place) => [word, place]));
const SHORTEST_PHRASE = 12;
/** A phrase is drawn at random, so its words hardly repeat: `long long long …` is not one. */
const DIFFERENT_WORDS = 6;
const BETWEEN_WORDS = /^[\s\d.,;:|"'`()#>*_-]{1,12}$/;

/** The lengths of phrases in words, and how many consecutive words are searched for one: a longer run must contain one. */
const PHRASE_LENGTHS = [12, 15, 18, 21, 24];
const LONGEST_ROW = 48;

/** Whether the last bits of a phrase are the checksum of the others, as BIP-39 has it. */
function hasChecksum(words: readonly string[]): boolean {
  const bits = words.map((word) => (WALLET_WORDS.get(word) ?? 0).toString(2).padStart(11, "0")).join("");
  const checked = words.length / 3;
  const entropy = Buffer.from(
    bits
      .slice(0, -checked)
      .match(/.{8}/g)
      ?.map((byte) => Number.parseInt(byte, 2)) ?? [],
  );
  const first = createHash("sha256").update(entropy).digest()[0] ?? 0;
  return first.toString(2).padStart(8, "0").startsWith(bits.slice(-checked));
}

/**
 * Whether this many consecutive wallet words may be a phrase: exactly as many as phrases have, or containing a sequence of that length
 * whose last word is the checksum of the others. A longer row is prose that has none of its usual small words.
 */
function isPhrase(words: readonly string[]): boolean {
  if (new Set(words).size < DIFFERENT_WORDS) return false;
  if (PHRASE_LENGTHS.includes(words.length) || words.length > LONGEST_ROW) return true;
  return words.some((_, from) =>
    PHRASE_LENGTHS.some((length) => {
      const part = words.slice(from, from + length);
      return part.length === length && hasChecksum(part);
    }),
  );
}

/** The positions of twelve or more consecutive wallet words, numbered or not. Prose has its small words in between. Linear. */
export function recoveryPhrases(text: string): readonly { readonly start: number; readonly end: number }[] {
  const found: { start: number; end: number }[] = [];
  let words: string[] = [];
  let [start, end] = [0, 0];
  const close = (): void => {
    if (words.length >= SHORTEST_PHRASE && isPhrase(words)) found.push({ start, end });
    words = [];
  };
  for (const { 0: word, index } of text.matchAll(/[\p{L}\p{M}]+/gu)) {
    const goesOn = words.length > 0 && index - end <= 12 && BETWEEN_WORDS.test(text.slice(end, index));
    if (!goesOn) close();
    if (word.length > 8 || !WALLET_WORDS.has(word.toLowerCase())) close();
    else {
      if (words.length === 0) start = index;
      words.push(word.toLowerCase());
    }
    end = index + word.length;
  }
  close();
  return found;
}
