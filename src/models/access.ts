/** The API of a provider: one that Strata supports itself, or a package for the AI SDK. */
export type ProviderKind = "anthropic" | "openai" | "openrouter" | "bedrock" | "openai-compatible" | "package";

/** How to reach a provider: a key, and an address if it is not the provider's own. */
export interface Access {
  /** Left out for `anthropic`, `openai`, `openrouter` and `bedrock`, whose names imply it. */
  readonly kind?: ProviderKind | undefined;
  /** Left out if the provider needs none. */
  readonly key?: string | undefined;
  readonly url?: string | undefined;
  /** For `bedrock`: the region of AWS, if no address is given. */
  readonly region?: string | undefined;
  /** For `bedrock`: who signs each request. `key` is then the secret signing key, which does not leave the process. */
  readonly signing?: Signing | undefined;
  /** For `package`: its name, and the folder whose installed packages are looked through first. */
  readonly package?: { readonly name: string; readonly folder: string } | undefined;
}

/** Who signs requests to AWS. */
export interface Signing {
  readonly id: string;
  /** The token of a temporary session. */
  readonly session?: string | undefined;
}

/** The access to a provider, if it is configured. */
export type Secrets = (provider: string) => Access | undefined;

export type Fetch = typeof globalThis.fetch;

/** Everything that is passed to a provider's package. */
export interface Opening {
  /** The provider's name before the colon. */
  readonly provider: string;
  readonly key: string;
  readonly url: string | undefined;
  readonly region?: string | undefined;
  readonly signing?: Signing | undefined;
  readonly fetch: Fetch;
}

/** A placeholder for a missing key. Without any key, packages look for one in the environment. */
export const NO_KEY = "none";

/** Refuses redirects: the key and the prompt would go to an address that was not configured. */
export class RedirectRefused extends Error {
  constructor(to: string) {
    super(`it sends its callers on to ${to}`);
  }
}

/** The usual fetch, which follows no redirect. */
export const direct: Fetch = async (input, init) => {
  const response = await globalThis.fetch(input, { ...init, redirect: "manual" });
  if (response.status < 300 || response.status > 399) return response;
  await response.body?.cancel();
  throw new RedirectRefused(onlyOrigin(response.headers.get("location"), response.url));
};

/** Only the origin: an address may have secrets in its path or query. */
const onlyOrigin = (location: string | null, from: string): string =>
  location !== null && URL.canParse(location, from) ? new URL(location, from).origin : "another address";
