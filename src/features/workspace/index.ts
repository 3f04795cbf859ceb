/** Text files of an agent for one contact, in a separate folder. */
import { readdir, rename, rm } from "node:fs/promises";
import { join, relative } from "node:path";
import { z } from "zod";
import { findSecrets, REMOVED } from "../../guard/index.ts";
import {
  type AgentName,
  type ContactScope,
  digestOf,
  StrataError,
  type Tool,
  type ToolOutcome,
} from "../../protocol/index.ts";
import type { AgentOwner } from "../../store/index.ts";
import { answered, defineTool, refused } from "../../turn/tools/index.ts";
import type { Feature } from "../feature.ts";
import { agentFolders, LARGEST, listing, ownFolders, pathParts, readText, writeText } from "./file.ts";
import { codeOf, type Folder, inFolder, openerFor } from "./folder.ts";
import {
  aboutFile,
  BAD_PATH,
  EMPTY,
  invalidPath,
  NOTHING_THERE,
  otherTrouble,
  TROUBLE,
  tooLarge,
  wouldLoseSecret,
  written,
} from "./wording.ts";

const path = z.string().min(1).max(1_000).describe("Relative to the workspace, such as notes/plan.md.");

/** Where workspaces are, and how this system opens folders. */
interface Workspaces {
  readonly root: string;
  readonly open: ReturnType<typeof openerFor>;
}

export const FEATURE: Feature = { name: "workspace", operations: [], tools: ({ files }) => workspaceTools(files) };

/**
 * Text files that an agent keeps for one contact. Each (organization, agent, contact) has a separate folder under `root`, and no path leads
 * out of it. `byDescriptor` lets tests choose the other way; by default the system decides.
 */
export function workspaceTools(root: string, byDescriptor?: boolean): readonly Tool[] {
  const workspaces = { root, open: openerFor(byDescriptor) };
  return [readTool(workspaces), listTool(workspaces), writeTool(workspaces)];
}

/**
 * Deletes everything that was ever written for one contact, and its folder. Nothing to delete is not an error.
 * @throws StrataError `file_not_found` if a file cannot be deleted
 */
export async function removeWorkspace(root: string, scope: ContactScope): Promise<void> {
  const folders = ownFolders(scope);
  const way = { root, parts: folders.slice(0, -1), create: false };
  try {
    await inFolder(openerFor(), way, async (folder) => {
      await rm(folder.at(folders.at(-1) ?? ""), { recursive: true, force: true });
      await folder.sync();
    });
  } catch (cause) {
    // Nobody ever wrote for this agent.
    if (codeOf(cause) === "ENOENT") return;
    const message = `files in ${join(root, ...folders)} could not be deleted (${codeOf(cause) || String(cause)})`;
    throw new StrataError(
      "file_not_found",
      `${message}; make the folder your own, then erase once more`,
      { root },
      cause,
    );
  }
}

/** The paths of all files that were written for one contact, inside its folder. */
export async function filesIn(root: string, scope: ContactScope): Promise<readonly string[]> {
  const folder = join(root, ...ownFolders(scope));
  try {
    const found = await readdir(folder, { recursive: true, withFileTypes: true });
    return found.filter((one) => !one.isDirectory()).map((one) => relative(folder, join(one.parentPath, one.name)));
  } catch (cause) {
    if (codeOf(cause) === "ENOENT") return [];
    throw cause;
  }
}

/**
 * Moves everything that an agent ever wrote to another name. Nothing to move is not an error.
 * @throws StrataError `file_not_found` if the folder cannot be moved
 */
export async function renameWorkspaces(root: string, { org, agent }: AgentOwner, to: AgentName): Promise<void> {
  const folderOf = (name: AgentName): string => join(root, ...agentFolders({ org, agent: name }));
  const [from, into] = [folderOf(agent), folderOf(to)];
  try {
    await rename(from, into);
  } catch (cause) {
    if (codeOf(cause) === "ENOENT") return;
    const message = `the folder ${from} could not become ${into} (${codeOf(cause) || String(cause)})`;
    throw new StrataError(
      "file_not_found",
      `${message}; move what stands there, then try again`,
      { from, into },
      cause,
    );
  }
}

