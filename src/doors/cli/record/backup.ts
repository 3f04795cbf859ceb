import { resolve } from "node:path";
import type { Command } from "commander";
import { recordFile } from "../../../app.ts";
import { number } from "../../../print/index.ts";
import type { Context } from "../shell/context.ts";
import { showProgress } from "../shell/progress.ts";
import { inRecord } from "../shell/session.ts";

/** `strata backup`: one file that holds everything, as it stood at one moment. */
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
