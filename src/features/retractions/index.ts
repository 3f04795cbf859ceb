/** Unlearning: taking an event back, with all that came from it. */

import { z } from "zod";
import { count } from "../../print/index.ts";
import { type Allowed, doneBy, type EventId, errorKind, eventId } from "../../protocol/index.ts";
import type { Retracted } from "../../store/index.ts";
import { featureApi, foundIn, isStepCall, type Parts } from "../../turn/index.ts";
import type { Feature } from "../feature.ts";
import { list } from "../fields.ts";
import { operation } from "../operation.ts";

export type { LeftDone, Retracted } from "../../store/index.ts";

/** Characters of a reason. */
const LONGEST_REASON = 500;

export const NOT_FOUND = errorKind("event_not_found", {
  status: 404,
  exit: 3,
  retry: false,
  message: "no event of that id is in reach, or it was retracted already",
});

/** Retractions. */
export interface RetractionApi {
  /**
   * Retracts an event with all that came from it. What a program derives is computed again without it; what a model wrote is removed, and
   * the next summary or digest writes it again. Running turns of the contact end as failed, and their messages wait.
   * @throws StrataError `event_not_found`
   */
  retract(actor: Allowed<"operate">, id: EventId, reason: string): Promise<Retracted>;
}

/** The functions of retractions, as `runtime.use` gives them. */
export const RETRACTION_API = featureApi<RetractionApi>("retractions");

const retractionApi = (parts: Parts): RetractionApi => ({
  retract: async (actor, id, reason) => {
    const { store, clock } = parts;
    const found = await foundIn(parts, actor, (scope) => store.event(scope, id));
    const done =
      found === undefined || found.isRetracted
        ? undefined
        : await store.retractEvent(found.scope, id, { ...doneBy(actor), reason, at: clock.recorded() });
    if (done !== undefined) return { ...done, left: done.left.filter(({ name }) => !isStepCall(name)) };
    const why = found === undefined ? "is not in reach" : "was retracted before";
    throw NOT_FOUND.of(
      `event ${id} ${why}; \`strata turn show TURN\` or \`GET /v1/turns/TURN\` names a turn's events`,
      {
        event: id,
      },
    );
  },
});

const ID = "evt_01jd8k3v5x9m2q7r4t6w8y0zab";

const retract = operation({
  name: "event.retract",
  does: "Retract an event: its words, the turns that handled it, and all that came from it. Memories, lessons and the search index are worked out again without it; summaries, learning versions and proposals that a model made of it go. This cannot be undone; the record keeps the digests.",
  may: "operate",
  at: "POST /v1/events/{id}/retract",
  takes: z.strictObject({
    id: z.string().describe("an event, evt_…; `strata turn show TURN` names those of a turn").transform(eventId),
    reason: z
      .string()
      .max(LONGEST_REASON)
      .regex(/\S/, "a text that says something")
      .describe("why; it is kept with the record"),
  }),
  gives: z.object({
    event: z.string(),
    thread: z.string(),
    turns: list(z.string()).describe("turns whose messages no later request shows"),
    memories: z.number().describe("how many memories went"),
    texts: z.number().describe("how many texts of the record went"),
    versions: list(z.object({ layer: z.string(), n: z.number() })).describe("versions of the agent's texts that went"),
    left: list(z.object({ what: z.enum(["reply", "call"]), name: z.string(), turn: z.string() })).describe(
      "what was done outside and is not undone: replies that somebody has, by their ids, and calls of tools, by their names",
    ),
  }),
  command: {
    words: ["id"],
    confirm:
      "this takes the event back for good, with all that came from it, and nothing was retracted yet; run `strata backup` first if you may need it again",
    examples: [`event retract ${ID} --reason "sent to the wrong agent" --yes`],
    opens: "record",
  },
  run: ({ runtime }, { id, reason }, { actor }) => runtime.use(RETRACTION_API).retract(actor, id, reason),
  show: ({ event, turns, memories, texts, versions, left }) => [
    `Retracted ${event}: ${count(turns.length, "turn")}, ${count(memories, "memory", "memories")} and ${count(texts, "text")} went with it.`,
    ...versions.map(({ layer, n }) => `Version ${n} of ${layer} was made from it, and is gone.`),
    ...left.map(({ what, name, turn }) =>
      what === "reply"
        ? `Not undone: the reply ${name} of ${turn} was delivered.`
        : `Not undone: ${turn} called ${name}, which acts outside.`,
    ),
  ],
});

export const FEATURE: Feature = {
  name: "retractions",
  open: () => ({ api: ({ parts }) => RETRACTION_API.open(retractionApi(parts)) }),
  operations: [retract],
  errors: [NOT_FOUND],
};
