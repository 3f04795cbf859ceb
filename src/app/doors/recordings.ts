/** Recorded conversations: read from a file, and fed through an app. */
export { readRecording, replay } from "../../turn/index.ts";
