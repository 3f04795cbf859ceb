import { type Command, Option } from "commander";
import type { App } from "../../app.ts";
import { outboxId } from "../../protocol/index.ts";
import type { Context } from "../shell/context.ts";
import { type OfAgent, ofAgent, onRecordOfAgent, turnOfAgent } from "../shell/on-agent.ts";
import { wholeNumber } from "../shell/options.ts";
import { setIn } from "../shell/set-in.ts";
import { count, minute, oneLine, printable, type Style } from "../shell/style.ts";
import { declarePost } from "./inbox-post.ts";

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
    .description("list the messages that wait for an agent, each look is recorded; add one, and let it handle them")
    .addHelpText("after", "\nExample:\n  $ strata inbox list");
  listing(inbox.command("list"))
    .description("list what waits, the oldest first; what a turn handles now is staged")
    .addHelpText("after", "\nExample:\n  $ strata inbox list sovereign")
    .action((named: string | undefined, options: Listing, command: Command) =>
      onRecordOfAgent(context, { command, named, options }, async ({ app, agent }) => {
        const found = await app.runtime.inbox(app.operator, agent.name, options.limit);
        const lines = found.map((one) => waitingLines(one, context.style));
        return { json: found, lines: listed(lines, `Nothing waits for ${agent.name}.`, context.style) };
      }),
    );
  declarePost(inbox, context);
  declareRun(inbox, context);
}

function declareRun(inbox: Command, context: Context): void {
  ofAgent(inbox.command("run"))
    .description("run one turn over what waits for longest: of one sender, or of several with `inbox: batch`")
    .addHelpText("after", "\nExample:\n  $ strata inbox run sovereign")
    .action((named: string | undefined, options: OfAgent, command: Command) =>
      turnOfAgent(context, { command, named, options }, ({ app: { runtime, operator }, agent }, signal) =>
        runtime.runInbox(operator, agent.name, { signal }),
      ),
    );
}

/** Messages and how many they are, or a sentence where there is none. */
const listed = (messages: readonly (readonly string[])[], none: string, style: Style): readonly string[] =>
  messages.length === 0 ? [none] : [...messages.flat(), style.dim(count(messages.length, "message"))];

/** So much of a message is shown; `--json` has all of it. */
const BEGINNING = 200;

function waitingLines({ contact, event, status }: Waiting, style: Style): readonly string[] {
  const { id, kind, at, trust, proof, content } = event;
  const more = [
    ...(kind === "message" ? [] : [kind]),
    ...(trust === "contact" ? [] : [`by the ${trust}`]),
    ...(proof === undefined ? [] : [proof]),
  ];
  const text = content.map((part) => (part.type === "text" ? part.text : `(${part.type})`)).join(" ");
  return [
    `${style.cyan(printable(contact))} ${style.dim(`· ${minute(at)} ·`)} ${status}`,
    ...setIn(oneLine(text, BEGINNING), "  ", style),
    style.dim(`  ${[`${id} on ${event.thread}`, ...more].join(" · ")}`),
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
    .action((named: string | undefined, options: Said, command: Command) =>
      onRecordOfAgent(context, { command, named, options }, async ({ app, agent }) => {
        const { limit, status } = options;
        const wish = { limit, ...(status !== undefined && { status }) };
        const found = await app.runtime.outbox(app.operator, agent.name, wish);
        const lines = found.map((one) => saidLines(one, context.style));
        return { json: found, lines: listed(lines, `There is no such message of ${agent.name}.`, context.style) };
      }),
    );
}

function saidLines({ contact, id, at, status, text, thread }: Outgoing, style: Style): readonly string[] {
  const state = status === "undeliverable" ? style.yellow(status) : status;
  return [
    `to ${style.cyan(printable(contact))} ${style.dim(`· ${minute(at)} ·`)} ${state}`,
    ...setIn(oneLine(text, BEGINNING), "  ", style),
    style.dim(`  ${id} on ${thread}`),
  ];
}

function declareDelivered(parent: Command, context: Context): void {
  ofAgent(parent.command("delivered").argument("<id>", "the message, out_…"))
    .description("say that a waiting message was delivered by other means: it is not sent again")
    .addHelpText("after", "\nExample:\n  $ strata outbox delivered out_01jd8k3v5x9m2q7r4t6w8y0zab")
    .action((text: string, named: string | undefined, options: OfAgent, command: Command) => {
      const id = outboxId(text);
      return onRecordOfAgent(context, { command, named, options }, async ({ app, agent }) => {
        const delivered = await app.runtime.delivered(app.operator, agent.name, id);
        const says = delivered ? `${id} counts as delivered.` : `${id} does not wait with ${agent.name}.`;
        return { json: { delivered }, lines: [says] };
      });
    });
}
