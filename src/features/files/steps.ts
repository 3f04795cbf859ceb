import { blocked as blockedByGuard, flagged } from "../../guard/index.ts";
import {
  type ActiveTexts,
  type Agent,
  canonicalJson,
  digestOf,
  joinParts,
  type Layer,
  type LayerContent,
  type LayerPart,
  trusted,
  type Vault,
} from "../../protocol/index.ts";
import type { TurnSteps } from "../../turn/index.ts";
import { type Cached, firstWait, type ProjectDisk, staleWhileRevalidate } from "../project-disk.ts";
import { type FileRules, fileRules } from "./config.ts";
import { type FilesFound, type ProjectFile, readFiles, type SubagentDefinition } from "./read.ts";

/** An agent's files, as last read when due. */
type FilesOf = (agent: Agent) => Promise<Cached<FilesFound>>;

const openedFiles = new WeakMap<ProjectDisk, FilesOf>();

/** The files on this disk. Agents that name the same files of the same folder share what was read. */
function filesOn(disk: ProjectDisk): FilesOf {
  const known = openedFiles.get(disk);
  if (known !== undefined) return known;
  const cached = staleWhileRevalidate<FilesFound>(disk);
  const filesOf: FilesOf = async (agent) => {
    const folder = disk.folderOf(agent);
    if (folder === undefined) throw new Error(`no folder of ${agent.name} is known`);
    const { ttl, check: _, ...rules } = fileRules(agent);
    const key = canonicalJson([folder, { ...rules, root: rules.root ?? "" }]);
    return cached(key, ttl * 1_000, () => readFiles(disk, folder, fileRules(agent)));
  };
  openedFiles.set(disk, filesOf);
  return filesOf;
}

/** Fills layers with `source: files`. Only the first read of a program is waited for, and not for long. */
export function fileSteps(disk: ProjectDisk): TurnSteps {
  const filesOf = filesOn(disk);
  const firstUse = firstWait(disk);
  return {
    prepare: async (_, agent) => {
      if (agent.layers.some(({ source }) => source.kind === "files")) await firstUse.wait(agent, () => filesOf(agent));
    },
    stored: ({ vault }, agent, active) => ({
      files: async (layer) => {
        const { value, use } = await filesOf(agent);
        const content = joinFileParts(fileParts(value, { layer, active, vault, rules: fileRules(agent) }));
        return { ...content, cache: firstUse.of(agent) ?? use };
      },
    }),
  };
}

/** The sub-agents that an agent's files define, each with its file; only files that are sent count. */
export async function subagentsOf(
  disk: ProjectDisk,
  agent: Agent,
  active: ActiveTexts | undefined,
): Promise<readonly (SubagentDefinition & { readonly path: string })[]> {
  const layer = agent.layers.find(({ source }) => source.kind === "files");
  if (layer === undefined) return [];
  const { value } = await filesOn(disk)(agent);
  const parts = fileParts(value, { layer, active, rules: fileRules(agent) });
  return value.files.flatMap(({ subagents, name, path = name }, i) =>
    parts[i]?.text === "" ? [] : subagents.map((one) => ({ ...one, path })),
  );
}

/** Which files may be sent, and how. */
interface Sending {
  readonly layer: Layer;
  readonly active: ActiveTexts | undefined;
  readonly vault?: Pick<Vault, "hide">;
  readonly rules: FileRules;
}

const joinFileParts = (parts: readonly LayerPart[]): LayerContent => {
  const text = joinParts(parts);
  return text === "" ? { kind: "empty", because: "no file is there", parts } : { kind: "text", text, parts };
};

/** Each file as a part of its layer. */
export const fileParts = ({ files }: FilesFound, sending: Sending): readonly LayerPart[] =>
  files.map((file, i) => partOf(file, sending, i === 0 ? "" : "\n"));

function partOf(file: ProjectFile, sending: Sending, before: string): LayerPart {
  const name = file.path ?? file.name;
  const { faults, text, isCut } = file;
  const blocked = text !== "" && faults.length > 0 ? heldBack(file, sending) : undefined;
  const warned = faults.length > 0 && blocked === undefined ? [flagged(faults)] : [];
  const notes = blocked === undefined ? [...file.notes, ...warned] : [blocked];
  const because = notes.length === 0 ? {} : { because: notes.join("; ") };
  if (text === "" || blocked !== undefined) return { name, text: trusted(""), ...because };
  // A file of the operator's own project, cleaned of everything that reads as the platform's.
  const body = sending.vault?.hide(text) ?? text;
  return { name, text: trusted(`${before}## File ${name}\n${body}`), ...because, ...(isCut && { cut: true as const }) };
}

/** Why a file in which the guard finds faults is not sent; undefined if it is sent. */
function heldBack({ path, faults, text }: ProjectFile, { layer, active, rules }: Sending): string | undefined {
  if (rules.check === "warn") return undefined;
  if (rules.check === "block") return blockedByGuard(faults);
  const approved = active?.versions.some(
    (one) => one.layer === layer.id && one.part === path && one.digest === digestOf(text),
  );
  return approved ? undefined : `${flagged(faults)}; \`strata file approve ${path}\` approves it`;
}
