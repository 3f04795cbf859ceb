import type { Command } from "commander";
import type { App } from "../../../app.ts";
import type { Context } from "../shell/context.ts";
import { type OfAgent, ofAgent, onRecordOfAgent } from "../shell/on-agent.ts";
import { wholeNumber } from "../shell/options.ts";
import { minute, printable, type Style } from "../shell/style.ts";
import { table } from "../shell/table.ts";

type Act = Awaited<ReturnType<App["runtime"]["acts"]>>[number];

/** `strata agent acts`: who looked at what others said to an agent, and changed something by hand. */
export function declareActs(parent: Command, context: Context): void {
  ofAgent(parent.command("acts"))
    .description(
      "list what operators looked at and did with an agent, the newest first; edits stand in its layers' history",
    )
    .option("--limit <n>", "at most so many", wholeNumber(1, 1_000), 20)
    .addHelpText("after", "\nExample:\n  $ strata agent acts companion")
    .action((named: string | undefined, options: Listing, command: Command) =>
      onRecordOfAgent(context, { command, named, options }, async ({ app, agent }) => {
        const acts = await app.runtime.acts(app.operator, agent.name, options.limit);
        const nobody = `Nobody has looked into ${agent.name} yet.`;
        return { json: acts, lines: acts.length === 0 ? [nobody] : actLines(acts, context.style) };
      }),
    );
}

interface Listing extends OfAgent {
  readonly limit: number;
}

const COLUMNS = [{ head: "when (UTC)" }, { head: "who" }, { head: "did" }, { head: "about" }] as const;

function actLines(acts: readonly Act[], style: Style): readonly string[] {
  const rows = acts.map(({ at, role, what, about }) => [minute(at), role, what, printable(about)]);
  return table(COLUMNS, rows, style);
}
