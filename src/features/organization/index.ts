/** The organization for which agents speak: its profile, its hours, its members, its lines, and signatures below its messages. */

import { z } from "zod";
import { oneLine, printable, table } from "../../print/index.ts";
import { type Agent, StrataError } from "../../protocol/index.ts";
import type { OutgoingStep, TurnSetup, TurnSteps } from "../../turn/index.ts";
import type { LiveSource } from "../../turn/sources/index.ts";
import { OUTBOX_STORE } from "../deliveries/index.ts";
import type { Feature } from "../feature.ts";
import { given, list, OF_AGENT, TIME } from "../fields.ts";
import { operation } from "../operation.ts";
import { KEYS, type StoredBusiness } from "./config.ts";
import { openingAt } from "./hours.ts";
import {
  filled,
  identityText,
  identityTexts,
  lineOf,
  lineText,
  memberFor,
  openingText,
  signatureOf,
} from "./identity.ts";

/** The layers of the prefix: the same for all conversations of the agent. */
const withIdentity = (setup: TurnSetup): TurnSetup => ({
  ...setup,
  texts: new Map([...(setup.texts ?? []), ...identityTexts(setup.agent)]),
});

/** It changes by the hour and by the message, so it is in the tail. */
const openingNow =
  (agent: Agent): LiveSource =>
  async (_layer, { at, events }) => {
    const line = lineOf(agent, events);
    const opening = agent.business && openingText(agent.business, at);
    const said = [opening, line && lineText(agent, line)].filter((one) => one !== undefined);
    return filled(said.join("\n"), "no hours are declared, and no line was named");
  };

/** Adds the signature to what is sent, once. */
const SIGNING: OutgoingStep = {
  by: "signature",
  applies: ({ business, signature = {} }, { channel }) =>
    business !== undefined && (signature[channel] ?? "never") !== "never",
  outgoing: async ({ setup: { agent }, lease: { claim }, parts }, { text, to, waits }) => {
    const { business, signature = {} } = agent;
    const { channel, scope } = claim.thread;
    // In a turn of several senders, each has a separate conversation.
    const { thread, events } = claim.batchMembers?.find((one) => one.thread.scope.contact === to) ?? claim;
    const member = memberFor(agent, lineOf(agent, events));
    if (business === undefined || member === undefined || waits) return undefined;
    const signed = signatureOf(business, member);
    if (text.trimEnd().endsWith(signed)) return undefined;
    if (signature[channel] === "first") {
      const owner = { org: scope.org, agent: scope.agent };
      const [earlier] = await parts.store.part(OUTBOX_STORE).mail(owner, { thread: thread.id, limit: 1 });
      if (earlier !== undefined) return undefined;
    }
    return { text: `${text.trimEnd()}\n\n${signed}`, told: false };
  },
};

const steps: TurnSteps = {
  setup: async (_parts, setup) => (setup.agent.business === undefined ? setup : withIdentity(setup)),
  sources: (_parts, agent) => (agent.business === undefined ? {} : { opening: openingNow(agent) }),
  outgoing: SIGNING,
};

/** The business of an agent. @throws StrataError `invalid_input` if it speaks for none */
function businessOf({ name, business }: Agent): StoredBusiness {
  if (business !== undefined) return business;
  const message = `${name} speaks for no organization: strata.yaml has no \`business\` for it`;
  throw new StrataError("invalid_input", message, { agent: name });
}

