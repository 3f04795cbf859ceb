import { existsSync, statSync } from "node:fs";
import { resolve } from "node:path";
import type { Command } from "commander";
import { copyStores, resumeStore, storeName, variableAt } from "../../../app/entry/store.ts";
import { recordFile } from "../../../app.ts";
import { number } from "../../../print/index.ts";
import { StrataError } from "../../../protocol/index.ts";
import type { Context } from "../shell/context.ts";
import { readPlaces } from "../shell/options.ts";
import { showProgress } from "../shell/progress.ts";
import { inRecord } from "../shell/session.ts";

const EXAMPLE = "\nExample:\n  $ strata store copy .strata STRATA_STORE";

/** `strata store copy` and `strata store resume`: from one database to another, and back. */
export function declareStore(program: Command, context: Context): void {
  const store = program
    .command("store")
    .description("move everything from one database to another")
    .addHelpText("after", EXAMPLE);
  declareCopy(store, context);
  declareResume(store, context);
}

function declareCopy(store: Command, context: Context): void {
  store
    .command("copy")
    .description(
      "copy a store into an empty one, from SQLite to PostgreSQL or back; after an interruption, the same command continues",
    )
    .argument(
      "<from>",
      "a data folder, its strata.db, postgres://…, or the name of a variable that holds such an address",
    )
    .argument("<to>", "the target; it must be empty, contain the beginning of this copy, or be where FROM came from")
    .addHelpText(
      "after",
      `\nFirst stop every Strata that uses FROM. From then on the record goes on in TO,
and FROM no longer opens: the same command with the two swapped comes back, and
replaces what is there. Files of workspaces are not copied.\n${EXAMPLE}`,
    )
    .action(async (from: string, to: string, _: object, command: Command) => {
      const { folder } = readPlaces(command, context.terminal);
      const [source, target] = [thereAt(from, folder, context), addressOf(to, folder, context)];
      const progress = showProgress(context, "copying");
      const { total } = await copyStores(source, target, ({ done, total: all }) => {
        context.terminal.signal.throwIfAborted();
        progress.show(`${number(done)} of ${number(all)} rows`, all === 0 ? 1 : done / all);
      }).finally(() => progress.end());
      if (context.inJson) return context.json({ rows: total });
      context.say(
        `${storeName(target)} holds all ${number(total)} rows of ${storeName(source)}, and the record goes on there.`,
        "`strata verify` there shows that nothing was lost or changed. The source opens no longer; the same command with the two",
        "swapped comes back, and `strata store resume` takes the source up as it is now, apart from the copy.",
      );
    });
}

function declareResume(store: Command, context: Context): void {
  store
    .command("resume")
    .description(
      "open a store again that was copied elsewhere, as it stood then; what happens in either of the two is not in the other",
    )
    .argument("<store>", "as for `store copy`")
    .addHelpText("after", "\nExample:\n  $ strata store resume .strata")
    .action(async (given: string, _: object, command: Command) => {
      const { folder } = readPlaces(command, context.terminal);
      const address = thereAt(given, folder, context);
      const mark = await resumeStore(address);
      const name = storeName(address);
      if (mark === undefined) throw new StrataError("invalid_input", `${name} was copied nowhere: it opens as it is`);
      if (context.inJson) return context.json({ store: name, other: mark.other });
      context.say(
        `${name} opens again. What happens in it from now on is not in ${mark.other}, and the other way round.`,
      );
    });
}

/** The address of a store that must be there. */
function thereAt(given: string, folder: string, context: Context): string {
  const address = addressOf(given, folder, context);
  if (isThere(address)) return address;
  throw new StrataError("file_not_found", `there is no database ${address}; name the data folder`, { file: address });
}

/** A variable keeps a password out of the command line, which others on the machine can see. */
function addressOf(given: string, folder: string, { terminal: { cwd, env } }: Context): string {
  const address = /^[A-Z][A-Z0-9_]*$/.test(given) ? variableAt(folder, env, given) : given;
  if (/^postgres(?:ql)?:/.test(address)) return address;
  const path = resolve(cwd, address);
  const isFile = statSync(path, { throwIfNoEntry: false })?.isFile() ?? /\.db$/.test(path);
  return isFile ? path : recordFile(path);
}

const isThere = (address: string): boolean => /^postgres(?:ql)?:/.test(address) || existsSync(address);

/** `strata backup`: one file that holds everything, as of one moment. */
export function declareBackup(program: Command, context: Context): void {
  program
    .command("backup")
    .description("copy the whole record into a new file, even while Strata runs; files of workspaces are not included")
    .argument("<file>", "the new file; it must not exist yet")
    .addHelpText("after", "\nExample:\n  $ strata backup ../strata-monday.db")
    .action((name: string, _options: unknown, command: Command) => {
      const file = resolve(context.terminal.cwd, name);
      return inRecord(context, command, async ({ app, data, json }) => {
        const progress = showProgress(context, "copying");
        let pages = 0;
        try {
          await app.backup(file, ({ done, total }) => {
            context.terminal.signal.throwIfAborted();
            pages = total;
            progress.show(`${number(done)} of ${number(total)} pages`, total === 0 ? 1 : done / total);
          });
        } finally {
          progress.end();
        }
        if (json) return context.json({ file, pages });
        context.say(
          `${file} contains all of ${recordFile(data)}, and only its owner may read it.`,
          "To restore it: stop every Strata on the data folder, put the file in place as strata.db there,",
          "delete strata.db-wal and strata.db-shm beside it, and run `strata verify`.",
        );
      });
    });
}
