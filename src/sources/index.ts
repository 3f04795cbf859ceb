/**
 * What a live layer says this turn: one file per kind of source, asked side by side under a deadline. A source that fails
 * or is late is empty, never fatal, unless its layer is required. It reads what it is given and stores nothing; what others
 * wrote leaves here as untrusted items, which only the compiler frames.
 */
export { type GatherContext, type Gathered, gather } from "./gather.ts";
