import { z } from "zod";
import { ago, dollars, minute, number, oneLine, printable, type Style, table } from "../../print/index.ts";
import { isoSecond } from "../../protocol/index.ts";
import { DONE_BY, FIELDS, given, LIST_OF_AGENT, list, NEXT, nextAfter, OF_AGENT, TIME, whole } from "../fields.ts";
import { type Operation, operation, turnOperation } from "../operation.ts";
import type { LifeApi, LifeView } from "./api.ts";
import { CREDITS, LIFE, LIFE_API } from "./api.ts";

const PAYMENTS = z.object({
  payments: list(
    z.object({ id: z.number(), dollars: z.number(), ...DONE_BY, note: z.string(), at: TIME }).meta({ id: "Payment" }),
  ),
});

/** JSON has no such large numbers, so wei are written as digits. */
export function lifeAnswer({ vitals: { native, ...vitals }, ...life }: LifeView) {
  return { ...life, vitals: { ...vitals, ...given("native", native && { ...native, wei: String(native.wei) }) } };
}

type LifeAnswer = ReturnType<typeof lifeAnswer>;

/** How long a command waits for the account's server, in milliseconds. */
export const PATIENCE = 5_000;

const showLife = operation({
  name: "life.show",
  does: "Show the condition of an agent that lives by itself: state, tier, credits, runway and account, and when its next turn is due.",
  may: "read",
  at: "GET /v1/agents/{agent}/life",
  takes: OF_AGENT.extend({
    wait: whole(0, 60_000).default(0).describe("milliseconds to wait for the server that reads its account"),
  }),
  gives: LIFE,
  command: { examples: ["life show sovereign"], usual: { wait: String(PATIENCE) }, opens: "data" },
  run: async ({ runtime }, { agent, wait }, { actor }) =>
    lifeAnswer(await runtime.use(LIFE_API).life(actor, agent, { wait })),
  show: (life, { style }) => lifeLines(life, style),
});

const tick = turnOperation({
  name: "life.tick",
  does: "Run one turn of the agent's own now, without a message.",
  may: "operate",
  at: "POST /v1/agents/{agent}/life/tick",
  takes: OF_AGENT,
  command: { examples: ["life tick"], opens: "everything" },
  turn: ({ runtime }, { agent }, { actor, signal }) => runtime.use(LIFE_API).tick(actor, agent, { signal }),
  idle: ({ agent }) => `${agent} has no turn of its own now.`,
});

const balance = operation({
  name: "credits.show",
  does: "Show the balance, what was spent, and how long it will last.",
  may: "read",
  at: "GET /v1/agents/{agent}/credits",
  takes: OF_AGENT,
  gives: z.object({
    credits: CREDITS.nullable().describe("null if the agent has no credits"),
    tier: LIFE.shape.vitals.shape.tier,
    runway: z.number().optional().describe("hours for which the balance lasts"),
    asleep: LIFE.shape.asleep,
  }),
  command: { examples: ["credits show sovereign"], opens: "data" },
  run: async ({ runtime }, { agent }, { actor }) => {
    const { credits, vitals, asleep } = await runtime.use(LIFE_API).life(actor, agent);
    const { tier, runway } = vitals;
    return { credits: credits ?? null, tier, ...given("runway", runway), ...given("asleep", asleep) };
  },
  show: ({ credits, tier, runway, asleep }, { style, given: { agent } }) => {
    if (credits === null) return [`${agent} has no credits: strata.yaml does not set \`life: credits\`.`];
    const { toppedUp, spent, lastDay } = credits;
    const hours = runway === undefined ? "nothing was spent in the last day" : `lasts ${number(runway)} hours`;
    return [
      `${style.bold(agent)} has ${dollars(credits.balance)}, ${tier === "Normal" ? tier : style.yellow(tier)}; ${hours}`,
      `${dollars(toppedUp)} topped up, ${dollars(spent)} spent since, ${dollars(lastDay.spent)} in the last ${hoursText(lastDay.hours)}`,
      ...(asleep === undefined ? [] : [style.yellow(sleepsLine(agent, asleep))]),
    ];
  },
});

/** Less than an hour is shown as one. */
const hoursText = (hours: number): string => (hours < 1.5 ? "hour" : `${number(Math.round(hours))} hours`);

/** The largest payment, in US dollars. */
const MOST = 1_000_000;
const SUM = `US dollars other than 0, at most ${number(MOST)}, as in 10 or 0.25`;

