// A thread of the pool: one slice at a time.
import { parentPort } from "node:worker_threads";
import { slice } from "./slice.ts";
import type { Task } from "./task.ts";

parentPort?.on("message", async (task: Task) => parentPort?.postMessage(await slice(task)));
parentPort?.postMessage("ready");
