import { z } from "zod";
import {
  LAYER_SCOPES,
  MOVE_KINDS,
  MUTABILITIES,
  SEEN_STATES,
  SURVIVAL_TIERS,
  TEXT_STATUSES,
  TRUSTS,
} from "../protocol/index.ts";
import { EVENT, PROOF } from "./answers.ts";

// The shapes of answers about an agent's texts, conversations, life and mail.

const list = <T extends z.ZodType>(item: T) => z.array(item).readonly();
const TIME = z.number().describe("Milliseconds since 1970.");
const TRUST = z.enum(TRUSTS);
const KEY = { layer: z.string(), part: z.string().optional().describe("A skill, in the layer that holds skills.") };

const PASSED_OVER = z.object({ ...KEY, n: z.number(), state: z.enum(["displaced", "outdated"]) }).meta({
  id: "PassedOver",
  description:
    "An edited text. `displaced`: not sent, for its layer was locked, or declared with another rank or source, or not at all, since. `outdated`: sent, and its declared text is another by now.",
});

export const LAYER = z
  .object({
    id: z.string(),
    rank: z.number(),
    mutability: z.enum(MUTABILITIES).describe("`immutable`: nobody changes it while it runs."),
    scope: z.enum(LAYER_SCOPES),
    trust: TRUST,
    text: z.string().optional().describe("What is sent of it now; none where it is filled anew each turn."),
    characters: z.number().optional(),
    version: z.number().optional().describe("The active version; 0 is the declared text."),
    wordsOf: TRUST,
    proposals: z.number().describe("How many wait."),
    source: z.string().optional(),
    passedOver: list(PASSED_OVER).optional().describe("Which of its edited texts; left out, none."),
  })
  .meta({ id: "Layer" });

export const VERSION = z
  .object({
    ...KEY,
    n: z.number(),
    text: z.string(),
    line: z.string().optional(),
    status: z.enum(TEXT_STATUSES),
    active: z.boolean(),
    trust: TRUST.describe("Whose words."),
    inputs: TRUST.describe("The lowest trust of all that its writer had seen."),
    by: z.string(),
    turn: z.string().optional(),
    reason: z.string(),
    verdict: z.object({ verdict: z.enum(["pass", "review", "reject"]), findings: list(z.string()) }),
    parent: z.number().describe("The version it was written over."),
    place: z
      .object({ rank: z.number(), source: z.string(), declared: z.string().optional() })
      .describe("What it was written for: rank and source of its layer, and the digest of the declared text."),
    digest: z.string().describe("The SHA-256 of the text in UTF-8."),
    at: TIME,
  })
  .meta({ id: "TextVersion", description: "One version of a text, kept for ever." });

const SIDE = z.object({ n: z.number().describe("The version; 0 is the declared text."), text: z.string() });

export const COMPARISON = z
  .object({
    ...KEY,
    before: SIDE,
    after: SIDE,
    lines: list(z.object({ sign: z.enum(["-", "+", " "]), line: z.string() })),
  })
  .meta({ id: "TextComparison", description: "How two versions of a text differ, line by line." });

export const PROPOSAL = VERSION.extend({ agent: z.string() }).meta({ id: "Proposal" });

export const MOVE = z
  .object({
    ...KEY,
    seq: z.number().describe("1 for the first of its text."),
    kind: z.enum(MOVE_KINDS),
    n: z.number(),
    from: z.number().nullable(),
    to: z.number().nullable().describe("What is active afterwards: 0 the declared text, null nothing."),
    by: z.string(),
    turn: z.string().optional(),
    reason: z.string(),
    at: TIME,
  })
  .meta({ id: "TextMove", description: "What was done with a text's versions." });

export const SKILL = z
  .object({
    name: z.string(),
    enabled: z.boolean(),
    text: z.string(),
    version: z.number(),
    wordsOf: TRUST,
    proposals: z.number(),
  })
  .meta({ id: "Skill" });

export const HEAD = z
  .object({ contact: z.string(), entries: z.number(), lastActivity: TIME })
  .meta({ id: "ConversationHead" });

export const CONVERSATION = z
  .object({
    contact: z.string(),
    lastActivity: TIME,
    entries: list(
      z.object({
        event: z.string(),
        proof: PROOF.optional(),
        body: z.string(),
        reply: z.string(),
        turn: z.string(),
        at: TIME,
      }),
    ),
  })
  .meta({ id: "Conversation", description: "What was said with one sender, shortened, the oldest first." });

export const CREDITS = z
  .object({
    toppedUp: z.number(),
    spent: z.number(),
    balance: z.number(),
    lastDay: z.object({ spent: z.number(), hours: z.number() }),
  })
  .meta({ id: "Credits", description: "US dollars." });

export const TOP_UP = z
  .object({ id: z.number(), dollars: z.number(), by: z.string(), note: z.string(), at: TIME })
  .meta({ id: "TopUp" });

export const LIFE = z
  .object({
    agent: z.string(),
    vitals: z.object({
      balance: z.number().optional(),
      runway: z.number().optional().describe("Hours for which the balance lasts."),
      tier: z.enum(SURVIVAL_TIERS),
      wallet: z.string().optional(),
      native: z.object({ wei: z.string().describe("In digits."), at: TIME }).optional(),
      unread: z
        .object({ because: z.string(), at: TIME })
        .optional()
        .describe("Why the account could not be read the last time it was tried."),
      turn: z.number(),
      state: z.enum(SEEN_STATES).describe("Of a turn that another program runs, `in a turn`."),
      at: TIME,
    }),
    since: TIME.optional().describe("Of a step of a turn, since when the turn runs."),
    because: z.string().optional(),
    credits: CREDITS.optional(),
    asleep: z.string().optional().describe("Why no turn of it begins until somebody pays."),
    nextTick: TIME.optional(),
  })
  .meta({ id: "Life", description: "How an agent is, and what it lives on." });

export const WAITING = z
  .object({
    contact: z.string(),
    event: EVENT,
    status: z.enum(["waiting", "staged"]).describe("`staged`: a turn handles it now."),
  })
  .meta({ id: "InboxMessage" });

export const MESSAGE = z
  .object({
    id: z.string(),
    contact: z.string(),
    thread: z.string(),
    turn: z.string(),
    channel: z.string(),
    text: z.string(),
    status: z.enum(["waiting", "delivered", "undeliverable"]),
    at: TIME,
  })
  .meta({ id: "OutboxMessage" });

export const ACT = z
  .object({ id: z.number(), role: z.string(), what: z.string(), about: z.string(), at: TIME })
  .meta({ id: "Act", description: "What somebody did who looks after an agent." });

export const ATTENTION = z
  .object({
    agent: z.string(),
    proposals: z.number(),
    displaced: z.number(),
    outdated: z.number(),
    passedOver: list(PASSED_OVER).describe("Which edited texts those are."),
    undeliverable: z.number(),
    unanswered: list(z.string()).describe(
      "Turns of the last seven days that left their sender without a reply, while nothing was said on their thread since.",
    ),
    asleep: z.string().optional().describe("Why it sleeps until somebody does something about it."),
  })
  .meta({ id: "Attention", description: "What of an agent waits for an operator." });

export const SNAPSHOT = z
  .object({
    agent: z.object({ name: z.string(), version: z.string(), description: z.string() }),
    layers: list(LAYER),
    life: LIFE.optional(),
    conversations: list(HEAD),
    inbox: z.number().describe("How many messages wait."),
    outbox: z.number(),
    undeliverable: z.number(),
  })
  .meta({ id: "Snapshot", description: "All that can be seen of an agent at once." });
