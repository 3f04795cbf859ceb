import { type ContactScope, digestOf } from "../../protocol/index.ts";

/** Files on their way into place. Nobody may name one. */
export const TEMPORARY = ".strata-tmp-";

const DEEPEST = 16;
const LONGEST_PART = 200;
const SLUG = /^[a-z0-9](?:[a-z0-9._-]{0,62}[a-z0-9])?$/;
/** Names that Windows keeps for devices, whatever comes after a dot. */
const DEVICE = /^(?:con|prn|aux|nul|com[0-9]|lpt[0-9])(?:\.|$)/;

/** The parts of a path inside a workspace, or a sentence why it is none. `.` and `./` are the workspace itself. */
export function pathParts(path: string): readonly string[] | { readonly problem: string } {
  if (path === "." || path === "./") return [];
  const parts = path.normalize("NFC").replace(/^\.\//, "").split("/");
  const problem = parts.length > DEEPEST ? `it has more than ${DEEPEST} parts` : parts.map(partProblem).find(Boolean);
  return problem === undefined ? parts : { problem };
}

function partProblem(part: string): string | undefined {
  if (part === "") return "it must be relative to the workspace, with a name between all slashes";
  if (part === "." || part === "..") return `it must not have a part that is '${part}'`;
  if (part.includes("\\")) return "it must not have a backslash; use '/' between folders";
  if (/[\p{Cc}\p{Cf}\p{Cs}\p{Zl}\p{Zp}]/u.test(part)) return "it must not have control or invisible characters";
  if (Buffer.byteLength(part) > LONGEST_PART) return `a part of it is longer than ${LONGEST_PART} bytes`;
  return part.startsWith(TEMPORARY) ? `names that start with '${TEMPORARY}' are reserved` : undefined;
}

/** The folders that lead to the workspace of one contact: its own, shared with no other. */
export function ownFolders({ org, agent, contact }: ContactScope): readonly string[] {
  return [folderName(org), folderName(agent), folderName(contact)];
}

/**
 * A safe slug stands for itself. Anything else gets its letters and a digest behind a `~`, which no slug has: so two
 * names never meet, not even where the file system takes upper and lower case for the same.
 */
function folderName(name: string): string {
  if (SLUG.test(name) && !DEVICE.test(name)) return name;
  const letters = name
    .normalize("NFKD")
    .toLowerCase()
    .replace(/[^a-z0-9]+/g, "-")
    .slice(0, 32);
  return `${letters}~${digestOf(name).slice(0, 32)}`;
}
