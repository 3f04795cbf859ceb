import { appendFileSync, existsSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { blueprintFolder } from "../app.ts";
import { type AgentName, StrataError } from "../protocol/index.ts";
import { fileError } from "./files.ts";

/** A file to be written: its path inside the folder, and its bytes. */
interface NewFile {
  readonly path: string;
  readonly bytes: Buffer;
}

const ENV_EXAMPLE = `# Copy this file to .env and put your key in; .env is read beside strata.yaml and is never sent, printed or recorded.
# Without a key the built-in rehearsal model answers. Keys: https://console.anthropic.com/
ANTHROPIC_API_KEY=
`;

/**
 * The files of a shipped blueprint, its agent renamed where a name is given.
 * @throws StrataError `file_not_found` for an unknown blueprint, `invalid_input` where a name fits no single agent
 */
export function blueprintFiles(blueprint: string, name: AgentName | undefined): readonly NewFile[] {
  const source = blueprintFolder(blueprint);
  const paths = readdirSync(source, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map((entry) => join(entry.parentPath, entry.name).slice(source.length + 1))
    .sort();
  return [
    ...paths.map((path) => ({ path, bytes: readFileSync(join(source, path)) })).map((file) => renamed(file, name)),
    { path: ".env.example", bytes: Buffer.from(ENV_EXAMPLE) },
  ];
}

function renamed(file: NewFile, name: AgentName | undefined): NewFile {
  if (name === undefined || file.path !== "strata.yaml") return file;
  const [head = "", agents = ""] = file.bytes.toString("utf8").split(/^(?=agents:\n)/m);
  const declared = agents.match(/^ {2}[\w"'-]+:$/gm) ?? [];
  if (declared.length !== 1) {
    const says = `--name renames the one agent of a blueprint, and this one has ${declared.length}; leave it out`;
    throw new StrataError("invalid_input", says, { agents: declared.length });
  }
  return { ...file, bytes: Buffer.from(head + agents.replace(/^ {2}[\w"'-]+:$/m, `  ${JSON.stringify(name)}:`)) };
}

/**
 * Writes files that are not there yet, none where one of them is. Gives their paths.
 * @throws StrataError `invalid_input` with the files that are in the way; `file_not_found` where writing fails
 */
export function writeNew(folder: string, files: readonly NewFile[]): readonly string[] {
  const taken = files.map(({ path }) => path).filter((path) => existsSync(join(folder, path)));
  if (taken.length > 0) {
    const says = `${folder} holds ${taken.join(", ")} already, and nothing was written; name an empty folder with --folder`;
    throw new StrataError("invalid_input", says, { folder, files: taken });
  }
  for (const { path, bytes } of files) {
    const file = join(folder, path);
    attempt(file, () => {
      mkdirSync(dirname(file), { recursive: true });
      writeFileSync(file, bytes, { flag: "wx" });
    });
  }
  return files.map(({ path }) => path);
}

/** Adds to `.gitignore` what belongs to this machine only; what it says already stays. Gives its path where it changed. */
export function ignoreLines(folder: string): readonly string[] {
  const file = join(folder, ".gitignore");
  return attempt(file, () => {
    const text = existsSync(file) ? readFileSync(file, "utf8") : "";
    const missing = [".strata/", ".env"].filter((line) => !text.split(/\r?\n/).includes(line));
    if (missing.length === 0) return [];
    appendFileSync(file, `${text === "" || text.endsWith("\n") ? "" : "\n"}${missing.join("\n")}\n`);
    return [".gitignore"];
  });
}

function attempt<T>(file: string, write: () => T): T {
  try {
    return write();
  } catch (cause) {
    throw fileError(file, cause, "written");
  }
}
