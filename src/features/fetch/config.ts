import { z } from "zod";
import { agentKey, type StoredKeys } from "../../agents/index.ts";
import type { Agent } from "../../protocol/index.ts";
import { HOST_FORM } from "./address.ts";

const hosts = () =>
  z
    .array(
      z
        .string()
        .regex(HOST_FORM, "a host in lower case, as `docs.example.org`, `*.example.org` or `*`, perhaps with a port"),
    )
    .max(200);

const FETCH = z
  .strictObject({
    allow: hosts()
      .optional()
      .describe(
        "Hosts that it may read from without asking, even in a turn that has read what somebody outside wrote: `docs.example.org`, `*.example.org` for all subdomains, `*` for the whole public web; an unusual port must be named. Default: the public web, but in such a turn each address waits for a person.",
      ),
    post: hosts().default([]).describe("Hosts that `http_post` may post to. Default: none."),
    types: z
      .array(
        z.string().regex(/^(?:\*|[a-z]+)\/(?:\*|\*\+[a-z]+|[a-z0-9.+-]+)$/, "a media type, as `text/html` or `text/*`"),
      )
      .min(1)
      .max(50)
      .optional()
      .describe("Media types that are read. Default: text, such as `text/*`, JSON and XML."),
    bytes: z
      .int()
      .min(1_000)
      .max(20_000_000)
      .default(1_000_000)
      .describe("The most bytes read of an answer, after decompression."),
    seconds: z.number().min(0.1).max(300).default(20).describe("Seconds that one call may take."),
    redirects: z.int().min(0).max(20).default(5).describe("How many redirects are followed."),
  })
  .optional()
  .describe(
    "The limits of `http_fetch` and `http_post`, if the agent has these tools. Whatever is set here, they reach only the public web, and nothing inside a network. Default: it reads from the public web and posts nowhere.",
  );

/** How far an agent's requests go. */
export const KEYS = { fetch: agentKey(FETCH) };

declare module "../../protocol/agent.ts" {
  interface Agent extends StoredKeys<typeof KEYS> {}
}

type DeclaredFetch = NonNullable<Agent["fetch"]>;

/** What an agent's declaration sets. */
export type FetchRules = Partial<DeclaredFetch>;

/** The same with the defaults. */
export type FetchLimits = DeclaredFetch & Required<Pick<DeclaredFetch, "types">>;

/** The types that are read by default. */
const TEXT = [
  ...["text/*", "application/json", "application/xml", "application/yaml", "application/javascript"],
  ...["application/x-ndjson", "application/toml", "*/*+json", "*/*+xml"],
];

export function limitsOf({ allow, types = TEXT, ...said }: FetchRules = {}): FetchLimits {
  const { post, bytes, seconds, redirects } = FETCH.unwrap().parse(said);
  return { ...(allow !== undefined && { allow }), post, types, bytes, seconds, redirects };
}
