import { relative } from "node:path";
import { BaseSequencer, type TestSpecification } from "vitest/node";
import { ROOT } from "./files.ts";
import SECONDS from "./seconds.json" with { type: "json" };

const seconds = new Map(Object.entries(SECONDS));

const secondsOf = (moduleId: string): number => seconds.get(relative(ROOT, moduleId).replaceAll("\\", "/")) ?? 0;

/** Those that `seconds.json` names, the slowest at the beginning, then all others as they were. */
export function slowestFirst<T extends { readonly moduleId: string }>(files: readonly T[]): T[] {
  return files.toSorted((one, other) => secondsOf(other.moduleId) - secondsOf(one.moduleId));
}

/**
 * No worker is left alone with a slow file at the end. In a new checkout vitest knows only how long the text of a file is, and the slowest are among
 * the shortest: the suite of a database is one line.
 */
export class SlowestFirst extends BaseSequencer {
  override async sort(files: TestSpecification[]): Promise<TestSpecification[]> {
    return slowestFirst(await super.sort(files));
  }
}
