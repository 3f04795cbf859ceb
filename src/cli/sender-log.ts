import type { Command } from "commander";
import type { App } from "../app.ts";
import { CONVERSATION_LIMITS, contactId } from "../protocol/index.ts";
import type { Context } from "./context.ts";
import { wholeNumber } from "./options.ts";
import { chosenAgent, inRecord } from "./session.ts";
import { ago, count, minute, number, oneLine, printable, type Style } from "./style.ts";
import { table } from "./table.ts";
import { type OfAgent, ofAgent } from "./text-options.ts";

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
    .addHelpText("after", "\nExample:\n  $ strata conversation list --agent sovereign")
    .action((options: Listing, command: Command) =>
      inRecord(context, command, async ({ app, json }) => {
        const agent = chosenAgent(app, options.agent);
        const found = await app.runtime.conversations(app.operator, agent.name, options.limit);
        if (json) context.json(found);
        else if (found.length === 0) context.say(`${agent.name} has no log of any sender.`);
        else context.say(...listLines(found, context.style));
      }),
    );
}

const COLUMNS = [{ head: "sender" }, { head: "entries", right: true }, { head: "active" }] as const;

function listLines(heads: readonly Head[], style: Style): readonly string[] {
  const now = Date.now();
  const [head = "", ...rows] = table(
    COLUMNS,
    heads.map(({ contact, entries, lastActivity }) => [oneLine(contact, 50), number(entries), ago(now - lastActivity)]),
  );
  return [style.dim(head), ...rows];
}

function declareShow(parent: Command, context: Context): void {
  ofAgent(parent.command("show"))
    .description("show what was said with one sender, the oldest first, as it is shown to the agent")
    .argument("<sender>", "the sender, as `strata conversation list` shows them")
    .addHelpText("after", "\nExample:\n  $ strata conversation show 0x5aaeb6053f3e94c9b9a09f33669435e7ef1beaed")
    .action((sender: string, options: OfAgent, command: Command) => {
      const contact = contactId(sender);
      return inRecord(context, command, async ({ app, json }) => {
        const agent = chosenAgent(app, options.agent);
        const log = await app.runtime.conversation(app.operator, agent.name, contact);
        if (json) context.json(log ?? null);
        else if (log === undefined) context.say(`${agent.name} has no log of ${printable(sender)}.`);
        else context.say(...logLines(log, agent.name, context.style));
      });
    });
}

function logLines({ contact, entries }: Log, agent: string, style: Style): readonly string[] {
  return [
    `${style.bold(agent)} with ${printable(contact)}`,
    ...entries.flatMap(({ at, body, reply, turn }) => [
      "",
      style.dim(`${minute(at)} · ${turn}`),
      `${style.cyan(printable(contact))}: ${printable(body)}`,
      `${style.cyan(agent)}: ${printable(reply)}`,
    ]),
    "",
    style.dim(`${count(entries.length, "entry", "entries")} of at most ${CONVERSATION_LIMITS.entries}, times in UTC`),
  ];
}
