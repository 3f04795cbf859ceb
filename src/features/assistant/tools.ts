import { z } from "zod";
import {
  type Actor,
  type Agent,
  actorId,
  agentName,
  allow,
  asStrataError,
  contactId,
  didYouMean,
  type Json,
  lowestTrust,
  may,
  OUTSIDE_KINDS,
  PROGRAM,
  StrataError,
  suggestion,
  type Tool,
  type ToolContext,
  type ToolOutcome,
  toolName,
} from "../../protocol/index.ts";
import { callerOf } from "../../turn/index.ts";
import { answeredAs, refused, refusedAs, type ToolFamily } from "../../turn/tools/index.ts";
import { mcpTool, type OperationAccess } from "../mcp.ts";
import type { Operation } from "../operation.ts";
import { DO, toolOf } from "./config.ts";
import {
  AGENT_FIELD,
  asMember,
  CONTACT_FIELD,
  contactWanted,
  MUST_ASK,
  nobodyServed,
  notDone,
  OTHERS_WROTE,
  outOfReach,
} from "./wording.ts";

type Offered = Extract<Operation, { readonly kind: "value" | "series" }>;

/** Operations that a member may do and that answer with one value: only these become tools. */
const isOffered = (operation: Operation): operation is Offered =>
  (operation.kind === "value" || operation.kind === "series") &&
  operation.at !== undefined &&
  may({ role: "member" }, operation.may);

const isReading = ({ at }: Operation): boolean => at?.method === "get";

/** A tool for each operation that a member may do: the declaration chooses which of them an assistant has. */
export const operationTools = (access: OperationAccess): ToolFamily => ({
  prefix: DO,
  tool: (name) => {
    const offered = access.list.filter(isOffered);
    const found = offered.find((one) => toolOf(one.name) === `${DO}${name}`);
    if (found !== undefined) return operationTool(found, access);
    const operation = name.replace("_", ".");
    const near = nearestOf(
      operation,
      offered.map((one) => one.name),
    );
    const message = `no operation that a member may do is named ${operation}${near}`;
    throw new StrataError("tool_not_found", message, { name: `${DO}${name}` });
  },
});

/** What was meant; else those about the same thing, or all. */
function nearestOf(operation: string, names: readonly string[]): string {
  const akin = names.filter((one) => one.split(".")[0] === operation.split(".")[0]);
  return didYouMean(operation, names) || suggestion(operation, akin.length > 0 ? akin : names);
}

/** Fields that narrow the reach, beside the operation's own. */
const REACH = {
  agent: z.string().min(1).max(64).describe(AGENT_FIELD),
  contact: z.string().min(1).max(200).optional().describe(CONTACT_FIELD),
};

const GIVEN = z.looseObject(REACH);

function operationTool(operation: Offered, access: OperationAccess): Tool {
  const { description, inputSchema } = mcpTool(operation);
  const { $schema: _, properties, ...reach } = z.toJSONSchema(z.strictObject(REACH), { io: "input" });
  const required = [...new Set([...inputSchema.required, ...(reach.required ?? [])])];
  const input = { ...inputSchema, properties: { ...inputSchema.properties, ...properties }, required };
  const schema = { name: toolName(toolOf(operation.name)), description: asMember(description), input };
  return {
    // Made of JSON alone.
    schema: JSON.parse(JSON.stringify(schema)),
    // An operation commits by itself, outside of the turn.
    effect: isReading(operation) ? "none" : "external",
    trust: "contact",
    // Law 6: an outsider's message may have led to the call, so a person must approve it first.
    // What is out of reach is not asked for: it runs, and is refused.
    tainted: (given, scope) => (isReading(operation) || !isReached(access, given, scope) ? "run" : "ask"),
    decidedWith: (id) =>
      `\`strata assistant confirm ${id}\` or \`strata assistant deny ${id}\`, or \`POST /v1/assistant-calls/${id}/confirm\``,
    check: (given) => {
      const { error } = GIVEN.safeParse(given);
      return error && `${schema.name} takes a JSON object with \`agent\``;
    },
    run: (given, context) => perform(operation, access, { given, context }),
  };
}

