/**
 * What a command opens: the record alone, which must exist, or with everything that a turn needs; or the record, created if missing,
 * without or with what a turn needs.
 */
export type Opens = "record" | "record to run" | "data" | "everything";

/** How an operation looks on the command line. */
export interface CommandPart<Field extends string> {
  /** The fields given as positional words, in this order. If there is an `agent`, it may follow as the last word. */
  readonly words?: readonly Field[];
  /** The field that takes all words that follow; the agent is named by its option alone then. */
  readonly rest?: Field;
  /** Options called otherwise than their field. `contact` is `--as` everywhere. */
  readonly names?: Readonly<Partial<Record<Field, string>>>;
  /** A text read from a file or, as `-`, from stdin: if it is one of the words, that names the file, otherwise `--file` may. */
  readonly file?: Field;
  /** The main file if that word names a folder, and the field that takes the folder's other files: their texts, by path. */
  readonly folder?: { readonly main: string; readonly others?: Field };
  /** The field that takes the name of that file. */
  readonly fileName?: Field;
  /** What the output file's extension implies, as in `{ md: { format: "markdown" } }`. */
  readonly endings?: Readonly<Record<string, Readonly<Partial<Record<Field, string>>>>>;
  /** By default, the person at this machine; with `or own`, `--agent-own` selects what belongs to the agent alone. */
  readonly contact?: "me" | "me or own";
  /** A word that may be omitted or given as `-`; it is then read from stdin. */
  readonly stdin?: Field;
  /** Lists whose values are written `NAME=TEXT`, and the meaning of each value. If one is given, stdin is not read. */
  readonly pairs?: Readonly<Partial<Record<Field, (name: string, text: string) => unknown>>>;
  /** Fields given in place of others: these get no default then, and are not read from stdin. */
  readonly instead?: Readonly<Partial<Record<Field, readonly Field[]>>>;
  /** Defaults on the command line for fields that other doors require. */
  readonly usual?: Readonly<Partial<Record<Field, string>>>;
  /** One command line each, without `strata`. */
  readonly examples: readonly string[];
  readonly opens: Opens;
  /** What would be lost for good: it requires `--yes`, and is otherwise refused with this sentence. */
  readonly confirm?: string;
  /** If there are several agents, one must be named: the first is not the default. */
  readonly namesAgent?: true;
  /** A word that is an alias of the command: `ask` for `message send`. */
  readonly alias?: string;
  /** Fields that only programs need: they are not options. */
  readonly without?: readonly Field[];
  /** The noun alone means this verb: `turn ID` is `turn show ID`. */
  readonly isUsual?: true;
  /** Not a separate verb but an option of another operation's command. */
  readonly optionOf?: { readonly operation: string; readonly option: string; readonly description: string };
}

/** The fields in whose place others were given. */
export const replacedBy = (
  { instead = {} }: Pick<CommandPart<string>, "instead">,
  given: Readonly<Record<string, unknown>>,
): readonly string[] =>
  Object.entries(instead).flatMap(([field, others = []]) => (given[field] === undefined ? [] : others));
