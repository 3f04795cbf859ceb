/**
 * What runs without being asked: waiting messages, agents' own turns, deliveries, summaries in idle time. Features declare such jobs; one
 * dispatcher does them. The dispatcher is a port: in this process it is `inProcess`, and a job engine over a shared database can
 * take its place. Time comes from outside, and so does what a job works with.
 */
export { type Dispatcher, type DispatcherParts, inProcess, type Timers } from "./dispatcher.ts";
export type { Due, Job, JobWorld, Notice, Task } from "./job.ts";
