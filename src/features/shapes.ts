import { z } from "zod";
import {
  CACHE_USES,
  EDIT_ENDS,
  EVENT_STATUSES,
  type Json,
  MODES,
  PROOFS,
  TRUSTS,
  TURN_STATUSES,
  WAITS_FOR,
} from "../protocol/index.ts";
import { list, TIME } from "./fields.ts";

// The shapes of answers, as in the OpenAPI document. They are those of `--json` on the command line.

const TRUST = z.enum(TRUSTS);
const PARTS = list(z.unknown()).describe("Parts: texts, pictures, files.");
const MODEL = z.string().describe("`provider:name`, or `rehearsal`.");
const LINK = z.object({ org: z.string(), seq: z.number(), hash: z.string().nullable() });
const SCOPE = z.object({ org: z.string(), agent: z.string(), contact: z.string() });

export const THREAD = z
  .object({
    id: z.string(),
    scope: SCOPE,
    channel: z.string(),
    key: z.string(),
    version: z.string().optional().describe("The agent version it is pinned to; a contact does not learn it."),
    forkedFrom: z.object({ thread: z.string(), turn: z.string().nullable() }).optional(),
    createdAt: TIME,
    lastActivity: TIME,
    turns: z.number(),
    caller: z
      .object({ thread: z.string(), agent: z.string(), call: z.string() })
      .optional()
      .describe("The open call that it answers: on which thread of which agent."),
    parties: z
      .object({ initiator: z.string(), target: z.string() })
      .optional()
      .describe("Who asks here and who answers, where one agent asks another."),
  })
  .meta({ id: "Thread" });

/** Described as any value: OpenAPI has no description of the recursive form. */
const JSON_VALUE: z.ZodType<Json> = z.any();

export const SLOT = z
  .object({
    thread: z.string(),
    index: z.number(),
    turn: z.string().describe("the turn that took it up, or said it"),
    from: z.string(),
    to: z.string(),
    role: TRUST.describe("what the sender is: a contact may have the name of an agent, or of a role"),
    kind: z.string(),
    text: z.string(),
    payload: JSON_VALUE.optional().describe("the JSON that was sent; left out, words were"),
    payloadType: z.string().optional(),
    at: TIME,
  })
  .meta({ id: "Slot", description: "One entry of a thread's history: what was said, without any prompt." });

export const PROOF = z
  .enum(PROOFS)
  .describe("If senders are addresses: whether a signature proves that the message is theirs.");

export const EVENT = z
  .object({
    id: z.string(),
    thread: z.string(),
    seq: z.number(),
    status: z.enum(EVENT_STATUSES),
    turn: z.string().optional().describe("The turn that handled it."),
    kind: z.string(),
    trust: TRUST,
    channel: z.string(),
    externalId: z.string().optional(),
    proof: PROOF.optional(),
    name: z.string().optional(),
    number: z.string().optional().describe("Where the sender wrote from, as the channel says."),
    line: z.string().optional().describe("The line of the organization that it came to."),
    content: PARTS,
    at: TIME,
  })
  .meta({ id: "Event" });

const ENTRY = z.object({
  section: z.string().describe("A layer's id, or `tools`, `transcript`, `message`."),
  place: z.enum(["tools", "system", "transcript", "message", "tail"]),
  fate: z.enum(["kept", "truncated", "lined", "dropped", "empty"]),
  because: z.string().optional(),
  rank: z.number().optional(),
  scope: z.string().optional(),
  trust: TRUST,
  tokens: z.number(),
  wanted: z.number().describe("Its tokens before it was cut."),
  version: z.string().optional(),
  items: z
    .object({
      shown: z.number(),
      of: z.number(),
      left: list(z.object({ because: z.string(), items: z.number() }))
        .optional()
        .describe("What its source found but left out."),
      memories: list(z.string()).optional().describe("Memories that are frozen at the start of the transcript."),
      because: z.string().optional(),
    })
    .optional(),
  parts: list(
    z.object({
      name: z.string(),
      fate: z.enum(["kept", "truncated", "dropped", "empty"]),
      because: z.string().optional(),
      tokens: z.number(),
      digest: z.string().optional().describe("Of its text before the budget cut anything."),
    }),
  )
    .optional()
    .describe("The files or skills that its text is made of."),
});

