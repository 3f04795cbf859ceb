import { z } from "zod";
import { count, number, printable, type Style, setIn, table } from "../../print/index.ts";
import {
  type AgentName,
  type Allowed,
  isBlock,
  type LayerId,
  type TextKey,
  type TextLimits,
} from "../../protocol/index.ts";
import type { Position } from "../../store/index.ts";
import { FIELDS, given, list, NEXT, NO_REASON, nextAfter, OF_AGENT, PAGE, whole } from "../fields.ts";
import { type Operation, operation } from "../operation.ts";
import type { LayerView, TextApi } from "./api-types.ts";
import { TEXT_API } from "./api-types.ts";
import {
  blockWords,
  COMPARISON,
  differenceLines,
  editedLines,
  LAYER,
  MOVE,
  movedLine,
  moveLines,
  nameOf,
  PASSED_OVER,
  PROPOSAL,
  proposalsLine,
  VERSION,
  versionLines,
} from "./lines.ts";

const OF_LAYER = OF_AGENT.extend({ layer: FIELDS.layer });
const OF_TEXT = OF_LAYER.extend({ skill: FIELDS.skill.optional() });
const WITH_REASON = OF_TEXT.extend({ reason: FIELDS.reason });

/** A version, by its number; where 0 is allowed, it is the declared text. */
const versionField = (from: 0 | 1, message: string) => whole(from, 1_000_000_000).describe(message);

const textKeyFor = ({ layer, skill }: { readonly layer: LayerId; readonly skill?: string | undefined }): TextKey => ({
  layer,
  ...given("part", skill),
});

const skillWords = ({ part }: TextKey): string => (part === undefined ? "" : ` --skill ${part}`);

const layers = operation({
  name: "layer.list",
  does: "List all layers in the order of the prompt: whether each may change, what is sent of it now, and whose words it is.",
  may: "read",
  at: "GET /v1/agents/{agent}/layers",
  takes: OF_AGENT,
  gives: z.object({
    layers: list(LAYER),
    passedOver: list(PASSED_OVER).describe("edited texts that are not in effect since the declaration changed"),
    limits: z
      .object({ layer: z.number(), total: z.number() })
      .describe("characters that an edited layer, and all texts of the prefix, may have"),
  }),
  list: "layers",
  command: { examples: ["layer list"], opens: "data" },
  run: async ({ runtime }, { agent }, { actor }) => {
    const texts = runtime.use(TEXT_API);
    const [all, passedOver] = [await texts.layers(actor, agent), await texts.passedOver(actor, agent)];
    return { layers: all, passedOver, limits: await texts.textLimits(actor, agent) };
  },
  show: (found, { style, given: { agent }, agentWords }) => [
    ...listLines(agent, found, style),
    ...passedLines(found.passedOver, agentWords, style),
  ],
});

const layer = operation({
  name: "layer.show",
  does: "Show one layer: the text that is sent of it now, and whose words they are.",
  may: "read",
  at: "GET /v1/agents/{agent}/layers/{layer}",
  takes: OF_LAYER,
  gives: LAYER,
  command: { words: ["layer"], examples: ["layer show 6"], opens: "data" },
  run: ({ runtime }, { agent, layer: id }, { actor }) => runtime.use(TEXT_API).layer(actor, agent, id),
  show: (view, { style, given: { agent }, agentWords }) =>
    viewLines(agent, view, { passed: passedLines(view.passedOver ?? [], agentWords, style), style }),
});

const edit = operation({
  name: "layer.edit",
  does: "Change the text of a versioned layer, from the next turn on; every version is kept. The size limit and the guard may refuse it.",
  may: "operate",
  at: "POST /v1/agents/{agent}/layers/{layer}/versions",
  takes: WITH_REASON.extend({
    text: FIELDS.text,
    line: z.string().max(1_000).optional().describe("its one-line summary, for modes that show the layer as one line"),
  }),
  gives: VERSION,
  command: {
    words: ["layer"],
    file: "text",
    examples: ['layer edit 6 --file loop.md --reason "shorter steps"'],
    usual: NO_REASON,
    opens: "data",
  },
  run: ({ runtime }, { agent, text, line, reason, ...key }, { actor }) =>
    runtime.use(TEXT_API).editText(actor, agent, { ...textKeyFor(key), text, ...given("line", line), reason }),
  show: (made, { style, agentWords }) => {
    const back = `\`strata layer rollback ${made.layer}${skillWords(made)}${agentWords}\` undoes this.`;
    return editedLines(made, { name: nameOf(made), back, style });
  },
});

