import type { Mark, Request } from "../protocol/index.ts";

/**
 * Where a provider may keep the request's beginning: after the last system block, which all threads of the agent share, and
 * after the newest message, so that the thread's next request reads all of this one. Never after the tail. Pure.
 */
export function planMarks({ prefix, messages }: Pick<Request, "prefix" | "messages">): readonly Mark[] {
  const marks: Mark[] = [];
  if (prefix.system.length > 0)
    marks.push({ after: { zone: "system", block: prefix.system.length - 1 }, lifetime: "5m" });
  if (messages.length > 0) marks.push({ after: { zone: "message", index: messages.length - 1 }, lifetime: "5m" });
  return marks;
}