const LEDGER = z
  .object({
    mode: z.enum(MODES),
    epoch: z.object({ n: z.number(), reason: z.string(), opened: z.boolean(), cut: z.number() }),
    entries: list(ENTRY),
    tokens: z.number(),
    limit: z.number(),
    cutting: z
      .object({
        ...{ at: z.number(), keep: z.number(), each: z.number() },
        ...{ due: z.literal(true).optional(), because: z.string().optional() },
      })
      .optional()
      .describe("When it will be cut: above `at` tokens, down to `keep`; a turn adds `each`; `due`: by the next turn."),
    caches: list(z.object({ layer: z.string(), use: z.enum(CACHE_USES) }))
      .optional()
      .describe("How layers that are read from disk came by their texts: `stale` ones are read anew behind the turn."),
    refused: z
      .object({ changed: z.string().nullable() })
      .optional()
      .describe("Sent a second time, because the provider reported that earlier text had changed: a bug in Strata."),
    compare: z
      .string()
      .nullable()
      .optional()
      .describe("Of a request without a complete answer: with which answer the provider was asked to compare it."),
  })
  .meta({ id: "Ledger", description: "Each section of a request: its cost, and its fate (kept, cut or left out)." });

/** Tokens as a provider bills them. */
export const TOKENS = z.object({
  input: z.number(),
  cacheRead: z.number(),
  cacheWrite: z.number(),
  cacheWriteLong: z.number().optional().describe("The part of `cacheWrite` with the long lifetime."),
  cacheUnknown: z
    .literal(true)
    .optional()
    .describe("The provider reports nothing about its cache: `cacheRead` and `cacheWrite` are 0 and say nothing."),
  output: z.number(),
});

const TOTALS = z.object({
  modelCalls: z.number(),
  toolCalls: z.number(),
  usage: TOKENS,
  dollars: z.number(),
  milliseconds: z.number(),
});

const DIAGNOSIS = z
  .object({
    found: z
      .enum(["same", "changed", "pending", "forgotten", "unavailable", "refused"])
      .describe(
        "`same`: the request continues the thread's newest answer; `changed`: `reason` tells what differs; `pending`: not known yet; `forgotten`: it no longer knows that answer; `unavailable`: it cannot tell; `refused`: it does not accept the question.",
      ),
    reason: z.string().optional().describe("The provider's own word, such as `system_changed`."),
    missed: z.number().optional().describe("Tokens that were not read because of it, as reported."),
  })
  .describe("Why the provider's cache missed, as the provider says. Absent if it was not asked or did not say.");

const REPLY = z
  .object({
    parts: PARTS,
    finish: z.string(),
    usage: TOKENS.describe("As the provider reported it."),
    capped: z
      .literal(true)
      .optional()
      .describe("Strata ended the stream, because it went on beyond the requested length."),
    id: z.string().optional().describe("The provider's id of the answer, if it can be asked why its cache missed."),
    compared: z
      .string()
      .nullable()
      .optional()
      .describe("The answer with which the provider compared the request; null if there was none."),
    diagnosis: DIAGNOSIS.optional(),
    estimated: TOKENS.optional().describe("What it is billed by if the reported usage is missing or impossible."),
  })
  .nullable();

const SENT = {
  n: z.number(),
  ledger: LEDGER,
  taint: TRUST.describe("The lowest trust of everything that was sent."),
  prediction: z
    .object({ read: z.number(), write: z.number(), writeLong: z.number(), input: z.number() })
    .optional()
    .describe("The tokens that were expected to be billed, predicted before the call."),
  reply: REPLY.describe("Absent if no complete answer came."),
  dollars: z.number(),
  at: TIME,
  milliseconds: z.number(),
};

const BECAUSE = z
  .string()
  .describe(
    "Why it ended: `answered`, the model finished by itself; `length`, the longest reply was reached; `refused` by the model or its provider's filter; `modelCalls`, `toolCalls`, `maxCost` or `credits`, that limit was reached; `recording ended` in a replay.",
  );

/** A call that a turn left open. */
export const OPEN_CALL = z.object({
  id: z.string(),
  call: z.string().describe("The model's own id for it, which may repeat."),
  tool: z.string(),
  waitsFor: z
    .enum(WAITS_FOR)
    .describe("Who answers: another agent, the program that talks with the agent, or a person."),
  keeps: z.boolean().describe("Whether other messages wait until it is answered."),
  due: TIME.optional().describe("From then on it is answered with a sentence."),
  reserved: z
    .object({
      modelCalls: z.number(),
      toolCalls: z.number(),
      dollars: z.exactOptional(z.number()),
      seconds: z.exactOptional(z.number()),
    })
    .optional()
    .describe("What it may use of the limits of its run."),
});

const END = z.union([
  z.object({
    status: z.literal("done"),
    stop: BECAUSE,
    reply: z.string().nullable().describe("Null if the sender got none."),
  }),
  z
    .object({
      status: z.literal("waiting"),
      reply: z.string().nullable().describe("What the sender was told meanwhile, if anything."),
      calls: list(OPEN_CALL),
    })
    .describe("Calls are open whose answers come later; the next turn of the same run goes on with them."),
  z.object({ status: z.literal("failed"), code: z.string(), message: z.string() }),
]);

