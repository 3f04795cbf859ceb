import { readFileSync } from "node:fs";
import { hostname } from "node:os";

/** A worker's name in a lease: this machine, the process and when it began, so that a reused process number is told apart. */
export function holderName(pid: number): string {
  return `${hostname()}/${pid}/${startOf(pid)}`;
}

/** Whether the holder may still live. Of another machine nothing is known: its lease runs out by itself. */
export function isHolderAlive(holder: string): boolean {
  const [host, pid, began] = holder.split("/");
  if (host !== hostname()) return true;
  try {
    process.kill(Number(pid), 0);
  } catch (thrown) {
    // EPERM: it lives and belongs to somebody else.
    return thrown instanceof Error && "code" in thrown && thrown.code === "EPERM";
  }
  return startOf(Number(pid)) === began;
}

/** When a process began, in the system's own ticks; empty where the system does not tell. */
function startOf(pid: number): string {
  try {
    return readFileSync(`/proc/${pid}/stat`, "utf8").split(") ").at(-1)?.split(" ")[19] ?? "";
  } catch {
    return "";
  }
}
