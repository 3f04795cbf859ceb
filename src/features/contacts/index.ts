/** Contacts, the people outside: operations on all of a contact's data at once. */
import { z } from "zod";
import type { Feature } from "../feature.ts";
import { FIELDS, list } from "../fields.ts";
import { operation } from "../operation.ts";
import { CONTACT_API, contactApi, EXPORT, NOT_FOUND } from "./export.ts";

export { CONTACT_API };

const erase = operation({
  name: "contact.erase",
  does: "Erase a contact, for one agent or for all: texts, memories, files and the name itself. This cannot be undone; counts and costs stay under a pseudonym.",
  may: "operate",
  at: "DELETE /v1/contacts/{contact}",
  takes: z.strictObject({ contact: FIELDS.contact, agent: FIELDS.agent.optional() }),
  gives: z.object({ contact: z.string(), erased: list(z.string()).describe("the agents that knew them") }),
  command: {
    words: ["contact"],
    confirm:
      "this deletes everything stored about a contact for good, and nothing was erased yet; run `strata backup` first if you may need it again",
    examples: ["contact erase ann --yes"],
    opens: "record",
  },
  run: async ({ runtime }, { contact, agent }, { actor }) => ({
    contact,
    erased: await runtime.erase(actor, { contact, agent }),
  }),
  show: ({ contact, erased }) => {
    const name = JSON.stringify(contact);
    if (erased.length === 0) return [`Nothing was known of ${name}; nothing was erased.`];
    return [
      `Erased ${name}, whom ${erased.join(", ")} knew: texts, memories, files and name are gone; counts and costs stay under a pseudonym.`,
    ];
  },
});

export const FEATURE: Feature = {
  name: "contacts",
  open: () => ({ api: ({ parts }) => CONTACT_API.open(contactApi(parts)) }),
  operations: [erase, EXPORT],
  errors: [NOT_FOUND],
};
