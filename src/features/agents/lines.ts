import { z } from "zod";
import { count, minute, number, oneLine, type Style, setIn, shortVersion, table } from "../../print/index.ts";
import {
  type Agent,
  type AgentName,
  type Source,
  type Tainted,
  type ToolName,
  TRUSTS,
  type TurnId,
} from "../../protocol/index.ts";
import { undeliverableLine } from "../deliveries/index.ts";
import { DONE_BY, list, TIME } from "../fields.ts";
import { LIFE, sleepsLine } from "../life/index.ts";
import { HEAD } from "../logs/index.ts";
import { editedTextLines, LAYER, PASSED_OVER, passedOverLines, TEXT_ORIGIN, waitingTextLines } from "../texts/index.ts";

/** Where a layer's content comes from, in a few words. */
export function sourceText(source: Source): string {
  switch (source.kind) {
    case "text":
      return source.file ?? "strata.yaml";
    case "clock":
      return `clock, ${source.timezone}`;
    case "own":
      return source.name;
    default:
      if ("limit" in source) return `${source.kind}, ${count(source.limit, "memory", "memories")}`;
      return "entries" in source ? `${source.kind}, ${count(source.entries, "entry", "entries")}` : source.kind;
  }
}

const COLUMNS = [
  { head: "layer" },
  { head: "rank", right: true },
  { head: "scope" },
  { head: "mutability" },
  { head: "trust" },
  { head: "tokens", right: true },
  { head: "budget", right: true },
  { head: "source", least: 20 },
] as const;

/** The end of "answered by": the model, or code, which may ask it. The model is `none` if there is no prompt to ask it with. */
export function answererSays(model: string, handler: string | undefined): string {
  if (handler === undefined) return model;
  return model === "none" ? `${handler}, without a model` : `${handler}, which may ask ${model}`;
}

/** A declared agent, for people; `shown` adds what was looked up. */
export function declaredLines(shown: z.input<typeof DECLARED>, agent: Agent, style: Style): readonly string[] {
  const { layers, model, guess, problem, file } = shown;
  const { name, version, tools, budgets, output } = agent;
  const rows = layers.map((layer) => [
    layer.id,
    number(layer.rank),
    layer.scope,
    layer.mutability,
    layer.trust,
    layer.tokens === undefined ? "" : number(layer.tokens),
    typeof layer["budget"] === "number" ? number(layer["budget"]) : "",
    layer.source,
  ]);
  const locked = layers.filter(({ mutability }) => mutability === "immutable").length;
  const { modelCalls, toolCalls, seconds, maxCost } = budgets.turn;
  const cost = maxCost === undefined ? "" : `, $${maxCost}`;
  return [
    `${style.bold(name)}, version ${shortVersion(version)}`,
    ...setIn(agent.description, "", style),
    ...shown.attention.map((line) => style.yellow(line)),
    "",
    `declared ${file ?? "in a program"}`,
    ...(agent.handler === undefined
      ? []
      : [`handler  ${agent.handler.file}, caged at the level \`${agent.handler.level}\``]),
    `model    ${model}${problem === undefined ? "" : ` (cannot answer yet: ${problem})`}`,
    ...(agent.embedder === undefined ? [] : [`embedder ${agent.embedder}`]),
    `lock     ${count(locked, "immutable layer")}, unchanged since the lock`,
    `history  ${agent.history}, recall ${agent.recall}, mode ${agent.mode}`,
    `budget   ${count(budgets.total, "token")} in all, ${number(budgets.reply)} of them for the reply`,
    ...(guess === undefined ? [] : [`window   ${style.yellow(guess)}`]),
    `turn     at most ${count(modelCalls, "request")}, ${count(toolCalls, "tool call")}, ${count(seconds, "second")}${cost}`,
    ...(budgets.spend === undefined ? [] : [`spend    ${spendText(budgets.spend)}`]),
    ...livingLines(agent),
    `tools    ${tools.map((tool) => toolText(tool, agent)).join(", ") || "none"}`,
    ...(output === undefined ? [] : [`output   one JSON value that matches ${oneLine(JSON.stringify(output), 2_000)}`]),
    "",
    ...table(COLUMNS, rows, style),
  ];
}

