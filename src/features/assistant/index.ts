/**
 * Assistants: agents that serve members of the organization, each in separate conversations, with tools that act with the member's rights.
 */

import { z } from "zod";
import {
  type Actor,
  type Agent,
  type ContactId,
  type LayerContent,
  StrataError,
  trusted,
} from "../../protocol/index.ts";
import type { Outside, TurnSteps } from "../../turn/index.ts";
import type { LiveSource } from "../../turn/sources/index.ts";
import { APPROVAL, APPROVAL_API, approvalLines, failureOf } from "../approvals/index.ts";
import type { Feature } from "../feature.ts";
import { FIELDS } from "../fields.ts";
import { operation } from "../operation.ts";
import { KEYS } from "./config.ts";
import { ASSISTANT_STORE } from "./store.ts";
import { operationTools } from "./tools.ts";
import { serving } from "./wording.ts";

/** Whether these are words of the member themself: an operator may speak for anybody. */
function isMember({ role, id, contact: own }: Actor, contact: ContactId): boolean {
  if (role === "platform" || role === "operator") return true;
  return role === "member" && (id === `member:${contact}` || own === contact);
}

/**
 * A member's own conversation: only the member begins it or writes there.
 * @throws StrataError `not_allowed`
 */
async function admit(_: unknown, { agent, scope: { contact }, actor }: Outside): Promise<void> {
  const { assistant, name } = agent;
  if (assistant === undefined) return;
  if (Object.hasOwn(assistant.members, contact) && isMember(actor, contact)) return;
  const whom = Object.keys(assistant.members).join(", ");
  const message = `${name} is the assistant of ${whom}: each of them talks with it as the contact of their own id, with a member's key for that contact`;
  throw new StrataError("not_allowed", message, { agent: name, contact });
}

const served =
  ({ assistant, business }: Agent): LiveSource =>
  async (_layer, { scope: { contact } }): Promise<LayerContent> => {
    const member = assistant && Object.hasOwn(assistant.members, contact) ? business?.members?.[contact] : undefined;
    if (member === undefined) return { kind: "empty", because: "the conversation is no member's" };
    return { kind: "text", text: trusted(serving(member.name, member.title)) };
  };

const STEPS: TurnSteps = { admit, sources: (_parts, agent) => ({ member: served(agent) }) };

const ID = "apr_01jd8k3v5x9m2q7r4t6w8y0zab";

/** A member's decision about a call of their own assistant, after seeing what it would do. */
const decideOwnCall = (verdict: "approved" | "denied") => {
  const verb = verdict === "approved" ? "confirm" : "deny";
  return operation({
    name: `assistant.${verb}`,
    does:
      verdict === "approved"
        ? "Confirm what your own assistant wants to do: it is done now, once, with your rights."
        : "Deny what your own assistant wants to do: it is not done, and the assistant reads so.",
    may: "decide",
    at: `POST /v1/assistant-calls/{id}/${verb}`,
    takes: z.strictObject({
      id: FIELDS.approval,
      note: FIELDS.note.describe("a note; the assistant reads it").optional(),
    }),
    gives: APPROVAL,
    command: { words: ["id"], examples: [`assistant ${verb} ${ID}`], opens: "everything" },
    run: ({ runtime }, { id, note }, { actor, signal }) =>
      runtime
        .use(APPROVAL_API)
        .decideOwn(
          actor,
          id,
          { verdict, signal, ...(note !== undefined && { note }) },
          ({ scope: { agent, contact } }) => {
            const { assistant } = runtime.agent(actor, agent);
            if (assistant !== undefined && isMember(actor, contact)) return;
            const message = `${id} is no call of your own assistant: ask an operator to decide about it`;
            throw new StrataError("not_allowed", message, { approval: id });
          },
        ),
    show: (approval, { style }) => approvalLines(approval, style),
    faults: verdict === "approved" ? failureOf : () => [],
  });
};

export const FEATURE: Feature = {
  name: "assistant",
  needs: ["approvals"],
  keys: KEYS,
  steps: STEPS,
  operationTools,
  store: ASSISTANT_STORE,
  operations: [decideOwnCall("approved"), decideOwnCall("denied")],
};
