/**
 * Background work: waiting messages, agents' own turns, deliveries, summaries in idle time. Features declare such jobs, and one
 * dispatcher runs them. The dispatcher is an interface: `inProcess` implements it in this process, and a job engine on a shared
 * database could do so, too. The caller passes the clock and everything that a job needs.
 */
export { type Dispatcher, type DispatcherParts, inProcess, type Timers } from "./dispatcher.ts";
export type { Due, Job, JobWorld, Notice, Task } from "./job.ts";
