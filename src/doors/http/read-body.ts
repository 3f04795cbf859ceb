import { StrataError } from "../../protocol/index.ts";

/** Bytes of a body, and levels of nesting in it, at most. */
export const LARGEST_BODY = 1_048_576;
export const DEEPEST_BODY = 32;

const SLOWEST_BODY = 30_000;

/**
 * The JSON of a request's body, as unknown as it came; `undefined` for an empty body.
 * @param timeout milliseconds in which all of it has to arrive
 * @throws StrataError `body_too_large`, `body_too_slow`, `body_not_json`, `invalid_input`
 */
export const readBody = async (request: Request, timeout = SLOWEST_BODY): Promise<unknown> =>
  (await readSignedBody(request, timeout)).value;

/** The same with its text, since the signature covers every byte. @throws StrataError as `readBody` */
export async function readSignedBody(
  request: Request,
  timeout = SLOWEST_BODY,
): Promise<{ readonly text: string; readonly value: unknown }> {
  const bytes = await readBytes(request, timeout);
  if (bytes.length === 0) return { text: "", value: undefined };
  checkType(request.headers);
  const text = decodeUtf8(bytes);
  // Counted before parsing: nesting of a hundred thousand levels breaks later code that walks it.
  if (!isShallow(text)) throw unreadableBody(`it is nested deeper than ${DEEPEST_BODY} levels; send less nesting`);
  const value = parseJson(text);
  checkValue(value);
  return { text, value };
}

async function readBytes({ body, headers }: Request, timeout: number): Promise<Buffer> {
  if (Number(headers.get("content-length")) > LARGEST_BODY) throw bodyTooLarge();
  const chunks: Uint8Array[] = [];
  const reader = body?.getReader();
  const late = Promise.withResolvers<never>();
  // Nobody may be waiting for it when it comes.
  late.promise.catch(() => undefined);
  const timer = setTimeout(() => late.reject(tooSlow(timeout)), timeout);
  try {
    for (let size = 0; reader !== undefined; ) {
      const { done, value } = await Promise.race([reader.read(), late.promise]);
      if (done) break;
      size += value.length;
      if (size > LARGEST_BODY) throw bodyTooLarge();
      chunks.push(value);
    }
  } finally {
    clearTimeout(timer);
  }
  return Buffer.concat(chunks);
}

function tooSlow(timeout: number): StrataError {
  const sentence = `the body did not arrive within ${timeout / 1_000} seconds; send it faster, or send less at once`;
  return new StrataError("body_too_slow", sentence, { seconds: timeout / 1_000 });
}

const bodyTooLarge = (): StrataError =>
  new StrataError("body_too_large", `a body may have at most ${LARGEST_BODY} bytes; send less at once`, {
    most: LARGEST_BODY,
  });

function checkType(headers: Headers): void {
  const type = headers.get("content-type") ?? "";
  const encoding = headers.get("content-encoding") ?? "identity";
  if (encoding === "identity" && /^application\/json\s*(;\s*charset="?utf-8"?\s*)?$/i.test(type)) return;
  const found = `${type === "" ? "of no type" : `of type ${JSON.stringify(type)}`}${encoding === "identity" ? "" : `, in ${encoding}`}`;
  const message = `the body is ${found}; send JSON in UTF-8, uncompressed, with Content-Type: application/json`;
  throw new StrataError("body_not_json", message, { type, encoding });
}

function decodeUtf8(bytes: Uint8Array): string {
  try {
    return new TextDecoder("utf-8", { fatal: true }).decode(bytes);
  } catch (cause) {
    throw unreadableBody("it is not UTF-8; encode it as UTF-8", cause);
  }
}

/** Whether brackets outside strings nest no deeper than is read. Pure. */
export function isShallow(text: string): boolean {
  let depth = 0;
  let inString = false;
  for (let at = 0; at < text.length; at++) {
    const sign = text[at];
    if (inString && sign === "\\") at++;
    else if (sign === '"') inString = !inString;
    else if (inString) continue;
    else if (sign === "{" || sign === "[") depth++;
    else if (sign === "}" || sign === "]") depth--;
    if (depth > DEEPEST_BODY) return false;
  }
  return true;
}

function parseJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch (cause) {
    throw unreadableBody(`it is not JSON: ${cause instanceof Error ? cause.message : String(cause)}`, cause);
  }
}

const PROTOTYPE_KEYS: readonly string[] = ["__proto__", "constructor", "prototype"];

/** Keys that would reach into every object, and text that no database can hold, go no further than here. */
function checkValue(value: unknown): void {
  if (typeof value === "string" && !value.isWellFormed()) {
    throw unreadableBody("a text in it contains half a character (a lone surrogate); send whole characters");
  }
  if (typeof value !== "object" || value === null) return;
  for (const [key, member] of Object.entries(value)) {
    if (PROTOTYPE_KEYS.includes(key)) throw unreadableBody(`it must not contain the key ${JSON.stringify(key)}`);
    checkValue(member);
  }
}

const unreadableBody = (why: string, cause?: unknown): StrataError =>
  new StrataError("invalid_input", `the body cannot be read: ${why}`, {}, cause);
