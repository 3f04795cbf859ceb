import type { Command } from "commander";
import type { App } from "../app.ts";
import type { Context } from "./context.ts";
import { wholeNumber } from "./options.ts";
import { agentNamed, inRecord } from "./session.ts";
import { minute, printable, type Style } from "./style.ts";
import { table } from "./table.ts";

type Act = Awaited<ReturnType<App["runtime"]["acts"]>>[number];

/** `strata agent acts`: who looked at what others said to an agent, and changed something by hand. */
export function declareActs(parent: Command, context: Context): void {
  parent
    .command("acts")
    .description(
      "list what operators looked at and did with an agent, the newest first; edits stand in its layers' history",
    )
    .argument("<name>", "the agent's name")
    .option("--limit <n>", "at most so many", wholeNumber(1, 1_000), 20)
    .addHelpText("after", "\nExample:\n  $ strata agent acts companion")
    .action((name: string, { limit }: { readonly limit: number }, command: Command) =>
      inRecord(context, command, async ({ app, json }) => {
        const agent = agentNamed(app, name);
        const acts = await app.runtime.acts(app.operator, agent.name, limit);
        if (json) context.json(acts);
        else if (acts.length === 0) context.say(`Nobody has looked into ${agent.name} yet.`);
        else context.say(...lines(acts, context.style));
      }),
    );
}

const COLUMNS = [{ head: "when (UTC)" }, { head: "who" }, { head: "did" }, { head: "about" }] as const;

function lines(acts: readonly Act[], style: Style): readonly string[] {
  const [head = "", ...rows] = table(
    COLUMNS,
    acts.map(({ at, role, what, about }) => [minute(at), role, what, printable(about)]),
  );
  return [style.dim(head), ...rows];
}