export const HISTORY = z.object({ versions: list(VERSION), moves: list(MOVE), ...NEXT });

/** A page of a text's versions and moves. */
export async function textHistory(
  texts: Pick<TextApi, "textVersions" | "textMoves">,
  actor: Allowed<"read">,
  agent: AgentName,
  { limit, after, ...key }: TextKey & { readonly limit: number; readonly after?: Position | undefined },
) {
  // Two lists are read side by side: a place in them is a move, and a version.
  const from = { move: after?.at, version: after && Number(after.id) };
  const versions = await texts.textVersions(actor, agent, { ...key, limit, ...given("before", from.version) });
  const moves = await texts.textMoves(actor, agent, { ...key, limit, ...given("before", from.move) });
  const hasMore = Math.max(versions.length, moves.length) >= limit;
  const last = `${moves.at(-1)?.seq ?? from.move ?? 1}.${versions.at(-1)?.n ?? from.version ?? 1}`;
  return { versions, moves, ...(hasMore && { next: last }) };
}

const history = operation({
  name: "layer.history",
  does: "Show the versions of a layer's text, each with its author, reason and the guard's verdict, and what was done with them, newest first.",
  may: "read",
  at: "GET /v1/agents/{agent}/layers/{layer}/history",
  takes: OF_TEXT.extend({
    ...PAGE,
    limit: FIELDS.limit.describe("how many versions at most, and as many moves"),
  }),
  gives: HISTORY,
  command: { words: ["layer"], examples: ["layer history 6"], opens: "data" },
  run: async ({ runtime }, { agent, limit, after, ...text }, { actor }) =>
    textHistory(runtime.use(TEXT_API), actor, agent, { ...textKeyFor(text), limit, after }),
  show: ({ versions, moves }, { style, given: { after } }) => {
    if (versions.length + moves.length === 0)
      return [after ? "Nothing older is recorded." : "It is as it was declared; nobody has edited it."];
    return [
      ...versions.flatMap((one) => versionLines(one, style)),
      ...(versions.length === 0 ? [] : [""]),
      ...moveLines(moves, style),
      "",
      style.dim(`${count(versions.length, "version")}; version 0 is the declared text`),
    ];
  },
});

const diff = operation({
  name: "layer.diff",
  does: "Show how two versions of a layer's text differ, line by line.",
  may: "read",
  at: "GET /v1/agents/{agent}/layers/{layer}/diff",
  takes: OF_TEXT.extend({
    from: versionField(0, "a version; 0 is the declared text"),
    to: versionField(0, "another version"),
  }),
  gives: COMPARISON,
  command: { words: ["layer", "from", "to"], examples: ["layer diff 6 0 2"], opens: "data" },
  run: ({ runtime }, { agent, from, to, ...text }, { actor }) =>
    runtime.use(TEXT_API).compareTexts(actor, agent, { ...textKeyFor(text), from, to }),
  show: ({ before, after }, { style }) => differenceLines(before.text, after.text, style),
});

const activate = operation({
  name: "layer.activate",
  does: "Activate an existing version, from the next turn on; 0 is the declared text.",
  may: "operate",
  at: "POST /v1/agents/{agent}/layers/{layer}/activate",
  takes: WITH_REASON.extend({ version: versionField(0, "which version") }),
  gives: MOVE,
  command: { words: ["layer", "version"], examples: ["layer activate 6 2"], usual: NO_REASON, opens: "data" },
  run: ({ runtime }, { agent, version: n, reason, ...text }, { actor }) =>
    runtime.use(TEXT_API).activateText(actor, agent, { ...textKeyFor(text), n, reason }),
  show: (move) => [movedLine(move)],
});

