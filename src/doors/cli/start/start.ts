import type { Command } from "commander";
import { type App, type ServeOptions, type Serving, serve, VERSION } from "../../../app.ts";
import {
  AGENT_API,
  answererSays,
  answeringOf,
  askedLines,
  ownTurnLines,
  personLines,
  problemsOf,
  selfChangeLines,
  unansweredLines,
} from "../../../features/agents/index.ts";
import { MEMORY_API } from "../../../features/memories/index.ts";
import { setIn, unansweredLine } from "../../../print/index.ts";
import type { Agent, AgentName, TurnEvent } from "../../../protocol/index.ts";
import { converse } from "../chat/chat.ts";
import { senderOf } from "../chat/conversation.ts";
import { behindChat, type Context } from "../shell/context.ts";
import { wholeNumber } from "../shell/options.ts";
import { inSession, isStandIn, type Session, shortVersion } from "../shell/session.ts";
import { textWarning } from "../shell/teller.ts";
import { isInteractive } from "../shell/terminal.ts";
import { reloadOnChange } from "./watch.ts";

interface StartOptions {
  readonly new?: true;
  readonly drain: number;
  readonly port: number;
  readonly host?: string;
  readonly hostName?: readonly string[];
  readonly watch?: true;
}

/** `strata start`: serves until it is stopped; in a terminal with a chat. */
export function declareStart(program: Command, context: Context): void {
  program
    .command("start")
    .description("start the server on this machine; in a terminal, chat with the companion at once")
    .option("--port <n>", "the port to listen on; 0 chooses a free one", wholeNumber(0, 65_535), 4600)
    .option("--host <address>", "the address to listen on (default: 127.0.0.1, only this machine)")
    .option("--host-name <name...>", "more host names that clients may use, such as that of a proxy in front of it")
    .option(
      "--watch",
      "reload the project when its files change: models and modules at once, layers and tools for threads that begin afterwards; locked texts are read only at a start",
    )
    .option(
      "--drain <seconds>",
      "when it is stopped: how long turns that run may go on before they are cancelled; their messages wait for the next start",
      wholeNumber(0, 3_600),
      10,
    )
    .option("--new", "in a terminal: begin a new conversation instead of continuing the last one")
    .addHelpText(
      "after",
      "\nExamples:\n  $ strata start --port 4601 --watch\n  $ strata start --host 0.0.0.0 --host-name strata.example.org",
    )
    .action((options: StartOptions, command: Command) =>
      inSession(
        context,
        command,
        async (session) => {
          const { port, host, hostName: hosts } = options;
          const listening = await serve(session.app, port, {
            ...(host && { host }),
            ...(hosts && { hosts }),
            drain: options.drain * 1_000,
            ...telling(context, session),
          });
          const stop = options.watch === true ? reloadOnChange(behindChat(context), session) : () => {};
          try {
            await announce(context, session, listening);
            await warn(context, session);
            // Messages saved while no program made vectors. If this fails, the next turn reports it.
            session.app.runtime
              .use(MEMORY_API)
              .embedLater(session.app.operator)
              .catch(() => undefined);
            await runSession(context, session, options.new === true);
          } finally {
            stop();
            await listening.close();
          }
          context.note("Stopped.");
        },
        { namesConfig: true },
      ),
    );
}

/** What the server reports: turns that clients request, and background work. */
function telling(context: Context, session: Session): ServeOptions {
  const { timers } = context.terminal;
  const tell = (sentence: string): void => behindChat(context).note(context.style.yellow(sentence));
  const watch = (event: TurnEvent): void => {
    if (event.type === "unanswered") tell(unansweredLine(event));
  };
  return { tell, watch, isWanted: (name) => isKnown(session, name), ...(timers && { timers }) };
}

async function runSession(context: Context, { app, json }: Session, anew: boolean): Promise<void> {
  const { terminal, note } = context;
  const agent = companion(app);
  if (isInteractive(terminal) && !json && agent !== undefined) {
    note(
      "",
      "Below is a chat; leaving it stops the server. The dim line after each reply says what was sent to the model.",
    );
    return converse(context, { app, agent, contact: await senderOf(app, agent) }, { json: false, wanted: { anew } });
  }
  if (terminal.signal.aborted) return;
  await new Promise((resolve) => terminal.signal.addEventListener("abort", resolve, { once: true }));
}

/** Whether a person declared this agent or has asked it something. The shipped fallback agents may be unknown to everyone. */
async function isKnown(session: Session, name: AgentName): Promise<boolean> {
  const { runtime, operator } = session.app;
  if (!isStandIn(session) || companion(session.app)?.name === name) return true;
  const threads = await runtime.newestThreads(operator, { agent: name, limit: 100 });
  return threads.some(({ turns }) => turns > 0);
}

function companion({ runtime, operator }: App): Agent | undefined {
  const agents = runtime.agents(operator);
  return agents.find((agent) => agent.name === "companion") ?? agents[0];
}

/** Notes about the declared texts, the agents' changes to them, and contacts left without a reply. */
async function warn({ note, style }: Context, { app, json }: Session): Promise<void> {
  if (json) return;
  const { warningsOf } = await import("../../../app/entry/texts.ts");
  const waits = await app.runtime.use(AGENT_API).attention(app.operator);
  const left = waits.flatMap((one) => [
    ...askedLines(one),
    ...personLines(one),
    ...selfChangeLines(one),
    ...unansweredLines(one),
    ...ownTurnLines(one),
  ]);
  note(...[...(await warningsOf(app.projects)).map(textWarning), ...left].map((one) => style.yellow(one)));
}

async function announce({ say, json, style }: Context, session: Session, { url, tokenFile }: Serving): Promise<void> {
  const { app, data } = session;
  const agents = app.runtime.agents(app.operator);
  // The server also runs if no model can answer.
  const models = await answeringOf(app, agents);
  if (session.json) {
    const listed = models.map(({ agent: { name, version }, model, problem }) => ({
      name,
      version,
      model,
      problem: problem?.message,
    }));
    return json({ url, version: VERSION, agents: listed, data, tokenFile });
  }
  const shown = (
    await Promise.all(models.map(async (one) => ((await isKnown(session, one.agent.name)) ? [one] : [])))
  ).flat();
  say(
    `${style.bold(`Strata ${VERSION}`)} listens on ${style.cyan(url)} (health: ${url}/health)`,
    ...shown.map(
      ({ agent, model, because }) =>
        `agent    ${style.bold(agent.name)}, version ${shortVersion(agent.version)}, answered by ${answererSays(model, agent.handler?.file)}, because ${because}`,
    ),
    `data     ${data}`,
    `token    ${tokenFile} (whoever holds it acts as the operator)`,
    `routes   GET ${url}/v1/openapi.json, with the token`,
    `config   ${isStandIn(session) ? `none in ${session.folder}: the shipped agents are used` : app.projects.map((project) => project.file).join(", ")}`,
    ...problemsOf(shown).flatMap(({ message }) => ["", style.yellow(message)]),
    ...(shown.some(({ model }) => model === "rehearsal") ? ["", ...setIn(REHEARSAL, "", style)] : []),
  );
}

const REHEARSAL =
  "`rehearsal` is not a real model: it invents nothing, quotes what it finds in the request and uses the tools that it is\nexplicitly asked to use. For a real model, set ANTHROPIC_API_KEY in the environment, or `model:` in strata.yaml.";
