import {
  appendFileSync,
  type Dirent,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  realpathSync,
  rmSync,
  statSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join, relative, resolve, sep } from "node:path";
import {
  blueprintFolder,
  blueprintNames,
  projectLock,
  type TranslatedKey,
  translateDevclaw,
  translateOrganism,
  USUAL_MODELS,
} from "../../../app/entry/projects.ts";
import { type AgentName, agentName, asStrataError, StrataError } from "../../../protocol/index.ts";
import { fileError, readInput } from "../shell/files.ts";
import type { Terminal } from "../shell/terminal.ts";
import { addBlueprint } from "./blueprint-add.ts";

/** What is copied: a blueprint of the package, or any folder. */
interface Blueprint {
  /** Absolute, without links in it. */
  readonly folder: string;
  readonly shipped: boolean;
}

/** A file to be written: its path inside the folder, and its bytes. */
interface NewFile {
  readonly path: string;
  readonly bytes: Buffer;
}

/** A blueprint, read and ready to be written. */
interface Copy {
  readonly files: readonly NewFile[];
  /** Lines of its `.gitignore`. */
  readonly ignored: readonly string[];
  /** What is not copied from the folder: data, secrets, installed packages. */
  readonly leftOut: readonly string[];
  /** The environment variables that its strata.yaml names. */
  readonly variables: readonly string[];
  /** What happened to the keys of another system's file. */
  readonly keys?: readonly TranslatedKey[];
}

/** The result of copying a blueprint. */
export interface Made {
  /** The folder it was copied from, unless it is a shipped blueprint. */
  readonly from?: string;
  readonly files: readonly string[];
  readonly leftOut: readonly string[];
  readonly agents: readonly string[];
  /** The one of them that people talk to first. */
  readonly first?: string;
  /** Agents that do not answer until they are topped up. */
  readonly onCredits: readonly string[];
  /** The payment for each of these, in US dollars. */
  readonly payments: Readonly<Record<string, number>>;
  /** The environment variables that it wants. */
  readonly variables: readonly string[];
  /** What happened to the keys of the file that was translated. */
  readonly keys?: readonly TranslatedKey[];
}

/** The options; `from` is a DevClaw configuration to translate. */
interface CopyRequest {
  readonly blueprint: string;
  readonly name: AgentName | undefined;
  readonly from: string | undefined;
}

/**
 * Copies a blueprint into a folder, and proves that the copy can start: its lock is checked as the start will check it.
 * @throws StrataError as `findBlueprint`, `readBlueprint`, `writeNew`
 */
export function copyBlueprint({ cwd, env }: Pick<Terminal, "cwd" | "env">, folder: string, wanted: CopyRequest): Made {
  const blueprint = findBlueprint(wanted.blueprint, cwd);
  const { from } = wanted;
  const copy =
    from === undefined ? readBlueprint(blueprint, wanted.name) : translated(blueprint, { ...wanted, from, cwd });
  const { variables, leftOut, keys } = copy;
  // The lock names the agents; the locked texts are the blueprint's, word for word.
  const isLocked = blueprint.shipped && wanted.name === undefined && from === undefined;
  const isThere = from === undefined && existsSync(join(folder, "strata.yaml"));
  if (!blueprint.shipped && isThere) checkOwnLock(blueprint.folder, env);
  const written = isThere
    ? addBlueprint(folder, copy.files, env)
    : writeNew(folder, isLocked ? copy.files : locked(blueprint, copy, env));
  const lock = projectLock({ folder, env });
  lock.check();
  return {
    ...(!blueprint.shipped && { from: blueprint.folder }),
    files: [...written, ...ignoreLines(folder, copy.ignored)],
    leftOut,
    agents: [...lock.layers.keys()],
    ...(lock.first !== undefined && { first: lock.first }),
    onCredits: [...lock.payments.keys()],
    payments: Object.fromEntries(lock.payments),
    variables,
    ...(keys !== undefined && { keys }),
  };
}

/**
 * The blueprint with the content of another system's file.
 * @throws StrataError `invalid_input` if another blueprint is named; `file_not_found`; `config_invalid` with what is wrong in the file
 */
