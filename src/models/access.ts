/** How a provider is spoken to: one of the APIs that Strata brings, or a package of the AI SDK's ecosystem. */
export type ProviderKind = "anthropic" | "openai" | "openrouter" | "bedrock" | "openai-compatible" | "package";

/** How to reach a provider: a key, and an address where it is not the provider's own. */
export interface Access {
  /** Left out for `anthropic`, `openai`, `openrouter` and `bedrock`, which say it by their name. */
  readonly kind?: ProviderKind | undefined;
  /** Left out where the provider needs none. */
  readonly key?: string | undefined;
  readonly url?: string | undefined;
  /** For `bedrock`: the region of AWS, where no address is given. */
  readonly region?: string | undefined;
  /** For `bedrock`: whose signature each request carries. `key` is then the secret key that signs, and does not leave the process. */
  readonly signing?: Signing | undefined;
  /** For `package`: its name, and the folder whose installed packages are looked through first. */
  readonly package?: { readonly name: string; readonly folder: string } | undefined;
}

/** Who signs requests to AWS. */
export interface Signing {
  readonly id: string;
  /** The token of a passing session. */
  readonly session?: string | undefined;
}

/** The access to a provider, where there is one. */
export type Secrets = (provider: string) => Access | undefined;

export type Fetch = typeof globalThis.fetch;

/** All that a provider's package is opened with. */
export interface Opening {
  /** The provider's name before the colon. */
  readonly provider: string;
  readonly key: string;
  readonly url: string | undefined;
  readonly region?: string | undefined;
  readonly signing?: Signing | undefined;
  readonly fetch: Fetch;
}

/** Stands for the key that is not there. Packages that are given nothing look for one in the environment by themselves. */
export const NO_KEY = "none";

/** An answer that sends the call elsewhere: the key and the prompt would go to an address that nobody configured. */
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
  throw new RedirectRefused(placeOf(response.headers.get("location"), response.url));
};

/** The place alone: an address may carry secrets in its path or its query. */
const placeOf = (location: string | null, from: string): string =>
  location !== null && URL.canParse(location, from) ? new URL(location, from).origin : "another address";
