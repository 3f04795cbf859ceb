import type { Command } from "commander";
import type { App } from "../app.ts";
import type { Context } from "./context.ts";
import { about, limited, scopeOf, type Whose, whose } from "./memory-options.ts";
import { showProgress } from "./progress.ts";
import { inSession, type Session } from "./session.ts";
import { count, oneLine } from "./style.ts";

interface Options extends Whose {
  readonly limit: number;
}

type Step = Awaited<ReturnType<ReturnType<App["runtime"]["consolidate"]>["next"]>>;
type Consolidated = Extract<Step, { done?: false }>["value"];

/** `strata memory consolidate`: the agent's model sums up what was said and is in no summary yet. */
export function declareConsolidate(memory: Command, context: Context): void {
  limited(whose(memory.command("consolidate")))
    .description("have the agent's model sum up what was said in conversations that have ended, as memories beside it")
    .addHelpText("after", "\nExample:\n  $ strata memory consolidate --agent companion --as ann")
    .action((options: Options, command: Command) =>
      inSession(context, command, async (session) => {
        const scope = scopeOf(session, options);
        const all = await consolidate(context, session, options);
        if (session.json) return context.json(all);
        const none = `Nothing that was said with ${about(scope)} waits to be summed up: conversations of 4 messages and more do, half an hour after their last word.`;
        context.say(...(all.length === 0 ? [none] : [...all.map(line), total(all)]));
      }),
    );
}

/** What was saved before something failed stays, and is told. */
async function consolidate(context: Context, session: Session, options: Options): Promise<readonly Consolidated[]> {
  const { runtime, operator } = session.app;
  const { limit } = options;
  const { signal } = context.terminal;
  const all: Consolidated[] = [];
  const progress = showProgress(context, "summing up");
  try {
    for await (const one of runtime.consolidate(operator, scopeOf(session, options), { limit, signal })) {
      all.push(one);
      progress.show(`${count(all.length, "conversation")}`);
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
  const of = `${count(one.messages, "message")} of ${one.session}`;
  if ("because" in one) return `${of}: no summary, for ${one.because}.`;
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
