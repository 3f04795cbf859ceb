import { type DraftReading, notReadable, type ReadEntry } from "./draft.ts";
import { entriesOf } from "./json.ts";
import { readMarkdown } from "./markdown.ts";

/** How a file of memories is written. Of JSON, each entry says by its fields which system it comes from. */
const MEMORY_FORMATS = ["jsonl", "json", "markdown"] as const;
type MemoryFormat = (typeof MEMORY_FORMATS)[number];

/** A text that holds memories. */
export interface MemoryText {
  /** Its name in sentences and in sources. */
  readonly name: string;
  readonly text: string;
  /** By default detected from the name and the text. */
  readonly format?: MemoryFormat;
}

/**
 * Reads a file of memories, entry by entry; what cannot be read is reported with its location. Pure.
 * @throws StrataError `invalid_input` if nothing in the file can be read
 */
export function readMemories(file: MemoryText, reading: DraftReading): readonly ReadEntry[] {
  const text = file.text.replace(/^\ufeff/, "");
  switch (file.format ?? formatOf(file.name, text)) {
    case "markdown":
      return readMarkdown(text, reading);
    case "jsonl":
      return readLines(text, reading);
    case "json":
      return readWhole(text, reading);
  }
}

/** A text of JSON begins like one; of lines, each is a value. */
function formatOf(name: string, text: string): MemoryFormat {
  if (/\.(?:md|markdown|txt)$/i.test(name)) return "markdown";
  const start = text.trimStart();
  if (/\.jsonl$/i.test(name)) return "jsonl";
  if (!/^[[{]/.test(start)) return "markdown";
  const [first = "", ...more] = start.split("\n").filter((line) => line.trim() !== "");
  return isJson(first) && (more.length === 0 ? first.startsWith("{") : true) ? "jsonl" : "json";
}

function isJson(text: string): boolean {
  try {
    JSON.parse(text);
    return true;
  } catch {
    return false;
  }
}

function readLines(text: string, reading: DraftReading): readonly ReadEntry[] {
  return text.split("\n").flatMap((line, n): readonly ReadEntry[] => {
    if (line.trim() === "") return [];
    const where = `line ${n + 1}`;
    try {
      return entriesOf(JSON.parse(line), where, reading);
    } catch (thrown) {
      if (!(thrown instanceof SyntaxError)) throw thrown;
      return [{ where, message: "is not JSON" }];
    }
  });
}

function readWhole(text: string, reading: DraftReading): readonly ReadEntry[] {
  try {
    return entriesOf(JSON.parse(text), "", reading);
  } catch (thrown) {
    if (thrown instanceof SyntaxError) throw notReadable(reading.file, `it is not JSON (${thrown.message})`, thrown);
    throw thrown;
  }
}
