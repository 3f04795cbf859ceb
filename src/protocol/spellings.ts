const encoder = new TextEncoder();

/** Shorter values also appear in ordinary text, so they cannot be searched for. */
export const SHORTEST_SECRET = 8;

/**
 * The forms in which a value may appear in the output of a tool, a server or an error: unchanged, in JSON, in a URL, in base64 and in hexadecimal digits. For
 * secrets, which are looked for in all of these.
 */
export function spellings(value: string): readonly string[] {
  const bytes = encoder.encode(value);
  const hex = [...bytes].map((byte) => byte.toString(16).padStart(2, "0")).join("");
  const inAddress = [
    encodeURIComponent(value),
    encodeURI(value),
    new URLSearchParams({ v: value }).toString().slice(2),
  ];
  const lower = inAddress.map((text) => text.replace(/%[0-9A-F]{2}/g, (byte) => byte.toLowerCase()));
  const all = [
    value,
    JSON.stringify(value).slice(1, -1),
    ...inAddress,
    ...lower,
    hex,
    hex.toUpperCase(),
    ...base64(bytes),
  ];
  // The longest first: where one begins with another, the whole of it goes.
  return [...new Set(all)].sort((a, b) => b.length - a.length);
}

/** Signs of base64 that say enough of a value to be looked for. */
const SHORTEST = 8;

/** Its encoding by itself, and inside other bytes: the digits shared with those are cut off. */
function base64(bytes: Uint8Array): readonly string[] {
  const inside = [0, 1, 2].map((before) => {
    const written = encoded([...new Uint8Array(before), ...bytes]);
    const bits = 8 * (before + bytes.length);
    return written.slice(Math.ceil((8 * before) / 6), Math.floor(bits / 6));
  });
  const alone = encoded([...bytes]);
  const all = [alone, alone.replace(/=+$/, ""), ...inside].filter(({ length }) => length >= SHORTEST);
  return all.flatMap((text) => [text, text.replaceAll("+", "-").replaceAll("/", "_")]);
}

const encoded = (bytes: readonly number[]): string => btoa(String.fromCharCode(...bytes));

const SECRET_FIELD = /key|token|secret|pass|sig|auth|credential/i;

/** The secret parts of an address: a password, and query fields with a name like one. */
export function secretsInAddress(url: string | undefined): readonly string[] {
  if (url === undefined || !URL.canParse(url)) return [];
  const { password, searchParams } = new URL(url);
  const fields = [...searchParams].flatMap(([name, value]) => (SECRET_FIELD.test(name) ? [value] : []));
  // Shorter ones could match part of ordinary words.
  return [...new Set([decodedText(password), password, ...fields])].filter(({ length }) => length >= 4);
}

/** Without its percent-encoding; unchanged if a % in it begins no code. */
export function decodedText(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    return text;
  }
}
