/** What is to be known of declared texts, for commands that say it. */
export { type TextWarning, warningsOf } from "../declared-texts.ts";
