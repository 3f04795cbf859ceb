/** Limits on how often models are called, and on the cost, for keys, agents, contacts and the organization. */
import { z } from "zod";
import { dollars, minute, number, oneLine, table } from "../../print/index.ts";
import { SPEND_PERIODS } from "../../protocol/index.ts";
import type { Feature } from "../feature.ts";
import { FIELDS, given, list, TIME } from "../fields.ts";
import { operation } from "../operation.ts";
import { LIMITS_API, type LimitView, limitsApi } from "./api.ts";
import { KEYS } from "./config.ts";
import { LIMIT_REACHED } from "./errors.ts";
import { limitSteps } from "./steps.ts";
import { KINDS, LIMITS_STORE } from "./store.ts";

export {
  COUNTED_BY,
  LIMITS_API,
  type LimitsApi,
  type LimitsWish,
  type LimitView,
  type SpendLimit,
  spendLimitOf,
} from "./api.ts";

const LIMIT = z
  .object({
    kind: z.enum(KINDS).describe("who has the limit"),
    agent: z.string().optional(),
    contact: z.string().optional(),
    name: z.string().optional().describe("of a key or a group"),
    calls: z
      .object({ most: z.number(), used: z.number(), left: z.number() })
      .optional()
      .describe("calls of a model within the last 60 seconds"),
    dollars: z
      .object({
        most: z.number(),
        per: z.enum(SPEND_PERIODS),
        spent: z.number(),
        reserved: z.number().describe("for calls under way: the most that they can cost"),
        left: z.number(),
        until: TIME.optional().describe("when the next period begins; left out, never"),
      })
      .optional(),
  })
  .meta({ id: "Limit" });

type LimitRow = z.output<typeof LIMIT>;

const limits = operation({
  name: "limit.list",
  does: "List the limits of calls and money: what is used of each, what is left, and until when.",
  may: "read",
  at: "GET /v1/limits",
  takes: z.strictObject({
    agent: FIELDS.agent.optional(),
    contact: FIELDS.contact.optional().describe("whose own limit is listed as well"),
    key: z.string().min(1).max(200).optional().describe("the key whose own limit and groups are listed as well"),
  }),
  gives: z.object({ limits: list(LIMIT) }),
  list: "limits",
  command: { examples: ["limit list", "limit list companion --as ann --json"], opens: "data" },
  run: async ({ runtime }, { agent, ...wish }, { actor }) => {
    const agents = agent === undefined ? runtime.agents(actor) : [runtime.agent(actor, agent)];
    return { limits: (await runtime.use(LIMITS_API).limits(actor, agents, wish)).map(limitRow) };
  },
  show: ({ limits: rows }, { style }) =>
    rows.length === 0
      ? [
          "No limit is listed. Those of a contact, or of a key and its groups, are shown if `--as` or `--key` names one; `limits` in strata.yaml sets them.",
        ]
      : table(
          COLUMNS,
          rows.map((row) => cells(row)),
          style,
        ),
});

export const FEATURE: Feature = {
  name: "limits",
  keys: KEYS,
  errors: [LIMIT_REACHED],
  operations: [limits],
  store: LIMITS_STORE,
  open: () => ({ steps: limitSteps(), api: ({ turnParts }) => LIMITS_API.open(limitsApi(turnParts)) }),
};

function limitRow({ kind, agent, contact, name, allowed: { calls, money }, used }: LimitView): LimitRow {
  const word = (text: string): string | undefined => (text === "" ? undefined : text);
  return {
    kind,
    ...given("agent", word(agent)),
    ...given("contact", word(contact)),
    ...given("name", word(name)),
    ...(calls !== undefined && { calls: { most: calls, used: used.calls, left: Math.max(0, calls - used.calls) } }),
    ...(money !== undefined && {
      dollars: {
        most: money.dollars,
        per: money.per,
        spent: used.spent,
        reserved: used.held,
        left: Math.max(0, money.dollars - used.spent - used.held),
        ...given("until", money.until),
      },
    }),
  };
}

const COLUMNS = [
  { head: "limit of" },
  { head: "who" },
  { head: "calls", right: true },
  { head: "a minute", right: true },
  { head: "spent", right: true },
  { head: "reserved", right: true },
  { head: "of", right: true },
  { head: "until (UTC)" },
] as const;

function cells({ kind, agent, contact, name, calls, dollars: money }: LimitRow): readonly string[] {
  const who = [name, contact, agent].flatMap((one) => one ?? []).map((word) => oneLine(word));
  return [
    kind,
    who.join(" of "),
    ...(calls === undefined ? ["", ""] : [number(calls.used), number(calls.most)]),
    ...(money === undefined
      ? ["", "", "", ""]
      : [
          dollars(money.spent),
          dollars(money.reserved),
          `${dollars(money.most)}${money.per === "ever" ? "" : ` a ${money.per}`}`,
          money.until === undefined ? "" : minute(money.until),
        ]),
  ];
}
