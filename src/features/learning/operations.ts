import { z } from "zod";
import { count, type Style, setIn, table } from "../../print/index.ts";
import { isoSecond, StrataError } from "../../protocol/index.ts";
import { FIELDS, given, list, NO_REASON, OF_AGENT, TIME, whole } from "../fields.ts";
import { type Operation, operation } from "../operation.ts";
import { LEARNING_API } from "./api.ts";
import { reportLines } from "./gate/index.ts";
import { GATE_REPORT } from "./gate.ts";
import type { Version } from "./versions.ts";

const VERSION = z
  .object({
    n: z.number(),
    status: z.string().describe("`kept`, or `proposed` while it waits for an operator"),
    active: z.boolean().describe("whether new conversations begin with it"),
    at: TIME,
    reason: z.string(),
    inputs: z.string().describe("the lowest trust of what it was made from"),
    rules: list(
      z.object({
        text: z.string(),
        stale: z.boolean().describe("what it names of the organization has changed since: it is not sent"),
      }),
    ),
    lessons: list(z.string()).describe("the lessons that were folded into it"),
    guard: z.string().optional().describe("why the guard wants a person to look at it"),
    judged: z.string().optional().describe("what was said of it before anybody was asked"),
    report: GATE_REPORT.optional(),
  })
  .meta({ id: "LearningVersion" });

const NUMBER = whole(1, 1_000_000_000).describe("a version's number");
const ONE = OF_AGENT.extend({ version: NUMBER });
const AT = "/v1/agents/{agent}/learning";

const listVersions = operation({
  name: "learning.list",
  does: "List the learning versions of an agent that are on offer, and those that wait for an operator, the newest first: 20 at most.",
  may: "read",
  at: `GET ${AT}`,
  takes: OF_AGENT,
  gives: z.object({ versions: list(VERSION) }),
  list: "versions",
  command: { examples: ["learning list"], opens: "data" },
  run: async ({ runtime }, { agent }, { actor }) => ({
    versions: await runtime.use(LEARNING_API).versions(actor, agent),
  }),
  show: ({ versions }, { style, given: { agent } }) =>
    versions.length === 0
      ? [`${agent} has no learning version yet.`]
      : [...versions.flatMap((one) => learningLines(one, style)), style.dim(count(versions.length, "version"))],
});

const showVersion = operation({
  name: "learning.show",
  does: "Show one learning version: its rules, the lessons behind them, and how it was judged.",
  may: "read",
  at: `GET ${AT}/{version}`,
  takes: ONE,
  gives: VERSION,
  command: { words: ["version"], examples: ["learning show 2"], opens: "data" },
  run: async ({ runtime }, { agent, version }, { actor }) => {
    const all = await runtime.use(LEARNING_API).versions(actor, agent);
    const found = all.find(({ n }) => n === version);
    if (found !== undefined) return found;
    const message = `version ${version} of ${agent}'s learning is not on offer; \`strata learning list\` shows those that are`;
    throw new StrataError("text_not_found", message, { agent, n: version });
  },
  show: ({ report, judged, ...version }, { style }) => [
    // The report says it, too.
    ...learningLines({ ...version, ...(report === undefined && judged !== undefined && { judged }) }, style),
    ...(version.lessons.length === 0 ? [] : [`  lessons: ${version.lessons.join(", ")}`]),
    ...(report === undefined ? [] : reportLines(report, style).map((line) => `  ${line}`)),
  ],
});

const decideVersion = (verdict: "approved" | "rejected") =>
  operation({
    name: verdict === "approved" ? "learning.approve" : "learning.reject",
    does:
      verdict === "approved"
        ? "Approve a learning version that waits: new conversations begin with it, and running ones keep theirs."
        : "Reject a learning version that waits: its rules are remembered, and not proposed again.",
    may: "operate",
    at: `POST ${AT}/{version}/${verdict === "approved" ? "approve" : "reject"}`,
    takes: ONE.extend({
      reason: FIELDS.reason,
      over: whole(0, 1_000_000_000)
        .optional()
        .describe("the active version that it replaces, if it was written for another"),
    }),
    gives: z.object({ version: z.number(), verdict: z.string() }),
    command: {
      words: ["version"],
      examples: [`learning ${verdict === "approved" ? "approve" : "reject"} 2 --reason "looked at it"`],
      usual: NO_REASON,
      opens: "data",
    },
    run: async ({ runtime }, { agent, version: n, reason, over }, { actor }) => {
      await runtime.use(LEARNING_API).decideVersion(actor, agent, { n, verdict, reason, ...given("over", over) });
      return { version: n, verdict };
    },
    show: ({ version }) => [
      verdict === "approved"
        ? `Version ${version} is active: new conversations begin with it.`
        : `Version ${version} was rejected; it stays in the record.`,
    ],
  });

