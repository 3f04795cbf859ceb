import { closeSync, fsyncSync, openSync, readFileSync, renameSync, rmSync, writeSync } from "node:fs";
import { resolve } from "node:path";
import { StrataError } from "../../../protocol/index.ts";

/** A file that was named on the command line: its bytes, and its text. */
export interface InputFile {
  /** As it was named. */
  readonly name: string;
  readonly path: string;
  readonly bytes: Buffer;
  readonly text: string;
}

/**
 * Reads a named file as UTF-8.
 * @throws StrataError `file_not_found`; `invalid_input` if it is not text
 */
export function readInput(name: string, cwd: string): InputFile {
  const path = resolve(cwd, name);
  const bytes = readBytes(name, path);
  try {
    return { name, path, bytes, text: new TextDecoder("utf-8", { fatal: true }).decode(bytes) };
  } catch (cause) {
    throw new StrataError("invalid_input", `${name} is not a text in UTF-8; save it as UTF-8`, { file: name }, cause);
  }
}

/**
 * Reads a named file as JSON.
 * @throws StrataError `file_not_found`, `invalid_input`
 */
export function readJson(name: string, cwd: string): unknown {
  const { text } = readInput(name, cwd);
  try {
    return JSON.parse(text);
  } catch (cause) {
    const why = cause instanceof Error ? cause.message : String(cause);
    throw new StrataError("invalid_input", `${name} is not JSON: ${why}`, { file: name }, cause);
  }
}

/**
 * Writes a named file, all or nothing: a full disk does not destroy its old content.
 * @throws StrataError `file_not_found`
 */
export async function writeOutput(
  name: string,
  cwd: string,
  parts: Iterable<string> | AsyncIterable<string>,
): Promise<void> {
  const path = resolve(cwd, name);
  const unfinished = `${path}.${process.pid}.tmp`;
  try {
    const file = openSync(unfinished, "w");
    try {
      for await (const part of parts) writeSync(file, part);
      fsyncSync(file);
    } finally {
      closeSync(file);
    }
    renameSync(unfinished, path);
  } catch (cause) {
    rmSync(unfinished, { force: true });
    throw cause instanceof StrataError ? cause : fileError(name, cause, "written");
  }
}

/** A failed read or write of a named file, as a sentence. */
export function fileError(name: string, cause: unknown, doing: "read" | "written"): StrataError {
  const code = cause instanceof Error && "code" in cause ? String(cause.code) : "";
  const why = WHY[code] ?? (cause instanceof Error ? cause.message : String(cause));
  return new StrataError("file_not_found", `${name} cannot be ${doing}: ${why}`, { file: name }, cause);
}

const WHY: Readonly<Record<string, string>> = {
  ENOENT: "there is no such file or folder",
  ENOTDIR: "a part of the path is not a folder",
  EISDIR: "it is a folder",
  EACCES: "this user has no permission; check its owner and permissions",
  EPERM: "this user has no permission; check its owner and permissions",
  EROFS: "it is on a disk that is read-only",
  ENOSPC: "the disk is full",
};

function readBytes(name: string, path: string): Buffer {
  try {
    return readFileSync(path);
  } catch (cause) {
    throw fileError(name, cause, "read");
  }
}
