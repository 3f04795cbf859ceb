import type { Command } from "commander";
import type { App } from "../../../app.ts";
import { type Agent, type Scope, StrataError } from "../../../protocol/index.ts";
import type { Context } from "../shell/context.ts";
import { nameGiven, type OfAgent, ofAgent } from "../shell/on-agent.ts";
import { showProgress } from "../shell/progress.ts";
import { chosenAgents, inRecord, type Session } from "../shell/session.ts";
import { count, number } from "../shell/style.ts";

interface Options extends OfAgent {
  readonly status?: true;
}

type Report = Awaited<ReturnType<App["runtime"]["vectorReport"]>>;
type Step = Awaited<ReturnType<ReturnType<App["runtime"]["embedMemories"]>["next"]>>;
type Progress = Extract<Step, { done?: false }>["value"];

/** `strata memory embed`: the vectors that memories lack. */
export function declareEmbed(memory: Command, context: Context): void {
  ofAgent(memory.command("embed"), "all agents")
    .description(
      "make the vectors that memories lack, for agents with an `embedder`; a running server makes them by itself",
    )
    .option("--status", "tell how far they are, and make none")
    .addHelpText("after", "\nExample:\n  $ strata memory embed companion")
    .action((named: string | undefined, options: Options, command: Command) => {
      const name = nameGiven(named, options);
      return inRecord(context, command, async (session) => {
        const agents = chosenAgents(session.app, name);
        const told: unknown[] = [];
        for (const agent of agents) {
          const made = options.status === true ? undefined : await embed(context, session, agent);
          const report = await session.app.runtime.vectorReport(session.app.operator, agent.name);
          if (session.json)
            told.push({
              agent: agent.name,
              ...report,
              ...(made && { made: made.made, refused: made.refused, tokens: made.tokens }),
            });
          else context.say(...lines(agent, report, made));
        }
        if (session.json) context.json(told);
      });
    });
}

/** All of one agent's; gives how it ended, nothing where nothing was lacking. */
async function embed(context: Context, { app }: Session, agent: Agent): Promise<Progress | undefined> {
  const { signal } = context.terminal;
  const progress = showProgress(context, `embedding ${agent.name}`);
  let last: Progress | undefined;
  try {
    for await (const step of app.runtime.embedMemories(app.operator, agent.name, signal)) {
      last = step;
      progress.show(`${number(step.done)} of ${count(step.total, "memory", "memories")}`, share(step));
    }
  } catch (thrown) {
    if (signal.aborted) throw stopped(agent, last);
    throw thrown;
  } finally {
    progress.end();
  }
  return last;
}

const share = ({ done, total }: Progress): number => (total === 0 ? 1 : done / total);

function stopped({ name }: Agent, last: Progress | undefined): StrataError {
  const { done = 0, total = 0 } = last ?? {};
  const message = `stopped after ${number(done)} of ${count(total, "memory", "memories")} of ${name}; run it again to go on`;
  return new StrataError("turn_cancelled", message, { agent: name, done, total });
}

function lines({ name }: Agent, report: Report, made: Progress | undefined): readonly string[] {
  const { embedder, vectors, waiting, serving } = report;
  if (embedder === undefined) {
    return [`${name} has no embedder: its memories are found by their words. \`embedder\` in strata.yaml names one.`];
  }
  const old = Object.keys(serving).filter((model) => model !== embedder);
  return [
    ...(made === undefined ? [] : [madeLine(made)]),
    `${name} has ${count(vectors, "vector")} of ${embedder}; ${waiting === 0 ? "no memory waits" : `${count(waiting, "memory waits", "memories wait")} for theirs`}.`,
    ...(old.length === 0 ? [] : [`Until they are complete, those of ${old.join(" and ")} serve.`]),
  ];
}

function madeLine({ agent, made, refused, tokens }: Progress): string {
  const not = refused === 0 ? "" : `; ${count(refused, "text")} the provider would not take`;
  return `${agent}: ${count(made, "vector")} made${tokens === 0 ? "" : ` of ${count(tokens, "token")}`}${not}.`;
}

/** That a search went by words alone, where it should not have. */
export function noteTrouble({ note, style }: Context, { app }: Session, { agent }: Scope): void {
  const trouble = app.runtime.vectorTrouble(app.operator, agent);
  if (trouble !== undefined) note(style.yellow(trouble));
}
