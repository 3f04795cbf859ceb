import { closeSync, existsSync, fsyncSync, openSync, realpathSync, writeFileSync } from "node:fs";
import { dirname, resolve } from "node:path";
import type { App, TurnRecord } from "../../../app.ts";
import { StrataError } from "../../../protocol/index.ts";
import { fileError } from "../shell/files.ts";

/** A file of provider requests in the making, one JSON line each. */
export interface Dump {
  /** Adds the turn's requests, in their order. */
  readonly add: (turn: TurnRecord) => Promise<void>;
  /** Makes sure that it is on the disk. */
  readonly end: () => void;
}

/**
 * Begins a dump, over what the file held before.
 * @param inputs files that are read: none of them may be overwritten
 * @throws StrataError `invalid_input`, `file_not_found`
 */
export function beginDump(
  app: App,
  name: string,
  { cwd, inputs }: { readonly cwd: string; readonly inputs: readonly string[] },
): Dump {
  const path = resolve(cwd, name);
  if (inputs.some((input) => real(input) === real(path))) {
    throw new StrataError("invalid_input", `--dump would overwrite ${name}, the input file; name another file`, {
      file: name,
    });
  }
  checkFolder(name, path);
  const file = attempt(name, () => openSync(path, "w"));
  return {
    add: async (turn) => {
      for (const { n, at } of turn.requests) {
        const { request, wire } = await app.runtime.rebuilt(app.operator, turn.id, n);
        const body = await app.bodyOf(request, wire);
        const line = {
          thread: turn.thread,
          turn: turn.id,
          request: n,
          at: new Date(at).toISOString(),
          provider: providerOf(turn),
          body,
        };
        attempt(name, () => writeFileSync(file, `${JSON.stringify(line)}\n`));
      }
    },
    end: () => {
      attempt(name, () => fsyncSync(file));
      closeSync(file);
    },
  };
}

/** Whose shape the body has: the part of `provider:name` before the colon. */
const providerOf = ({ wire }: TurnRecord): string => (wire ?? "").split(":")[0] ?? "";

/** @throws StrataError `file_not_found` with the folder that is to be made */
function checkFolder(name: string, path: string): void {
  const folder = dirname(path);
  if (existsSync(folder)) return;
  const message = `${name} cannot be written: there is no folder ${folder}; create it, or name another file`;
  throw new StrataError("file_not_found", message, { file: name, folder });
}

function real(path: string): string {
  try {
    return realpathSync(path);
  } catch {
    return path;
  }
}

function attempt<T>(name: string, write: () => T): T {
  try {
    return write();
  } catch (cause) {
    throw fileError(name, cause, "written");
  }
}