function translated(blueprint: Blueprint, wanted: CopyRequest & { readonly from: string; readonly cwd: string }): Copy {
  const translate = blueprint.shipped ? TRANSLATIONS.get(wanted.blueprint) : undefined;
  if (translate === undefined) {
    const sentence = `--from translates a config.yaml of DevClaw into the blueprint ${TRANSLATED}, or an organism.yaml into organism, not into ${wanted.blueprint}; run \`strata init ${TRANSLATED} --from ${wanted.from}\``;
    throw new StrataError("invalid_input", sentence, { blueprint: wanted.blueprint });
  }
  const { name: file, text } = readInput(wanted.from, wanted.cwd);
  const plain = readBlueprint(blueprint, undefined);
  const { files, name, variable, keys } = translate(
    { file, text },
    new Map(plain.files.map(({ path, bytes }) => [path, bytes.toString()])),
  );
  const called = wanted.name ?? (name === undefined ? undefined : agentName(name));
  const written = [...files].map(([path, one]) => ({ path, bytes: Buffer.from(one) }));
  return { ...assembled(written, called, variable), ignored: plain.ignored, leftOut: plain.leftOut, keys };
}

/** The blueprints that have a counterpart elsewhere, and the default one. */
const TRANSLATIONS = new Map([
  ["workbench", translateDevclaw],
  ["organism", translateOrganism],
]);
export const TRANSLATED = "workbench";

const ENV_HEAD = `# Copy this file to .env and put your key in; .env is read beside strata.yaml and is never sent, printed or recorded.
`;
const ENV_EXAMPLE = `${ENV_HEAD}# The first of these that is set decides which model answers; without one, the built-in rehearsal does.
${USUAL_MODELS.map(({ variable, model }) => (model === undefined ? `# ${variable}=http://127.0.0.1:11434/v1` : `${variable === "ANTHROPIC_API_KEY" ? "" : "# "}${variable}=`)).join("\n")}
`;

/**
 * What `given` names: a shipped blueprint, otherwise a folder with a strata.yaml.
 * @throws StrataError `file_not_found`, `config_missing`
 */
function findBlueprint(given: string, cwd: string): Blueprint {
  const folder = resolve(cwd, given);
  const isFolder = statSync(folder, { throwIfNoEntry: false })?.isDirectory() === true;
  const isPath = /[\\/]/.test(given) || given === "." || given === "..";
  if (!isPath && (!isFolder || blueprintNames().includes(given)))
    return { folder: blueprintFolder(given), shipped: true };
  const next = `name a folder with a strata.yaml, or a shipped blueprint: ${blueprintNames().join(", ")}`;
  if (!isFolder) throw new StrataError("file_not_found", `there is no folder ${folder}; ${next}`, { folder });
  if (existsSync(join(folder, "strata.yaml"))) return { folder: realpathSync(folder), shipped: false };
  throw new StrataError("config_missing", `${folder} is not a blueprint, because it has no strata.yaml; ${next}`, {
    folder,
  });
}

/**
 * Reads a blueprint, with its agent renamed if a name is given.
 * @throws StrataError `invalid_input` if a name fits no single agent, or a link leads out of the folder; `file_not_found`
 */
function readBlueprint({ folder, shipped }: Blueprint, name: AgentName | undefined): Copy {
  const leftOut: string[] = [];
  const read = [...pathsIn({ root: folder, leftOut }, folder)].map((path) => ({
    path,
    bytes: attempt(join(folder, path), "read", () => readFileSync(join(folder, path))),
  }));
  return {
    ...assembled(read, name),
    ignored: shipped ? [] : nonBlankLines(read.find(({ path }) => path === ".gitignore")?.bytes.toString() ?? ""),
    leftOut,
  };
}

/** The files of a copy, its agent renamed, with an example of `.env` that has every variable. */
function assembled(
  read: readonly NewFile[],
  name: AgentName | undefined,
  key?: string,
): Pick<Copy, "files" | "variables"> {
  const inYaml = read.flatMap(({ path, bytes }) => (path === "strata.yaml" ? variablesIn(bytes.toString()) : []));
  const variables = [...inYaml, ...(key === undefined ? [] : [key])];
  const files = read.filter(({ path }) => path !== ".gitignore").map((file) => nameAgent(file, name));
  const [example, usual] =
    key === undefined
      ? [files.find(({ path }) => path === ".env.example"), ENV_EXAMPLE]
      : // If a model is named, nothing answers without its key, and another provider's does not help.
        [undefined, ENV_HEAD];
  const others = files.filter(({ path }) => path !== ".env.example");
  return { files: [...others, withVariables(example, variables, usual)], variables };
}

/** The blueprint's own example of `.env`, otherwise the usual one, with each variable that it does not name yet. */
function withVariables(example: NewFile | undefined, variables: readonly string[], usual: string): NewFile {
  const text = example?.bytes.toString() ?? usual;
  const missing = variables.filter((name) => !new RegExp(`^[#\\s]*(?:export\\s+)?${name}\\s*=`, "m").test(text));
  if (example !== undefined && missing.length === 0) return example;
  const whole = text === "" || text.endsWith("\n") ? text : `${text}\n`;
  return { path: ".env.example", bytes: Buffer.from(whole + missing.map((name) => `${name}=\n`).join("")) };
}

