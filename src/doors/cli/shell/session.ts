import { existsSync } from "node:fs";
import { dirname, join, relative } from "node:path";
import type { Command } from "commander";
import { type App, type AppOptions, openApp, recordFile, storeAt } from "../../../app.ts";
import { type Agent, agentName, StrataError } from "../../../protocol/index.ts";
import type { Context } from "./context.ts";
import { readShared, type Shared, unreadEnvFile } from "./options.ts";

/** A command at work: its shared options and the opened app. */
export interface Session extends Shared {
  readonly app: App;
}

/** What only some commands want of the app. */
export interface Wishes extends Pick<AppOptions, "recordedTools" | "wire" | "recordOnly"> {
  /** The command itself says which strata.yaml and data it uses. */
  readonly namesConfig?: true;
}

/** Opens the app for as long as the work takes, and says before whose agents these are. */
export async function inSession(
  context: Context,
  command: Command,
  work: (session: Session) => Promise<void>,
  { namesConfig, ...wishes }: Wishes = {},
): Promise<void> {
  const shared = readShared(command, context.terminal);
  if (namesConfig !== true || isStandIn(shared)) tellPlace(context, shared);
  const unread = unreadEnvFile(shared, context.terminal);
  if (unread !== undefined && !context.inJson && wishes.recordOnly !== true) context.note(context.style.yellow(unread));
  await openSession(context, shared, { work, wishes });
}

const CONFIG = "strata.yaml";

/**
 * Says which strata.yaml and data a command uses, to a person at a terminal; that there is none here is also logged: in the wrong folder,
 * the user would meet an agent of the same name that knows nothing.
 */
export function tellPlace({ note, inJson, terminal }: Context, { folder, data, named }: Shared): void {
  if (inJson) return;
  if (isStandIn({ folder, named })) note(`There is no ${CONFIG} in ${folder}: ${standIns(data)}. ${wayOut(folder)}`);
  else if (terminal.stderr.isTTY === true && existsSync(join(folder, CONFIG)))
    note(`${join(folder, CONFIG)}, data in ${data}`);
}

/** Whether shipped agents are used because none are declared. */
export const isStandIn = ({ folder, named }: Pick<Shared, "folder" | "named">): boolean =>
  !named && !existsSync(join(folder, CONFIG));

const standIns = (data: string): string =>
  existsSync(recordFile(data))
    ? `the shipped agents are used, with the data in ${data}`
    : `the shipped agents are used, and ${data} has no data yet`;

/** Where the intended folder may be. */
function wayOut(folder: string): string {
  for (let above = dirname(folder); above !== dirname(above); above = dirname(above))
    if (existsSync(join(above, CONFIG)))
      return `${above} above it has one: run this there, or add --folder ${relative(folder, above)}`;
  return "--folder DIR names another folder; `strata init companion` creates an agent of your own here.";
}

async function openSession(
  { terminal, hideWith, note, style }: Context,
  shared: Shared,
  { work, wishes }: { readonly work: (session: Session) => Promise<void>; readonly wishes: Wishes },
): Promise<void> {
  const { folder, data, named } = shared;
  const app = await openApp({ folder, data, mustDeclare: named, env: terminal.env, ...wishes });
  hideWith(app.hide);
  try {
    // Of a record that cannot be written, a copy is read.
    const trouble = wishes.recordOnly === true ? await app.trouble() : undefined;
    if (trouble !== undefined) note(style.yellow(trouble));
    await work({ ...shared, app });
  } finally {
    await app.close();
  }
}

/**
 * The same for commands that only look at the record or mend it: if there is no data, nothing is created; modules are not loaded, and
 * missing requirements of a turn are not an error.
 * @throws StrataError `file_not_found`
 */
export async function inRecord(
  context: Context,
  command: Command,
  work: (session: Session) => Promise<void>,
): Promise<void> {
  await inData(context, command, { work, recordOnly: true });
}

/** The same for commands that continue from the record, with everything that a turn needs. @throws StrataError `file_not_found` */
export async function onRecord(
  context: Context,
  command: Command,
  work: (session: Session) => Promise<void>,
): Promise<void> {
  await inData(context, command, { work, recordOnly: false });
}

async function inData(
  context: Context,
  command: Command,
  { work, recordOnly }: { readonly work: (session: Session) => Promise<void>; readonly recordOnly: boolean },
): Promise<void> {
  const shared = readShared(command, context.terminal);
  const { data } = shared;
  const { folder, named: mustDeclare } = shared;
  if ((await storeAt({ folder, data, mustDeclare, env: context.terminal.env, recordOnly })) === undefined) {
    const next = "name the data folder with --data, or begin with `strata chat AGENT` (`strata agent list` names them)";
    throw new StrataError("file_not_found", `there is no data in ${data}; ${next}`, { data });
  }
  await openSession(context, shared, { work, wishes: { recordOnly } });
}

/** @throws StrataError `agent_not_found`, `invalid_id` */
export function agentNamed({ runtime, operator }: App, name: string): Agent {
  return runtime.agent(operator, agentName(name));
}

export { shortVersion } from "../../../print/index.ts";

/** The named agent, otherwise the first one. @throws StrataError `agent_not_found`, `invalid_id`, `config_missing` */
export function chosenAgent(app: App, name: string | undefined): Agent {
  // Also one that is no longer declared: an operation that needs more than the record says so.
  if (name !== undefined) return app.runtime.recordedAgent(app.operator, agentName(name));
  const first = app.runtime.agents(app.operator)[0];
  if (first !== undefined) return first;
  throw new StrataError("config_missing", "no agent is declared; `strata init` creates one");
}
