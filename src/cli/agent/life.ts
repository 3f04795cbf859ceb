import type { Command } from "commander";
import type { App } from "../../app.ts";
import { isoSecond } from "../../protocol/index.ts";
import type { Context } from "../shell/context.ts";
import { type OfAgent, ofAgent, onAgent, turnOfAgent } from "../shell/on-agent.ts";
import { ago, dollars, number, printable, type Style } from "../shell/style.ts";
import { sleepsLine } from "./attention.ts";

type LifeView = Awaited<ReturnType<App["runtime"]["life"]>>;

/** So long the account's server is waited for by who wants to see what it says, in milliseconds. */
export const PATIENCE = 5_000;

/** `strata life …`: how an agent is that lives by itself, and a turn of its own. */
export function declareLife(program: Command, context: Context): void {
  const life = program
    .command("life")
    .description("show how an agent is that lives by itself, and let it have a turn of its own")
    .addHelpText("after", "\nExample:\n  $ strata life show");
  declareShow(life, context);
  declareTick(life, context);
}

function declareShow(parent: Command, context: Context): void {
  ofAgent(parent.command("show"))
    .description("show its state, tier, credits and runway, its account, and when its next turn is due")
    .addHelpText("after", "\nExample:\n  $ strata life show sovereign")
    .action((named: string | undefined, options: OfAgent, command: Command) =>
      onAgent(context, { command, named, options }, async ({ app, agent }) => {
        const life = await app.runtime.life(app.operator, agent.name, { wait: PATIENCE });
        return { json: withoutBigints(life), lines: lifeLines(life, context.style) };
      }),
    );
}

/** JSON knows no such numbers: wei stand there in digits. */
function withoutBigints({ vitals, ...life }: LifeView) {
  const { native, ...rest } = vitals;
  return { ...life, vitals: { ...rest, ...(native && { native: { ...native, wei: String(native.wei) } }) } };
}

/** How an agent is, for a person. */
export function lifeLines(life: LifeView, style: Style): readonly string[] {
  const { agent, vitals, since, because, credits, asleep, nextTick } = life;
  const { state, tier, balance, runway, wallet, turn, at } = vitals;
  const lasting = since === undefined ? "" : ` since ${isoSecond(since)}`;
  const why = because === undefined ? "" : style.yellow(`, because ${printable(because)}`);
  return [
    `${style.bold(agent)} is ${state}${lasting}${why}`,
    `tier     ${tier === "Normal" ? tier : style.yellow(tier)}`,
    ...(balance === undefined ? [] : [`balance  ${dollars(balance)}${lasts(runway)}`]),
    ...(credits === undefined ? [] : [`credits  ${paid(credits)}`]),
    ...(wallet === undefined ? [] : [`account  ${wallet}${held(vitals)}`]),
    `turns    ${number(turn)}`,
    ...(nextTick === undefined ? [] : [`next     a turn of its own${whenDue(nextTick, at)}`]),
    ...(asleep === undefined ? [] : [style.yellow(sleepsLine(agent, asleep))]),
  ];
}

const lasts = (runway: number | undefined): string =>
  runway === undefined ? "" : `, which lasts ${number(runway)} hours at the rate of the last day`;

const whenDue = (due: number, now: number): string =>
  due > now ? ` at ${isoSecond(due)}` : ", due now: `strata start` or `strata life tick` runs it";

const paid = ({ toppedUp, spent }: NonNullable<LifeView["credits"]>): string =>
  `${dollars(toppedUp)} topped up, ${dollars(spent)} spent since`;

const WEI = 10n ** 18n;

function held({ native, unread, at: now }: LifeView["vitals"]): string {
  const why = unread === undefined ? "" : `; ${unreadLine(unread, now)}`;
  if (native === undefined) return `, its balance was never read${why}`;
  const { wei, at } = native;
  const ether = `${wei / WEI}.${String(wei % WEI).padStart(18, "0")}`.replace(/\.?0+$/, "");
  return `, ${ether} in its native coin, read ${ago(now - at)}${why}`;
}

/** Why an account could not be read. */
export const unreadLine = ({ because, at }: NonNullable<LifeView["vitals"]["unread"]>, now: number): string =>
  `tried ${ago(now - at)}: ${printable(because)}`;

function declareTick(parent: Command, context: Context): void {
  ofAgent(parent.command("tick"))
    .description("run one turn of the agent's own now, without a message")
    .addHelpText("after", "\nExample:\n  $ strata life tick")
    .action((named: string | undefined, options: OfAgent, command: Command) =>
      turnOfAgent(context, { command, named, options }, ({ app: { runtime, operator }, agent }, signal) =>
        runtime.tick(operator, agent.name, { signal }),
      ),
    );
}
