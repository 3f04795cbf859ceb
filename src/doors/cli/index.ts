/**
 * The `strata` program: one file per command. It parses what is typed and prints what the app gives; it decides nothing,
 * and knows no database, no model and no prompt. `main.ts` wires the process to `run`; a test brings a terminal of its own.
 */
export { commandsPage } from "./commands-page.ts";
export { createProgram } from "./program.ts";
export { run } from "./run.ts";
export { createContext } from "./shell/context.ts";
export type { Input, Output, Terminal } from "./shell/terminal.ts";