/** What belongs to one machine or one person, or is installed again. */
const isLeftOut = (name: string): boolean =>
  [".strata", ".git", "node_modules", ".env"].includes(name) || (name.startsWith(".env.") && name !== ".env.example");

interface Walk {
  readonly root: string;
  readonly leftOut: string[];
}

/** The paths of a folder's files, sorted. Links are followed to files inside of it, and nowhere else. */
function* pathsIn(walk: Walk, folder: string): Generator<string> {
  const entries = attempt(folder, "read", () => readdirSync(folder, { withFileTypes: true }));
  for (const entry of entries.toSorted((a, b) => (a.name < b.name ? -1 : 1))) {
    const path = relative(walk.root, join(folder, entry.name));
    if (isLeftOut(entry.name)) walk.leftOut.push(path);
    else if (entry.isDirectory()) yield* pathsIn(walk, join(folder, entry.name));
    else {
      const problem = checkEntry(walk.root, path, entry);
      if (problem !== undefined)
        throw new StrataError("invalid_input", `${join(walk.root, path)} ${problem}`, { path });
      yield path.split(sep).join("/");
    }
  }
}

function checkEntry(root: string, path: string, entry: Dirent): string | undefined {
  if (entry.isFile()) return undefined;
  const next = "put the file itself there, or take it out of the blueprint";
  if (!entry.isSymbolicLink()) return `is neither a file nor a folder; ${next}`;
  const target = attempt(join(root, path), "read", () => realpathSync(join(root, path)));
  const [first = "", ...rest] = relative(root, target).split(sep);
  if (first === ".." || resolve(root, first, ...rest) !== target) return `is a link that leads out of it; ${next}`;
  if ([first, ...rest].some(isLeftOut)) return `is a link to what is not copied; ${next}`;
  return statSync(target).isFile() ? undefined : `is a link to a folder; put the folder itself there`;
}

