import { type StoreWrite, type ToolOutcome, untrusted } from "../protocol/index.ts";

/** What came of a call that worked. */
export function answered(text: string, writes: readonly StoreWrite[] = []): ToolOutcome {
  return { text: untrusted(text), failed: false, ...(writes.length > 0 ? { writes } : {}) };
}

/** What came of a call that did not: a sentence with the reason and, where there is one, the next step. */
export function refused(sentence: string): ToolOutcome {
  return { text: untrusted(sentence), failed: true };
}
