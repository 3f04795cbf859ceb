import type { Command } from "commander";
import type { App } from "../../app.ts";
import { agentName } from "../../protocol/index.ts";
import type { Context } from "../shell/context.ts";
import { nameGiven, type OfAgent, ofAgent, onAgent } from "../shell/on-agent.ts";
import { wholeNumber } from "../shell/options.ts";
import { inSession } from "../shell/session.ts";
import { setIn } from "../shell/set-in.ts";
import { count, type Style } from "../shell/style.ts";
import { type Chosen, choosing, keyOf, LAYER, nameOf, why } from "../shell/text-options.ts";
import { versionLines } from "../shell/text-view.ts";

type Proposal = Awaited<ReturnType<App["runtime"]["proposals"]>>[number];

export function declareProposals(parent: Command, context: Context): void {
  ofAgent(parent.command("proposals"), "all agents")
    .description("list the edits that wait for an operator, the oldest first, with what the guard said of them")
    .option("--limit <n>", "at most so many", wholeNumber(1, 1_000), 20)
    .addHelpText("after", "\nExample:\n  $ strata layer proposals")
    .action((named: string | undefined, { limit, ...options }: OfAgent & Limited, command: Command) => {
      const name = nameGiven(named, options);
      const agent = name === undefined ? undefined : agentName(name);
      return inSession(
        context,
        command,
        async ({ app, json }) => {
          const found = await app.runtime.proposals(app.operator, agent, limit);
          if (json) return context.json(found);
          if (found.length === 0) return context.say("No proposal waits.");
          context.say(
            ...found.flatMap((one) => lines(one, context.style)),
            context.style.dim(`${count(found.length, "proposal")}${found.length < limit ? "" : ", and perhaps more"}`),
          );
        },
        { recordOnly: true },
      );
    });
}

interface Limited {
  readonly limit: number;
}

function lines(proposal: Proposal, style: Style): readonly string[] {
  const { agent, layer, part, n, text } = proposal;
  const skill = part === undefined ? "" : ` --skill ${part}`;
  const [head = "", ...more] = versionLines(proposal, style);
  return [
    `${style.cyan(`${agent}, ${nameOf(proposal)}`)}, ${head}`,
    ...more,
    ...setIn(text, `  ${style.dim("│")} `, style),
    `  \`strata layer approve ${layer} ${n} ${agent}${skill}\` makes it active,`,
    `  \`strata layer reject ${layer} ${n} ${agent}${skill}\` says no to it.`,
    "",
  ];
}

const VERBS = {
  approve: {
    verdict: "approved",
    says: "make a proposal active from the next turn on; its size and the guard are looked at once more",
    next: "is active: the next turn uses it",
  },
  reject: {
    verdict: "rejected",
    says: "say no to a proposal: it never becomes active",
    next: "was rejected; it stays in the record",
  },
} as const;

interface Deciding extends Chosen {
  readonly over?: number;
}

export function declareDecide(parent: Command, context: Context, verb: keyof typeof VERBS): void {
  const { verdict, says, next } = VERBS[verb];
  const command = parent
    .command(verb)
    .argument(...LAYER)
    .argument("<version>", "which version, as `strata layer proposals` shows it", wholeNumber(1));
  choosing(command)
    .description(says)
    .addHelpText("after", `\nExample:\n  $ strata layer ${verb} 6 3 --reason "looked at it"`)
    .action((word: string, n: number, named: string | undefined, options: Deciding) =>
      onAgent(context, { command, named, options }, async ({ app, agent }) => {
        const { over } = options;
        const key = keyOf(word, options);
        const choice = { ...key, n, verdict, reason: why(options), ...(over !== undefined && { over }) };
        const version = await app.runtime.decideText(app.operator, agent.name, choice);
        return { json: version, lines: [`Version ${n} of ${nameOf(version)} ${next}.`] };
      }),
    );
  if (verb === "approve")
    command.option(
      "--over <n>",
      "the active version that it shall take the place of, where that is not the one it was written over",
      wholeNumber(0),
    );
}
