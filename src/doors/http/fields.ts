import { z } from "zod";
import { agentName, contactId, EVENT_KINDS, TRUSTS, threadId, turnId, untrusted } from "../../protocol/index.ts";

/** Where a client that names no channel speaks, and which conversation it goes on with there. */
const CHANNEL = "http";
const KEY = "main";

const LINE = /^(?!\s)[^\p{C}\p{Zl}\p{Zp}]{1,200}(?<!\s)$/u;

/** One visible line. */
const line = (): z.ZodString =>
  z.string().regex(LINE, "1 to 200 visible characters without a line break or outer blanks");

const says = (most: number): z.ZodString => z.string().max(most).regex(/\S/, "a text that says something");

const wholeNumber = (most: number, usual: number) =>
  z
    .string()
    .regex(/^\d{1,9}$/, `a whole number from 1 to ${most}`)
    .refine((text) => Number(text) >= 1 && Number(text) <= most, `a whole number from 1 to ${most}`)
    .default(`${usual}`)
    .transform(Number);

/** No field at all. */
export const NOTHING = z.strictObject({});

/** The fields of requests. What has a form of its own becomes a protocol type here and nowhere else. */
export const FIELDS = {
  agent: z.string().describe("An agent's name.").transform(agentName),
  contact: z.string().describe("The person outside, as the channel names them.").transform(contactId),
  channel: line()
    .default(CHANNEL)
    .describe(
      "Where the conversation takes place; not `replay` or `consolidation`, which hold recordings and summaries.",
    ),
  key: line()
    .default(KEY)
    .describe("Which conversation of the contact on that channel; another key is another thread."),
  thread: z.string().describe("A thread, `thr_…`.").transform(threadId),
  turn: z.string().describe("A turn, `trn_…`.").transform(turnId),
  request: z
    .string()
    .regex(/^[1-9]\d{0,5}$/, "a number from 1")
    .describe("Which request of the turn, from 1.")
    .transform(Number),
  text: says(1_000_000).describe("What was said.").transform(untrusted),
  name: line().describe("How the sender calls themself; shown to the agent as a claim.").transform(untrusted),
  externalId: line().describe("The sender's own id for the event: sent twice, it is stored once."),
  signature: z
    .string()
    .max(2_000)
    .describe(
      "For agents with `senders: ethereum`: the sender's personal signature (EIP-191), 0x and hexadecimal digits, of `Strata message to ORGANIZATION/AGENT`, a line `id: ` and the `externalId`, an empty line and the text.",
    ),
  kind: z.enum(EVENT_KINDS).default("message").describe("What happened."),
  trust: z
    .enum(TRUSTS)
    .optional()
    .describe(
      "Who speaks; never more than the token's own trust. Default: `contact`; for an instruction and what is scheduled, the token's own.",
    ),
  limit: wholeNumber(1_000, 20).describe("At most so many."),
} as const;
