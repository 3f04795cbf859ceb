/**
 * Strata, joined: what the command line and programs open. Loading this loads next to nothing: `openApp`, `serve` and `lint` load
 * what they need when they are called, and who needs a pure part alone takes it from `app/entry/`.
 */
import type { LintOptions, LintReport } from "./app/lint.ts";
import type { App } from "./app/open.ts";
import { type AppOptions, placed } from "./app/options.ts";
import type { ServingOptions } from "./app/serve.ts";
import type { WorkOptions } from "./app/work.ts";
import type { Serving } from "./doors/http/index.ts";
import type { Dispatcher } from "./work/index.ts";

export type { Answer, Question } from "./app/ask.ts";
export { FEATURES } from "./app/entry/features.ts";
export type { LintOptions, LintReport, PlacedFinding } from "./app/lint.ts";
export type { App, Reloaded } from "./app/open.ts";
export { type AppOptions, recordFile } from "./app/options.ts";
export type { ServingOptions as ServeOptions } from "./app/serve.ts";
export { VERSION } from "./app/version.ts";
export type { WorkOptions } from "./app/work.ts";
export type { Listening, Serving } from "./doors/http/index.ts";
export type { EmbedProgress } from "./features/memories/api.ts";
export type {
  ChainHead,
  ColumnCover,
  Finding,
  RebuiltRequest,
  RequestRecord,
  Slot,
  Thread,
  TurnRecord,
  UsageTotal,
} from "./store/index.ts";
export type { Composed, Conversation, Exchange, ReplayedTurn, Runtime } from "./turn/index.ts";
export type { Dispatcher, Timers } from "./work/index.ts";

/**
 * Makes the parts and joins them.
 * @throws StrataError `config_invalid`, `lock_missing`, `lock_mismatch`, `module_failed`, `tool_not_found`, `store_busy`, `store_failed`, `invalid_input`
 */
export async function openApp(options: AppOptions = {}): Promise<App> {
  const opening = await import("./app/open.ts");
  return opening.openApp(options);
}

/** Where the store is that these options would open, with its password; nothing where there is none yet. */
export async function storeAt(options: AppOptions = {}): Promise<string | undefined> {
  const { storeAt: at } = await import("./app/projects.ts");
  return at(placed(options));
}

/**
 * Serves the runtime over HTTP to whoever has the operator's token, and does what is to be done without being asked: it answers what
 * waits, lets agents have their own turns, sends replies, and summarizes in idle time.
 * @throws StrataError `port_taken`, `invalid_input`, `file_not_found` for the token's file
 */
export async function serve(app: App, port: number, options: ServingOptions = {}): Promise<Serving> {
  const serving = await import("./app/serve.ts");
  return serving.serve(app, port, options);
}

/** Does without a server what `serve` does without being asked, until it is closed. */
export async function startWork(app: App, options: WorkOptions = {}): Promise<Dispatcher> {
  const working = await import("./app/work.ts");
  return working.startWork(app, options);
}

/**
 * Looks for what breaks a provider's cache, or makes it cost more than it must. Nothing is sent, nothing is stored.
 * @throws StrataError as `openApp`, but for `lock_missing`; `agent_not_found`, `budget_too_small`
 */
export async function lint(options: LintOptions): Promise<readonly LintReport[]> {
  const linting = await import("./app/lint.ts");
  return linting.lint(options);
}
