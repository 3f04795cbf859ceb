// The same in a process of its own: one line of JSON in, one out. Whoever starts it decides what it may see.
import { createInterface } from "node:readline";
import { slice } from "./slice.ts";

process.stdout.write("ready\n");
for await (const line of createInterface({ input: process.stdin }))
  process.stdout.write(`${JSON.stringify(await slice(JSON.parse(line)))}\n`);
