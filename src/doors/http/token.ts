import { createHash, timingSafeEqual } from "node:crypto";
import { chmodSync, linkSync, mkdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { dirname } from "node:path";
import { StrataError } from "../../protocol/index.ts";

const FORM = /^sk_strata_[A-Za-z0-9_-]{43}$/;
const CHANCE = 32;

/**
 * The operator's token from its file, which is created if missing. Only this user may read the file.
 * @param random random bytes, from outside
 * @throws StrataError `file_not_found` if it cannot be read or written, `invalid_input` if it holds no token
 */
export function operatorToken(file: string, random: (n: number) => Uint8Array): string {
  const token = readToken(file) ?? makeToken(file, random);
  if (FORM.test(token)) return token;
  throw new StrataError(
    "invalid_input",
    `${file} does not contain a token; delete it, and the next start creates a new one`,
    { file },
  );
}

/** Whether two tokens are the same. Takes as long for a near miss as for a wild guess. */
export function isSameToken(one: string, other: string): boolean {
  const digest = (text: string): Buffer => createHash("sha256").update(text, "utf8").digest();
  return timingSafeEqual(digest(one), digest(other));
}

function readToken(file: string): string | undefined {
  try {
    // A copy or a backup may have opened it to others.
    chmodSync(file, 0o600);
    return readFileSync(file, "utf8").trim();
  } catch (cause) {
    if (codeOf(cause) === "ENOENT") return undefined;
    throw unusable(file, "read", cause);
  }
}

/** Written whole under another name and then linked: of two programs that start at once, both get the first one's token. */
function makeToken(file: string, random: (n: number) => Uint8Array): string {
  const token = `sk_strata_${Buffer.from(random(CHANCE)).toString("base64url")}`;
  const unfinished = `${file}.${Buffer.from(random(6)).toString("hex")}`;
  try {
    // A store on PostgreSQL makes no data folder.
    mkdirSync(dirname(file), { recursive: true, mode: 0o700 });
    writeFileSync(unfinished, `${token}\n`, { flag: "wx", mode: 0o600 });
    linkSync(unfinished, file);
    return token;
  } catch (cause) {
    const first = codeOf(cause) === "EEXIST" ? readToken(file) : undefined;
    if (first !== undefined) return first;
    throw unusable(file, "written", cause);
  } finally {
    rmSync(unfinished, { force: true });
  }
}

const codeOf = (cause: unknown): string => (cause instanceof Error && "code" in cause ? String(cause.code) : "");

function unusable(file: string, doing: "read" | "written", cause: unknown): StrataError {
  const why = `${file} cannot be ${doing} (${codeOf(cause) || String(cause)})`;
  return new StrataError("file_not_found", `${why}; make yourself the owner of it and its folder`, { file }, cause);
}
