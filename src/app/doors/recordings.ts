/** Recorded conversations: read from a file, and fed through an app. */
export { readRecording, replay } from "../../runtime/index.ts";
