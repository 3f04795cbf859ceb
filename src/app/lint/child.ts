/** The entry of lint's other process: with a compile cache, because it starts several times in each run. */
import { enableCompileCache } from "node:module";

enableCompileCache();
await import("./other-process.ts");
