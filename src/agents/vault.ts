import { StrataError, suggestion, type Vault } from "../protocol/index.ts";
import type { Project } from "./project.ts";
import { SHORTEST_SECRET, secretsOf } from "./secret.ts";
import { spellings } from "./spellings.ts";

/** The secrets of these projects: what modules may ask for, and what is looked for in all that they answer. */
export function vaultOf(projects: readonly Project[]): Vault {
  const named = new Map(projects.flatMap(({ secrets }) => [...secrets]));
  const keys = projects.flatMap(({ providers }) => secretsOf(providers));
  const servers = projects.flatMap((project) => [...project.servers.values()]);
  // The longest first: where one value begins with another, the whole of it goes.
  const hidden = [...named.values(), ...keys, ...servers]
    .filter((secret) => secret.reveal().length >= SHORTEST_SECRET)
    .sort((a, b) => b.reveal().length - a.reveal().length);
  return {
    secret(name) {
      const secret = named.get(name);
      if (secret !== undefined) return secret.reveal();
      const there = named.size === 0 ? "; it names none at all" : suggestion(name, [...named.keys()]);
      throw new StrataError("secret_missing", `strata.yaml names no secret ${JSON.stringify(name)}${there}`, { name });
    },
    hide: (text) =>
      hidden.reduce(
        (rest, secret) => spellings(secret.reveal()).reduce((said, one) => said.replaceAll(one, String(secret)), rest),
        text,
      ),
  };
}
