import { z } from "zod";
import {
  type ActiveTexts,
  type AgentName,
  type Allowed,
  digestOf,
  doneBy,
  type Layer,
  layerWith,
  placeOf,
  StrataError,
  suggestion,
  type TextVersion,
  trusted,
  type Untrusted,
} from "../../protocol/index.ts";
import { type AgentAccess, accessTo, featureApi, type Parts } from "../../turn/index.ts";
import { list } from "../fields.ts";
import type { ProjectDisk } from "../project-disk.ts";
import { fileRules } from "./config.ts";
import { type FilesFound, type ProjectFile, readFiles } from "./read.ts";
import { fileParts } from "./steps.ts";

const FILE = z
  .object({
    name: z.string().describe("As the declaration has it."),
    path: z.string().optional().describe("From the project's root on."),
    state: z
      .enum(["sent", "cut", "held back", "missing", "empty"])
      .describe("`held back`: the guard finds fault with it, and nobody has approved it as it is."),
    characters: z.number(),
    notes: list(z.string()).describe("What was taken out of it, what it includes, what the guard finds in it."),
  })
  .meta({ id: "File", description: "A file of an agent's prompt." });

type FileView = z.output<typeof FILE>;

export const FILES = z.object({
  root: z.string().describe("The folder outside of which nothing is read."),
  files: list(FILE),
  subagents: list(z.object({ name: z.string(), description: z.string(), instructions: z.string() })).describe(
    "What AGENTS.md defines.",
  ),
});

/** The files of an agent's prompt as last read, and what they define. */
type FilesView = z.output<typeof FILES>;

/** An agent's files for operators, and their approval. @throws StrataError `not_allowed`, `agent_not_found` */
export interface FileApi {
  /** The files of its prompt, in their present state. @throws StrataError `text_not_found` if the agent has none */
  files(actor: Allowed<"operate">, agent: AgentName): Promise<FilesView>;
  /** Allows a file to be sent unchanged, whatever the guard finds in it. @throws StrataError `text_not_found`, `text_refused` */
  approveFile(
    actor: Allowed<"operate">,
    agent: AgentName,
    choice: { readonly path: string; readonly reason: Untrusted },
  ): Promise<TextVersion>;
}

/** The functions of files, as `runtime.use` gives them. */
export const FILE_API = featureApi<FileApi>("files");

/** An agent's files for operators, and the approval of those in which the guard finds faults. They are read again each time. */
export const fileApi = (parts: Parts, disk: ProjectDisk | undefined): FileApi => ({
  files: async (actor, agent) => filesView(await look(accessTo(parts, actor, agent), disk)),
  approveFile: async (actor, agent, choice) => approveFile(await look(accessTo(parts, actor, agent), disk), choice),
});

/** The present state of an agent's files. */
interface Look {
  readonly access: AgentAccess;
  readonly layer: Layer;
  readonly found: FilesFound;
  readonly active: ActiveTexts;
}

/** @throws StrataError `text_not_found` */
async function look(access: AgentAccess, disk: ProjectDisk | undefined): Promise<Look> {
  const { agent, parts, owner } = access;
  const layer = layerWith(agent, "files");
  const folder = disk?.folderOf(agent);
  if (disk === undefined || folder === undefined)
    throw new StrataError("text_not_found", `no folder of ${agent.name} is known here`, { agent: agent.name });
  const [found, versions, pointers] = await Promise.all([
    readFiles(disk, folder, fileRules(agent)),
    parts.store.activeTexts(owner),
    parts.store.textPointers(owner),
  ]);
  return { access, layer, found, active: { versions, pointers } };
}

function filesView({ access, layer, found, active }: Look): FilesView {
  const sent = fileParts(found, { layer, active, rules: fileRules(access.agent) });
  const files = found.files.map((file, i): FileView => {
    const { name, path, text } = file;
    const because = sent[i]?.because;
    return {
      name,
      ...(path !== undefined && { path }),
      state: fileState(file, sent[i]?.text !== ""),
      characters: text.length,
      notes: because === undefined ? [] : because.split("; "),
    };
  });
  return { root: found.root, files, subagents: found.files.flatMap(({ subagents }) => subagents) };
}

function fileState({ path, text, isCut }: ProjectFile, isSent: boolean): FileView["state"] {
  if (path === undefined) return "missing";
  if (text === "") return "empty";
  if (!isSent) return "held back";
  return isCut ? "cut" : "sent";
}

/** Keeps the file's text as approved: another text of it waits again. */
function approveFile(
  { access, layer, found, active }: Look,
  { path, reason }: { readonly path: string; readonly reason: Untrusted },
): Promise<TextVersion> {
  const { parts, owner, actor, agent } = access;
  const file = found.files.find((one) => one.path === path);
  if (file === undefined) {
    const paths = found.files.flatMap((one) => one.path ?? []);
    const message = `${agent.name} has no file ${JSON.stringify(path)}${suggestion(path, paths)}`;
    throw new StrataError("text_not_found", message, { path });
  }
  const before = active.versions.find((one) => one.layer === layer.id && one.part === path);
  const isKnown = before?.digest === digestOf(file.text);
  if (file.faults.length === 0 || isKnown) {
    const is = isKnown ? "is approved as it is" : "waits for nobody: the guard finds no fault with it";
    throw new StrataError("text_refused", `the file ${path} of ${agent.name} ${is}`, { path });
  }
  if (fileRules(agent).check === "block") {
    const next = "`check: block` never sends it; set `files: { check: review }`, then approve it, or change the file";
    throw new StrataError("text_refused", `the file ${path} of ${agent.name} cannot be approved: ${next}`, { path });
  }
  const edit = {
    layer: layer.id,
    part: path,
    // An operator approves a file of their own project.
    text: trusted(file.text),
    status: "kept",
    trust: "operator",
    inputs: "operator",
    ...doneBy(actor),
    reason,
    verdict: { verdict: "review", findings: file.faults },
    parent: before?.n ?? 0,
    place: placeOf(agent, layer, path),
    beside: active.pointers.filter((one) => one.layer === layer.id && one.part !== undefined && one.part !== path),
  } as const;
  return parts.store.editText(owner, edit, parts.clock.recorded());
}
