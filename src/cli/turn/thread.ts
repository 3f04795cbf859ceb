import type { Command } from "commander";
import type { Slot, Thread } from "../../app.ts";
import { agentName, contactId, type ThreadId, threadId, turnId } from "../../protocol/index.ts";
import type { Context } from "../shell/context.ts";
import { nameGiven, type OfAgent, ofAgent } from "../shell/on-agent.ts";
import { wholeNumber } from "../shell/options.ts";
import { inRecord, onRecord, shortVersion } from "../shell/session.ts";
import { setIn } from "../shell/set-in.ts";
import { count, minute, printable, type Style } from "../shell/style.ts";
import { goOn } from "./regenerate.ts";
import { tellThreads } from "./thread-list.ts";

interface Options extends OfAgent {
  readonly as?: string;
  readonly limit: number;
}

/** `strata thread …`: the conversations there are, and what was said in them. */
export function declareThread(program: Command, context: Context): void {
  const thread = program
    .command("thread")
    .description("list the conversations, read one, fork it, move it to the newest version, stop its turn")
    .addHelpText("after", "\nExample:\n  $ strata thread list");
  declareList(thread, context);
  declareShow(thread, context);
  declareFork(thread, context);
  declareMigrate(thread, context);
  declareCancel(thread, context);
  declareWithdraw(thread, context);
}

function declareList(thread: Command, context: Context): void {
  ofAgent(thread.command("list"), "all agents")
    .description("list the threads, the last active first")
    .option("--as <contact>", "with this contact only (default: all contacts)")
    .option("--limit <n>", "at most so many", wholeNumber(1, 10_000), 20)
    .addHelpText("after", "\nExample:\n  $ strata thread list companion --as ann")
    .action((named: string | undefined, options: Options, command: Command) => {
      const name = nameGiven(named, options);
      const contact = options.as === undefined ? undefined : contactId(options.as);
      const agent = name === undefined ? undefined : agentName(name);
      return inRecord(context, command, async (session) => {
        const { runtime, operator } = session.app;
        const { limit } = options;
        tellThreads(context, await runtime.newestThreads(operator, { agent, contact, limit }), session);
      });
    });
}

function declareShow(thread: Command, context: Context): void {
  thread
    .command("show")
    .description("show what was said on a thread, without prompts; `strata explain` shows what was sent")
    .argument("<id>", "the thread, thr_…")
    .addHelpText("after", "\nExample:\n  $ strata thread show thr_01jd8k3v5x9m2q7r4t6w8y0zab")
    .action((text: string, _options: unknown, command: Command) => {
      const id = threadId(text);
      return inRecord(context, command, async ({ app: { runtime, operator }, json }) => {
        const found = await runtime.thread(operator, id);
        const slots = await runtime.slots(operator, id);
        const waiting = (await runtime.pending(operator, found)).length;
        if (json) context.json({ thread: found, slots, waiting });
        else context.say(...conversation(found, slots, context.style), ...stillWaiting(id, waiting));
      });
    });
}

interface ForkOptions {
  readonly turn?: string;
  readonly key?: string;
  readonly channel?: string;
}

function declareFork(thread: Command, context: Context): void {
  thread
    .command("fork")
    .description("begin a new thread that goes on where a turn of this one ended; this one stays as it is")
    .argument("<id>", "the thread, thr_…")
    .option("--turn <id>", "after which turn (default: the last one that is done)")
    .option("--key <name>", "the new conversation's name; given again, the same fork is shown (default: a new name)")
    .option("--channel <name>", "where it takes place (default: where this one does; of a recording, chat)")
    .addHelpText("after", "\nExample:\n  $ strata thread fork thr_01jd8k3v5x9m2q7r4t6w8y0zab --key other-way")
    .action((text: string, { turn, key, channel }: ForkOptions, command: Command) => {
      const id = threadId(text);
      const wanted = {
        ...(turn !== undefined && { turn: turnId(turn) }),
        ...(key !== undefined && { key }),
        ...(channel !== undefined && { channel }),
      };
      return inRecord(context, command, async ({ app: { runtime, operator }, json }) => {
        const fork = await runtime.fork(operator, id, wanted);
        if (json) return context.json(fork);
        context.say(`${context.style.bold(fork.id)} ${fromWhere(fork)}`);
        context.note(goOn(fork));
      });
    });
}

