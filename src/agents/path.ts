import { visible } from "./show.ts";

/** The way from the root of a file to one value. */
export type Path = readonly (string | number)[];

/** Both count from 1. */
export interface Position {
  readonly line: number;
  readonly column: number;
}

/** A parsed file that still knows where each value stands. */
export interface YamlSource {
  /** As messages name it. */
  readonly file: string;
  readonly value: unknown;
  /** Where the value at `path` stands, or its key; of what is missing, where it would belong. */
  locate(path: Path, key: boolean): Position;
}

/** What stands at a path; undefined where nothing does. */
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
