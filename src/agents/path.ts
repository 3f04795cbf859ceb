/** The way from the root of a file to one value. */
export type Path = readonly (string | number)[];

/** Both count from 1. */
export interface Position {
  readonly line: number;
  readonly column: number;
}

/** A parsed file that still knows the place of each value. */
export interface YamlSource {
  /** As messages name it. */
  readonly file: string;
  readonly value: unknown;
  /** The place of the value at `path`, or of its key; for a missing one, where it would belong. */
  locate(path: Path, key: boolean): Position;
}

/** The value at a path; undefined if there is none. */
export function valueAt(root: unknown, path: Path): unknown {
  let value = root;
  for (const step of path) {
    if (value === null || typeof value !== "object" || !Object.hasOwn(value, step)) return undefined;
    value = Reflect.get(value, step);
  }
  return value;
}

/** `agents.companion.layers[2].rank` */
export function writePath(path: Path): string {
  return path
    .map((step, i) => (typeof step === "number" ? `[${step}]` : i === 0 ? visible(step) : `.${visible(step)}`))
    .join("");
}

/** A value as a reader of an error sees it. */
export function show(value: unknown): string {
  if (value === undefined) return "missing";
  if (value === null) return "empty";
  if (Array.isArray(value)) return value.length === 0 ? "an empty list" : "a list";
  if (typeof value === "object") return "a map";
  if (typeof value !== "string") return String(value);
  return visible(JSON.stringify(value.length > 60 ? `${value.slice(0, 60)}…` : value));
}

/** Control and invisible characters spelled out, so that an error or a diff cannot deceive a terminal or a reader. */
export function visible(text: string): string {
  return text.replace(/[\p{C}\u2028\u2029]/gu, (one) => `\\u{${(one.codePointAt(0) ?? 0).toString(16)}}`);
}
