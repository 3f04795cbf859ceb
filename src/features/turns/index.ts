/** Recorded turns: what was sent and why, the result, the difference of two, and answering one again. */
import { z } from "zod";
import { count, printable } from "../../print/index.ts";
import { isKept, StrataError, type TurnId, untrusted } from "../../protocol/index.ts";
import { COLUMNS, withColumns } from "../column.ts";
import type { Feature } from "../feature.ts";
import { FIELDS, list, whole } from "../fields.ts";
import {
  type Call,
  fileOperation,
  type Operation,
  type OperationContext,
  operation,
  type TurnRecord,
  turnOperation,
} from "../operation.ts";
import { COMPOSED, EXPLAINED, TURN } from "../shapes.ts";
import { chatOn } from "../threads/index.ts";
import { diffView, requestText, type Sent, turnDiff } from "./diff.ts";
import { EXPLAIN } from "./explain.ts";
import { turnView } from "./view.ts";

const ONE = z.strictObject({ id: FIELDS.turn });
const REQUEST = ONE.extend({ n: whole(1, 999_999).describe("which request of the turn") });
const ID = "trn_01jd8k3v5x9m2q7r4t6w8y0zab";

const compose = operation({
  name: "compose",
  does: "Compose the request that a message would cause. Nothing is sent or stored.",
  may: "explain",
  at: "POST /v1/compose",
  takes: z.strictObject({
    agent: FIELDS.agent,
    contact: FIELDS.contact,
    channel: FIELDS.channel.default("http"),
    key: FIELDS.key.default("main"),
    text: z
      .string()
      .max(1_000_000)
      .regex(/\S/, "a text that says something")
      .describe("what was said")
      .transform(untrusted),
    mode: FIELDS.mode.optional(),
  }),
  gives: COMPOSED,
  run: async ({ runtime }, { text, mode, ...conversation }, { actor }) => {
    const { agent, ledger, ...rest } = await runtime.compose(actor, conversation, text, { mode });
    const { name, version } = agent;
    return { agent: { name, version }, ...rest, ledger, tokens: ledger.tokens };
  },
  show: ({ agent, model, tokens }) => [`${agent.name} would send ${count(tokens, "token")} to ${model}.`],
});

const showTurn = operation({
  name: "turn.show",
  does: "Show a recorded turn: its events, its requests with what became of each section, and how it ended.",
  may: "explain",
  at: "GET /v1/turns/{id}",
  takes: ONE,
  gives: TURN,
  columns: "turns",
  command: { words: ["id"], isUsual: true, examples: [`turn show ${ID}`], opens: "record" },
  run: async ({ runtime, clock }, { id }, { actor }) => {
    const turn = await runtime.turn(actor, id);
    const [withFields = turn] = await withColumns(runtime.use(COLUMNS).turns, { runtime, actor, clock }, [turn]);
    return withFields;
  },
  show: (turn, { world: { runtime }, call: { actor }, style }) => turnView({ runtime, actor }, turn, style),
});

const request = operation({
  name: "turn.request",
  does: "Explain one request of a turn: each section, its cost and whether it was sent, the lowest trust, and the request itself.",
  may: "explain",
  at: "GET /v1/turns/{id}/requests/{n}",
  takes: REQUEST,
  gives: EXPLAINED,
  run: async ({ runtime }, { id, n }, { actor }) => {
    const { ledger, taint, reply, dollars, at, milliseconds } = requestOf(await runtime.turn(actor, id), n);
    const { request: sent, wire } = await runtime.rebuilt(actor, id, n);
    const { tokens } = ledger;
    return { turn: id, n, wire, request: sent, ledger, taint, tokens, reply, dollars, at, milliseconds };
  },
  show: ({ request: sent }, { style }) => requestText(sent, style),
});

const wire = fileOperation({
  name: "turn.wire",
  does: "Return the HTTP body of one request of a turn, byte for byte as the provider's package sends it.",
  may: "explain",
  at: "GET /v1/turns/{id}/requests/{n}/wire",
  takes: REQUEST,
  types: ["application/json"],
  command: {
    words: ["id"],
    names: { n: "request" },
    usual: { n: "1" },
    optionOf: {
      operation: "turn.show",
      option: "wire",
      description: "print the HTTP body of a request, byte for byte as it was sent",
    },
    examples: [`turn ${ID} --wire`],
    opens: "record",
  },
  write: async ({ runtime, bodyOf }, { id, n }, { actor }) => {
    const turn = await runtime.turn(actor, id);
    requestOf(turn, n);
    const sent = await runtime.rebuilt(actor, id, n);
    const of = turn.requests.length;
    const isFirst = n === 1 && of > 1;
    return {
      type: "application/json",
      text: [await bodyOf(sent.request, sent.wire)],
      summary: () => (isFirst ? [`This is request 1 of ${of}; --request N prints another.`] : []),
    };
  },
});