/** The variables used as values, `key: ${NAME}`, outside comments. One too many is harmless: it is offered in `.env.example`. */
function variablesIn(yaml: string): readonly string[] {
  const found = yaml.replaceAll(/^\s*#.*$/gm, "").matchAll(/[:[,]\s*["']?\$\{([A-Za-z_]\w*)\}["']?\s*(?:[,}\]#]|$)/gm);
  return [...new Set([...found].map(([, name = ""]) => name))];
}

/**
 * The same files with a new lock that replaces any existing one. A folder's own lock is checked first: files that its author did not review
 * are not copied.
 * @throws StrataError `lock_mismatch`, `config_invalid`, … of the folder; `invalid_input` if only the copy cannot start
 */
function locked({ folder, shipped }: Blueprint, { files }: Copy, env: Environment): readonly NewFile[] {
  checkOwnLock(folder, env);
  const others = files.filter(({ path }) => path !== "strata.lock");
  const place = mkdtempSync(join(tmpdir(), "strata-init-"));
  try {
    const copy = join(place, "copy");
    writeNew(copy, others);
    return [...others, { path: "strata.lock", bytes: lockOf(copy, { folder, shipped }, env) }];
  } finally {
    rmSync(place, { recursive: true, force: true });
  }
}

function checkOwnLock(folder: string, env: Environment): void {
  const lock = projectLock({ folder, env });
  if (existsSync(lock.file)) lock.check();
}

function lockOf(copy: string, { folder, shipped }: Blueprint, env: Environment): Buffer {
  try {
    const lock = projectLock({ folder: copy, env });
    lock.write();
    return readFileSync(lock.file);
  } catch (thrown) {
    const { message } = asStrataError(thrown);
    const about = shipped
      ? "with these settings the agent could not start, and nothing was written; fix the file that they come from"
      : `${folder} works in its place, but a copy of it would not: put everything that its strata.yaml names into the folder`;
    const sentence = `${about}. For a copy, the error is: ${message.replaceAll(copy, ".").replaceAll(dirname(copy), "..")}`;
    throw new StrataError("invalid_input", sentence, { folder }, thrown);
  }
}

type Environment = Readonly<Record<string, string | undefined>>;

function nameAgent(file: NewFile, name: AgentName | undefined): NewFile {
  if (name === undefined || file.path !== "strata.yaml") return file;
  const yaml = file.bytes.toString("utf8");
  // All that is indented below `agents:`, whatever follows it.
  const [agents = ""] = /^agents:.*\n(?:(?:[ #].*)?\r?\n)*(?:[ #].*$)?/m.exec(yaml) ?? [];
  const declared = agents.match(/^ {2}[\w"'.-]+:[ \t\r]*(?:#.*)?$/gm) ?? [];
  if (declared.length !== 1) {
    const sentence = `--name renames the one agent of a blueprint, and this one has ${declared.length}; leave it out`;
    throw new StrataError("invalid_input", sentence, { agents: declared.length });
  }
  const called = agents.replace(/^ {2}[\w"'.-]+:(?=[ \t\r]*(?:#.*)?$)/m, () => `  ${JSON.stringify(name)}:`);
  return { ...file, bytes: Buffer.from(yaml.replace(agents, () => called)) };
}

/**
 * Writes files that do not exist yet; none if one of them does. Gives their paths.
 * @throws StrataError `invalid_input` with the files that are in the way; `file_not_found` if writing fails
 */
function writeNew(folder: string, files: readonly NewFile[]): readonly string[] {
  const taken = files.map(({ path }) => path).filter((path) => existsSync(join(folder, path)));
  if (taken.length > 0) {
    const sentence = `${folder} already contains ${taken.join(", ")}, and nothing was written; name an empty folder with --folder`;
    throw new StrataError("invalid_input", sentence, { folder, files: taken });
  }
  for (const { path, bytes } of files) {
    const file = join(folder, path);
    attempt(file, "written", () => {
      mkdirSync(dirname(file), { recursive: true });
      writeFileSync(file, bytes, { flag: "wx" });
    });
  }
  return files.map(({ path }) => path);
}

/** Adds to `.gitignore` these lines and whatever belongs to this machine only; existing lines stay. Gives its path if it changed. */
function ignoreLines(folder: string, lines: readonly string[]): readonly string[] {
  const file = join(folder, ".gitignore");
  return attempt(file, "written", () => {
    const text = existsSync(file) ? readFileSync(file, "utf8") : "";
    const missing = [...lines, ".strata/", ".env", "node_modules/"].filter(
      (line, n, all) => !nonBlankLines(text).includes(line) && all.indexOf(line) === n,
    );
    if (missing.length === 0) return [];
    appendFileSync(file, `${text === "" || text.endsWith("\n") ? "" : "\n"}${missing.join("\n")}\n`);
    return [".gitignore"];
  });
}

const nonBlankLines = (text: string): readonly string[] => text.split(/\r?\n/).filter((line) => line.trim() !== "");

function attempt<T>(file: string, doing: "read" | "written", work: () => T): T {
  try {
    return work();
  } catch (cause) {
    throw fileError(file, cause, doing);
  }
}
