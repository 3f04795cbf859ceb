import { z } from "zod";
import { canonicalJson, digestOf, LAYER_SCOPES, type Layer, StrataError, TRUSTS } from "../protocol/index.ts";

/** What the lock holds of one layer: its text line by line, and all that decides whether and with what weight it is sent. */
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

/** A line that stands for a layer, and the digest of the text that it was reviewed for. */
export type ReviewedLine = z.output<typeof REVIEWED>;
/** By agent, then by layer. */
export type ReviewedLines = ReadonlyMap<string, ReadonlyMap<string, ReviewedLine>>;

/** What a lock holds. */
export interface Locked {
  readonly layers: LockedLayers;
  /** Of versioned layers: those of immutable ones stand in their entries. None in locks of before they were kept. */
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

/** The file: sorted keys, two blanks of indent. */
export function writeEntries({ layers, lines }: Locked): string {
  const agents = byName(layers);
  const reviewed = lines !== undefined && lines.size > 0 ? { lines: byName(lines) } : {};
  return `${JSON.stringify(JSON.parse(canonicalJson({ format: 1, agents, ...reviewed })), null, 2)}\n`;
}

const byName = <T>(all: ReadonlyMap<string, ReadonlyMap<string, T>>): Record<string, Record<string, T>> =>
  Object.fromEntries([...all].map(([name, entries]) => [name, Object.fromEntries(entries)]));

/** A versioned layer's line in the lock; none where it has none. */
export function reviewedLine({ line, source, mutability }: Layer): ReviewedLine | undefined {
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
      throw damaged(file, `the text of agent ${agent}, layer ${layer} does not have the digest beside it`);
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
