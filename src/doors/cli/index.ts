/**
 * The `strata` program: one file per command. It parses the command line and prints the app's results; it decides nothing, and has no
 * access to the database, models or prompts. `main.ts` connects the process to `run`; tests pass their own terminal.
 */
export { commandsPage } from "./commands-page.ts";
export { createProgram } from "./program.ts";
export { run } from "./run.ts";
export { createContext } from "./shell/context.ts";
export type { Input, Output, Terminal } from "./shell/terminal.ts";
