import { z } from "zod";
import { canonicalJson, digestOf, LAYER_SCOPES, type Layer, StrataError, TRUSTS } from "../protocol/index.ts";
import { visible } from "./path.ts";
import type { Project } from "./project.ts";

/** One layer in the lock: its text line by line, and everything that decides whether and with which rank it is sent. */
export type LockedLayer = z.output<typeof ENTRY>;
/** By agent, then by layer. */
export type LockedLayers = ReadonlyMap<string, ReadonlyMap<string, LockedLayer>>;

const APPEARANCE = z.enum(["whole", "line", "absent"]);

const SHA256 = z.string().regex(/^[0-9a-f]{64}$/);

const ENTRY = z.strictObject({
  rank: z.int(),
  scope: z.enum(LAYER_SCOPES),
  trust: z.enum(TRUSTS),
  modes: z.strictObject({ full: APPEARANCE, compact: APPEARANCE, minimal: APPEARANCE }),
  line: z.string().optional(),
  sha256: SHA256,
  text: z.array(z.string().regex(/^[^\n]*$/)),
});

const REVIEWED = z.strictObject({ line: z.string(), of: SHA256 });

/** A layer's one-line description, and the digest of the text that it was reviewed for. */
type ReviewedLine = z.output<typeof REVIEWED>;
/** By agent, then by layer. */
type ReviewedLines = ReadonlyMap<string, ReadonlyMap<string, ReviewedLine>>;

/** What a lock holds. */
export interface Locked {
  readonly layers: LockedLayers;
  /** Lines of versioned layers: those of immutable ones are in their entries. Absent in locks from before lines were kept. */
  readonly lines?: ReviewedLines;
}

const LOCK = z.strictObject({
  format: z.literal(1),
  agents: z.record(z.string(), z.record(z.string(), ENTRY)),
  lines: z.record(z.string(), z.record(z.string(), REVIEWED)).optional(),
});

/** A layer's entry in the lock. */
export function lockEntry({ rank, scope, trust, modes, line, source }: Layer): LockedLayer {
  const text = source.kind === "text" ? source.text : "";
  return {
    rank,
    scope,
    trust,
    modes,
    ...(line === undefined ? {} : { line }),
    sha256: digestOf(text),
    text: text.split("\n"),
  };
}

/** The entry of a text that no model reads, such as a handler's code. */
export const besideEntry = (text: string): LockedLayer => ({
  rank: 0,
  scope: "agent",
  trust: "operator",
  modes: { full: "absent", compact: "absent", minimal: "absent" },
  sha256: digestOf(text),
  text: text.split("\n"),
});

/** The file: sorted keys, two blanks of indent. */
export function writeEntries({ layers, lines }: Locked): string {
  const agents = byName(layers);
  const reviewed = lines !== undefined && lines.size > 0 ? { lines: byName(lines) } : {};
  return `${JSON.stringify(JSON.parse(canonicalJson({ format: 1, agents, ...reviewed })), null, 2)}\n`;
}

const byName = <T>(all: ReadonlyMap<string, ReadonlyMap<string, T>>): Record<string, Record<string, T>> =>
  Object.fromEntries([...all].map(([name, entries]) => [name, Object.fromEntries(entries)]));

/** A versioned layer's line in the lock; undefined if it has none. */
function reviewedLine({ line, source, mutability }: Layer): ReviewedLine | undefined {
  if (line === undefined || source.kind !== "text" || mutability !== "versioned") return undefined;
  return { line, of: digestOf(source.text) };
}

/**
 * Reads a lock. One whose digests do not fit its own texts was edited by hand and locks nothing.
 * @throws StrataError `lock_mismatch`
 */
export function parseLock(text: string, file: string): Locked {
  const layers = new Map<string, ReadonlyMap<string, LockedLayer>>();
  const { agents, lines } = parse(text, file);
  for (const [agent, entries] of Object.entries(agents)) {
    for (const [layer, entry] of Object.entries(entries)) {
      if (digestOf(entry.text.join("\n")) === entry.sha256) continue;
      throw damaged(file, `the text of agent ${agent}, layer ${layer} does not match the digest beside it`);
    }
    layers.set(agent, new Map(Object.entries(entries)));
  }
  if (lines === undefined) return { layers };
  return { layers, lines: new Map(Object.entries(lines).map(([agent, all]) => [agent, new Map(Object.entries(all))])) };
}

function parse(text: string, file: string): z.output<typeof LOCK> {
  try {
    return LOCK.parse(JSON.parse(text));
  } catch (error) {
    const why = error instanceof z.ZodError ? z.prettifyError(error) : "it is not JSON";
    throw damaged(file, why, error);
  }
}

function damaged(file: string, why: string, cause?: unknown): StrataError {
  const next = "restore it, or read the immutable layers and run `strata lock` again";
  return new StrataError("lock_mismatch", `${file} is damaged: ${why}; ${next}`, { file }, cause);
}

/** How a layer's line differs from the lock. `stale`: the line is unchanged, but its layer's text is not. */
interface LineChange {
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

/** All lines, including those of immutable layers, that are unchanged since the review while their text changed. */
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

/** Of all layers, according to the lock: an immutable one has its text beside its line. */
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
  stale: "has a new text, but the same line, which was reviewed for the old text",
  changed: "has a different line from the lock",
} as const;

export const lineSentence = ({ agent, layer, change, line }: LineChange): string =>
  `agent ${visible(agent)}, layer ${visible(layer)} ${SAYS[change]}:\n  ${visible(line)}`;