const rollback = operation({
  name: "learning.rollback",
  does: "Go back to the learning version that was active before, or to one on offer: new conversations begin with it.",
  may: "operate",
  at: `POST ${AT}/rollback`,
  takes: OF_AGENT.extend({ version: NUMBER.optional(), reason: FIELDS.reason }),
  gives: z.object({ from: z.number().nullable(), to: z.number().nullable() }),
  command: { words: ["version"], examples: ['learning rollback --reason "too curt"'], usual: NO_REASON, opens: "data" },
  run: async ({ runtime }, { agent, version, reason }, { actor }) => {
    const { from, to } = await runtime.use(LEARNING_API).rollBack(actor, agent, version, reason);
    return { from, to };
  },
  show: ({ to }) => [
    to ? `Version ${to} is active: new conversations begin with it.` : "No learning version is active.",
  ],
});

const digestNow = operation({
  name: "learning.digest",
  does: "Let the agent's model fold new lessons into a learning version now, try it, and put it before an operator.",
  may: "operate",
  at: `POST ${AT}/digest`,
  takes: OF_AGENT,
  gives: z.object({
    outcome: z.enum(["nothing", "refused", "proposed", "active"]),
    because: z.string(),
    turn: z.string().optional(),
    version: z.number().optional(),
    report: GATE_REPORT.optional(),
  }),
  command: { examples: ["learning digest"], opens: "everything" },
  run: ({ runtime }, { agent }, { actor, signal, progress }) =>
    runtime.use(LEARNING_API).digest(actor, agent, { signal, progress }),
  show: ({ outcome, because, version }, { agentWords }) => [
    outcome === "nothing"
      ? `Nothing was digested: ${because}.`
      : version === undefined
        ? `What the model wrote is refused: ${because}.`
        : outcome === "active"
          ? `Version ${version} is active: ${because}.`
          : `Version ${version} waits: \`strata learning show ${version}${agentWords}\` shows it, \`strata learning approve ${version}${agentWords}\` makes it active.`,
  ],
  faults: ({ outcome }) => (outcome === "refused" ? [new StrataError("text_refused", "nothing was proposed")] : []),
});

const rate = operation({
  name: "learning.rate",
  does: "Show how many of an agent's drafts people changed in substance, by the learning version in their requests.",
  may: "read",
  at: `GET ${AT}/rate`,
  takes: OF_AGENT,
  gives: z.object({
    rates: list(
      z.object({
        version: z.number().describe("0: without one"),
        drafts: z.number().describe("about which somebody decided"),
        edited: z.number().describe("changed in substance"),
        rate: z.number().describe("the one divided by the other"),
      }),
    ),
  }),
  list: "rates",
  command: { examples: ["learning rate"], opens: "data" },
  run: async ({ runtime }, { agent }, { actor }) => ({ rates: await runtime.use(LEARNING_API).rates(actor, agent) }),
  show: ({ rates }, { style }) =>
    rates.length === 0
      ? ["Nobody has decided about a draft yet."]
      : table(
          [
            { head: "version" },
            { head: "drafts", right: true },
            { head: "edited", right: true },
            { head: "rate", right: true },
          ],
          rates.map((one) => [
            one.version === 0 ? "none" : String(one.version),
            String(one.drafts),
            String(one.edited),
            `${Math.round(100 * one.rate)} %`,
          ]),
          style,
        ),
});

function learningLines(
  { n, status, active, at, reason, rules, guard, judged }: Version,
  style: Style,
): readonly string[] {
  const head = `version ${n} · ${active ? "active" : status} · ${isoSecond(at)}`;
  return [
    style.bold(head),
    ...setIn(reason, { first: "  ", more: "  " }, style),
    ...rules.flatMap(({ text, stale }) =>
      setIn(stale ? `${text} (stale, not sent)` : text, { first: "  - ", more: "    " }, style),
    ),
    ...(guard === undefined ? [] : setIn(guard, { first: "  guard: ", more: "    " }, style)),
    ...(judged === undefined ? [] : setIn(judged, { first: "  judged: ", more: "    " }, style)),
  ];
}

export const VERSION_OPERATIONS: readonly Operation[] = [
  listVersions,
  showVersion,
  decideVersion("approved"),
  decideVersion("rejected"),
  rollback,
  digestNow,
  rate,
];
