import { z } from "zod";
import { count, minute, printable, type Style, setIn, whoDid } from "../../print/index.ts";
import { TRUSTS } from "../../protocol/index.ts";
import { DONE_BY, FIELDS, given, list, NEXT, NO_REASON, nextAfter, OF_AGENT, PAGE, TIME, whole } from "../fields.ts";
import { type Operation, operation } from "../operation.ts";
import { HISTORY, MOVE, moveLines, PROPOSAL, TEXT_API, textHistory, VERSION, versionLines } from "../texts/index.ts";
import { BLOCK_API, type BlockProposal } from "./api.ts";
import { BLOCK_LIMITS, type Block, keyOf, LABELS, trustOfBlock } from "./blocks.ts";
import { GONE } from "./wording.ts";

const NAME = {
  label: z.enum(LABELS).describe(`what it is about: ${LABELS.join(", ")}`),
  name: z
    .string()
    .regex(/^[a-z0-9](?:[a-z0-9._-]{0,38}[a-z0-9])?$/, "1 to 40 of a-z, 0-9, '.', '_' and '-'")
    .describe("the block's name, as `delivery-area`"),
};
const ONE = OF_AGENT.extend(NAME);
const AT = "/v1/agents/{agent}/blocks";

const BLOCK = z
  .object({
    label: z.enum(LABELS),
    name: z.string(),
    text: z.string(),
    readOnly: z.boolean().describe("a person saved it: the agent does not change it"),
    trust: z.enum(TRUSTS).describe("the lowest trust of whose words it is and of what they had read"),
    version: z.number(),
    ...DONE_BY,
    at: TIME,
  })
  .meta({ id: "MemoryBlock" });

const toView = (block: Block): z.output<typeof BLOCK> => {
  const { label, name, text, readOnly, version } = block;
  const { n, by, byId, at } = version;
  return { label, name, text, readOnly, trust: trustOfBlock(block), version: n, by, ...given("byId", byId), at };
};

const blocks = operation({
  name: "block.list",
  does: "List the memory blocks of an agent: what it holds to be true in all conversations.",
  may: "read",
  at: `GET ${AT}`,
  takes: OF_AGENT,
  gives: z.object({ blocks: list(BLOCK) }),
  list: "blocks",
  command: { examples: ["block list"], opens: "data" },
  run: async ({ runtime }, { agent }, { actor }) => ({
    blocks: (await runtime.use(BLOCK_API).blocks(actor, agent)).map(toView),
  }),
  show: ({ blocks: all }, { style, given: { agent } }) =>
    all.length === 0
      ? [`${agent} keeps no memory block.`]
      : [...all.flatMap((one) => blockLines(one, style)), style.dim(count(all.length, "block"))],
});

function blockLines(
  { label, name, text, readOnly, at, ...rest }: z.output<typeof BLOCK>,
  style: Style,
): readonly string[] {
  const state = readOnly ? " · read-only" : "";
  const head = `${label} ${name} · ${minute(at)} · by ${whoDid(rest)} · words of the ${rest.trust}${state}`;
  return [style.bold(head), ...setIn(text, { first: "  ", more: "  " }, style)];
}

const showBlock = operation({
  name: "block.show",
  does: "Show one memory block: what it says, whose words it is, and since when.",
  may: "read",
  at: `GET ${AT}/{label}/{name}`,
  takes: ONE,
  gives: BLOCK,
  command: { words: ["label", "name"], examples: ["block show BusinessFacts delivery-area"], opens: "data" },
  run: async ({ runtime }, { agent, ...of }, { actor }) => toView(await runtime.use(BLOCK_API).block(actor, agent, of)),
  show: (block, { style }) => blockLines(block, style),
});

const history = operation({
  name: "block.history",
  does: "Show the versions of a memory block, each with its author, time and reason, and what was done with them, the newest first.",
  may: "read",
  at: `GET ${AT}/{label}/{name}/history`,
  takes: ONE.extend({ ...PAGE, limit: FIELDS.limit.describe("how many versions at most, and as many moves") }),
  gives: HISTORY,
  command: { words: ["label", "name"], examples: ["block history BusinessFacts delivery-area"], opens: "data" },
  run: async ({ runtime }, { agent, label, name, ...page }, { actor }) =>
    textHistory(runtime.use(TEXT_API), actor, agent, { ...keyOf({ label, name }), ...page }),
  show: ({ versions, moves }, { style }) => [
    ...versions.flatMap((one) => [...versionLines(one, style), ...setIn(one.text, `  ${style.dim("│")} `, style)]),
    "",
    ...moveLines(moves, style),
  ],
});

