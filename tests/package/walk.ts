import { mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { shell } from "./packed.ts";

const BLOCK = /^```(\w+)\n([\s\S]*?)^```$/gm;

/** What stands for the world outside. */
interface StandIns {
  /** For the `npm install` of the page. */
  readonly install: () => void;
  /** The address of a server that speaks for the page's provider. */
  readonly model: string;
  /** The page's `yaml` blocks are examples: its commands run with what a blueprint declares. */
  readonly keepsConfig?: true;
}

/**
 * Does in a folder what a page says: runs its `sh` blocks, puts its `yaml` blocks into `strata.yaml` and its `ts` blocks into
 * the file named before them. Gives the page with what was printed in the `text` block below each `sh` block. An id in a command
 * is the one that was printed last.
 */
export async function walk(page: string, folder: string, standIns: StandIns): Promise<string> {
  let printed = "";
  let written = "";
  let at = 0;
  const ids = new Map<string, string>();
  for (const block of page.matchAll(BLOCK)) {
    const [all, kind, text = ""] = block;
    const before = page.slice(at, block.index);
    if (kind === "sh") printed = await run(withIds(text, ids), folder, { ...standIns, ids });
    if (kind === "yaml" && standIns.keepsConfig !== true) addToConfig(text, folder, standIns);
    if (kind === "ts") write(text, join(folder, /`([\w/]+\.ts)`/.exec(before)?.[1] ?? ""));
    const isKnown = kind !== "text" || masked(text) === masked(printed);
    written += before + (isKnown ? all : `\`\`\`text\n${printed}\`\`\``);
    at = block.index + all.length;
  }
  return written + page.slice(at);
}

/** The `ts` blocks of a page, each with the file that the text before it names last. */
export function codeOf(page: string): readonly (readonly [file: string, code: string])[] {
  return [...page.matchAll(BLOCK)].flatMap(({ 1: kind, 2: text = "", index }) => {
    const named = page
      .slice(0, index)
      .match(/`[\w./]+\.ts`/g)
      ?.at(-1);
    return kind === "ts" && named !== undefined ? [[named.slice(1, -1), text] as const] : [];
  });
}

const withIds = (lines: string, ids: ReadonlyMap<string, string>): string =>
  lines.replace(SHOWN_ID, (shown, kind) => ids.get(kind) ?? shown);

interface Running extends StandIns {
  /** The newest id of each kind that was printed. */
  readonly ids: Map<string, string>;
}

async function run(lines: string, folder: string, { install, ids }: Running): Promise<string> {
  if (lines.startsWith("npm install ")) install();
  const rest = lines
    .replace(/^npm install .*\n/, "")
    .replaceAll("npx strata", "npm_lifecycle_event=npx node_modules/.bin/strata");
  const printed = await shell(rest, folder);
  // Lists begin with the newest.
  for (const [id, kind = ""] of [...printed.matchAll(ID)].reverse()) ids.set(kind, id);
  return plain(printed, folder);
}

const ID = /\b([a-z]{3})_[0-9a-z]{26}\b/g;
const SHOWN = "01k4x7m2q9v8t6w3y5z0abcdef";
const SHOWN_ID = new RegExp(`\\b([a-z]{3})_${SHOWN}\\b`, "g");

/** Ids, keys and places are told in one way. */
const plain = (text: string, folder: string): string =>
  text
    .replaceAll(folder, "/home/ann/my-agent")
    .replace(ID, `$1_${SHOWN}`)
    .replace(/\blsn_[0-9a-f]{12}\b/g, "lsn_4f1c09a7d2e8")
    .replace(/\bsk-strata-[\w-]+…?/g, "sk-strata-…");

/** Without what differs from day to day: times, digests under a contact's key, how many tokens they have, and how many pieces in how many minutes. */
const masked = (text: string): string =>
  text
    .replace(/^(?:· sent|home:).*$/gm, (line) => line.replace(/[\d.]+ m?s\b/, "TIME").replace(/[\d,]+/g, "#"))
    .replace(/\d{4}-\d{2}-\d{2}(?:[T ]\d{2}:\d{2}(?::\d{2}Z)?)?/g, "TIME")
    .replace(/\bsha256 [0-9a-f]{64}/g, "DIGEST")
    .replace(/(?:just now|\d+ \w+ ago)$/gm, "AGO");

export function write(text: string, file: string): void {
  mkdirSync(dirname(file), { recursive: true });
  writeFileSync(file, text);
}

/** A layer goes under the agent's layers, its list of tools replaces the old one, all else goes to the end. */
function addToConfig(given: string, folder: string, { model }: StandIns): void {
  const file = join(folder, "strata.yaml");
  const lines = given.replace(/^ {4}key: .*\n/m, (key) => `${key}    url: ${model}\n`);
  const yaml = readFileSync(file, "utf8");
  if (lines.startsWith("      - "))
    writeFileSync(
      file,
      yaml.replace(/^ {4}layers:\n/m, (head) => head + lines),
    );
  else if (lines.startsWith("    tools:"))
    writeFileSync(
      file,
      yaml.replace(/^ {4}tools:.*\n/m, () => lines),
    );
  else writeFileSync(file, `${yaml}\n${lines}`);
}