export const TURN = z
  .object({
    id: z.string(),
    thread: z.string(),
    scope: SCOPE,
    seq: z.number(),
    status: z.enum(TURN_STATUSES),
    run: z.string().describe("The first turn of its run: the turns from a message to its final answer."),
    attempt: z.number(),
    end: END.optional(),
    version: z.string(),
    model: MODEL.optional(),
    wire: MODEL.optional(),
    mode: z.enum(MODES).optional(),
    startedAt: TIME,
    endedAt: TIME.optional(),
    totals: TOTALS.optional(),
    steps: z
      .object({
        answered: z
          .object({
            by: list(z.string()),
            taint: TRUST,
            interrupted: z.literal(true).optional(),
            failed: z.literal(true).optional(),
          })
          .optional(),
        outgoing: list(
          z.object({
            by: z.string(),
            did: z.enum(["changed", "withheld"]),
            because: z.string().optional(),
            drafted: z.literal(true).optional(),
            told: z.literal(true).optional(),
          }),
        ).optional(),
      })
      .optional()
      .describe("Which features answered in place of the model, and which changed or withheld the reply."),
    requests: list(
      z.object({
        ...SENT,
        epoch: z.number(),
        base: z.number(),
        own: z.number(),
        breakpoints: list(z.unknown()),
        parameters: z.unknown(),
      }),
    ),
    events: list(EVENT),
    edits: list(z.object({ layer: z.string(), part: z.string().optional(), n: z.number(), became: z.enum(EDIT_ENDS) }))
      .optional()
      .describe(
        "The texts that it edited; `overtaken`: became a proposal, because another text was changed before the turn ended.",
      ),
    batch: z
      .string()
      .optional()
      .describe("The thread of the turn that handled these messages with those of other senders."),
    senders: list(z.object({ thread: z.string(), turn: z.string() }))
      .optional()
      .describe("For a turn with several senders: their turns, with what each of them wrote and received."),
    link: LINK.optional().describe("Its link in the organization's chain."),
  })
  .meta({ id: "Turn", description: "A turn as recorded." });

const NEUTRAL = z
  .unknown()
  .describe("The request, neutral to providers: prefix, messages, tail, breakpoints, parameters.");

export const EXPLAINED = z
  .object({ turn: z.string(), ...SENT, wire: MODEL, request: NEUTRAL, tokens: z.number() })
  .meta({ id: "ExplainedRequest" });

export const COMPOSED = z
  .object({
    agent: z.object({ name: z.string(), version: z.string() }),
    model: MODEL,
    wire: MODEL,
    request: NEUTRAL,
    ledger: LEDGER,
    taint: TRUST,
    tokens: z.number(),
  })
  .meta({ id: "Composed", description: "The request that would be sent. Nothing was sent or stored." });

export const DONE = z
  .object({
    type: z.literal("done"),
    turn: z.string(),
    text: z.string().describe("Everything that the agent said."),
    because: BECAUSE,
    message: z.string().optional().describe("Why, in a sentence, if a feature's limit was reached: `credits`."),
    unanswered: z.number().optional().describe("How many senders got no reply; absent if each has one."),
    withheld: z
      .string()
      .optional()
      .describe("Why what the agent said was sent to nobody, such as a draft; absent for a contact."),
    drafted: z
      .literal(true)
      .optional()
      .describe("What the agent said was not sent: a person decides whether something is, and that comes later."),
    totals: TOTALS.optional().describe("Absent for a contact."),
  })
  .meta({ id: "Done", description: "The last event of a successful turn." });

/** A call whose answer comes later. */
export const AWAITED = z.object({
  id: z.string(),
  waitsFor: z.enum(WAITS_FOR),
  tool: z.string().optional().describe("Absent for a contact."),
  due: TIME.optional(),
});

export const WAITING = z
  .object({
    type: z.literal("waiting"),
    turn: z.string(),
    text: z.string().describe("What the agent said meanwhile."),
    calls: list(AWAITED),
    totals: TOTALS.optional().describe("Absent for a contact."),
  })
  .meta({
    id: "Waiting",
    description: "The last event of a turn that waits: its run goes on when these calls are answered.",
  });

/** @param codes those of the core and of all features */
export const errorShape = (codes: readonly string[]) =>
  z
    .object({
      error: z.object({
        code: z.enum(codes),
        message: z.string().describe("A sentence with the value and the next step."),
        details: z.record(z.string(), z.unknown()).optional(),
        retry: z.boolean().describe("Whether the same request may succeed later."),
      }),
    })
    .meta({ id: "Error" });