/** How it lives by itself, and its senders: empty for an ordinary agent. */
function livingLines({ life, senders, inbox }: Pick<Agent, "life" | "senders" | "inbox">): readonly string[] {
  const { tick, credits, account } = life ?? {};
  const lives = [
    ...(tick === undefined ? [] : [`every ${count(tick, "minute")} a turn of its own`]),
    ...(credits === undefined ? [] : [`credits low at $${credits.low}, critical at $${credits.critical}`]),
    ...(account === undefined ? [] : [`account ${account.address}`]),
  ];
  return [
    ...(lives.length === 0 ? [] : [`life     ${lives.join("; ")}`]),
    ...(senders === undefined ? [] : ["senders  Ethereum addresses, proven if a message is signed"]),
    ...(inbox === undefined ? [] : ["inbox    batch: a turn may answer several senders"]),
  ];
}

const spendText = ({ dollars, per }: NonNullable<Agent["budgets"]["spend"]>): string =>
  `at most $${dollars} ${per === "ever" ? "ever" : `in each UTC ${per}`}, all turns together`;

const TAINTED_SAYS: Readonly<Record<Tainted, string>> = {
  run: "runs in tainted turns, too",
  ask: "waits for a person in a tainted turn",
  refuse: "is refused in a tainted turn",
};

/** A tool, and what the agent's declaration adds to the tool's own description. */
function toolText(name: ToolName, { rules, defer }: Agent): string {
  const { approval, tainted, calls, seconds } = rules?.find(({ tool }) => tool === name) ?? {};
  const sentence = [
    ...(defer?.includes(name) ? ["deferred"] : []),
    ...(approval === true ? ["waits for a person"] : []),
    ...(tainted === undefined ? [] : [TAINTED_SAYS[tainted]]),
    ...(calls === undefined ? [] : [`at most ${count(calls, "call")} a turn`]),
    ...(seconds === undefined ? [] : [`at most ${count(seconds, "second")} a call`]),
  ];
  return sentence.length === 0 ? name : `${name} (${sentence.join("; ")})`;
}

/** What waits for an operator at an agent, one line for each thing with the next step. */
export function attentionLines(of: Attention): readonly string[] {
  const { agent, undeliverable, asleep } = of;
  return [
    ...personLines(of),
    ...selfChangeLines(of),
    ...passedOverLines(of),
    ...contradictingLines(of),
    ...(asleep === undefined ? [] : [sleepsLine(agent, asleep)]),
    ...unansweredLines(of),
    ...(undeliverable === 0 ? [] : [undeliverableLine(undeliverable, agent)]),
  ];
}

const contradictingLines = ({ agent, contradicting }: Attention): readonly string[] =>
  contradicting === 0
    ? []
    : [
        `${count(contradicting, "lesson")} of ${agent} may contradict each other: \`strata lesson list ${agent}\` shows them, \`strata lesson dismiss ID ${agent}\` ends one`,
      ];

/** The agent's proposals to change itself, and the changes it has made. */
export const selfChangeLines = (of: Attention): readonly string[] => [...waitingTextLines(of), ...editedTextLines(of)];

/** Says that the agent asks for permission. `doctor` has its own line for it. */
export function askedLines({ agent, approvals, decidedWith }: Attention): readonly string[] {
  if (approvals === 0) return [];
  const line = waitingLine(agent, { open: approvals, overdue: 0 }, ["call", "approval"]);
  if (decidedWith === undefined) return [line];
  return [`${line}; ${approvals === 1 ? "it" : "the newest for a member"} is decided with ${decidedWith}`];
}

/** That questions and drafts of an agent wait for a person. */
export const personLines = ({ agent, escalations, drafts }: Attention): readonly string[] => [
  ...(escalations.open === 0 ? [] : [waitingLine(agent, escalations, ["question", "escalation"])]),
  ...(drafts.open === 0 ? [] : [waitingLine(agent, drafts, ["draft", "draft"])]),
];

function waitingLine(
  agent: AgentName,
  { open, overdue }: Attention["drafts"],
  [what, noun]: readonly [string, string],
) {
  const late = overdue === 0 ? "" : ` (${number(overdue)} overdue)`;
  const [waits, them] = open === 1 ? ["waits", "it"] : ["wait", "them"];
  return `${count(open, what)} of ${agent} ${waits} for a person${late}: \`strata ${noun} list ${agent}\` shows ${them}`;
}

/** The agent's report on the newest turn that it began itself, including its question. */
export function ownTurnLines({ agent, ownTurns }: Attention): readonly string[] {
  const [newest] = ownTurns;
  if (newest === undefined) return [];
  const { at, text } = newest;
  const sentence =
    text === undefined ? "it read text of a contact, so its report is not shown here" : `“${oneLine(text, REPORT)}”`;
  return [
    `${agent} reports of its own turn of ${minute(at)}: ${sentence} (\`strata outbox list ${agent}\` has all reports)`,
  ];
}

/** Characters of a report. */
const REPORT = 300;

