import type { ToolOutcome } from "../../protocol/index.ts";
import { hostOf, hostProblem, isNamed, OPEN_WEB, type Reach, readUrl, refusalFor, shownHost } from "./address.ts";
import type { FetchLimits } from "./config.ts";
import { type Answer, exchange, type Head, NotFetched } from "./exchange.ts";
import {
  badRedirect,
  beginningRead,
  EMPTY,
  notText,
  otherHost,
  redirectAfterPost,
  tooManyRedirects,
  tooSlow,
  UNTYPED,
  unencryptedRedirect,
} from "./wording.ts";

/** A model's request, and the agent's limits. */
export interface Wish {
  readonly url: string;
  readonly method: "GET" | "HEAD" | "POST";
  readonly body?: { readonly type: string; readonly text: string };
  readonly rules: FetchLimits;
  /** By default all of the public web. */
  readonly hosts: readonly string[] | undefined;
  readonly signal: AbortSignal;
}

/** Whatever happens is a sentence or a page. */
export async function answerTo(
  wish: Wish,
  reach: Reach = OPEN_WEB,
): Promise<{ readonly text: string; readonly failed: boolean }> {
  const late = AbortSignal.timeout(wish.rules.seconds * 1_000);
  try {
    return await followed({ ...wish, signal: AbortSignal.any([wish.signal, late]) }, reach);
  } catch (thrown) {
    wish.signal.throwIfAborted();
    if (late.aborted) return failedAnswer(tooSlow(wish.rules.seconds));
    if (thrown instanceof NotFetched) return failedAnswer(thrown.message);
    throw thrown;
  }
}

const failedAnswer = (text: string): { readonly text: string; readonly failed: true } => ({ text, failed: true });

/** From redirect to redirect: each address is looked at like the first. */
async function followed(wish: Wish, reach: Reach): Promise<Pick<ToolOutcome, "failed"> & { readonly text: string }> {
  const { rules, method, hosts, body, signal } = wish;
  let url = addressOf(wish.url, hosts);
  for (let hops = 0; ; hops++) {
    const wants = (head: Head): boolean => isWanted(head, wish);
    const answer = await exchange({ url, method, bytes: rules.bytes, wants, signal, ...(body && { body }) }, reach);
    const next = redirectOf(answer, url);
    if (next === undefined) return answerText(answer, url, wish);
    if (hops >= rules.redirects) throw new NotFetched(tooManyRedirects(shownHost(hostOf(url)), rules.redirects));
    const because = staysAway(next, url, wish);
    if (because !== undefined) throw new NotFetched(because);
    url = addressOf(next, hosts);
  }
}

function addressOf(text: string, hosts: readonly string[] | undefined): URL {
  const url = readUrl(text);
  const because = url instanceof URL ? hostProblem(url, hosts) : url.because;
  if (url instanceof URL && because === undefined) return url;
  throw new NotFetched(refusalFor(text, because));
}

const REDIRECTS = [301, 302, 303, 307, 308];

function redirectOf({ status, headers: { location } }: Head, url: URL): string | undefined {
  if (!REDIRECTS.includes(status) || location === undefined) return undefined;
  return URL.canParse(location, url.href) ? new URL(location, url).href : location;
}

/**
 * Why a redirect is not followed automatically: another host may be a trap for what the address carries, so the model must request it in a
 * separate call, which is checked as such.
 */
function staysAway(next: string, from: URL, { method, hosts = [] }: Wish): string | undefined {
  const url = readUrl(next);
  const host = shownHost(hostOf(from));
  if (!(url instanceof URL)) return badRedirect(host, JSON.stringify(next.slice(0, 300)), url.because);
  if (method === "POST") return redirectAfterPost(host, url.href);
  if (from.protocol === "https:" && url.protocol === "http:") return unencryptedRedirect(host, url.href);
  if (hostOf(url) === hostOf(from) || isNamed(hosts, url)) return undefined;
  return otherHost(host, url.href);
}

function isWanted({ status, headers }: Head, { method, rules }: Wish): boolean {
  if (method === "HEAD" || REDIRECTS.includes(status)) return false;
  const type = mediaType(headers["content-type"]);
  if (type === undefined || rules.types.some((one) => fits(type, one))) return true;
  throw new NotFetched(notText(type, headers["content-length"], status));
}

const mediaType = (header: string | undefined): string | undefined => header?.split(";")[0]?.trim().toLowerCase();

/** Whether a media type is the one, or of the kind, that a pattern names: the part behind `/` may be a star, or end in `+json`. */
function fits(type: string, pattern: string): boolean {
  const [main = "", sub = ""] = type.split("/");
  const [wantedMain, wantedSub = ""] = pattern.split("/");
  const isSub =
    wantedSub === "*" || wantedSub === sub || (wantedSub.startsWith("*+") && sub.endsWith(wantedSub.slice(1)));
  return (wantedMain === "*" || wantedMain === main) && isSub;
}

/** The headers that HEAD shows, and that precede every answer. */
const TOLD_HEADERS = ["content-type", "content-length", "last-modified", "etag"] as const;

function answerText(
  answer: Answer,
  url: URL,
  { method, rules }: Wish,
): { readonly text: string; readonly failed: boolean } {
  const { status, headers, body, isCut } = answer;
  const names = method === "HEAD" ? TOLD_HEADERS : (["content-type"] as const);
  const shown = names.flatMap((name) => (headers[name] === undefined ? [] : [`${name}: ${headers[name]}`]));
  const head = [`${method} ${url.href}`, `status: ${status}`, ...shown].join("\n");
  if (method === "HEAD") return { text: head, failed: status >= 400 };
  const text = decodeBody(body, headers["content-type"]);
  const cut = isCut ? `\n${beginningRead(rules.bytes)}` : "";
  return { text: `${head}\n\n${text === "" ? EMPTY : text}${cut}`, failed: status >= 400 };
}

function decodeBody(body: Buffer, type = ""): string {
  const charset = /charset\s*=\s*"?([\w.:-]+)/i.exec(type)?.[1] ?? "utf-8";
  const text = decoderOf(charset).decode(body);
  if (type === "" && text.includes("\0")) throw new NotFetched(UNTYPED);
  return text;
}

function decoderOf(charset: string): { decode(bytes: Uint8Array): string } {
  try {
    return new TextDecoder(charset);
  } catch {
    return new TextDecoder();
  }
}
