import { type Command, Option } from "commander";
import type { App } from "../../../app.ts";
import type { Context } from "../shell/context.ts";
import { withName } from "../shell/on-agent.ts";
import { showProgress } from "../shell/progress.ts";
import { inSession, type Session } from "../shell/session.ts";
import { count, oneLine } from "../shell/style.ts";
import { limited, scopeOf, type Whose, whose } from "./memory-options.ts";

interface Options extends Whose {
  readonly limit: number;
  readonly by: "session" | "topic";
}

type Step = Awaited<ReturnType<ReturnType<App["runtime"]["consolidate"]>["next"]>>;
type Consolidated = Extract<Step, { done?: false }>["value"];

/** `strata memory consolidate`: the agent's model sums up what was said or is known of a subject, and is in no summary yet. */
export function declareConsolidate(memory: Command, context: Context): void {
  limited(whose(memory.command("consolidate")))
    .description("have the agent's model sum up conversations that have ended, or what is remembered of each subject")
    .addOption(
      new Option("--by <sort>", "a summary of each conversation, or of each subject")
        .choices(["session", "topic"])
        .default("session"),
    )
    .addHelpText(
      "after",
      "\nExamples:\n  $ strata memory consolidate companion --as ann\n  $ strata memory consolidate --as ann --by topic --limit 5",
    )
    .action((named: string | undefined, given: Options, command: Command) => {
      const options = withName(named, given);
      return inSession(context, command, async (session) => {
        const scope = scopeOf(session, options);
        const all = await consolidate(context, session, options);
        if (session.json) return context.json(all);
        context.say(
          ...(all.length === 0 ? [none(scope.contact ?? scope.agent, options)] : [...all.map(line), total(all)]),
        );
      });
    });
}

const none = (whom: string, { by }: Options): string =>
  by === "session"
    ? `Nothing that was said with ${whom} waits to be summed up: conversations of 4 messages and more do, half an hour after their last word.`
    : `Nothing that is remembered of ${whom} waits to be summed up: subjects with 4 memories and more do, half an hour after they came up.`;

/** What was saved before something failed stays, and is told. */
async function consolidate(context: Context, session: Session, options: Options): Promise<readonly Consolidated[]> {
  const { runtime, operator } = session.app;
  const { limit, by } = options;
  const { signal } = context.terminal;
  const all: Consolidated[] = [];
  const progress = showProgress(context, "summing up");
  try {
    for await (const one of runtime.consolidate(operator, scopeOf(session, options), { by, limit, signal })) {
      all.push(one);
      progress.show(`${count(all.length, "summary", "summaries")}`);
    }
  } catch (thrown) {
    if (!session.json) context.say(...all.map(line));
    throw thrown;
  } finally {
    progress.end();
  }
  return all;
}

function line(one: Consolidated): string {
  const of =
    "session" in one
      ? `${count(one.sources, "message")} of ${one.session}`
      : `${count(one.sources, "memory", "memories")} about ${one.topic}`;
  if ("because" in one) return `${of}: no summary, for ${one.because} (${one.turn}).`;
  const { summary, evicted } = one;
  const gone = evicted.length === 0 ? "" : ` (less useful memories had to go for it: ${evicted.join(", ")})`;
  return `${summary.id} stands for ${of}: ${oneLine(summary.content, 100)}${gone}`;
}

function total(all: readonly Consolidated[]): string {
  const made = all.filter((one) => "summary" in one).length;
  const tokens = all.reduce((sum, { usage }) => sum + usage.input + usage.output, 0);
  const dollars = all.reduce((sum, one) => sum + one.dollars, 0);
  return `${count(made, "summary", "summaries")}, ${count(tokens, "token")}, $${dollars.toFixed(4)}; \`strata memory forget ID\` takes one back.`;
}
