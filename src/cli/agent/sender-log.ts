import type { Command } from "commander";
import type { App } from "../../app.ts";
import { CONVERSATION_LIMITS, contactId } from "../../protocol/index.ts";
import type { Context } from "../shell/context.ts";
import { type OfAgent, ofAgent, onRecordOfAgent } from "../shell/on-agent.ts";
import { wholeNumber } from "../shell/options.ts";
import { setIn } from "../shell/set-in.ts";
import { ago, count, minute, number, printable, type Style } from "../shell/style.ts";
import { table } from "../shell/table.ts";

type Runtime = App["runtime"];
type Head = Awaited<ReturnType<Runtime["conversations"]>>[number];
type Log = NonNullable<Awaited<ReturnType<Runtime["conversation"]>>>;

interface Listing extends OfAgent {
  readonly limit: number;
}

/** `strata conversation …`: the logs of an agent with `history: log`, sender by sender. */
export function declareConversation(program: Command, context: Context): void {
  const conversation = program
    .command("conversation")
    .description("list the senders of whom an agent keeps a log, and read one; each look is recorded")
    .addHelpText("after", "\nExample:\n  $ strata conversation list");
  declareList(conversation, context);
  declareShow(conversation, context);
}

function declareList(parent: Command, context: Context): void {
  ofAgent(parent.command("list"))
    .description("list the senders, the last active first")
    .option("--limit <n>", "at most so many", wholeNumber(1, CONVERSATION_LIMITS.senders), 20)
    .addHelpText("after", "\nExample:\n  $ strata conversation list sovereign")
    .action((named: string | undefined, options: Listing, command: Command) =>
      onRecordOfAgent(context, { command, named, options }, async ({ app, agent }) => {
        const found = await app.runtime.conversations(app.operator, agent.name, options.limit);
        const none = `${agent.name} has no log of any sender.`;
        return { json: found, lines: found.length === 0 ? [none] : listLines(found, context.style) };
      }),
    );
}

const COLUMNS = [{ head: "sender" }, { head: "entries", right: true }, { head: "active" }] as const;

function listLines(heads: readonly Head[], style: Style): readonly string[] {
  const now = Date.now();
  const rows = heads.map(({ contact, entries, lastActivity }) => [
    printable(contact),
    number(entries),
    ago(now - lastActivity),
  ]);
  return table(COLUMNS, rows, style);
}

function declareShow(parent: Command, context: Context): void {
  ofAgent(parent.command("show").argument("<sender>", "the sender, as `strata conversation list` shows them"))
    .description("show what was said with one sender, the oldest first, as it is shown to the agent")
    .addHelpText("after", "\nExample:\n  $ strata conversation show 0x5aaeb6053f3e94c9b9a09f33669435e7ef1beaed")
    .action((sender: string, named: string | undefined, options: OfAgent, command: Command) => {
      const contact = contactId(sender);
      return onRecordOfAgent(context, { command, named, options }, async ({ app, agent }) => {
        const log = await app.runtime.conversation(app.operator, agent.name, contact);
        const none = `${agent.name} has no log of ${printable(sender)}.`;
        return { json: log ?? null, lines: log === undefined ? [none] : logLines(log, agent.name, context.style) };
      });
    });
}

function logLines({ contact, entries }: Log, agent: string, style: Style): readonly string[] {
  return [
    `${style.bold(agent)} with ${printable(contact)}`,
    ...entries.flatMap(({ at, body, reply, turn, proof }) => [
      "",
      style.dim([minute(at), turn, ...(proof === undefined ? [] : [proof])].join(" · ")),
      ...setIn(body, { first: `${style.cyan(printable(contact))}: `, more: "  " }, style),
      ...setIn(reply, { first: `${style.cyan(agent)}: `, more: "  " }, style),
    ]),
    "",
    style.dim(`${count(entries.length, "entry", "entries")} of at most ${CONVERSATION_LIMITS.entries}, times in UTC`),
  ];
}
