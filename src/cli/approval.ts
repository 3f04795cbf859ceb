import type { Command } from "commander";
import type { App } from "../app.ts";
import {
  APPROVAL_STATUSES,
  type Approval,
  type ApprovalStatus,
  approvalId,
  isoSecond,
  StrataError,
  suggestion,
  untrusted,
} from "../protocol/index.ts";
import type { Context } from "./context.ts";
import { wholeNumber } from "./options.ts";
import { chosenAgents, inRecord, inSession, type Session } from "./session.ts";
import { count, printable, type Style } from "./style.ts";
import { jsonTeller, plainTeller } from "./teller.ts";

interface Listing {
  readonly agent?: string;
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
    .description("list the tool calls that wait for a person, approve and deny them")
    .addHelpText("after", "\nExample:\n  $ strata approval list");
  declareList(approval, context);
  declareShow(approval, context);
  declareDecide(approval, context, {
    name: "approve",
    verdict: "approved",
    says: "run a waiting call now, and let the agent tell what came of it",
  });
  declareDecide(approval, context, {
    name: "deny",
    verdict: "denied",
    says: "refuse a waiting call, and let the agent tell it",
  });
}

function declareList(parent: Command, context: Context): void {
  parent
    .command("list")
    .description("list the calls, the newest first")
    .option("--agent <name>", "of this agent only (default: all agents)")
    .option("--status <status>", `${APPROVAL_STATUSES.join(", ")}, or all`, "waiting")
    .option("--limit <n>", "at most so many", wholeNumber(1, 1_000), 20)
    .addHelpText("after", "\nExample:\n  $ strata approval list --status all")
    .action((options: Listing, command: Command) => {
      const status = statusOf(options.status);
      return inRecord(context, command, async ({ app, json }) => {
        const found = await approvalsOf(app, options, status);
        if (json) return context.json(found);
        if (found.length === 0) return context.say(status === "waiting" ? "No call waits." : "There is no such call.");
        context.say(
          ...found.flatMap((one) => lines(one, context.style)),
          context.style.dim(count(found.length, "call")),
        );
      });
    });
}

async function approvalsOf(
  app: App,
  { agent, limit }: Listing,
  status: ApprovalStatus | undefined,
): Promise<readonly Approval[]> {
  const { runtime, operator } = app;
  const all = chosenAgents(app, agent).map(({ org, name }) =>
    runtime.approvals(operator, { org, agent: name, contact: null }, status === undefined ? {} : { status }, limit),
  );
  return (await Promise.all(all))
    .flat()
    .sort((a, b) => b.askedAt - a.askedAt)
    .slice(0, limit);
}

function statusOf(text: string): ApprovalStatus | undefined {
  if (text === "all") return undefined;
  const known = APPROVAL_STATUSES.find((status) => status === text);
  if (known !== undefined) return known;
  const near = suggestion(text, [...APPROVAL_STATUSES, "all"]);
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
  readonly name: "approve" | "deny";
  readonly verdict: "approved" | "denied";
  readonly says: string;
}

function declareDecide(parent: Command, context: Context, { name, verdict, says }: Decider): void {
  parent
    .command(name)
    .description(says)
    .argument("<id>", "the call, apr_…")
    .option("--note <text>", verdict === "denied" ? "why; the agent is told" : "a word for the record")
    .addHelpText("after", `\nExample:\n  $ strata approval ${name} apr_01jd8k3v5x9m2q7r4t6w8y0zab`)
    .action((text: string, { note }: Deciding, command: Command) => {
      const id = approvalId(text);
      return inSession(context, command, async (session) => {
        const { runtime, operator } = session.app;
        const told = note === undefined ? {} : { note: untrusted(note) };
        const approval = await runtime.decide(operator, id, { verdict, ...told });
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
  for await (const event of runtime.run(operator, thread, { signal: context.terminal.signal })) {
    tell(event);
    if (event.type === "failed") context.fail(event.error);
  }
}

function lines(approval: Approval, style: Style): readonly string[] {
  const { id, scope, tool, input, status, askedAt, note, outcome, decidedBy } = approval;
  const by = decidedBy === undefined ? "" : ` by the ${decidedBy}`;
  return [
    style.dim(`${id} · ${scope.agent} with ${printable(scope.contact)} · ${isoSecond(askedAt)} · ${status}${by}`),
    `  ${style.bold(tool)} ${printable(JSON.stringify(input))}`,
    ...(note === undefined ? [] : [`  note: ${printable(note)}`]),
    ...(outcome === undefined ? [] : [`  ${outcome.failed ? "failed" : "answered"}: ${printable(outcome.text)}`]),
  ];
}