function readTool(workspaces: Workspaces): Tool {
  return defineTool({
    name: "read",
    description: "Reads a text file of your workspace. Files are not shown to you unless you read them.",
    input: z.object({ path }),
    effect: "none",
    trust: "contact",
    run: ({ path }, { scope }) =>
      atFile(workspaces, { scope, path, create: false }, async (folder, name) => {
        const found = await readText(folder, name);
        if ("because" in found) return refused(aboutFile(JSON.stringify(path), found.because));
        return answered(found.text === "" ? aboutFile(JSON.stringify(path), EMPTY) : found.text);
      }),
  });
}

function writeTool(workspaces: Workspaces): Tool {
  return defineTool({
    name: "write",
    description:
      "Writes a text file to your workspace. Replaces what was there. For plans and notes too long for a memory.",
    input: z.object({ path, content: z.string().max(LARGEST).describe("The complete text of the file.") }),
    effect: "external",
    trust: "contact",
    run: async ({ path, content }, { scope, turn, call }) => {
      const bytes = Buffer.from(content);
      if (bytes.length > LARGEST) return refused(tooLarge(bytes.length, LARGEST));
      return atFile(workspaces, { scope, path, create: true }, async (folder, name) => {
        const loss = await lostBy(folder, { name, path, content });
        if (loss !== undefined) return refused(loss);
        const mark = digestOf(`${turn}\n${call}`).slice(0, 32);
        const found = await writeText(folder, name, bytes, mark);
        if ("because" in found) return refused(aboutFile(JSON.stringify(path), found.because));
        return answered(written(found.text, JSON.stringify(path)));
      });
    },
  });
}

/**
 * The model was not shown a file's secrets: writing its version back would replace them with a mark. Says why the file is not written;
 * undefined if it is.
 */
async function lostBy(
  folder: Folder,
  { name, path, content }: { readonly name: string; readonly path: string; readonly content: string },
): Promise<string | undefined> {
  const [mark] = REMOVED.exec(content) ?? [];
  if (mark === undefined) return undefined;
  const found = await readText(folder, name).catch(() => undefined);
  if (found === undefined || "because" in found || findSecrets(found.text).length === 0) return undefined;
  return wouldLoseSecret(JSON.stringify(mark), JSON.stringify(path));
}

function listTool(workspaces: Workspaces): Tool {
  return defineTool({
    name: "list",
    description: "Lists the files and folders of your workspace, or of one folder in it.",
    input: z.object({ path: path.default(".") }),
    effect: "none",
    trust: "contact",
    run: async ({ path }, { scope }) => {
      const parts = pathParts(path);
      if ("problem" in parts) return badPath(path, parts.problem);
      const { root, open } = workspaces;
      const way = { root, parts: [...ownFolders(scope), ...parts], create: false };
      try {
        return answered((await inFolder(open, way, listing)) || NOTHING_THERE);
      } catch (thrown) {
        // The first write makes the workspace; until then it is empty.
        if (parts.length === 0 && codeOf(thrown) === "ENOENT") return answered(NOTHING_THERE);
        return trouble(path, thrown);
      }
    },
  });
}

interface WorkspacePath {
  readonly scope: ContactScope;
  readonly path: string;
  readonly create: boolean;
}

/** Walks to a file's folder. Whatever the path and whatever is there, the answer is a sentence. */
async function atFile(
  { root, open }: Workspaces,
  { scope, path, create }: WorkspacePath,
  visit: (folder: Folder, name: string) => Promise<ToolOutcome>,
): Promise<ToolOutcome> {
  const parts = pathParts(path);
  if ("problem" in parts) return badPath(path, parts.problem);
  const name = parts.at(-1);
  if (name === undefined) return badPath(path, BAD_PATH.workspace);
  try {
    const way = { root, parts: [...ownFolders(scope), ...parts.slice(0, -1)], create };
    return await inFolder(open, way, (folder) => visit(folder, name));
  } catch (thrown) {
    return trouble(path, thrown);
  }
}

function badPath(path: string, problem: string): ToolOutcome {
  return refused(invalidPath(JSON.stringify(path), problem));
}

const TROUBLES: ReadonlyMap<string, string> = new Map(Object.entries(TROUBLE));

function trouble(path: string, thrown: unknown): ToolOutcome {
  const code = codeOf(thrown);
  return refused(aboutFile(JSON.stringify(path), TROUBLES.get(code) ?? otherTrouble(code)));
}