const organization = operation({
  name: "organization.show",
  does: "Show for which organization an agent speaks, what its prompt says of it, and whether it is open now.",
  may: "read",
  at: "GET /v1/agents/{agent}/organization",
  takes: OF_AGENT,
  gives: z
    .object({
      name: z.string(),
      timezone: z.string(),
      identity: z.string().describe("what a layer with `source: identity` says"),
      open: z.boolean().optional().describe("whether it is open now; absent if no hours are declared"),
      changes: TIME.optional().describe("when that changes"),
      message: z.string().optional().describe("what the agent is told about it now"),
    })
    .meta({ id: "Organization" }),
  command: { examples: ["organization show"], opens: "data" },
  run: async ({ runtime, clock }, { agent: name }, { actor }) => {
    const agent = runtime.agent(actor, name);
    const business = businessOf(agent);
    const { timezone = "UTC", hours } = business;
    const now = clock.real();
    const opening = hours && openingAt(hours, timezone, now);
    return {
      name: business.name,
      timezone,
      identity: identityText(agent, business),
      ...given("open", opening?.isOpen),
      ...given("changes", opening?.changes),
      ...given("message", openingText(business, now)),
    };
  },
  show: ({ identity, message }) =>
    [...identity.split("\n"), ...(message === undefined ? [] : ["", message])].map(printable),
});

const MEMBER = z
  .object({
    id: z.string(),
    name: z.string(),
    title: z.string().optional(),
    language: z.string().optional(),
    signature: z.string().describe("what stands below the member's messages"),
  })
  .meta({ id: "Member" });

const members = operation({
  name: "member.list",
  does: "List the people of the organization for which an agent speaks, with their signatures.",
  may: "read",
  at: "GET /v1/agents/{agent}/members",
  takes: OF_AGENT,
  gives: z.object({ members: list(MEMBER), represented: z.string().optional().describe("for whom the agent writes") }),
  list: "members",
  command: { examples: ["member list"], opens: "data" },
  run: async ({ runtime }, { agent: name }, { actor }) => {
    const agent = runtime.agent(actor, name);
    const business = businessOf(agent);
    const all = Object.entries(business.members ?? {}).map(([id, member]) => ({
      id,
      name: member.name,
      ...given("title", member.title),
      ...given("language", member.language),
      signature: signatureOf(business, member),
    }));
    return { members: all, ...given("represented", agent.represents) };
  },
  show: ({ members: all, represented }, { style, given: { agent } }) =>
    all.length === 0
      ? [`\`business\` of ${agent} declares no \`members\`.`]
      : table(
          [{ head: "id" }, { head: "name" }, { head: "title" }, { head: "signature" }],
          all.map(({ id, name, title = "", signature }) => [
            id === represented ? `${id} (represented)` : id,
            printable(name),
            printable(title),
            oneLine(signature),
          ]),
          style,
        ),
});

const LINE = z
  .object({
    id: z.string(),
    name: z.string(),
    address: z.string().optional(),
    member: z.string().optional().describe("who answers there"),
  })
  .meta({ id: "Line" });

const listOrganizationLines = operation({
  name: "line.list",
  does: "List the lines to which contacts of an agent write, and who answers there.",
  may: "read",
  at: "GET /v1/agents/{agent}/lines",
  takes: OF_AGENT,
  gives: z.object({ lines: list(LINE) }),
  list: "lines",
  command: { examples: ["line list"], opens: "data" },
  run: async ({ runtime }, { agent: name }, { actor }) => {
    const agent = runtime.agent(actor, name);
    return {
      lines: Object.entries(businessOf(agent).lines ?? {}).map(([id, line]) => ({
        id,
        name: line.name,
        ...given("address", line.address),
        ...given("member", line.member ?? agent.represents),
      })),
    };
  },
  show: ({ lines: all }, { style, given: { agent } }) =>
    all.length === 0
      ? [`\`business\` of ${agent} declares no \`lines\`.`]
      : table(
          [{ head: "id" }, { head: "name" }, { head: "address" }, { head: "member" }],
          all.map(({ id, name, address = "", member = "" }) => [id, printable(name), printable(address), member]),
          style,
        ),
});

export { identityTexts, isOpenAt, lineNamed } from "./identity.ts";

export const FEATURE: Feature = {
  name: "organization",
  needs: ["deliveries"],
  keys: KEYS,
  steps,
  operations: [organization, members, listOrganizationLines],
};
