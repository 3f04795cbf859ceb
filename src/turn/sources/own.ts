import {
  type LayerContent,
  nearest,
  type OwnSource,
  type SourceItem,
  StrataError,
  suggestion,
  TRUSTS,
  untrusted,
  type Vault,
} from "../../protocol/index.ts";
import type { GatherContext } from "./context.ts";

/** A source definition: `load` returns a text, several texts, or items with a time. */
export interface SourceDefinition extends Pick<OwnSource, "trust"> {
  /** A slug, and not the name of a source that Strata brings. */
  readonly name: string;
  load(context: Parameters<OwnSource["load"]>[0]): SourceContent | Promise<SourceContent>;
}

/** A text, several, or none; with the time (milliseconds since 1970) when it was so, where that is not now. */
export type SourceContent = string | readonly (string | { readonly text: string; readonly at?: number })[] | undefined;

/**
 * Makes a source for a layer: `source: NAME` in strata.yaml fills the layer with what it gives.
 * @throws StrataError `invalid_input` for a definition that is not as its type says
 */
export function defineSource(definition: SourceDefinition): OwnSource {
  checkDefinition(definition);
  const { name, trust } = definition;
  return { name, trust, load: async (context) => readItems(await definition.load(context)) };
}

const FIELDS = ["name", "trust", "load"];

/** What `load` is called elsewhere, and was called at first. */
const LOAD = ["give", "run", "execute", "get", "fetch"];

// Node takes the types of a module away without reading them: what they promise is looked at here.
function checkDefinition(definition: unknown): void {
  if (typeof definition !== "object" || definition === null)
    throw notWhole(undefined, `defineSource takes one object, and this is ${describeValue(definition)}`);
  const fields = new Map<string, unknown>(Object.entries(definition));
  const [name, trust, load] = FIELDS.map((field) => fields.get(field));
  const unknown = [...fields.keys()].find((field) => !FIELDS.includes(field));
  if (unknown !== undefined) {
    const meant = LOAD.includes(unknown) ? "; did you mean `load`?" : suggestion(unknown, FIELDS);
    throw notWhole(name, `there is no field \`${unknown}\`${meant}`);
  }
  if (typeof name !== "string") throw notWhole(name, `\`name\` must be a text, and it is ${describeValue(name)}`);
  if (!TRUSTS.some((one) => one === trust)) {
    const near = nearest(String(trust), TRUSTS);
    const meant = near === undefined ? "" : `; did you mean "${near}"?`;
    const words = TRUSTS.map((one) => JSON.stringify(one)).join(", ");
    throw notWhole(name, `\`trust\` must be one of ${words}, and it is ${describeValue(trust)}${meant}`);
  }
  if (typeof load !== "function") throw notWhole(name, `\`load\` must be a function, and it is ${describeValue(load)}`);
}

function notWhole(name: unknown, problem: string): StrataError {
  const which = typeof name === "string" ? `the source ${name}` : "a source without a name";
  return new StrataError("invalid_input", `${which} is not valid: ${problem}`);
}

/** A source's result as items, without empty ones. Throws a sentence for the note if the result is invalid. */
function readItems(given: unknown): readonly SourceItem[] {
  if (given === undefined || given === null) return [];
  const all: readonly unknown[] = Array.isArray(given) ? given : [given];
  if (!Array.isArray(given) && typeof given !== "string") throw notGiven(describeValue(given));
  return all.map(readItem).filter(({ text }) => text.trim() !== "");
}

function readItem(one: unknown, i: number): SourceItem {
  if (typeof one === "string") return { text: untrusted(one) };
  if (typeof one !== "object" || one === null)
    throw notGiven(`${one === undefined ? "nothing" : describeValue(one)} at place ${i + 1} of its list`);
  const text: unknown = "text" in one ? one.text : undefined;
  const at: unknown = "at" in one ? one.at : undefined;
  if (typeof text !== "string") throw notGiven(`an entry ${i + 1} whose \`text\` is ${describeValue(text)}`);
  if (at === undefined) return { text: untrusted(text) };
  if (typeof at !== "number" || Number.isNaN(new Date(at).getTime()))
    throw notGiven(`an entry ${i + 1} whose \`at\` is ${describeValue(at)} and no time in milliseconds since 1970`);
  return { text: untrusted(text), at };
}

const notGiven = (what: string): Error =>
  new Error(`it gave ${what}; it may give a text, a list of texts or of { text, at }, or nothing`);

// Objects are named and not printed: they may be of any depth.
function describeValue(value: unknown): string {
  if (value === undefined) return "missing";
  if (Array.isArray(value)) return "a list";
  if (typeof value === "object" && value !== null) return "an object";
  if (typeof value === "function") return "a function";
  return typeof value === "string" ? JSON.stringify(value.slice(0, 60)) : String(value);
}

/** The result of the operator's own source, as items with its trust; secrets in it are replaced by their names. */
export async function own(name: string, context: GatherContext, signal: AbortSignal): Promise<LayerContent> {
  const { scope, events, at, sources = NONE, vault = EMPTY } = context;
  const source = sources.get(name);
  if (source === undefined)
    return { kind: "empty", because: `no source is named ${name}${suggestion(name, [...sources.keys()])}` };
  // Looked at here too, for not all sources come from `defineSource`.
  const items = await hidingSecrets(vault, async () =>
    readItems(await source.load({ scope, events, at, signal, secret: vault.secret })),
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
  settled: (text) => text.length,
};

/** A source's error appears in a note: without secrets. */
async function hidingSecrets<T>(vault: Vault, work: () => Promise<T>): Promise<T> {
  try {
    return await work();
  } catch (thrown) {
    throw new Error(vault.hide(failureMessage(thrown) || "it failed without an error message"));
  }
}

function failureMessage(thrown: unknown): string {
  if (thrown instanceof Error) return thrown.message.trim();
  return typeof thrown === "string" || typeof thrown === "number" ? String(thrown).trim() : "";
}
