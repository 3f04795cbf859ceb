import { Worker } from "node:worker_threads";
import BetterSqlite3 from "better-sqlite3";

const PROGRAM = new URL(
  import.meta.url.endsWith(".ts") ? "./checkpoint-worker.ts" : "./checkpoint-worker.js",
  import.meta.url,
);

/** The thread's report on a log that it moved. */
export interface Moved {
  readonly failed?: { readonly message: string; readonly code: string };
}

/** Moves the write-ahead log of a file into it, up to what others still read, while the program continues. */
export interface Checkpoints {
  /** @throws what the disk did */
  readonly move: () => Promise<void>;
  /** Closes the connection. */
  readonly end: () => Promise<void>;
}

/** The thread starts with the first long log: most commands write little. If it cannot start, `otherwise` does the work here. */
export function checkpointsOf(file: string, otherwise: () => void): Checkpoints {
  let thread: Promise<Thread | undefined> | undefined;
  return {
    move: async () => {
      thread ??= openThread(file).catch(() => undefined);
      const moved = await (await thread)?.ask("move");
      if (moved === undefined) {
        thread = undefined;
        return otherwise();
      }
      if (moved.failed !== undefined) throw new BetterSqlite3.SqliteError(moved.failed.message, moved.failed.code);
    },
    end: async () => void (await (await thread)?.ask("end")),
  };
}

interface Thread {
  /** Undefined once the thread has ended. */
  readonly ask: (what: "move" | "end") => Promise<Moved | undefined>;
}

/** Keeps no program alive while it has nothing to do. */
async function openThread(file: string): Promise<Thread | undefined> {
  const worker = new Worker(PROGRAM, { workerData: file, env: {}, argv: [], execArgv: [] });
  const { promise: gone, resolve: ended } = Promise.withResolvers<undefined>();
  worker.on("exit", () => ended(undefined));
  // Whoever waits sees that it is gone.
  worker.on("error", () => ended(undefined));
  const answer = async (): Promise<Moved | undefined> => {
    const said = new Promise<Moved>((resolve) => worker.once("message", resolve));
    worker.ref();
    const found = await Promise.race([said, gone]);
    worker.unref();
    return found;
  };
  if ((await answer()) === undefined) return undefined;
  return {
    ask: (what) => {
      const answered = answer();
      worker.postMessage(what);
      return answered;
    },
  };
}
