/** The guard of layers' texts, for commands that open nothing. */
export { type GuardFinding, type GuardVerdict, judgeLayerText } from "../../guard/index.ts";
