import { z } from "zod";
import { count } from "../../print/index.ts";
import {
  type AgentName,
  type Allowed,
  authorize,
  type ContactId,
  type ContactScope,
  errorKind,
} from "../../protocol/index.ts";
import type { ContactRow } from "../../store/index.ts";
import { accessTo, featureApi, knownScope, type Parts, recordAct, recordedAgents } from "../../turn/index.ts";
import { FIELDS } from "../fields.ts";
import { fileOperation } from "../operation.ts";

/** Which agent's data is wanted: one agent's, or everyone's. */
interface Wanted {
  readonly contact: ContactId;
  readonly agent: AgentName | undefined;
}

/** Something that is kept of a contact: a row of the record, or the path of a file in the contact's workspace. */
export type ExportedRow = { readonly agent: AgentName } & (ContactRow | { readonly file: string });

/** What concerns a contact as a whole. */
export interface ContactApi {
  /**
   * Everything that an erasure would blank or remove, also at agents that were called for the contact, except what turns of several senders
   * sent. The access is recorded. @throws StrataError `not_allowed`, `agent_not_found`, `contact_not_found` if nothing is kept
   */
  everything(actor: Allowed<"operate">, wanted: Wanted): AsyncGenerator<ExportedRow>;
}

/** The functions of contacts, as `runtime.use` gives them. */
export const CONTACT_API = featureApi<ContactApi>("contacts");

export const NOT_FOUND = errorKind("contact_not_found", {
  status: 404,
  exit: 3,
  retry: false,
  message: "nothing is kept of a contact of that name",
});

export const contactApi = (parts: Parts): ContactApi => ({
  async *everything(actor, { contact, agent }) {
    const scopes = new Map<AgentName, ContactScope>();
    for (const name of await recordedAgents(parts, actor, agent)) {
      const scope = await knownScope(parts, { org: actor.org, agent: name, contact });
      for (const one of [scope, ...(await parts.store.calledFrom(scope))]) scopes.set(one.agent, one);
    }
    // All is allowed before anything is written: half an export would look like a whole one.
    for (const scope of scopes.values()) authorize(actor, scope);
    let isKnown = false;
    for (const scope of scopes.values()) {
      for await (const one of keptOf(parts, actor, scope)) {
        isKnown = true;
        yield one;
      }
    }
    if (!isKnown) {
      const where = agent === undefined ? "" : ` by ${agent}`;
      const message = `nothing is kept${where} of a contact ${JSON.stringify(contact)}; look for the name with \`strata thread list\` or \`GET /v1/threads\``;
      throw NOT_FOUND.of(message, { contact });
    }
  },
});

/** Rows per read. */
const STEP = 500;

async function* keptOf(parts: Parts, actor: Allowed<"operate">, scope: ContactScope): AsyncGenerator<ExportedRow> {
  const { agent } = scope;
  let isKnown = false;
  for (let step = await parts.store.contactRows(scope, STEP); ; ) {
    isKnown ||= step.rows.length > 0;
    for (const { table, row } of step.rows) yield { agent, table, row };
    if (step.next === undefined) break;
    step = await parts.store.contactRows(scope, STEP, step.next);
  }
  for (const file of await parts.filesOf(scope)) yield { agent, file };
  if (isKnown) await recordAct(accessTo(parts, actor, agent), "export contact", "everything");
}

export const EXPORT = fileOperation({
  name: "contact.export",
  does: "Write everything that is kept of a contact, as erasing would remove it, as JSON lines: each row of the record with its texts ({agent, table, row}), and the path of each file ({agent, file}). Agents that were called for the contact are among them; what a turn of several senders sent to the model is not, for it holds the words of others. This access is recorded. What was said alone is written by `strata export --as CONTACT`.",
  may: "operate",
  at: "GET /v1/contacts/{contact}/export",
  takes: z.strictObject({ contact: FIELDS.contact, agent: FIELDS.agent.optional() }),
  types: ["application/jsonl"],
  command: { words: ["contact"], examples: ["contact export ann --out ann.jsonl"], opens: "record" },
  write: async ({ runtime }, { contact, agent }, { actor }) => {
    const tally = { lines: 0 };
    const all = runtime.use(CONTACT_API).everything(actor, { contact, agent });
    // Read before the answer begins: if nothing is kept, that is the answer.
    const first = await all.next();
    async function* lines(): AsyncGenerator<string> {
      for (let next = first; next.done !== true; next = await all.next()) {
        tally.lines++;
        yield `${JSON.stringify(next.value)}\n`;
      }
    }
    return {
      type: "application/jsonl",
      text: lines(),
      summary: (file) => [`${count(tally.lines, "line")} written${file === undefined ? "" : ` to ${file}`}.`],
    };
  },
});
