import { z } from "zod";
import { type Source, trusted } from "../protocol/index.ts";
import type { AgentConfig, LayerConfig } from "./config-schema.ts";

/** The fields of a layer for certain sources only. */
export type LayerMember = "limit" | "timezone" | "setting" | "by" | "texts";

/**
 * A kind of source that layers may name, defined once for strata.yaml, the frozen agent and the record. Its content comes from a turn's
 * steps.
 */
export interface SourceForm<Kept extends z.ZodRawShape = z.ZodRawShape> {
  /** What a layer is filled with, as the page of strata.yaml continues after the name. */
  readonly fills: string;
  /** It stays in the prefix until it is edited; otherwise it is filled again each turn. */
  readonly isStored?: true;
  /** All that it says is the platform's own word: the time, the agent's condition, its tools. */
  readonly isOurs?: true;
  /** Members of a layer that only some sources take. */
  readonly takes?: readonly LayerMember[];
  /**
   * Its content may differ in a later turn without any edit: for all the organization's agents, for all conversations, or for each
   * separately. It then comes after everything that they share. Without this, it changes only by edits.
   */
  readonly changesFor?: "org" | "agent" | "thread";
  /** It may also be in the tail, with `scope: turn`: a change there does not begin an epoch. `only`: it is allowed nowhere else. */
  readonly inTail?: true | "only";
  /** Several layers may use it, because each has its own content. */
  readonly isRepeatable?: true;
  /** What is kept besides its kind, as the record gives it back. */
  readonly kept: Kept;
  /** Makes that from a layer as written. */
  make(layer: Pick<LayerConfig, LayerMember>): Members<Kept>;
  /** Why it does not fit the rest of the agent. */
  unfit?(agent: AgentConfig): string | undefined;
}

type Members<Kept extends z.ZodRawShape> = { readonly [Name in keyof Kept]: z.output<Kept[Name]> };

export type SourceForms = Readonly<Record<string, SourceForm>>;

/** The kinds that these forms make. A feature adds them where it declares its sources: `interface SourceKinds extends KindsOf<typeof SOURCES> {}`. */
export type KindsOf<Forms extends SourceForms> = {
  readonly [Name in keyof Forms]: Forms[Name] extends SourceForm<infer Kept> ? Members<Kept> : never;
};

export const sourceForm = <Kept extends z.ZodRawShape>(form: SourceForm<Kept>): SourceForm<Kept> => form;

/** The kinds of every program, whatever features there are. */
const OURS = {
  clock: sourceForm({
    fills: "the date and time",
    isOurs: true,
    takes: ["timezone"],
    kept: { timezone: z.string() },
    make: ({ timezone = "UTC" }) => ({ timezone }),
  }),
  allowance: sourceForm({
    fills: "the tools and how often they may be called",
    isOurs: true,
    kept: {},
    make: () => ({}),
  }),
};

type Sourced = Pick<LayerConfig, "source">;

/** All that is known of sources by their names. */
export interface Sources {
  /** Names that an operator's own source must not have. */
  readonly names: readonly string[];
  readonly formOf: (layer: Sourced) => SourceForm | undefined;
  /** Whether it is filled again each turn. */
  readonly isLive: (layer: Sourced) => boolean;
  /** Those that take a member, as a message names them. */
  readonly taking: (member: LayerMember) => string;
  /** The page's sentence for all of them. */
  readonly message: string;
  /** As the record gives one back. */
  readonly stored: z.ZodType<Source>;
  /** That of a layer. */
  readonly make: (name: string, layer: LayerConfig) => Source;
}

export function sourcesOf(brought: SourceForms): Sources {
  const forms: SourceForms = { ...OURS, ...brought };
  const named = new Map(Object.entries(forms));
  const formOf = ({ source = "" }: Sourced): SourceForm | undefined => named.get(source);
  const which = (isStored: boolean) => [...named].filter(([, form]) => (form.isStored ?? false) === isStored);
  const taking = (member: LayerMember): string =>
    [...named].flatMap(([name, { takes }]) => (takes?.includes(member) ? [`\`source: ${name}\``] : [])).join(" and ");
  return {
    names: [...named.keys()],
    formOf,
    isLive: (layer) => layer.source !== undefined && formOf(layer)?.isStored !== true,
    taking,
    message: `What fills the layer. In each turn: ${sourceList(which(false)).join(", ")}, or the name of a source from \`modules\`. In the prefix, until something changes it: ${sourceList(which(true)).join(", ")}.`,
    stored: storedOf(forms),
    // Its members are those of the form by that name, and features add the two together.
    make: (name, layer) => {
      const form = named.get(name);
      return form === undefined ? { kind: "own", name } : ({ kind: name, ...form.make(layer) } as Source);
    },
  };
}

const sourceList = (forms: readonly (readonly [string, SourceForm])[]): readonly string[] =>
  forms.map(([name, { fills }]) => `\`${name}\` (${fills})`);

function storedOf(forms: SourceForms): z.ZodType<Source> {
  const brought = Object.entries(forms).map(([name, { kept }]) => z.strictObject({ ...kept, kind: z.literal(name) }));
  const known = z.discriminatedUnion("kind", [
    z.strictObject({
      kind: z.literal("text"),
      text: z.string().transform(trusted),
      file: z.exactOptional(z.string()),
    }),
    z.strictObject({ kind: z.literal("own"), name: z.string() }),
    ...brought,
  ]);
  // As `make`.
  return known as z.ZodType<Source>;
}
