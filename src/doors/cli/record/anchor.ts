import type { Command } from "commander";
import type { Context } from "../shell/context.ts";
import { writeOutput } from "../shell/files.ts";
import { inRecord } from "../shell/session.ts";

interface Options {
  readonly out?: string;
}

/** `strata anchor`: the heads of the record's chains, to be kept elsewhere. */
export function declareAnchor(program: Command, context: Context): void {
  program
    .command("anchor")
    .description("print where the record stands now; kept elsewhere, it proves later that nothing was taken away")
    .option("--out <file>", "write it to a file instead")
    .addHelpText("after", "\nExample:\n  $ strata anchor --out anchor.json && strata verify --anchor anchor.json")
    .action((options: Options, command: Command) =>
      inRecord(context, command, async ({ app }) => {
        const heads = await Promise.all((await app.organizations()).map((org) => app.head(org)));
        if (options.out === undefined) return context.json(heads);
        await writeOutput(options.out, context.terminal.cwd, [`${JSON.stringify(heads)}\n`]);
        context.say(`${options.out} is written.`);
      }),
    );
}