const rollback = operation({
  name: "layer.rollback",
  does: "Go back to the version that was active before this one.",
  may: "operate",
  at: "POST /v1/agents/{agent}/layers/{layer}/rollback",
  takes: WITH_REASON,
  gives: MOVE,
  command: {
    words: ["layer"],
    examples: ['layer rollback 6 --reason "it forgot to pay"'],
    usual: NO_REASON,
    opens: "data",
  },
  run: ({ runtime }, { agent, reason, ...text }, { actor }) =>
    runtime.use(TEXT_API).rollbackText(actor, agent, { ...textKeyFor(text), reason }),
  show: (move) => [movedLine(move)],
});

const listLayerProposals = operation({
  name: "layer.proposals",
  does: "List the edits that wait for an operator, oldest first, with the guard's verdict.",
  may: "read",
  at: "GET /v1/proposals",
  takes: z.strictObject({ agent: FIELDS.agent.optional(), ...PAGE }),
  gives: z.object({ proposals: list(PROPOSAL), ...NEXT }),
  list: "proposals",
  command: { examples: ["layer proposals"], opens: "data" },
  run: async ({ runtime }, { agent, limit, after }, { actor }) => {
    const found = await runtime.use(TEXT_API).proposals(actor, agent, limit, after);
    const next = nextAfter(found, limit, ({ link }) => ({ at: link }));
    return { proposals: found.map(({ link: _, ...proposal }) => proposal), ...next };
  },
  show: ({ proposals: found }, { style }) => {
    if (found.length === 0) return ["No proposal waits."];
    return [...found.flatMap((one) => proposalLines(one, style)), style.dim(count(found.length, "proposal"))];
  },
});

type Proposal = Omit<Awaited<ReturnType<TextApi["proposals"]>>[number], "link">;

function proposalLines(proposal: Proposal, style: Style): readonly string[] {
  const { agent, layer: id, n, text } = proposal;
  const [head = "", ...more] = versionLines(proposal, style);
  const [noun, words] = isBlock(proposal)
    ? ["block", `${blockWords(proposal)} ${n} ${agent}`]
    : ["layer", `${id} ${n} ${agent}${skillWords(proposal)}`];
  return [
    `${style.cyan(`${agent}, ${nameOf(proposal)}`)}, ${head}`,
    ...more,
    ...setIn(text, `  ${style.dim("│")} `, style),
    `  \`strata ${noun} approve ${words}\` makes it active,`,
    `  \`strata ${noun} reject ${words}\` rejects it.`,
    "",
  ];
}

const WHICH = WITH_REASON.extend({ version: versionField(1, "which version, as `strata layer proposals` shows it") });

const approveProposal = operation({
  name: "layer.approve",
  does: "Approve a proposal: it becomes active from the next turn on. Its size and the guard are checked again.",
  may: "operate",
  at: "POST /v1/agents/{agent}/layers/{layer}/versions/{version}/approve",
  takes: WHICH.extend({
    over: versionField(0, "the active version that it replaces, if it was written for another").optional(),
  }),
  gives: VERSION,
  command: {
    words: ["layer", "version"],
    examples: ['layer approve 6 3 --reason "looked at it"'],
    usual: NO_REASON,
    opens: "data",
  },
  run: ({ runtime }, { agent, version: n, over, reason, ...text }, { actor }) =>
    runtime
      .use(TEXT_API)
      .decideText(actor, agent, { ...textKeyFor(text), n, verdict: "approved", ...given("over", over), reason }),
  show: (made) => [`Version ${made.n} of ${nameOf(made)} is active: the next turn uses it.`],
});

const reject = operation({
  name: "layer.reject",
  does: "Reject a proposal: it never becomes active.",
  may: "operate",
  at: "POST /v1/agents/{agent}/layers/{layer}/versions/{version}/reject",
  takes: WHICH,
  gives: VERSION,
  command: {
    words: ["layer", "version"],
    examples: ['layer reject 6 3 --reason "looked at it"'],
    usual: NO_REASON,
    opens: "data",
  },
  run: ({ runtime }, { agent, version: n, reason, ...text }, { actor }) =>
    runtime.use(TEXT_API).decideText(actor, agent, { ...textKeyFor(text), n, verdict: "rejected", reason }),
  show: (made) => [`Version ${made.n} of ${nameOf(made)} was rejected; it stays in the record.`],
});

