import type { Command } from "commander";
import type { ProjectLock } from "../../../app/entry/projects.ts";
import { count } from "../../../print/index.ts";
import { StrataError } from "../../../protocol/index.ts";
import type { Context } from "../shell/context.ts";
import { readShared } from "../shell/options.ts";
import { textWarning } from "../shell/teller.ts";

interface LockOptions {
  readonly check?: true;
  readonly lines?: true;
}

/** `strata lock`: writes the lock of the immutable layers, or checks it. */
export function declareLock(program: Command, context: Context): void {
  program
    .command("lock")
    .description("lock the immutable layers as they are now, so that Strata does not start with a changed one")
    .option("--check", "only check that they have not changed")
    .option("--lines", "confirm that the one-line summaries of changed layers were reviewed and still fit")
    .addHelpText("after", "\nExample:\n  $ strata lock --folder my-agents")
    .action(async (options: LockOptions, command: Command) => {
      const { folder, json } = readShared(command, context.terminal);
      const lock = await lockIn(folder, context);
      await lock.checkAccounts();
      if (options.check === true) lock.check();
      const was = options.check === true ? "current" : renew(context, lock, options);
      const warnings = await lock.warnings();
      if (json) return context.json({ file: lock.file, was, layers: Object.fromEntries(lock.layers), warnings });
      context.say(...reportLock(lock, was));
      context.note(...warnings.map((one) => context.style.yellow(textWarning(one))));
    });
}

async function lockIn(folder: string, { terminal: { env } }: Context): Promise<ProjectLock> {
  const { projectLock } = await import("../../../app/entry/projects.ts");
  try {
    return projectLock({ folder, env });
  } catch (thrown) {
    if (!(thrown instanceof StrataError && thrown.code === "config_missing")) throw thrown;
    const message = `there is no strata.yaml in ${folder}, so there is nothing to lock: name the folder with --folder (the shipped blueprints come with their lock)`;
    throw new StrataError("config_missing", message, { folder }, thrown);
  }
}

type Was = "current" | "missing" | "different";

/** Writes the lock unless it is already up to date, and shows what it accepts. */
function renew({ note }: Context, lock: ProjectLock, options: LockOptions): Was {
  const writing = { lines: options.lines === true };
  const different = differenceOf(lock);
  if (different === undefined) {
    // A lock of before lines were kept in it holds, and is completed.
    if (lock.isCurrent()) return "current";
    lock.write(writing);
    return "different";
  }
  if (different.code === "lock_mismatch") note("This is what changes:", ...different.message.split("\n").slice(0, -1));
  lock.write(writing);
  return different.code === "lock_missing" ? "missing" : "different";
}

function differenceOf(lock: ProjectLock): StrataError | undefined {
  try {
    lock.check();
    return undefined;
  } catch (thrown) {
    if (thrown instanceof StrataError && (thrown.code === "lock_missing" || thrown.code === "lock_mismatch"))
      return thrown;
    throw thrown;
  }
}

function reportLock({ file, layers, handlers }: ProjectLock, was: Was): readonly string[] {
  const agents = [...layers].map(([name, locked]) => {
    const code = handlers.has(name) ? ["its handler"] : [];
    const texts = locked === 0 && code.length > 0 ? [] : [count(locked, "immutable layer")];
    return `${name}: ${[...texts, ...code].join(", ")}`;
  });
  return [was === "current" ? `${file} is up to date.` : `${file} is written.`, ...agents];
}
