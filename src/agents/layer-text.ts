import { readFileSync, realpathSync, statSync } from "node:fs";
import { isAbsolute, relative, resolve, sep } from "node:path";
import { looksLikeOurs, StrataError } from "../protocol/index.ts";
import { type Path, type Position, show, visible } from "./path.ts";
import type { Report } from "./report.ts";

/** The most bytes of strata.yaml and of each text file. */
const TEXT_LIMIT = 256 * 1024;

/**
 * Reads a UTF-8 text of at most `limit` bytes. Pipes and devices are not opened.
 * @throws StrataError `file_not_found`, `config_invalid`; the messages leave the file's name to the caller
 */
export function readText(file: string, limit = TEXT_LIMIT): string {
  const stat = statSync(file);
  if (!stat.isFile()) throw new StrataError("file_not_found", "not a regular file; name a text file");
  if (stat.size > limit)
    throw new StrataError("config_invalid", `${stat.size} bytes; at most ${limit} are allowed, split it`);
  try {
    return new TextDecoder("utf-8", { fatal: true }).decode(readFileSync(file));
  } catch (error) {
    if (error instanceof TypeError) throw new StrataError("config_invalid", "not UTF-8; save it as UTF-8", {}, error);
    throw error;
  }
}

/** The text with `\n` as its line break and no blanks or empty lines at its end. Nothing else is changed, not even to NFC. */
export function normalText(text: string): string {
  return text.replace(/\r\n?/g, "\n").trimEnd();
}

/** The text of a layer's file, normalised; undefined when the report got a problem instead. */
export function readLayerFile(folder: string, file: string, path: Path, report: Report): string | undefined {
  const refuse = (code: "config_invalid" | "file_not_found", expected: string): undefined => {
    report.add(path, expected, { code });
  };
  if (isAbsolute(file) || file.includes("\0"))
    return refuse("config_invalid", "expected a path relative to strata.yaml");
  try {
    const real = realpathSync(resolve(folder, file));
    if (!isInside(realpathSync(folder), real)) {
      return refuse("config_invalid", "leads out of strata.yaml's folder; copy the file into it");
    }
    return normalText(readText(real));
  } catch (error) {
    if (error instanceof StrataError)
      return refuse(error.code === "config_invalid" ? "config_invalid" : "file_not_found", error.message);
    return refuse(
      "file_not_found",
      `${whyNot(error)} at ${visible(resolve(folder, file))}; create the file or correct the path`,
    );
  }
}

/** The reason why a file cannot be read, from the operating system's error. */
export function whyNot(error: unknown): string {
  const code = error instanceof Error && "code" in error ? String(error.code) : "";
  if (code === "ENOENT" || code === "ENOTDIR") return "there is no file";
  if (code === "EACCES" || code === "EPERM") return "the file may not be read";
  return `the file cannot be read (${code || String(error)})`;
}

function isInside(folder: string, file: string): boolean {
  const way = relative(folder, file);
  return way !== "" && way !== ".." && !way.startsWith(`..${sep}`) && !isAbsolute(way);
}

/** A text with the place it came from, for the checks. */
export interface PlacedText {
  readonly text: string;
  /** In strata.yaml. */
  readonly path: Path;
  /** If the text has its own file: the file's name for messages. */
  readonly file?: string;
}

/**
 * What no trusted text may contain: lines that read as the platform's own, which would pose as it, and characters that a reviewer of the
 * lock cannot see.
 */
export function checkText({ text, path, file }: PlacedText, report: Report): void {
  if (text.trim() === "") report.add(path, "the text is empty; write it or remove the layer");
  for (const [i, line] of text.split("\n").entries()) {
    const place =
      file === undefined ? {} : { place: { file, line: i + 1, column: 1 } satisfies Position & { file: string } };
    const value = show(line);
    if (looksLikeOurs(line.trim())) {
      report.add(
        path,
        "a line that looks like one of the platform's headers or headings; describe it inside a sentence",
        {
          ...place,
          value,
        },
      );
    }
    const hidden = HIDDEN.exec(line);
    if (hidden === null) continue;
    report.add(path, `hidden character ${visible(hidden[0])} in column ${hidden.index + 1}; remove it`, {
      ...place,
      value,
    });
  }
}

/** Control characters except tab, other line breaks, direction overrides, zero widths, tags. Joiners stay: scripts and emoji need them. */
const HIDDEN = /[\0-\x08\x0b-\x1f\x7f-\x9f\u200b\u2028-\u202e\u2060-\u206f\ufeff\u{e0000}-\u{e0fff}]/u;