const addCredits = operation({
  name: "credits.add",
  does: "Top up the credits; this wakes an agent that sleeps because it has none.",
  may: "operate",
  at: "POST /v1/agents/{agent}/credits",
  takes: OF_AGENT.extend({
    dollars: z
      .number(SUM)
      .refine((sum) => sum !== 0 && Math.abs(sum) <= MOST, SUM)
      .describe("US dollars; to correct a mistake, `-- -5`"),
    note: FIELDS.note.describe("the purpose, for the record").prefault(""),
  }),
  gives: CREDITS,
  command: {
    words: ["dollars"],
    namesAgent: true,
    examples: ['credits add 10 --note "for December"', "credits add -- -5"],
    opens: "data",
  },
  run: ({ runtime }, { agent, ...payment }, { actor }) => runtime.use(LIFE_API).topUp(actor, agent, payment),
  show: (credits, { given: { agent } }) => [`${agent} has ${dollars(credits.balance)} now.`],
});

const payments = operation({
  name: "credits.list",
  does: "List the payments that topped up the agent's credits, newest first.",
  may: "read",
  at: "GET /v1/agents/{agent}/payments",
  takes: LIST_OF_AGENT,
  gives: PAYMENTS.extend(NEXT),
  list: "payments",
  command: { examples: ["credits list"], opens: "record" },
  run: async ({ runtime }, { agent, limit, after }, { actor }) => {
    const found = await runtime.use(LIFE_API).topUps(actor, agent, limit, after);
    return { payments: found, ...nextAfter(found, limit, ({ id }) => ({ at: id })) };
  },
  show: ({ payments: found }, { style, given: { agent } }) =>
    found.length === 0 ? [`Nobody has topped up ${agent}.`] : paymentLines(found, style),
});

/** The state of an agent that lives by itself, its funds, and its own turns. */
export const OPERATIONS: readonly Operation[] = [showLife, tick, balance, addCredits, payments];

type Payment = Awaited<ReturnType<LifeApi["topUps"]>>[number];

const COLUMNS = [
  { head: "when (UTC)" },
  { head: "dollars", right: true },
  { head: "by" },
  { head: "note", least: 20, wraps: true },
] as const;

function paymentLines(found: readonly Payment[], style: Style): readonly string[] {
  const rows = found.map(({ at, dollars: paid, by, byId = by, note }) => [
    minute(at),
    dollars(paid),
    byId,
    oneLine(note),
  ]);
  return table(COLUMNS, rows, style);
}

/** Why no turn of an agent begins, and what wakes it. */
export const sleepsLine = (agent: string, asleep: string): string =>
  `${agent} sleeps, because ${asleep}: \`strata credits add DOLLARS ${agent}\` wakes it`;

function lifeLines(life: LifeAnswer, style: Style): readonly string[] {
  const { agent, vitals, since, because, credits, asleep, nextTick } = life;
  const { state, tier, balance: sum, runway, wallet, turn, at } = vitals;
  const lasting = since === undefined ? "" : ` since ${isoSecond(since)}`;
  const why = because === undefined ? "" : style.yellow(`, because ${printable(because)}`);
  return [
    `${style.bold(agent)} is ${state}${lasting}${why}`,
    `tier     ${tier === "Normal" ? tier : style.yellow(tier)}`,
    ...(sum === undefined ? [] : [`balance  ${dollars(sum)}${lasts(runway)}`]),
    ...(credits === undefined ? [] : [`credits  ${paid(credits)}`]),
    ...(wallet === undefined ? [] : [`account  ${wallet}${heldBalance(vitals)}`]),
    `turns    ${number(turn)}`,
    ...(nextTick === undefined ? [] : [`next     a turn of its own${whenDue(nextTick, at)}`]),
    ...(asleep === undefined ? [] : [style.yellow(sleepsLine(agent, asleep))]),
  ];
}

const lasts = (runway: number | undefined): string =>
  runway === undefined ? "" : `, which lasts ${number(runway)} hours at the rate of the last day`;

const whenDue = (due: number, now: number): string =>
  due > now ? ` at ${isoSecond(due)}` : ", due now: `strata start` or `strata life tick` runs it";

const paid = ({ toppedUp, spent }: NonNullable<LifeAnswer["credits"]>): string =>
  `${dollars(toppedUp)} topped up, ${dollars(spent)} spent since`;

const WEI = 10n ** 18n;

function heldBalance({ native, unread, at: now }: LifeAnswer["vitals"]): string {
  const why = unread === undefined ? "" : `; ${unreadLine(unread, now)}`;
  if (native === undefined) return `, its balance was never read${why}`;
  const wei = BigInt(native.wei);
  const ether = `${wei / WEI}.${String(wei % WEI).padStart(18, "0")}`.replace(/\.?0+$/, "");
  return `, ${ether} in its native coin, read ${ago(now - native.at)}${why}`;
}

/** Why an account could not be read. */
export const unreadLine = ({ because, at }: NonNullable<LifeAnswer["vitals"]["unread"]>, now: number): string =>
  `tried ${ago(now - at)}: ${printable(because)}`;
