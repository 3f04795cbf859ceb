import { existsSync, renameSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { canonicalJson, changedLines, diffLines, StrataError } from "../protocol/index.ts";
import { readText, whyNot } from "./layer-text.ts";
import {
  besideEntry,
  changedLinesOf,
  type Locked,
  type LockedLayer,
  type LockedLayers,
  lineSentence,
  linesOf,
  lockEntry,
  parseLock,
  staleIn,
  writeEntries,
} from "./lock-file.ts";
import { visible } from "./path.ts";
import type { Project } from "./project.ts";

/** How one immutable layer differs from the lock. `diff` has a sign before each line. */
export interface LockChange {
  readonly agent: string;
  readonly layer: string;
  readonly change: "changed" | "added" | "removed";
  readonly diff: readonly string[];
}

const NAME = "strata.lock";
const LOCK_LIMIT = 16 * 1024 * 1024;
const DIFF_LIMIT = 60;

/** The path of a project's lock: beside its strata.yaml. */
export const lockFile = (project: Project): string => join(project.folder, NAME);

/** The lock of a project: every immutable layer's text and SHA-256, sorted, one line of text per line; and the reviewed lines. */
export function lockText(project: Project): string {
  return writeEntries(lockOf(project));
}

/** The part that no reload may change: the immutable layers. */
export const immutableText = (project: Project): string => writeEntries({ layers: lockedLayers(project) });

const lockOf = (project: Project): Locked => ({ layers: lockedLayers(project), lines: linesOf(project) });

/** Whether the lock says all that it would say if it were written now. */
export const isLockCurrent = (project: Project): boolean =>
  existsSync(lockFile(project)) && readLockFile(lockFile(project)) === lockText(project);

/** How a lock is written. */
export interface LockWriting {
  /** The layers' lines were reviewed against the present texts. */
  readonly lines?: boolean;
}

/**
 * Writes the lock, all or nothing: what the operator has reviewed is now what may start.
 * @throws StrataError `lock_mismatch` for an unchanged line whose layer's text changed, unless the lines were reviewed
 */
export function writeLock(project: Project, { lines = false }: LockWriting = {}): void {
  const file = lockFile(project);
  if (!lines) checkStale(project, file);
  const unfinished = `${file}.${process.pid}.tmp`;
  try {
    rmSync(unfinished, { force: true });
    writeFileSync(unfinished, lockText(project), { flag: "wx" });
    renameSync(unfinished, file);
  } catch (error) {
    rmSync(unfinished, { force: true });
    const code = error instanceof Error && "code" in error ? String(error.code) : String(error);
    throw new StrataError(
      "unexpected",
      `${file} could not be written (${code}); make its folder writable`,
      { file },
      error,
    );
  }
}

/**
 * Makes sure that every immutable layer is the one that was locked. Any doubt stops the start.
 * @throws StrataError `lock_missing`, `lock_mismatch` with the difference
 */
export function checkLock(project: Project): void {
  if (project.inCode) return;
  const file = lockFile(project);
  if (!existsSync(file)) {
    const message = `${file} does not exist; read the immutable layers, then run \`strata lock\` to lock them`;
    throw new StrataError("lock_missing", message, { file });
  }
  const [before, found] = [parseLock(readLockFile(file), file), lockOf(project)];
  const renamed = renamedIn(before.layers, found.layers);
  const locked = {
    layers: underNewNames(before.layers, renamed),
    ...(before.lines && { lines: underNewNames(before.lines, renamed) }),
  };
  const changes = compare(locked.layers, found.layers);
  const lines = changedLinesOf(locked, found);
  if (renamed.size + changes.length + lines.length === 0) return;
  const names = [...renamed].map(([was, agent]) => writeRenamed(was, agent, changes));
  const next = "if the change is intended, review it and run `strata lock`; if not, restore the file";
  const message = [...names, ...changes.map(writeChange), ...lines.map(lineSentence), next].join("\n");
  throw new StrataError("lock_mismatch", message, {
    file,
    changes,
    ...(renamed.size > 0 && { renamed: Object.fromEntries(renamed) }),
    ...(lines.length > 0 && { lines }),
  });
}

/** A line was reviewed beside its text; if the text changed, the line needs a new review. */
function checkStale(project: Project, file: string): void {
  const stale = staleIn(lockedBefore(file), lockOf(project));
  if (stale.length === 0) return;
  const next =
    "change each line, or run `strata lock --lines` to say that it was reviewed and still says what its layer does";
  const message = `${stale.map(lineSentence).join("\n")}\n${next}`;
  throw new StrataError("lock_mismatch", message, { file, lines: stale });
}

/** Undefined if there is no lock, or an unreadable one: then everything is reviewed again. */
function lockedBefore(file: string): Locked | undefined {
  try {
    return existsSync(file) ? parseLock(readLockFile(file), file) : undefined;
  } catch (thrown) {
    if (thrown instanceof StrataError && thrown.code === "lock_mismatch") return undefined;
    throw thrown;
  }
}

function readLockFile(file: string): string {
  try {
    return readText(file, LOCK_LIMIT);
  } catch (error) {
    const why = error instanceof StrataError ? error.message : whyNot(error);
    throw new StrataError(
      "lock_mismatch",
      `${file} cannot be read: ${why}; restore it or run \`strata lock\` again`,
      { file },
      error,
    );
  }
}

function lockedLayers(project: Project): LockedLayers {
  const entries = new Map<string, ReadonlyMap<string, LockedLayer>>();
  for (const agent of project.agents.values()) {
    const locked = agent.layers.filter((layer) => layer.mutability === "immutable");
    const beside = Object.entries(project.locked.get(agent.name) ?? {});
    const all = [
      ...locked.map((layer) => [layer.id, lockEntry(layer)] as const),
      ...beside.map(([name, text]) => [name, besideEntry(text)] as const),
    ];
    entries.set(agent.name, new Map(all));
  }
  return entries;
}

/**
 * Renamed agents, by the locked name: most of the locked texts are found under a new name. Reported as a rename, not as one removed and one
 * new agent with all their texts.
 */
function renamedIn(locked: LockedLayers, found: LockedLayers): ReadonlyMap<string, string> {
  const renamed = new Map<string, string>();
  const fresh = new Set([...found.keys()].filter((name) => !locked.has(name)));
  for (const [was, before] of locked) {
    if (found.has(was)) continue;
    const now = [...fresh].find((name) => isMostly(before, found.get(name) ?? new Map()));
    if (now === undefined) continue;
    fresh.delete(now);
    renamed.set(was, now);
  }
  return renamed;
}

function isMostly(before: ReadonlyMap<string, LockedLayer>, after: ReadonlyMap<string, LockedLayer>): boolean {
  const same = [...before].filter(([layer, entry]) => canonicalJson(entry) === canonicalJson(after.get(layer) ?? null));
  return same.length * 2 > Math.max(before.size, after.size);
}

const underNewNames = <T>(
  entries: ReadonlyMap<string, T>,
  renamed: ReadonlyMap<string, string>,
): ReadonlyMap<string, T> => new Map([...entries].map(([name, entry]) => [renamed.get(name) ?? name, entry]));

function compare(locked: LockedLayers, found: LockedLayers): LockChange[] {
  const changes: LockChange[] = [];
  for (const agent of [...new Set([...locked.keys(), ...found.keys()])].sort()) {
    const [before, after] = [locked.get(agent), found.get(agent)];
    for (const layer of [...new Set([...(before?.keys() ?? []), ...(after?.keys() ?? [])])].sort()) {
      const [old, fresh] = [before?.get(layer), after?.get(layer)];
      const diff = diffLines(old === undefined ? [] : entryLines(old), fresh === undefined ? [] : entryLines(fresh));
      if (diff.every((line) => line.sign === " ")) continue;
      const change = old === undefined ? "added" : fresh === undefined ? "removed" : "changed";
      changes.push({ agent, layer, change, diff: changedLines(diff, DIFF_LIMIT).map(visible) });
    }
  }
  return changes;
}

/** An entry as lines, so that a moved rank shows in the same diff as a changed word. The text follows from its digest. */
function entryLines({ sha256: _, text, ...rest }: LockedLayer): string[] {
  const head = Object.entries(rest).filter(([, value]) => value !== undefined);
  return [...head.map(([key, value]) => `${key}: ${canonicalJson(value)}`), ...text];
}

const SAYS = {
  changed: "differs from the lock (- locked, + found)",
  added: "is immutable and not in the lock (+ found)",
  removed: "is in the lock but no longer an immutable layer (- locked)",
} as const;

function writeRenamed(was: string, agent: string, changes: readonly LockChange[]): string {
  const same = changes.some((change) => change.agent === agent) ? "nearly the same texts" : "the same texts";
  return `agent ${visible(agent)} has ${same} as the lock has for ${visible(was)}: another name. What the record holds of ${visible(was)} stays under that name until \`strata agent rename ${visible(was)} ${visible(agent)}\`, which works as long as nothing is kept of ${visible(agent)}`;
}

function writeChange({ agent, layer, change, diff }: LockChange): string {
  return `agent ${visible(agent)}, layer ${visible(layer)} ${SAYS[change]}:\n${diff.join("\n")}`;
}
