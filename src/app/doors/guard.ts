/** The guard of layers' texts, for commands that open nothing. */
export { type GuardFinding, type GuardVerdict, layerJudge } from "../../guard/index.ts";