function fromWhere({ forkedFrom }: Thread): string {
  if (forkedFrom === undefined) return "is no fork";
  const { thread, turn } = forkedFrom;
  return turn === null ? `begins anew, like ${thread} before its first turn` : `goes on after ${turn} of ${thread}`;
}

function declareMigrate(thread: Command, context: Context): void {
  thread
    .command("migrate")
    .description("move a thread to its agent's layers and tools as they are declared now; what was said goes on")
    .argument("<id>", "the thread, thr_…")
    .addHelpText("after", "\nExample:\n  $ strata thread migrate thr_01jd8k3v5x9m2q7r4t6w8y0zab")
    .action((text: string, _options: unknown, command: Command) => {
      const id = threadId(text);
      return onRecord(context, command, async ({ app: { runtime, operator }, json }) => {
        const { thread: moved, from, changes } = await runtime.migrate(operator, id);
        if (json) return context.json({ thread: moved, from, changes });
        const { agent } = moved.scope;
        if (from === moved.version) return context.say(`${id} is at the declared version of ${agent} already.`);
        const names = `version ${shortVersion(moved.version)} of ${agent}, no longer ${shortVersion(from)}`;
        context.say(`The next turn of ${id} runs ${names}.`, ...changes.map((change) => `  ${change}`));
      });
    });
}

function declareCancel(thread: Command, context: Context): void {
  thread
    .command("cancel")
    .description("stop the turn that runs on a thread, also that of another program; its messages keep waiting")
    .argument("<id>", "the thread, thr_…")
    .addHelpText("after", "\nExample:\n  $ strata thread cancel thr_01jd8k3v5x9m2q7r4t6w8y0zab")
    .action((text: string, _options: unknown, command: Command) => {
      const id = threadId(text);
      return inRecord(context, command, async ({ app: { runtime, operator }, json }) => {
        const cancelled = await runtime.cancel(operator, id);
        if (json) context.json({ cancelled });
        else
          context.say(
            cancelled ? `The turn on ${id} was asked to stop; it ends within seconds.` : `No turn runs on ${id}.`,
          );
      });
    });
}

function declareWithdraw(thread: Command, context: Context): void {
  thread
    .command("withdraw")
    .description("take back the messages that wait on a thread without an answer; no turn will handle them")
    .argument("<id>", "the thread, thr_…")
    .addHelpText("after", "\nExample:\n  $ strata thread withdraw thr_01jd8k3v5x9m2q7r4t6w8y0zab")
    .action((text: string, _options: unknown, command: Command) => {
      const id = threadId(text);
      return inRecord(context, command, async ({ app: { runtime, operator }, json }) => {
        const withdrawn = await runtime.withdraw(operator, id);
        if (json) context.json({ withdrawn });
        else if (withdrawn.length === 0) context.say(`No message waits on ${id}.`);
        else context.say(`${count(withdrawn.length, "message")} taken back.`);
      });
    });
}

function conversation(thread: Thread, slots: readonly Slot[], style: Style): readonly string[] {
  const { id, scope, channel, forkedFrom } = thread;
  return [
    ...setIn(
      `${scope.agent} with ${scope.contact} · channel ${channel}`,
      { first: `${style.bold(id)} · `, more: "  " },
      style,
    ),
    ...(forkedFrom === undefined ? [] : [style.dim(fromWhere(thread))]),
    ...slots.flatMap(({ at, from, kind, text }) => {
      const what = kind === "message" || kind === "reply" ? "" : ` (${kind})`;
      return ["", `${style.dim(minute(at))}  ${style.cyan(printable(from))}${what}`, ...setIn(text, "  ", style)];
    }),
    "",
    style.dim(slots.length === 0 ? "Nothing was said yet." : `${count(slots.length, "message")}, times in UTC`),
  ];
}

const stillWaiting = (id: ThreadId, waiting: number): readonly string[] => {
  const next = `\`strata thread withdraw ${id}\` takes back what waits.`;
  return waiting === 0
    ? []
    : [`${count(waiting, "message")} without an answer will go along with the next one; ${next}`];
};
