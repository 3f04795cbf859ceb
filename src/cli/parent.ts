/** Milliseconds between two looks. */
const EVERY = 1_000;

/**
 * Watches the process that started this one, by the id in `STRATA_PARENT`: when it is gone, nobody is left who would ever
 * end us. Keeps nothing alive itself; gives the way to stop watching.
 */
export function watchParent(parent: string | undefined, gone: () => void): () => void {
  const pid = Number(parent);
  if (!Number.isSafeInteger(pid) || pid <= 1) return () => {};
  const timer = setInterval(() => {
    if (lives(pid)) return;
    clearInterval(timer);
    gone();
  }, EVERY);
  timer.unref();
  return () => clearInterval(timer);
}

function lives(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return true;
  } catch (thrown) {
    // EPERM: it lives and belongs to somebody else.
    return thrown instanceof Error && "code" in thrown && thrown.code === "EPERM";
  }
}
