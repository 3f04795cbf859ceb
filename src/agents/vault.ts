import { clean } from "../guard/index.ts";
import { SHORTEST_SECRET, StrataError, spellings, suggestion, untrusted, type Vault } from "../protocol/index.ts";
import type { Project } from "./project.ts";
import { secretsOf } from "./secret.ts";

/** The secrets of these projects: what modules may ask for, and what is looked for in all that they answer. */
export function vaultOf(projects: readonly Project[]): Vault {
  const named = new Map(projects.flatMap(({ secrets }) => [...secrets]));
  const keys = projects.flatMap(({ providers }) => secretsOf(providers));
  const servers = projects.flatMap((project) => [...project.servers.values()]);
  // The longest first: where one value begins with another, the whole of it goes.
  const hidden = [...named.values(), ...keys, ...servers]
    .filter((secret) => secret.reveal().length >= SHORTEST_SECRET)
    .sort((a, b) => b.reveal().length - a.reveal().length);
  const values = hidden.map((secret) => ({ name: String(secret), forms: spellings(secret.reveal()) }));
  const replaced = (text: string): string =>
    values.reduce((rest, { name, forms }) => forms.reduce((said, form) => said.replaceAll(form, name), rest), text);
  return {
    secret(name) {
      const secret = named.get(name);
      if (secret !== undefined) return secret.reveal();
      const there = named.size === 0 ? "; it names none at all" : suggestion(name, [...named.keys()]);
      throw new StrataError("secret_missing", `strata.yaml names no secret ${JSON.stringify(name)}${there}`, { name });
    },
    hide(text) {
      const said = replaced(text);
      // A value that something unseen stands in would be whole again once the text is cleaned. Where none is, the text stays as it came.
      const cleaned = clean(untrusted(said));
      const rest = replaced(cleaned);
      return rest === cleaned ? said : rest;
    },
  };
}
