import {
  type LayerContent,
  type OwnSource,
  type SourceItem,
  suggestion,
  untrusted,
  type Vault,
} from "../protocol/index.ts";
import type { GatherContext } from "./context.ts";

/** A source as it is written: `give` answers with a text, with several, or with items that know their time. */
export interface SourceDefinition extends Pick<OwnSource, "trust"> {
  /** A slug, not `clock` or `recall`. */
  readonly name: string;
  give(context: Parameters<OwnSource["give"]>[0]): Given | Promise<Given>;
}

/** A text, several, or none; with the time (milliseconds since 1970) when it was so, where that is not now. */
export type Given = string | readonly (string | { readonly text: string; readonly at?: number })[] | undefined;

/** Makes a source for a layer: `source: NAME` in strata.yaml fills the layer with what it gives. */
export function defineSource({ name, trust, give }: SourceDefinition): OwnSource {
  return {
    name,
    trust,
    async give(context) {
      const given = (await give(context)) ?? [];
      return (typeof given === "string" ? [given] : given)
        .map((one) => (typeof one === "string" ? { text: one } : one))
        .filter(({ text }) => text.trim() !== "")
        .map(({ text, ...rest }) => ({ ...rest, text: untrusted(text) }));
    },
  };
}

/** What the operator's own source gives, as items with its trust; secrets in it are replaced by their names. */
export async function own(name: string, context: GatherContext, signal: AbortSignal): Promise<LayerContent> {
  const { scope, events, at, sources = NONE, vault = EMPTY } = context;
  const source = sources.get(name);
  if (source === undefined)
    return { kind: "empty", because: `no source is named ${name}${suggestion(name, [...sources.keys()])}` };
  const items: readonly SourceItem[] = await hidden(vault, () =>
    source.give({ scope, events, at, signal, secret: vault.secret }),
  );
  return {
    kind: "items",
    items: items.map((item) => ({
      kind: "data",
      text: untrusted(vault.hide(item.text)),
      trust: source.trust,
      at: item.at ?? at,
    })),
  };
}

const NONE: ReadonlyMap<string, OwnSource> = new Map();

const EMPTY: Vault = {
  secret: (name) => {
    throw new Error(`no secret is named ${name}`);
  },
  hide: (text) => text,
};

/** What a source throws is told in a note: without secrets. */
async function hidden<T>(vault: Vault, work: () => Promise<T>): Promise<T> {
  try {
    return await work();
  } catch (thrown) {
    throw new Error(vault.hide(thrown instanceof Error ? thrown.message : String(thrown)));
  }
}
