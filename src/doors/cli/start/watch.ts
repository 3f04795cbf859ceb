import { type FSWatcher, readdirSync, watch } from "node:fs";
import { join, relative } from "node:path";
import { answererSays } from "../../../features/agents/index.ts";
import { type Agent, asStrataError, type StrataError } from "../../../protocol/index.ts";
import type { Context } from "../shell/context.ts";
import { type Session, shortVersion } from "../shell/session.ts";

/** Milliseconds of quiet before the project is read again: an editor writes in several steps. */
const QUIET = 150;
/** More folders than this are not a project of agents, and would use up the system's watches. */
const MOST_FOLDERS = 500;

/** Reads the project again when its files change, for the threads that begin from then on. Gives the function that stops it. */
export function reloadOnChange(context: Context, session: Session): () => void {
  let said = "";
  const reload = async (): Promise<void> => {
    const before = declared(session);
    try {
      const { modules } = await session.app.reload();
      const changes = [...changesOf(before, declared(session)), ...readAnew(modules, session)];
      if (changes.length > 0 || said !== "") tell(context, session, changes);
      said = "";
    } catch (thrown) {
      const error = asStrataError(thrown);
      if (error.message === said) return;
      said = error.message;
      context.complain(error);
      context.note(`The agents have not changed; ${isLock(error) ? LOCKED : "fix the file and save it again"}.`);
    }
  };
  return onChange(session, reload);
}

const LOCKED = "run `strata lock`, then restart: locked texts are read only at a start";

const isLock = ({ code }: StrataError): boolean => code === "lock_mismatch" || code === "lock_missing";

/**
 * Folders are watched and not files, so that saving by renaming a new file over the old one is noticed too. The data folder, and what tools
 * keep beside a project, are ignored.
 */
function onChange({ folder, data }: Session, changed: () => Promise<void>): () => void {
  const watchers = new Map<string, FSWatcher>();
  let timer: NodeJS.Timeout | undefined;
  let done = Promise.resolve();
  const look = (): void => {
    for (const path of foldersIn(folder, data)) {
      if (watchers.has(path)) continue;
      const watcher = watch(path, later);
      watcher.on("error", () => {
        watcher.close();
        watchers.delete(path);
      });
      watchers.set(path, watcher);
    }
  };
  const later = (): void => {
    clearTimeout(timer);
    timer = setTimeout(() => {
      look();
      done = done.then(changed);
    }, QUIET);
  };
  look();
  return () => {
    clearTimeout(timer);
    for (const watcher of watchers.values()) watcher.close();
  };
}

function foldersIn(folder: string, data: string): readonly string[] {
  const found = [folder];
  for (let i = 0; i < found.length && found.length < MOST_FOLDERS; i++) {
    const parent = found[i] ?? folder;
    for (const entry of listFolder(parent)) {
      const path = join(parent, entry.name);
      const left = entry.name.startsWith(".") || entry.name === "node_modules" || path === data;
      if (entry.isDirectory() && !left) found.push(path);
    }
  }
  return found.slice(0, MOST_FOLDERS);
}

/** A folder may be gone since it was listed. */
function listFolder(folder: string) {
  try {
    return readdirSync(folder, { withFileTypes: true });
  } catch {
    return [];
  }
}

/** An agent as declared, and the model that answers for it. */
interface DeclaredAgent {
  readonly agent: Agent;
  readonly model: string;
}

type DeclaredFiles = ReadonlyMap<string, DeclaredAgent>;

const declared = ({ app }: Session): DeclaredFiles =>
  new Map(
    app.runtime.agents(app.operator).map((agent) => [agent.name, { agent, model: app.modelNameOf(agent) }] as const),
  );

function changesOf(before: DeclaredFiles, after: DeclaredFiles): readonly string[] {
  const gone = [...before.keys()].filter((name) => !after.has(name)).map((name) => `${name} is no longer declared`);
  return [...gone, ...[...after].flatMap(([name, now]) => changesOfAgent(before.get(name), now, name))];
}

/** What running threads never keep of their version: it is always read from the declaration. */
const AT_ONCE = ["embedder", "schedules", "deliver", "life"] as const;

/** What changed of one agent: what holds at once, and what waits for a new thread. */
function changesOfAgent(
  before: DeclaredAgent | undefined,
  { agent, model }: DeclaredAgent,
  name: string,
): readonly string[] {
  const version = `version ${shortVersion(agent.version)}`;
  if (before === undefined)
    return [`${name} is declared now, ${version}, answered by ${answererSays(model, agent.handler?.file)}`];
  const old = before.agent;
  const changed = AT_ONCE.filter((key) => JSON.stringify(old[key]) !== JSON.stringify(agent[key]));
  const waits =
    agent.history === "log"
      ? "used by every thread from its next turn on"
      : `used by threads that begin from now on; running ones keep version ${shortVersion(old.version)} until \`strata thread migrate THREAD\``;
  return [
    ...(before.model === model ? [] : [`${name} is now answered by ${model}, in running threads, too`]),
    ...changed.map((key) => `${key} of ${name} changed, at once`),
    ...(pinned(old) === pinned(agent) ? [] : [`${name} is now ${version}, ${waits}`]),
  ];
}

/** All of an agent that a thread is pinned to. */
function pinned({ version: _, model: __, ...rest }: Agent): string {
  return JSON.stringify({ ...rest, ...Object.fromEntries(AT_ONCE.map((key) => [key, undefined])) });
}

/** A tool's or source's code is not part of any version: running threads use the new one, too. */
const readAnew = (modules: readonly string[], { folder }: Session): readonly string[] =>
  modules.map((file) => `the module ${relative(folder, file)} was reloaded, also for running threads`);

function tell({ json, note }: Context, session: Session, changes: readonly string[]): void {
  if (session.json) json({ reloaded: changes });
  else note(`Read again: ${(changes.length === 0 ? ["nothing is different"] : changes).join("; ")}.`);
}
