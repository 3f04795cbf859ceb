import type { Command } from "commander";
import type { Slot, Thread } from "../app.ts";
import { contactId, threadId } from "../protocol/index.ts";
import type { Context } from "./context.ts";
import { wholeNumber } from "./options.ts";
import { chosenAgents, inRecord } from "./session.ts";
import { count, minute, printable, type Style } from "./style.ts";
import { newestThreads, tellThreads } from "./thread-list.ts";

interface Options {
  readonly agent?: string;
  readonly as?: string;
  readonly limit: number;
}

/** `strata thread …`: the conversations there are, and what was said in them. */
export function declareThread(program: Command, context: Context): void {
  const thread = program
    .command("thread")
    .description("list the conversations, and read one")
    .addHelpText("after", "\nExample:\n  $ strata thread list");
  declareList(thread, context);
  declareShow(thread, context);
}

function declareList(thread: Command, context: Context): void {
  thread
    .command("list")
    .description("list the threads, the last active first")
    .option("--agent <name>", "of this agent only (default: all agents)")
    .option("--as <contact>", "with this contact only (default: all contacts)")
    .option("--limit <n>", "at most so many", wholeNumber(1, 10_000), 20)
    .addHelpText("after", "\nExample:\n  $ strata thread list --as ann")
    .action((options: Options, command: Command) => {
      const contact = options.as === undefined ? null : contactId(options.as);
      return inRecord(context, command, async (session) => {
        const agents = chosenAgents(session.app, options.agent);
        tellThreads(context, await newestThreads(session.app, { agents, contact, limit: options.limit }), session);
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
        else context.say(...conversation(found, slots, context.style), ...stillWaiting(waiting));
      });
    });
}

function conversation({ id, scope, channel }: Thread, slots: readonly Slot[], style: Style): readonly string[] {
  return [
    `${style.bold(id)} · ${scope.agent} with ${printable(scope.contact)} · channel ${printable(channel)}`,
    ...slots.flatMap(({ at, from, kind, text }) => {
      const what = kind === "message" || kind === "reply" ? "" : ` (${kind})`;
      return ["", `${style.dim(minute(at))}  ${style.cyan(printable(from))}${what}`, printable(text)];
    }),
    "",
    style.dim(slots.length === 0 ? "Nothing was said yet." : `${count(slots.length, "message")}, times in UTC`),
  ];
}

const stillWaiting = (waiting: number): readonly string[] =>
  waiting === 0 ? [] : [`${count(waiting, "message")} without an answer will go along with the next one.`];
