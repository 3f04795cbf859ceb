import { type Command, Option } from "commander";
import type { App } from "../app.ts";
import { outboxId } from "../protocol/index.ts";
import type { Context } from "./context.ts";
import { wholeNumber } from "./options.ts";
import { chosenAgent, inRecord, inSession } from "./session.ts";
import { count, minute, oneLine, printable, type Style } from "./style.ts";
import { jsonTeller, plainTeller } from "./teller.ts";
import { type OfAgent, ofAgent } from "./text-options.ts";

type Runtime = App["runtime"];
type Waiting = Awaited<ReturnType<Runtime["inbox"]>>[number];
type Outgoing = Awaited<ReturnType<Runtime["outbox"]>>[number];

interface Listing extends OfAgent {
  readonly limit: number;
}

const listing = (command: Command): Command =>
  ofAgent(command).option("--limit <n>", "at most so many", wholeNumber(1, 1_000), 20);

/** `strata inbox …`: what waits for an agent. */
export function declareInbox(program: Command, context: Context): void {
  const inbox = program
    .command("inbox")
    .description("list the messages that wait for an agent, each look is recorded; and let it handle them")
    .addHelpText("after", "\nExample:\n  $ strata inbox list");
  listing(inbox.command("list"))
    .description("list what waits, the oldest first; what a turn handles now is staged")
    .addHelpText("after", "\nExample:\n  $ strata inbox list --agent sovereign")
    .action((options: Listing, command: Command) =>
      inRecord(context, command, async ({ app, json }) => {
        const agent = chosenAgent(app, options.agent);
        const found = await app.runtime.inbox(app.operator, agent.name, options.limit);
        if (json) return context.json(found);
        if (found.length === 0) return context.say(`Nothing waits for ${agent.name}.`);
        const lines = found.flatMap((one) => waitingLines(one, context.style));
        context.say(...lines, context.style.dim(count(found.length, "message")));
      }),
    );
  declareRun(inbox, context);
}

function declareRun(inbox: Command, context: Context): void {
  ofAgent(inbox.command("run"))
    .description("run one turn over what waits for longest: of one sender, or of several with `inbox: batch`")
    .addHelpText("after", "\nExample:\n  $ strata inbox run --agent sovereign")
    .action((options: OfAgent, command: Command) =>
      inSession(context, command, async ({ app, json }) => {
        const agent = chosenAgent(app, options.agent);
        const tell = json ? jsonTeller(context) : plainTeller(context);
        const { signal } = context.terminal;
        let waited = false;
        for await (const event of app.runtime.runInbox(app.operator, agent.name, { signal })) {
          waited = true;
          tell(event);
          if (event.type === "failed") context.fail(event.error);
        }
        if (!waited && !json) context.say(`Nothing waits for ${agent.name}.`);
      }),
    );
}

/** So much of a message is shown; `--json` has all of it. */
const BEGINNING = 200;

function waitingLines({ contact, event, status }: Waiting, style: Style): readonly string[] {
  const { id, kind, at, trust, proof, content } = event;
  const what = [status, kind, trust, ...(proof === undefined ? [] : [proof])].join(" · ");
  const text = content.map((part) => (part.type === "text" ? part.text : `(${part.type})`)).join(" ");
  return [
    `${style.cyan(printable(contact))} ${style.dim(`· ${minute(at)} · ${what}`)}`,
    `  ${oneLine(text, BEGINNING)}`,
    style.dim(`  ${id} on ${event.thread}`),
  ];
}

/** `strata outbox …`: what an agent said, and how far it came. */
export function declareOutbox(program: Command, context: Context): void {
  const outbox = program
    .command("outbox")
    .description("list what an agent said, and say what was delivered; each look is recorded")
    .addHelpText("after", "\nExample:\n  $ strata outbox list");
  declareList(outbox, context);
  declareDelivered(outbox, context);
}

interface Said extends Listing {
  readonly status?: Outgoing["status"];
}

function declareList(parent: Command, context: Context): void {
  listing(parent.command("list"))
    .description("list the messages, the newest first")
    .addOption(
      new Option("--status <status>", "only those (default: all)").choices(["waiting", "delivered", "undeliverable"]),
    )
    .addHelpText("after", "\nExample:\n  $ strata outbox list --status undeliverable")
    .action((options: Said, command: Command) =>
      inRecord(context, command, async ({ app, json }) => {
        const agent = chosenAgent(app, options.agent);
        const { limit, status } = options;
        const wish = { limit, ...(status !== undefined && { status }) };
        const found = await app.runtime.outbox(app.operator, agent.name, wish);
        if (json) return context.json(found);
        if (found.length === 0) return context.say(`There is no such message of ${agent.name}.`);
        const lines = found.flatMap((one) => saidLines(one, context.style));
        context.say(...lines, context.style.dim(count(found.length, "message")));
      }),
    );
}

function saidLines({ contact, id, at, status, text, thread }: Outgoing, style: Style): readonly string[] {
  const state = status === "undeliverable" ? style.yellow(status) : status;
  return [
    `to ${style.cyan(printable(contact))} ${style.dim(`· ${minute(at)} ·`)} ${state}`,
    `  ${oneLine(text, BEGINNING)}`,
    style.dim(`  ${id} on ${thread}`),
  ];
}

function declareDelivered(parent: Command, context: Context): void {
  ofAgent(parent.command("delivered"))
    .description("say that a waiting message was delivered by other means: it is not sent again")
    .argument("<id>", "the message, out_…")
    .addHelpText("after", "\nExample:\n  $ strata outbox delivered out_01jd8k3v5x9m2q7r4t6w8y0zab")
    .action((text: string, options: OfAgent, command: Command) => {
      const id = outboxId(text);
      return inRecord(context, command, async ({ app, json }) => {
        const agent = chosenAgent(app, options.agent);
        const delivered = await app.runtime.delivered(app.operator, agent.name, id);
        if (json) context.json({ delivered });
        else context.say(delivered ? `${id} counts as delivered.` : `${id} does not wait with ${agent.name}.`);
      });
    });
}
