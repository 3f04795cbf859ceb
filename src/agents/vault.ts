import { clean } from "../guard/index.ts";
import { SHORTEST_SECRET, StrataError, spellings, suggestion, untrusted, type Vault } from "../protocol/index.ts";
import type { Project } from "./project.ts";
import { secretsOf, secretsOfStore } from "./secret.ts";

/** The secrets of these projects: what modules may ask for, and what is looked for in all that they answer. */
export function vaultOf(projects: readonly Project[]): Vault {
  const named = new Map(projects.flatMap(({ secrets }) => [...secrets]));
  const keys = projects.flatMap(({ providers }) => secretsOf(providers));
  const servers = projects.flatMap((project) => [...project.servers.values()]);
  const stores = projects.flatMap(({ store }) => secretsOfStore(store));
  // The longest first: where one value begins with another, the whole of it goes.
  const hidden = [...named.values(), ...keys, ...servers, ...stores]
    .filter((secret) => secret.reveal().length >= SHORTEST_SECRET)
    .sort((a, b) => b.reveal().length - a.reveal().length);
  const values = hidden.map((secret) => ({ name: String(secret), forms: spellings(secret.reveal()) }));
  const forms = [...new Set(values.flatMap((value) => value.forms))];
  const replaced = (text: string): string =>
    values.reduce((rest, { name, forms }) => forms.reduce((said, form) => said.replaceAll(form, name), rest), text);
  return {
    secret(name) {
      const secret = named.get(name);
      if (secret !== undefined) return secret.reveal();
      const there = named.size === 0 ? ", nor any other" : suggestion(name, [...named.keys()]);
      throw new StrataError("secret_missing", `strata.yaml names no secret ${JSON.stringify(name)}${there}`, { name });
    },
    settled: (text) => settledIn(text, forms),
    hide(text) {
      const said = replaced(text);
      // A value that something unseen stands in would be whole again once the text is cleaned. Where none is, the text stays as it came.
      const cleaned = clean(untrusted(said));
      const rest = replaced(cleaned);
      return rest === cleaned ? said : rest;
    },
  };
}

/** Where the first value begins that is not there to its end. No value that is whole is cut by that. */
function settledIn(text: string, forms: readonly string[]): number {
  let at = text.length;
  for (const form of forms) {
    for (let from = Math.max(0, text.length - form.length + 1); from < at; from++)
      if (text[from] === form[0] && form.startsWith(text.slice(from))) at = from;
  }
  // A value that is whole and continues behind that place is taken whole, or not yet.
  for (let cut = cutBy(forms, text, at); cut < at; cut = cutBy(forms, text, at)) at = cut;
  return at;
}

/** Where the first of the values begins that stand on both sides of a place; the place itself where none does. */
const cutBy = (forms: readonly string[], text: string, at: number): number =>
  Math.min(
    at,
    ...forms.flatMap((form) => {
      const from = text.indexOf(form, Math.max(0, at - form.length + 1));
      return from >= 0 && from < at ? [from] : [];
    }),
  );