/** @throws StrataError `turn_not_found` if the turn has no request of that number */
function requestOf({ id, requests }: TurnRecord, n: number): TurnRecord["requests"][number] {
  const found = requests.find((one) => one.n === n);
  if (found !== undefined) return found;
  const has = requests.length === 0 ? "sent no request" : `has ${count(requests.length, "request")}`;
  throw new StrataError("turn_not_found", `${id} ${has}, so there is no request ${n}`, { turn: id, request: n });
}

const WHOLE = z.object({ turn: z.string(), tokens: z.number(), epoch: z.number() });

const diff = operation({
  name: "turn.diff",
  does: "Show what changed between the first requests of two turns: sections, tokens, and texts line by line.",
  may: "explain",
  at: "GET /v1/turns/{before}/diff",
  takes: z.strictObject({ before: FIELDS.turn, after: FIELDS.turn.describe("another turn") }),
  gives: z.object({
    before: WHOLE,
    after: WHOLE,
    sections: list(
      z.object({
        place: z.string(),
        section: z.string(),
        before: z.number().optional().describe("its tokens; absent if it was not there"),
        after: z.number().optional(),
        change: z.enum(["added", "removed", "changed", "same"]),
      }),
    ),
    texts: list(z.object({ part: z.string(), lines: list(z.object({ sign: z.string(), line: z.string() })) })).describe(
      "for each part of the request whose text differs, all its lines",
    ),
  }),
  command: {
    words: ["before", "after"],
    examples: [`turn diff ${ID} trn_01jd8k4c2n7p9s1v3x5z7b9d1f`],
    opens: "record",
  },
  run: async (world, { before, after }, call) => {
    const [old, fresh] = await Promise.all([firstSent(world, before, call), firstSent(world, after, call)]);
    return turnDiff(old, fresh);
  },
  show: (difference, { style }) => diffView(difference, style),
});

async function firstSent({ runtime }: OperationContext, id: TurnId, { actor }: Call<"explain">): Promise<Sent> {
  const { ledger } = requestOf(await runtime.turn(actor, id), 1);
  return { turn: id, ledger, request: (await runtime.rebuilt(actor, id, 1)).request };
}

const regenerate = turnOperation({
  name: "turn.regenerate",
  does: "Answer a turn's messages once more, on a fork from before the turn; the turn itself stays. Refused if its messages still wait, and without `again` also if it called tools that act outside or its second reply would be delivered.",
  may: "operate",
  at: "POST /v1/turns/{id}/regenerate",
  takes: ONE.extend({
    model: z.string().optional().describe("who answers this time, provider:name (default: the agent's model)"),
    again: z
      .boolean()
      .default(false)
      .describe("even if the turn called tools that act outside, or a second reply would be delivered"),
  }),
  command: {
    words: ["id"],
    examples: [`turn regenerate ${ID} --model anthropic:claude-sonnet-5-5`],
    opens: "record to run",
  },
  turn: async function* (world, { id, model, again }, { actor, signal }) {
    const speaker = model === undefined ? {} : { model: await modelNamed(world, model, { id, actor }) };
    yield* world.runtime.regenerate(actor, id, { ...speaker, again, signal });
  },
  idle: ({ id }) => `${id} has no message to answer.`,
  before: async ({ world: { runtime }, call: { actor }, given: { id }, style }) => {
    const old = await runtime.turn(actor, id);
    return [style.dim(`Before (${id}, ${old.model ?? "no model"}):`), replyText(old), ""];
  },
  begun: ({ turn, thread, model }) => [`Now (${turn} on the fork ${thread}, ${model}):`],
  hints: async ({ thread }, { world: { runtime }, call: { actor } }) => [chatOn(await runtime.thread(actor, thread))],
});

/** Opened as the turn's agent would open it. @throws StrataError `model_unknown` */
async function modelNamed(
  world: OperationContext,
  model: string,
  { id, actor }: Pick<Call<"explain">, "actor"> & { readonly id: TurnId },
) {
  const { scope } = await world.runtime.turn(actor, id);
  return world.modelOf({ ...world.runtime.agent(actor, scope.agent), model });
}

function replyText({ id, end }: TurnRecord): string {
  if (end === undefined)
    throw new StrataError("invalid_input", `${id} is still running; wait for its end`, { turn: id });
  if (!isKept(end)) return `(it failed: ${printable(end.message)})`;
  return end.reply === null ? "(the agent said nothing)" : printable(end.reply);
}

/** What would be sent, what was sent, and the result. */
const OPERATIONS: readonly Operation[] = [compose, EXPLAIN, showTurn, request, wire, diff, regenerate];

export { requestText } from "./diff.ts";
export { cuts, isCut, ledgerTable } from "./ledger.ts";
export { diagnosisSays, endOf, resentSays, turnView } from "./view.ts";

export const FEATURE: Feature = { name: "turns", needs: ["subagents", "threads"], operations: OPERATIONS };
