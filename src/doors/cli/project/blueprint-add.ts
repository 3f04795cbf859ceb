import { existsSync, mkdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { projectLock } from "../../../app/entry/projects.ts";
import { asStrataError, StrataError } from "../../../protocol/index.ts";

type Environment = Readonly<Record<string, string | undefined>>;

/** A file of a blueprint: its path inside the folder, and its bytes. */
interface AddedFile {
  readonly path: string;
  readonly bytes: Buffer;
}

/** These belong to a whole project, and one is there already. */
const OF_PROJECT = new Set(["strata.yaml", "strata.lock", ".env.example"]);

/**
 * Adds the agents of a blueprint to the strata.yaml of a folder, and its files in a folder named after its first agent. The folder's
 * existing text stays unchanged, word for word. All or nothing: the lock of both is written, and checked as a start would check it.
 * @throws StrataError `lock_mismatch`, `lock_missing` if the existing project was not reviewed; `invalid_input` if the two cannot be
 * combined
 */
export function addBlueprint(folder: string, files: readonly AddedFile[], env: Environment): readonly string[] {
  const before = projectLock({ folder, env });
  before.check();
  const file = join(folder, "strata.yaml");
  const [here, added] = [readFileSync(file, "utf8"), findAddedText(files, "strata.yaml")];
  const agents = agentsIn(added);
  const names = [...agents.matchAll(/^ {2}["']?([\w.-]+)["']?:/gm)].map(([, name = ""]) => name);
  const [first = "", taken] = [names[0], names.find((name) => [...before.layers.keys()].some((one) => one === name))];
  if (taken !== undefined)
    throw nothingAdded(folder, `an agent ${taken} is there already; give the new one another name with --name`);
  const own = files.filter(({ path }) => !OF_PROJECT.has(path));
  const moved = own.map(({ path, bytes }) => ({ path, to: `${first}/${path}`, bytes }));
  const there = moved.filter(({ to }) => existsSync(join(folder, to)));
  if (there.length > 0) throw nothingAdded(folder, `${there.map(({ to }) => to).join(", ")} is there already`);
  const block = moved.reduce((text, { path, to }) => withPath(text, path, to), agents);
  const keys = sectionsIn(added).filter(({ key }) => key !== "agents" && key !== "organization");
  const wrong = keys.find(({ key, text }) => sectionsIn(here).some((one) => one.key === key && one.text !== text));
  if (wrong !== undefined)
    throw nothingAdded(folder, `both strata.yaml say something of \`${wrong.key}\`; put them together by hand`);
  const missing = keys.filter(({ key }) => !sectionsIn(here).some((one) => one.key === key));
  const whole = withAgents(here, block) + missing.map(({ text }) => `\n${text}`).join("");
  return writeAddition(folder, { file, here, whole, moved, env });
}

interface Writing {
  readonly file: string;
  readonly here: string;
  readonly whole: string;
  readonly moved: readonly { readonly to: string; readonly bytes: Buffer }[];
  readonly env: Environment;
}

/** Writes all of it, or restores everything. */
function writeAddition(folder: string, { file, here, whole, moved, env }: Writing): readonly string[] {
  const lock = join(folder, "strata.lock");
  const locked = readFileSync(lock);
  try {
    for (const { to, bytes } of moved) {
      mkdirSync(dirname(join(folder, to)), { recursive: true });
      writeFileSync(join(folder, to), bytes, { flag: "wx" });
    }
    writeFileSync(file, whole);
    projectLock({ folder, env }).write();
    projectLock({ folder, env }).check();
  } catch (thrown) {
    for (const { to } of moved) rmSync(join(folder, to), { force: true });
    writeFileSync(file, here);
    writeFileSync(lock, locked);
    throw nothingAdded(folder, `together they could not start: ${asStrataError(thrown).message}`, thrown);
  }
  return ["strata.yaml", "strata.lock", ...moved.map(({ to }) => to)];
}

function nothingAdded(folder: string, why: string, cause?: unknown): StrataError {
  return new StrataError("invalid_input", `nothing was added to ${folder}: ${why}`, { folder }, cause);
}

const findAddedText = (files: readonly AddedFile[], path: string): string =>
  files.find((one) => one.path === path)?.bytes.toString() ?? "";

interface Section {
  readonly key: string;
  readonly text: string;
}

/** The parts of a strata.yaml that begin at its left edge, each with its lines up to the next. */
function sectionsIn(yaml: string): readonly Section[] {
  return [...yaml.matchAll(/^([A-Za-z_]\w*):.*\n?(?:(?![A-Za-z_]\w*:).*(?:\n|$))*/gm)].map(([text, key = ""]) => ({
    key,
    text: `${text.trimEnd()}\n`,
  }));
}

/** The text below `agents:`, indented by two. */
const agentsIn = (yaml: string): string =>
  (sectionsIn(yaml).find(({ key }) => key === "agents")?.text ?? "").replace(/^agents:.*\n/, "");

/** The block behind the agents that are there, in their indentation. */
function withAgents(yaml: string, block: string): string {
  const section = sectionsIn(yaml).find(({ key }) => key === "agents");
  if (section === undefined) return `${yaml.trimEnd()}\n\nagents:\n${block}`;
  const [, indent = "  "] = /^( +)["']?[\w.-]+["']?:/m.exec(section.text) ?? [];
  const fitted = block.replace(/^ {2}/gm, indent);
  return yaml.replace(section.text.trimEnd(), () => `${section.text.trimEnd()}\n\n${fitted.trimEnd()}`);
}

/** Replaces the path wherever it is named in full. */
const withPath = (yaml: string, path: string, to: string): string =>
  yaml.replaceAll(
    new RegExp(`(?<![\\w./-])${path.replaceAll(/[.*+?^$()|[\]{}\\]/g, "\\$&")}(?![\\w/-])`, "g"),
    () => to,
  );
