/** What of a long memory fits a search, for commands that show it. */
export { passageOf } from "../../memory/index.ts";
