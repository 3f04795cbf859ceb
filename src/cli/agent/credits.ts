import { Argument, type Command, InvalidArgumentError } from "commander";
import type { App } from "../../app.ts";
import { untrusted } from "../../protocol/index.ts";
import type { Context } from "../shell/context.ts";
import { type OfAgent, ofAgent, onAgent, onRecordOfAgent } from "../shell/on-agent.ts";
import { wholeNumber } from "../shell/options.ts";
import { dollars, minute, number, oneLine, type Style } from "../shell/style.ts";
import { table } from "../shell/table.ts";
import { sleepsLine } from "./attention.ts";

type Runtime = App["runtime"];
type TopUp = Awaited<ReturnType<Runtime["topUps"]>>[number];
type LifeView = Awaited<ReturnType<Runtime["life"]>>;

/** `strata credits …`: what an agent lives on. */
export function declareCredits(program: Command, context: Context): void {
  const credits = program
    .command("credits")
    .description("show what an agent may still spend, top it up, and list the payments")
    .addHelpText("after", "\nExample:\n  $ strata credits add 10");
  declareShow(credits, context);
  declareAdd(credits, context);
  declareList(credits, context);
}

function declareShow(parent: Command, context: Context): void {
  ofAgent(parent.command("show"))
    .description("show the balance, what was spent, and how long it lasts")
    .addHelpText("after", "\nExample:\n  $ strata credits show sovereign")
    .action((named: string | undefined, options: OfAgent, command: Command) =>
      onAgent(context, { command, named, options }, async ({ app, agent }) => {
        const life = await app.runtime.life(app.operator, agent.name);
        const { tier, runway } = life.vitals;
        return {
          json: { credits: life.credits ?? null, tier, ...(runway !== undefined && { runway }) },
          lines: balanceLines(life, context.style),
        };
      }),
    );
}

function balanceLines({ agent, credits, vitals, asleep }: LifeView, style: Style): readonly string[] {
  const { tier, runway } = vitals;
  if (credits === undefined) return [`${agent} lives on no credits: strata.yaml says nothing of \`life: credits\`.`];
  const { toppedUp, spent, lastDay } = credits;
  const hours = runway === undefined ? "nothing was spent in the last day" : `lasts ${number(runway)} hours`;
  return [
    `${style.bold(agent)} has ${dollars(credits.balance)}, ${tier === "Normal" ? tier : style.yellow(tier)}; ${hours}`,
    `${dollars(toppedUp)} topped up, ${dollars(spent)} spent since, ${dollars(lastDay.spent)} in the last ${hoursText(lastDay.hours)}`,
    ...(asleep === undefined ? [] : [style.yellow(sleepsLine(agent, asleep))]),
  ];
}

/** Less than an hour is told as one. */
const hoursText = (hours: number): string => (hours < 1.5 ? "hour" : `${number(Math.round(hours))} hours`);

interface Paying extends OfAgent {
  readonly note: string;
}

function declareAdd(parent: Command, context: Context): void {
  const amount = new Argument("<dollars>", "US dollars; to take back a mistake, `-- -5`").argParser(sum);
  ofAgent(parent.command("add").addArgument(amount))
    .description("top up the credits; an agent that sleeps for want of them wakes")
    .option("--note <text>", "what for, for the record", "")
    .addHelpText("after", '\nExamples:\n  $ strata credits add 10 --note "for December"\n  $ strata credits add -- -5')
    .action((paid: number, named: string | undefined, options: Paying, command: Command) =>
      onAgent(context, { command, named, options }, async ({ app, agent }) => {
        const payment = { dollars: paid, note: untrusted(options.note) };
        const credits = await app.runtime.topUp(app.operator, agent.name, payment);
        return { json: credits, lines: [`${agent.name} has ${dollars(credits.balance)} now.`] };
      }),
    );
}

/** As much as one payment may be, in US dollars. */
const MOST = 1_000_000;

/** Dollars, with cents and parts of them. */
function sum(text: string): number {
  const value = /^-?\d{1,7}(?:\.\d{1,6})?$/.test(text) ? Number(text) : 0;
  if (value !== 0 && Math.abs(value) <= MOST) return value;
  throw new InvalidArgumentError(`It must be US dollars other than 0, at most ${number(MOST)}, as in 10 or 0.25.`);
}

interface Listing extends OfAgent {
  readonly limit: number;
}

function declareList(parent: Command, context: Context): void {
  ofAgent(parent.command("list"))
    .description("list the payments, the newest first")
    .option("--limit <n>", "at most so many", wholeNumber(1, 1_000), 20)
    .addHelpText("after", "\nExample:\n  $ strata credits list")
    .action((named: string | undefined, options: Listing, command: Command) =>
      onRecordOfAgent(context, { command, named, options }, async ({ app, agent }) => {
        const found = await app.runtime.topUps(app.operator, agent.name, options.limit);
        const nobody = `Nobody has topped up ${agent.name}.`;
        return { json: found, lines: found.length === 0 ? [nobody] : paymentLines(found, context.style) };
      }),
    );
}

const COLUMNS = [
  { head: "when (UTC)" },
  { head: "dollars", right: true },
  { head: "by" },
  { head: "note", least: 20, wraps: true },
] as const;

function paymentLines(payments: readonly TopUp[], style: Style): readonly string[] {
  const rows = payments.map(({ at, dollars: paid, by, note }) => [minute(at), dollars(paid), by, oneLine(note)]);
  return table(COLUMNS, rows, style);
}
