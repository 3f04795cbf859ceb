import { type Locked, type ReviewedLine, type ReviewedLines, reviewedLine } from "./lock-file.ts";
import type { Project } from "./project.ts";
import { visible } from "./show.ts";

/** How a line that stands for a layer differs from the lock. `stale`: it is the same, and its layer's text is not. */
export interface LineChange {
  readonly agent: string;
  readonly layer: string;
  readonly change: "stale" | "changed";
  readonly line: string;
}

/** The lines of versioned layers, each with the digest of the declared text. */
export function linesOf(project: Project): ReviewedLines {
  const lines = new Map<string, ReadonlyMap<string, ReviewedLine>>();
  for (const { name, layers } of project.agents.values()) {
    const own = layers.flatMap((layer) => {
      const line = reviewedLine(layer);
      return line === undefined ? [] : [[layer.id, line] as const];
    });
    if (own.length > 0) lines.set(name, new Map(own));
  }
  return lines;
}

/** Lines of versioned layers that are not as they were reviewed. One that is new or gone needs no lock: nor does its layer. */
export function changedLinesOf({ lines }: Locked, found: Locked): readonly LineChange[] {
  return lines === undefined ? [] : between(lines, found.lines ?? new Map());
}

/** All lines, of immutable layers too, that stand as they were reviewed while the text behind them changed. */
export function staleIn(locked: Locked | undefined, found: Locked): readonly LineChange[] {
  if (locked === undefined) return [];
  return between(reviewed(locked), reviewed(found)).filter(({ change }) => change === "stale");
}

function between(before: ReviewedLines, after: ReviewedLines): readonly LineChange[] {
  return [...after].flatMap(([agent, lines]) =>
    [...lines].flatMap(([layer, { line, of }]): LineChange[] => {
      const was = before.get(agent)?.get(layer);
      if (was === undefined || (was.line === line && was.of === of)) return [];
      return [{ agent, layer, line, change: was.line === line ? "stale" : "changed" }];
    }),
  );
}

/** Of all layers, by what the lock holds: an immutable one has its text beside its line. */
function reviewed({ layers, lines = new Map() }: Locked): ReviewedLines {
  const agents = new Set([...layers.keys(), ...lines.keys()]);
  return new Map(
    [...agents].map((agent) => {
      const immutable = [...(layers.get(agent) ?? [])].flatMap(([layer, { line, sha256 }]) =>
        line === undefined ? [] : [[layer, { line, of: sha256 }] as const],
      );
      return [agent, new Map([...immutable, ...(lines.get(agent) ?? [])])];
    }),
  );
}

const SAYS = {
  stale: "has another text than its line was reviewed for, and the same line",
  changed: "has another line than the lock",
} as const;

export const lineSentence = ({ agent, layer, change, line }: LineChange): string =>
  `agent ${visible(agent)}, layer ${visible(layer)} ${SAYS[change]}:\n  ${visible(line)}`;
