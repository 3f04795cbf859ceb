import { errorKind } from "../../protocol/index.ts";

/** A handler threw, exceeded a limit, or returned an invalid answer. Its record says which, with the author's lines. */
export const HANDLER_FAILED = errorKind("handler_failed", {
  status: 502,
  exit: 11,
  retry: false,
  message: "the agent's handler failed",
});

/** Something that the cage needs is missing. */
export const CAGE_MISSING = errorKind("cage_missing", {
  status: 503,
  exit: 3,
  retry: false,
  message: "this system cannot run the agent's handler",
});
