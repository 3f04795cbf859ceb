import type { Command } from "commander";
import type { App } from "../../app.ts";
import {
  APPROVAL_STATUSES,
  type Approval,
  type ApprovalStatus,
  agentName,
  approvalId,
  asStrataError,
  isoSecond,
  StrataError,
  suggestion,
  untrusted,
} from "../../protocol/index.ts";
import type { Context } from "../shell/context.ts";
import { type OfAgent, ofAgent, withName } from "../shell/on-agent.ts";
import { wholeNumber } from "../shell/options.ts";
import { inRecord, inSession, type Session } from "../shell/session.ts";
import { setIn } from "../shell/set-in.ts";
import { count, type Style } from "../shell/style.ts";
import { jsonTeller, plainTeller } from "../shell/teller.ts";

interface Listing extends OfAgent {
  readonly status: string;
  readonly limit: number;
}

interface Deciding {
  readonly note?: string;
}

/** `strata approval …`: calls of tools that wait for a person's word. */
export function declareApproval(program: Command, context: Context): void {
  const approval = program
    .command("approval")
    .description("list the tool calls that wait for a person, approve, deny and settle them")
    .addHelpText("after", "\nExample:\n  $ strata approval list");
  declareList(approval, context);
  declareShow(approval, context);
  for (const decider of DECIDERS) declareDecide(approval, context, decider);
}

function declareList(parent: Command, context: Context): void {
  ofAgent(parent.command("list"), "all agents")
    .description("list the calls, the newest first")
    .option("--status <status>", `${APPROVAL_STATUSES.join(", ")}, open (waiting or approved), or all`, "open")
    .option("--limit <n>", "at most so many", wholeNumber(1, 1_000), 20)
    .addHelpText("after", "\nExample:\n  $ strata approval list --status all")
    .action((named: string | undefined, given: Listing, command: Command) => {
      const options = withName(named, given);
      const statuses = statusesOf(options.status);
      return inRecord(context, command, async ({ app, json }) => {
        const found = await approvalsOf(app, options, statuses);
        if (json) return context.json(found);
        if (found.length === 0)
          return context.say(statuses.includes("waiting") ? "No call waits." : "There is no such call.");
        context.say(
          ...found.flatMap((one) => lines(one, context.style)),
          context.style.dim(count(found.length, "call")),
          ...(found.some(({ status }) => status === "waiting") ? [DECIDING] : []),
        );
      });
    });
}

const DECIDING = "`strata approval approve ID` runs one, `strata approval deny ID` refuses it.";

function approvalsOf(
  { runtime, operator }: App,
  { agent, limit }: Listing,
  statuses: readonly ApprovalStatus[],
): Promise<readonly Approval[]> {
  const of = agent === undefined ? {} : { agent: agentName(agent) };
  return runtime.newestApprovals(operator, { ...of, statuses, limit });
}

/** What a person may have to do something about: calls that wait, and those whose end is not known. */
const OPEN: readonly ApprovalStatus[] = ["waiting", "approved"];

function statusesOf(text: string): readonly ApprovalStatus[] {
  if (text === "all") return APPROVAL_STATUSES;
  if (text === "open") return OPEN;
  const known = APPROVAL_STATUSES.find((status) => status === text);
  if (known !== undefined) return [known];
  const near = suggestion(text, [...APPROVAL_STATUSES, "open", "all"]);
  throw new StrataError("invalid_input", `no call has the status ${JSON.stringify(text)}${near}`, { status: text });
}

function declareShow(parent: Command, context: Context): void {
  parent
    .command("show")
    .description("show one call: what was asked for, who decided, what came of it")
    .argument("<id>", "the call, apr_…")
    .addHelpText("after", "\nExample:\n  $ strata approval show apr_01jd8k3v5x9m2q7r4t6w8y0zab")
    .action((text: string, _options: unknown, command: Command) => {
      const id = approvalId(text);
      return inRecord(context, command, async ({ app, json }) => {
        const found = await app.runtime.approval(app.operator, id);
        if (json) context.json(found);
        else context.say(...lines(found, context.style));
      });
    });
}

interface Decider {
  readonly name: "approve" | "deny" | "settle";
  readonly verdict: "approved" | "denied" | "settled";
  readonly says: string;
  readonly note: string;
  /** What stands in the example behind the call. */
  readonly more?: string;
}

const DECIDERS: readonly Decider[] = [
  {
    name: "approve",
    verdict: "approved",
    says: "run a waiting call now, and let the agent tell what came of it",
    note: "a word for the record",
  },
  {
    name: "deny",
    verdict: "denied",
    says: "refuse a waiting call, and let the agent tell it",
    note: "why; the agent is told",
  },
  {
    name: "settle",
    verdict: "settled",
    says: "say what came of an approved call whose end is not known, and let the agent tell it",
    note: "what you found when you looked; the agent is told",
    more: ' --note "the money was paid back"',
  },
];

function declareDecide(parent: Command, context: Context, { name, verdict, says, note, more = "" }: Decider): void {
  const command = parent.command(name).description(says).argument("<id>", "the call, apr_…");
  const noted =
    verdict === "settled" ? command.requiredOption("--note <text>", note) : command.option("--note <text>", note);
  noted
    .addHelpText("after", `\nExample:\n  $ strata approval ${name} apr_01jd8k3v5x9m2q7r4t6w8y0zab${more}`)
    .action((text: string, { note }: Deciding, command: Command) => {
      const id = approvalId(text);
      return inSession(context, command, async (session) => {
        const { runtime, operator } = session.app;
        const { signal } = context.terminal;
        const told = note === undefined ? {} : { note: untrusted(note) };
        const approval = await runtime.decide(operator, id, { verdict, signal, ...told });
        if (session.json) context.json(approval);
        else context.say(...lines(approval, context.style));
        await tellOn(context, session, approval);
      });
    });
}

/** The turn in which the agent hears of it. */
async function tellOn(context: Context, { app, json }: Session, { thread: id }: Approval): Promise<void> {
  const { runtime, operator } = app;
  const thread = await runtime.thread(operator, id);
  const tell = json ? jsonTeller(context) : plainTeller(context);
  const { signal } = context.terminal;
  // Whoever pressed Ctrl-C wants no turn; what there is to tell waits for the next.
  if (signal.aborted) return context.fail(asStrataError(signal.reason));
  for await (const event of runtime.run(operator, thread, { signal })) {
    tell(event);
    if (event.type === "failed") context.fail(event.error);
  }
}

function lines(approval: Approval, style: Style): readonly string[] {
  const { id, scope, tool, input, status, askedAt, note, outcome, decidedBy } = approval;
  const by = decidedBy === undefined ? "" : ` by the ${decidedBy}`;
  const isOpen = status === "approved";
  const head = `${id} · ${scope.agent} with ${scope.contact} · ${isoSecond(askedAt)} · ${status}${by}`;
  return [
    ...setIn(head, { first: "", more: "    " }, style).map(style.dim),
    ...setIn(JSON.stringify(input), { first: `  ${style.bold(tool)} `, more: "    " }, style),
    ...(note === undefined ? [] : setIn(note, { first: "  note: ", more: "    " }, style)),
    ...(isOpen
      ? [`  no end is recorded: if it does not run just now, look at what it was to change, then ${settling(id)}`]
      : []),
    ...(outcome === undefined ? [] : setIn(outcome.text, { first: `  ${came(outcome)}: `, more: "    " }, style)),
  ];
}

const came = ({ failed }: { readonly failed: boolean }): string => (failed ? "failed" : "answered");

const settling = (id: Approval["id"]): string => `\`strata approval settle ${id} --note TEXT\``;
