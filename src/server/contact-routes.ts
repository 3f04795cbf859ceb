import { z } from "zod";
import { FIELDS, NOTHING } from "./fields.ts";
import { type Route, route } from "./route.ts";

const erase: Route = route({
  method: "delete",
  url: "/v1/contacts/{contact}",
  says: "Erases a contact: texts, memories, files and the name itself, of one agent or of all. Nothing brings them back; counts and costs stay under a pseudonym.",
  path: z.strictObject({ contact: FIELDS.contact }),
  query: z.strictObject({ agent: FIELDS.agent.optional() }),
  body: NOTHING,
  answer: z.object({ erased: z.array(z.string()).readonly().describe("The agents that knew them.") }),
  handle: async ({ runtime }, { actor, path: { contact }, query: { agent } }) => ({
    erased: await runtime.erase(actor, { contact, agent }),
  }),
});

export const CONTACT_ROUTES: readonly Route[] = [erase];