/** Reports turns that left a sender without a reply. */
export function unansweredLines({ agent, unanswered }: Pick<Attention, "agent" | "unanswered">): readonly string[] {
  const [newest] = unanswered;
  if (newest === undefined) return [];
  const turns = count(unanswered.length, "message of a contact was", "messages of contacts were");
  const shows = `\`strata explain ${newest}\` shows ${unanswered.length === 1 ? "it" : "the newest"}, \`strata turn regenerate ${newest}\` answers it once more`;
  return [`${turns} left unanswered by ${agent}: ${shows}`];
}

// The shapes of answers about agents.

const MODEL = z.string().describe("`provider:name`, or `rehearsal`");
const PROBLEM = z.string().describe("why the model cannot answer now; absent if it can");

export const AGENT = z
  .object({
    name: z.string(),
    version: z.string().describe("digest of everything that the agent declares"),
    description: z.string(),
    model: MODEL,
    handler: z
      .looseObject({ file: z.string(), level: z.string() })
      .optional()
      .describe("the code that answers in place of the model, and the level of its cage"),
    problem: PROBLEM.optional(),
    layers: list(z.string()),
    tools: list(z.string()),
  })
  .meta({ id: "Agent" });

/** A declared layer. Text has its own token count; layers gathered in each turn have none. */
const DECLARED_LAYER = z.looseObject({
  id: z.string(),
  rank: z.number(),
  scope: z.string(),
  mutability: z.string(),
  trust: z.string(),
  source: z.string().describe("the file with its text, or its source"),
  tokens: z.number().optional().describe("for a text in a file or in strata.yaml"),
});

/** A declared agent with all its keys. */
export const DECLARED = z
  .looseObject({
    ...AGENT.shape,
    layers: list(DECLARED_LAYER),
    guess: z.string().optional().describe("that the model's window is a guess, and the key that sets it"),
    file: z.string().optional().describe("the file that declares it; absent if a program does"),
    attention: list(z.string()).describe("what needs an operator, in sentences"),
  })
  .meta({ id: "DeclaredAgent", description: "An agent as it is declared." });

export const ACT = z
  .object({ id: z.number(), role: z.string(), byId: DONE_BY.byId, what: z.string(), about: z.string(), at: TIME })
  .meta({ id: "Act", description: "What an operator did with an agent." });

const WAITING = z.object({ open: z.number(), overdue: z.number().describe("how many of these wait for too long") });

export const ATTENTION = z
  .object({
    agent: z.string(),
    approvals: z.number().describe("calls that wait for a person's decision, at most 100"),
    decidedWith: z
      .string()
      .optional()
      .describe("how the newest of these is decided that waits for another person than an operator"),
    escalations: WAITING.describe("its questions to a person"),
    drafts: WAITING.describe("its replies that wait for a person"),
    proposals: z.number(),
    proposed: list(TEXT_ORIGIN).describe("the oldest 20 of these, with the contact and the trust that they came from"),
    edited: list(TEXT_ORIGIN).describe(
      "what the agent itself made active in the last seven days and nobody has undone",
    ),
    ownTurns: list(
      z.object({
        turn: z.string(),
        at: TIME,
        trust: z.enum(TRUSTS),
        text: z.string().optional().describe("left out if the turn has read text of a contact"),
      }),
    ).describe("what it reported of the last turns that it began itself, at most 5 and seven days old, newest first"),
    displaced: z.number(),
    outdated: z.number(),
    passedOver: list(PASSED_OVER).describe("which edited texts these are"),
    contradicting: z.number().describe("lessons that may contradict another one, where words alone do not decide it"),
    undeliverable: z.number(),
    unanswered: list(z.string()).describe(
      "turns of the last seven days that left their sender without a reply, if nothing was said on their thread since",
    ),
    asleep: z.string().optional().describe("why it sleeps until somebody acts"),
  })
  .meta({ id: "Attention", description: "What of an agent needs an operator." });

/** What needs an operator at an agent. */
export type Attention = Omit<z.output<typeof ATTENTION>, "agent" | "unanswered"> & {
  readonly agent: AgentName;
  /** The newest first. */
  readonly unanswered: readonly TurnId[];
};

export const SNAPSHOT = z
  .object({
    agent: z.object({ name: z.string(), version: z.string(), description: z.string() }),
    layers: list(LAYER),
    life: LIFE.optional(),
    logs: list(HEAD),
    inbox: z.number().describe("how many messages wait"),
    outbox: z.number(),
    undeliverable: z.number(),
  })
  .meta({ id: "Snapshot", description: "Everything about an agent at once." });
