/** Where the other process of lint starts: with compiled code that is kept, for it starts several times in each run. */
import { enableCompileCache } from "node:module";

enableCompileCache();
await import("./other-process.ts");
