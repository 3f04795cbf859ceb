import { shownText } from "../guard/index.ts";
import { SHORTEST_SECRET, StrataError, spellings, suggestion, type Vault } from "../protocol/index.ts";
import type { Project } from "./project.ts";
import { secretsOf, secretsOfStore } from "./secret.ts";

/** The secrets of these projects: those that modules may ask for, and those searched for in all their answers. */
export function vaultOf(projects: readonly Project[]): Vault {
  const named = new Map(projects.flatMap(({ secrets }) => [...secrets]));
  const keys = projects.flatMap(({ providers }) => secretsOf(providers));
  const servers = projects.flatMap((project) => [...project.servers.values()]);
  const stores = projects.flatMap(({ store }) => secretsOfStore(store));
  // Longest first: if one value begins with another, the whole of it is hidden.
  const hidden = [...named.values(), ...keys, ...servers, ...stores]
    .filter((secret) => secret.reveal().length >= SHORTEST_SECRET)
    .sort((a, b) => b.reveal().length - a.reveal().length);
  const names = new Map<string, string>();
  for (const secret of hidden)
    for (const form of spellings(secret.reveal()).map((text) => shownText(text).shown))
      if (!names.has(form)) names.set(form, String(secret));
  const forms = [...names.keys()];
  return {
    secret(name) {
      const secret = named.get(name);
      if (secret !== undefined) return secret.reveal();
      const there = named.size === 0 ? ", nor any other" : suggestion(name, [...named.keys()]);
      throw new StrataError("secret_missing", `strata.yaml names no secret ${JSON.stringify(name)}${there}`, { name });
    },
    settled(text) {
      const whole = text.slice(0, text.length - (CUT_OFF.exec(text)?.[0].length ?? 0));
      const { shown, places } = shownText(whole);
      const at = settledIn(shown, forms);
      return at === shown.length ? whole.length : (places?.[at] ?? at);
    },
    hide(text) {
      // A value is found even if invisible characters separate its own: a reader would copy it whole.
      const { shown, places } = shownText(text);
      let [out, at] = ["", 0];
      for (const { from, to, form } of valuesIn(shown, forms)) {
        out += text.slice(at, places?.[from] ?? from) + (names.get(form) ?? "");
        at = (places?.[to - 1] ?? to - 1) + 1;
      }
      return at === 0 ? text : out + text.slice(at);
    },
  };
}

/** The beginning of a sequence for terminals, or of a line break of two characters: more of it may come. */
const CUT_OFF = /(?:\u001b(?:\[[0-?]{0,32}[ -/]{0,8})?|\u009b[0-?]{0,32}[ -/]{0,8}|\r)$/;

/** The places of values in a text, in order. Overlapping ones are merged, under the name of the first. */
function valuesIn(text: string, forms: readonly string[]): readonly { from: number; to: number; form: string }[] {
  const all = forms.flatMap((form) => {
    const places: { from: number; to: number; form: string }[] = [];
    for (let from = text.indexOf(form); from >= 0; from = text.indexOf(form, from + 1))
      places.push({ from, to: from + form.length, form });
    return places;
  });
  const apart: { from: number; to: number; form: string }[] = [];
  for (const place of all.sort((a, b) => a.from - b.from || b.to - a.to)) {
    const last = apart.at(-1);
    if (last !== undefined && place.from < last.to) last.to = Math.max(last.to, place.to);
    else apart.push(place);
  }
  return apart;
}

/** The start of the first incomplete value at the end. No complete value is cut by that. */
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

/** The start of the first value that spans a place; the place itself if none does. */
const cutBy = (forms: readonly string[], text: string, at: number): number =>
  Math.min(
    at,
    ...forms.flatMap((form) => {
      const from = text.indexOf(form, Math.max(0, at - form.length + 1));
      return from >= 0 && from < at ? [from] : [];
    }),
  );
