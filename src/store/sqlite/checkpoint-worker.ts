// A thread with its own connection, which moves a file's write-ahead log into it on request. SQLite syncs the log before and the file
// afterwards.
import { parentPort, workerData } from "node:worker_threads";
import BetterSqlite3 from "better-sqlite3";
import type { Moved } from "./checkpoint.ts";

const db = new BetterSqlite3(String(workerData), { fileMustExist: true, timeout: 0 });
db.pragma("synchronous = NORMAL");
db.pragma("wal_autocheckpoint = 0");
// Opens the log, too: a sync that fails from now on is reported here as well.
db.pragma("schema_version");

parentPort?.on("message", (what: "move" | "end") => {
  if (what === "end") {
    db.close();
    parentPort?.close();
    return;
  }
  parentPort?.postMessage(moved());
});
parentPort?.postMessage({} satisfies Moved);

function moved(): Moved {
  try {
    db.pragma("wal_checkpoint(PASSIVE)");
    return {};
  } catch (thrown) {
    if (!(thrown instanceof BetterSqlite3.SqliteError)) throw thrown;
    return { failed: { message: thrown.message, code: thrown.code } };
  }
}