/** An agent's layers, and what operators change in them. */
export const LAYER_OPERATIONS: readonly Operation[] = [
  layers,
  layer,
  edit,
  history,
  diff,
  activate,
  rollback,
  listLayerProposals,
  approveProposal,
  reject,
];

/** Edited texts that the declaration has overridden, also of layers that are no longer declared, each with the next step. */
function passedLines(passed: NonNullable<LayerView["passedOver"]>, agent: string, style: Style): readonly string[] {
  return passed.map(({ layer: id, part, n, state }) => {
    const [name, skill] = part === undefined ? [id, ""] : [`${id}/${part}`, ` --skill ${part}`];
    const message =
      state === "displaced"
        ? `is displaced and not sent; \`strata layer rollback ${id}${skill}${agent}\` removes it`
        : `is sent and outdated; \`strata layer diff ${id} 0 ${n}${skill}${agent}\` compares`;
    return style.yellow(`${name}: version ${n} ${message}`);
  });
}

const COLUMNS = [
  { head: "layer" },
  { head: "rank", right: true },
  { head: "kind" },
  { head: "version", right: true },
  { head: "words of" },
  { head: "characters", right: true },
  { head: "proposals", right: true },
  { head: "source" },
] as const;

interface Listed {
  readonly layers: readonly LayerView[];
  readonly limits: TextLimits;
}

function listLines(agent: string, { layers: all, limits }: Listed, style: Style): readonly string[] {
  const stored = all.filter(({ source, text }) => source === undefined && text !== undefined);
  const characters = stored.reduce((sum, one) => sum + (one.characters ?? 0), 0);
  const waiting = all.reduce((sum, one) => sum + one.proposals, 0);
  const room = roomLine(characters, all, limits);
  return [
    `${style.bold(agent)}, ${count(all.length, "layer")} in the order of the prompt`,
    "",
    ...table(COLUMNS, all.map(layerRow), style),
    "",
    characters > limits.total && isEdited(all) ? style.yellow(room) : style.dim(room),
    ...(waiting === 0 ? [] : [style.yellow(proposalsLine(waiting, agent))]),
  ];
}

const isEdited = (all: readonly LayerView[]): boolean =>
  all.some(({ mutability, source }) => mutability === "versioned" && source === undefined);

/** Layers that are not editable have no limit beyond their declaration. */
function roomLine(characters: number, all: readonly LayerView[], { total }: TextLimits): string {
  if (!isEdited(all)) return `${count(characters, "character")} in all texts of the prefix`;
  const room = `${number(characters)} of ${count(total, "character")} that all texts of the prefix may have`;
  return characters <= total ? room : `${room}: an edit may not make them more`;
}

/** Whether it is edited, and by whom alone. */
const edited = ({ mutability, editors }: LayerView): string =>
  editors === undefined ? mutability : `${mutability} by ${editors}`;

const layerRow = (view: LayerView): readonly string[] => [
  view.id,
  number(view.rank),
  edited(view),
  view.version === undefined ? "" : number(view.version),
  view.textTrust,
  view.characters === undefined ? "" : number(view.characters),
  view.proposals === 0 ? "" : number(view.proposals),
  view.source ?? "",
];

interface LayerListing {
  /** The lines about edits that the declaration has overridden. */
  readonly passed: readonly string[];
  readonly style: Style;
}

function viewLines(agent: string, view: LayerView, { passed, style }: LayerListing): readonly string[] {
  const { id, rank, scope, version: n, textTrust, characters, source, text } = view;
  const made = n === undefined ? "" : n === 0 ? ", as declared" : `, version ${n}`;
  const size = characters === undefined ? "" : `, ${count(characters, "character")}`;
  const nothing = source === undefined || n !== undefined ? "It says nothing." : `Filled in each turn: ${source}.`;
  return [
    `${style.bold(id)}, rank ${rank}, ${edited(view)}${made}`,
    `words of the ${textTrust}, scope ${scope}${size}`,
    ...(view.proposals === 0 ? [] : [style.yellow(proposalsLine(view.proposals, agent))]),
    ...passed,
    "",
    text === undefined ? style.dim(nothing) : printable(text),
  ];
}
