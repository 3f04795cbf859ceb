/** A thread's conversation, as lines of a recording. */
export { recordingOf } from "../../features/threads/index.ts";
/** The token counters for the requests of a record. */
export { tokenCounter } from "../../models/index.ts";
/** Recorded conversations: read from a file, and fed through an app. */
export { readRecording, replay } from "../../turn/index.ts";