const set = operation({
  name: "block.set",
  does: "Save a memory block yourself: the agent reads it, and does not change it.",
  may: "operate",
  at: `POST ${AT}/{label}/{name}`,
  takes: ONE.extend({
    text: z.string().max(10_000).describe(`what it says, at most ${BLOCK_LIMITS.text} characters`),
    reason: FIELDS.reason,
  }),
  gives: VERSION,
  command: {
    words: ["label", "name", "text"],
    examples: ['block set BusinessFacts delivery-area "We deliver within 20 km."'],
    usual: NO_REASON,
    opens: "data",
  },
  run: ({ runtime }, { agent, text, reason, ...of }, { actor }) =>
    runtime.use(BLOCK_API).setBlock(actor, agent, of, { text, reason }),
  show: ({ n, status }, { given: { label, name } }) => [
    status === "kept"
      ? `${label} ${name} is saved (version ${n}).`
      : `Version ${n} waits, because another block was changed meanwhile: \`strata block proposals\` shows it.`,
  ],
});

const remove = operation({
  name: "block.delete",
  does: "Delete a memory block; its versions stay in the record.",
  may: "operate",
  at: `DELETE ${AT}/{label}/{name}`,
  takes: ONE.extend({ reason: FIELDS.reason }),
  gives: MOVE,
  command: {
    words: ["label", "name"],
    examples: ["block delete BusinessFacts delivery-area"],
    usual: NO_REASON,
    opens: "data",
  },
  run: ({ runtime }, { agent, reason, ...of }, { actor }) =>
    runtime.use(BLOCK_API).deleteBlock(actor, agent, of, reason),
  show: (_, { given: { label, name } }) => [`${label} ${name} is deleted.`],
});

const listBlockProposals = operation({
  name: "block.proposals",
  does: "List the changes of memory blocks that wait for an operator, the oldest first; each access is recorded.",
  may: "read",
  at: "GET /v1/block-proposals",
  takes: z.strictObject({ agent: FIELDS.agent.optional(), ...PAGE }),
  gives: z.object({ proposals: list(PROPOSAL), ...NEXT }),
  list: "proposals",
  command: { examples: ["block proposals"], opens: "data" },
  run: async ({ runtime }, { agent, limit, after }, { actor }) => {
    const found = await runtime.use(BLOCK_API).proposals(actor, agent, limit, after);
    const next = nextAfter(found, limit, ({ link }) => ({ at: link }));
    return { proposals: found.map(({ link: _, ...one }) => one), ...next };
  },
  show: ({ proposals: found }, { style }) =>
    found.length === 0
      ? ["No change of a memory block waits."]
      : [...found.flatMap((one) => proposalLines(one, style)), style.dim(count(found.length, "proposal"))],
});

function proposalLines(proposal: Omit<BlockProposal, "link">, style: Style): readonly string[] {
  const { agent, part = "", n, text } = proposal;
  const words = `${part.replace("/", " ")} ${n} ${agent}`;
  const [head = "", ...more] = versionLines(proposal, style);
  return [
    `${style.cyan(`${agent}, ${printable(part.replace("/", " "))}`)}, ${head}`,
    ...more,
    ...setIn(text === GONE ? "It is to be deleted." : text, `  ${style.dim("│")} `, style),
    `  \`strata block approve ${words}\` makes it active,`,
    `  \`strata block reject ${words}\` rejects it.`,
    "",
  ];
}

const decideProposal = (verdict: "approved" | "rejected") =>
  operation({
    name: verdict === "approved" ? "block.approve" : "block.reject",
    does:
      verdict === "approved"
        ? "Approve a change of a memory block that an agent wants. Its words stay the agent's, and what it had read is kept with them."
        : "Reject a change of a memory block that an agent wants: it never becomes active.",
    may: "operate",
    at: `POST ${AT}/{label}/{name}/{version}/${verdict === "approved" ? "approve" : "reject"}`,
    takes: ONE.extend({
      version: whole(1, 1_000_000_000).describe("which version, as `strata block proposals` shows it"),
      reason: FIELDS.reason,
      over: whole(0, 1_000_000_000)
        .optional()
        .describe("the active version that it replaces, if it was written for another"),
    }),
    gives: VERSION,
    command: {
      words: ["label", "name", "version"],
      examples: [`block ${verdict === "approved" ? "approve" : "reject"} BusinessFacts delivery-area 2`],
      usual: NO_REASON,
      opens: "data",
    },
    run: ({ runtime }, { agent, label, name, version: n, reason, over }, { actor }) =>
      runtime.use(BLOCK_API).decide(actor, agent, { label, name }, { n, verdict, reason, over }),
    show: ({ n }, { given: { label, name } }) => [
      verdict === "approved"
        ? `Version ${n} of ${label} ${name} is active.`
        : `Version ${n} of ${label} ${name} was rejected; it stays in the record.`,
    ],
  });

export const BLOCK_OPERATIONS: readonly Operation[] = [
  blocks,
  showBlock,
  history,
  set,
  remove,
  listBlockProposals,
  decideProposal("approved"),
  decideProposal("rejected"),
];
