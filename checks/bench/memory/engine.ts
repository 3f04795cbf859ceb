import type { Question, Remembered } from "../conversations.ts";

/** Something that finds memories by a question. */
export interface MemoryEngine {
  readonly name: string;
  /** Takes in the memories of each scope, all at once. Where it knows no scopes it gets one. May say how many are in. */
  open(scopes: ReadonlyMap<string, readonly Remembered[]>, progress: (done: number) => void): Promise<OpenEngine>;
}

/** An engine with its memories. */
export interface OpenEngine {
  /** Ids, best first. An engine that can use it reads who asks. */
  find(scope: string, question: Pick<Question, "text" | "asker" | "at">, limit: number): Promise<readonly string[]>;
  /** Bytes on disk; none for one that keeps everything in memory. */
  readonly bytes?: number;
  close(): Promise<void>;
}
