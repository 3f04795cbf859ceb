import { readFileSync } from "node:fs";
import { hostname } from "node:os";

/** A worker's name in a lease: machine, process id and start time, so that a reused process id is recognised. */
export function holderName(pid: number): string {
  return `${hostname()}/${pid}/${startOf(pid)}`;
}

/** Whether the holder may still be running. For another machine this is unknown: its lease expires by itself. */
export function isHolderAlive(holder: string): boolean {
  const [host, pid, began] = holder.split("/");
  if (host !== hostname()) return true;
  try {
    process.kill(Number(pid), 0);
  } catch (thrown) {
    // EPERM: it runs and belongs to another user.
    return thrown instanceof Error && "code" in thrown && thrown.code === "EPERM";
  }
  return startOf(Number(pid)) === began;
}

/** The start time of a process, in ticks of the system; empty if unknown. */
function startOf(pid: number): string {
  try {
    return readFileSync(`/proc/${pid}/stat`, "utf8").split(") ").at(-1)?.split(" ")[19] ?? "";
  } catch {
    return "";
  }
}