interface Performing {
  readonly given: Json;
  readonly context: ToolContext;
}

/** Performs it as the member: the operations table says what they may do, the declaration how far they reach. */
async function perform(
  operation: Offered,
  access: OperationAccess,
  { given, context }: Performing,
): Promise<ToolOutcome> {
  const world = access.world();
  const { org, agent: self, contact } = context.scope;
  const platform = allow({ org, id: PROGRAM, role: "platform" }, "operate");
  const member = memberOf(world.runtime.agent(platform, self), context);
  if (member === undefined) return refused(notDone(nobodyServed(contact)));
  // A running turn holds its messages; after it, the record does.
  const turn = callerOf(context);
  const { events } = turn === undefined ? await world.runtime.turn(platform, context.turn) : turn.lease.claim;
  const others = events.filter(({ kind }) => OUTSIDE_KINDS.some((one) => one === kind));
  if (lowestTrust(["member", ...others.map(({ trust }) => trust)]) !== "member") return refused(notDone(OTHERS_WROTE));
  // Whatever the declaration says of the tool: approved calls run between two turns, and no others.
  const actor = actorFor(member, { org, contact }, GIVEN.parse(given));
  if ("problem" in actor) return refused(notDone(actor.problem));
  const isTainted = lowestTrust([context.taint, "agent"]) !== "agent";
  if (isTainted && !isReading(operation) && turn !== undefined) return refused(notDone(MUST_ASK));
  const values = ownFields(operation, given);
  try {
    const naming = { whole: "the input", field: (name: string) => `\`${name}\`` };
    // What a person confirmed is that person's act, within the member's reach.
    const approvedBy = isReading(operation) ? undefined : context.approvedBy;
    const call = {
      actor: { ...actor, ...approvedBy },
      signal: context.signal,
      progress: (message: string) => context.progress(message),
    };
    const { json } = await operation.run(world, { values, naming }, call);
    return answeredAs("contact", JSON.stringify(json));
  } catch (thrown) {
    return refusedAs("contact", notDone(asStrataError(thrown).message));
  }
}

function isReached(access: OperationAccess, given: Json, scope: ToolContext["scope"]): boolean {
  const platform = allow({ org: scope.org, id: PROGRAM, role: "platform" }, "operate");
  const member = memberOf(access.world().runtime.agent(platform, scope.agent), { scope });
  return member !== undefined && !("problem" in actorFor(member, scope, GIVEN.parse(given)));
}

type Member = NonNullable<Agent["assistant"]>["members"][string];

const memberOf = ({ assistant }: Agent, { scope: { contact } }: Pick<ToolContext, "scope">): Member | undefined =>
  assistant !== undefined && Object.hasOwn(assistant.members, contact) ? assistant.members[contact] : undefined;

/** The member, narrowed to the agent, and to the contact if their reach is limited; or why that is out of reach. */
function actorFor(
  { agents, contacts }: Member,
  { org, contact: id }: Pick<ToolContext["scope"], "org" | "contact">,
  { agent, contact }: z.output<typeof GIVEN>,
): Actor | { readonly problem: string } {
  const reached = agents.find((one) => one === agent);
  if (reached === undefined) return { problem: outOfReach(agent, agents.join(", ")) };
  const known = contacts?.find((one) => one === contact);
  if (contacts !== undefined && known === undefined) return { problem: contactWanted(contacts.join(", ")) };
  const base = { org, id: actorId(`member:${id}`), role: "member", agent: agentName(reached) } as const;
  return known === undefined ? base : { ...base, contact: contactId(known) };
}

/** Without the fields that only narrow the reach: the operation takes its own fields and no others. */
const ownFields = ({ takes }: Operation, given: Json): Readonly<Record<string, unknown>> =>
  Object.fromEntries(Object.entries(Object(given)).filter(([name]) => !(name in REACH) || name in takes.shape));
