// The same in a separate process: one line of JSON in, one out. Its parent decides what it may see.
import { createInterface } from "node:readline";
import { slice } from "./slice.ts";

process.stdout.write("ready\n");
for await (const line of createInterface({ input: process.stdin }))
  process.stdout.write(`${JSON.stringify(await slice(JSON.parse(line)))}\n`);
