import { Argument, type Command, InvalidArgumentError } from "commander";
import type { App } from "../app.ts";
import { untrusted } from "../protocol/index.ts";
import type { Context } from "./context.ts";
import { wholeNumber } from "./options.ts";
import { chosenAgent, inRecord, inSession } from "./session.ts";
import { dollars, minute, number, oneLine, type Style } from "./style.ts";
import { table } from "./table.ts";
import { type OfAgent, ofAgent } from "./text-options.ts";

type Runtime = App["runtime"];
type TopUp = Awaited<ReturnType<Runtime["topUps"]>>[number];
type LifeView = Awaited<ReturnType<Runtime["life"]>>;

/** `strata credits …`: what an agent lives on. */
export function declareCredits(program: Command, context: Context): void {
  const credits = program
    .command("credits")
    .description("show what an agent may still spend, top it up, and list the payments")
    .addHelpText("after", "\nExample:\n  $ strata credits add 5");
  declareShow(credits, context);
  declareAdd(credits, context);
  declareList(credits, context);
}

function declareShow(parent: Command, context: Context): void {
  ofAgent(parent.command("show"))
    .description("show the balance, what was spent, and how long it lasts")
    .addHelpText("after", "\nExample:\n  $ strata credits show --agent sovereign")
    .action((options: OfAgent, command: Command) =>
      inSession(
        context,
        command,
        async ({ app, json }) => {
          const agent = chosenAgent(app, options.agent);
          const life = await app.runtime.life(app.operator, agent.name);
          const { tier, runway } = life.vitals;
          if (json)
            return context.json({ credits: life.credits ?? null, tier, ...(runway !== undefined && { runway }) });
          context.say(...balanceLines(life, context.style));
        },
        { recordOnly: true },
      ),
    );
}

function balanceLines({ agent, credits, vitals }: LifeView, style: Style): readonly string[] {
  const { tier, runway, balance } = vitals;
  if (credits === undefined) {
    return balance === undefined
      ? [`${agent} lives on no credits: strata.yaml says nothing of \`life: credits\`.`]
      : [style.yellow(`${agent} has no credits yet; \`strata credits add DOLLARS --agent ${agent}\` tops it up.`)];
  }
  const { toppedUp, spent, lastDay } = credits;
  const hours = runway === undefined ? "nothing was spent in the last day" : `lasts ${number(runway)} hours`;
  return [
    `${style.bold(agent)} has ${dollars(credits.balance)}, ${tier === "Normal" ? tier : style.yellow(tier)}; ${hours}`,
    `${dollars(toppedUp)} topped up, ${dollars(spent)} spent since, ${dollars(lastDay.spent)} in the last ${number(lastDay.hours)} hours`,
  ];
}

function declareAdd(parent: Command, context: Context): void {
  ofAgent(parent.command("add"))
    .description("top up the credits; an agent that sleeps for want of them wakes")
    .addArgument(new Argument("<dollars>", "US dollars; to take back a mistake, `-- -5`").argParser(sum))
    .option("--note <text>", "what for, for the record", "")
    .addHelpText("after", '\nExamples:\n  $ strata credits add 5 --note "for December"\n  $ strata credits add -- -5')
    .action((amount: number, options: OfAgent & { readonly note: string }, command: Command) =>
      inSession(
        context,
        command,
        async ({ app, json }) => {
          const agent = chosenAgent(app, options.agent);
          const payment = { dollars: amount, note: untrusted(options.note) };
          const credits = await app.runtime.topUp(app.operator, agent.name, payment);
          if (json) context.json(credits);
          else context.say(`${agent.name} has ${dollars(credits.balance)} now.`);
        },
        { recordOnly: true },
      ),
    );
}

/** Dollars, with cents and parts of them. */
function sum(text: string): number {
  const value = /^-?\d{1,9}(?:\.\d{1,6})?$/.test(text) ? Number(text) : 0;
  if (value !== 0) return value;
  throw new InvalidArgumentError("It must be US dollars other than 0, as in 5 or 0.25.");
}

interface Listing extends OfAgent {
  readonly limit: number;
}

function declareList(parent: Command, context: Context): void {
  ofAgent(parent.command("list"))
    .description("list the payments, the newest first")
    .option("--limit <n>", "at most so many", wholeNumber(1, 1_000), 20)
    .addHelpText("after", "\nExample:\n  $ strata credits list")
    .action((options: Listing, command: Command) =>
      inRecord(context, command, async ({ app, json }) => {
        const agent = chosenAgent(app, options.agent);
        const found = await app.runtime.topUps(app.operator, agent.name, options.limit);
        if (json) context.json(found);
        else if (found.length === 0) context.say(`Nobody has topped up ${agent.name}.`);
        else context.say(...paymentLines(found, context.style));
      }),
    );
}

const COLUMNS = [{ head: "when (UTC)" }, { head: "dollars", right: true }, { head: "by" }, { head: "note" }] as const;

function paymentLines(payments: readonly TopUp[], style: Style): readonly string[] {
  const [head = "", ...rows] = table(
    COLUMNS,
    payments.map(({ at, dollars: paid, by, note }) => [
      minute(at),
      paid < 0 ? `-${dollars(-paid)}` : dollars(paid),
      by,
      oneLine(note, 40),
    ]),
  );
  return [style.dim(head), ...rows];
}
