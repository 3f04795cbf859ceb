import { z } from "zod";
import { count, minute, number, oneLine, printable, type Style, setIn, table, whoDid } from "../../print/index.ts";
import {
  changedLines,
  diffLines,
  isBatch,
  isBlock,
  LAYER_SCOPES,
  MOVE_KINDS,
  MUTABILITIES,
  SELF,
  TEXT_STATUSES,
  type TextMove,
  type TextVersion,
  TRUSTS,
} from "../../protocol/index.ts";
import { DONE_BY, list, TIME } from "../fields.ts";

/** A text's name in a sentence. */
export const nameOf = ({ layer, part }: { readonly layer: string; readonly part?: string | undefined }): string =>
  part ?? layer;

/** The label and the name of a memory block, as commands take them. */
export const blockWords = ({ part = "" }: { readonly part?: string | undefined }): string => part.replace("/", " ");

/** A version for a person: its content, its author and reason, and the guard's verdict. */
export function versionLines(version: TextVersion, style: Style): readonly string[] {
  const { n, status, active, at, turn, trust, verdict, parent, digest, reason, text } = version;
  const before = parent === 0 ? "the declared text" : `version ${parent}`;
  return [
    `${style.bold(`version ${n}`)} · ${active ? "active" : status} · ${minute(at)} · by ${whoDid(version)}`,
    // No text that was checked is empty: only an erasure leaves none.
    text === ""
      ? "  erased with the contact in whose turn it was written"
      : `  ${count(text.length, "character")}, in place of ${before} · words of the ${trust}`,
    ...(turn === undefined ? [] : [`  turn: ${turn}${readOf(version)}`]),
    ...setIn([verdict.verdict, ...verdict.findings].join("; "), { first: "  guard: ", more: "    " }, style),
    ...setIn(oneLine(reason), { first: "  reason: ", more: "    " }, style),
    style.dim(`  sha256 ${digest}`),
  ];
}

/** What the turn had read before it wrote, if that is trusted less than the agent itself. */
const readOf = ({ inputs }: TextVersion): string => (inputs === "contact" ? ", after words of a contact" : "");

const MOVES = [
  { head: "when (UTC)" },
  { head: "what" },
  { head: "version", right: true },
  { head: "active" },
  { head: "by" },
  { head: "reason", least: 16, wraps: true },
] as const;

/** The history of versions, one line each. */
export function moveLines(moves: readonly TextMove[], style: Style): readonly string[] {
  const rows = moves.map(({ at, kind, n, from, to, by, byId = by, reason }) => [
    minute(at),
    kind,
    number(n),
    from === to ? pointer(to) : `${pointer(from)} → ${pointer(to)}`,
    byId,
    oneLine(reason),
  ]);
  return table(MOVES, rows, style);
}

const pointer = (to: number | null): string => (to === null ? "none" : number(to));

/** The result of a move, in a sentence. */
export function movedLine(move: TextMove): string {
  const { kind, from, to } = move;
  const did = kind === "rolled back" ? "was rolled back from" : "goes on from";
  return `${nameOf(move)} ${did} ${pointed(from)} to ${pointed(to)}: the next turn uses it.`;
}

const pointed = (to: number | null): string =>
  to === null ? "nothing" : to === 0 ? "the declared text" : `version ${to}`;

/** How many lines of a difference are shown; `--json` has them all. */
const MOST_LINES = 200;

/** The difference of two texts, line by line. */
export function differenceLines(before: string, after: string, style: Style): readonly string[] {
  const lines = diffLines(before.split("\n"), after.split("\n"));
  if (lines.every(({ sign }) => sign === " ")) return ["The two texts are the same."];
  return changedLines(lines, MOST_LINES).map((line) => coloured(printable(line), style));
}

function coloured(line: string, style: Style): string {
  if (line.startsWith("+")) return style.cyan(line);
  return line.startsWith("-") ? style.red(line) : style.dim(line);
}

/** How a person's edit is described. */
interface Telling {
  readonly name: string;
  /** The sentence that says how it is taken back. */
  readonly back: string;
  readonly style: Style;
}

/** The result of a person's edit. */
export function editedLines(version: TextVersion, { name, back, style }: Telling): readonly string[] {
  const { n, status, verdict } = version;
  if (status !== "kept")
    return [`Version ${n} of ${name} waits: another text was changed meanwhile. \`strata layer proposals\` shows it.`];
  const activated = `Version ${n} of ${name} is active: the next turn uses it.`;
  if (verdict.verdict === "pass") return [`${activated} ${back}`];
  const found = verdict.findings.map(printable).join("; ");
  return [
    activated,
    style.yellow(`Careful: for an agent's edit, the guard would ask for a review first: ${found}. ${back}`),
  ];
}

/** How many proposals wait, and where to see them. */
export const proposalsLine = (proposals: number, agent: string): string =>
  `${count(proposals, "proposal")} of ${agent} ${proposals === 1 ? "waits" : "wait"}: \`strata layer proposals ${agent}\` shows ${proposals === 1 ? "it" : "them"}`;

/** The proposals that wait, and below each with the conversation that it came from. */
export function waitingTextLines(of: TextsOfAgent): readonly string[] {
  const { agent, proposals, proposed } = of;
  if (proposals === 0) return [];
  const named = proposed.slice(0, MOST_NAMED).map((one) => `${nameOf(one)} ${one.n} ${originOf(one)}`);
  const more = proposals > named.length ? [`${number(proposals - named.length)} more`] : [];
  return [proposalsLine(proposals, agent), ...[...named, ...more].map((one) => `  ${one}`)];
}

/** Texts that the agent itself has changed, each with the way to undo it. */
export const editedTextLines = ({ agent, edited }: TextsOfAgent): readonly string[] =>
  edited.map((one) => {
    if (isBlock(one))
      return `${agent} changed its own memory block ${nameOf(one)} (version ${one.n}, ${originOf(one)}): \`strata block history ${blockWords(one)} ${agent}\` shows its versions`;
    const skill = one.part === undefined ? "" : ` --skill ${one.part}`;
    const shows = `\`strata layer diff ${one.layer} ${one.parent} ${one.n} ${agent}${skill}\` shows it`;
    return `${agent} changed its own text ${nameOf(one)} (version ${one.n}, ${originOf(one)}): ${shows}, \`strata layer rollback ${one.layer} ${agent}${skill}\` undoes it`;
  });

interface TextsOfAgent {
  readonly agent: string;
  readonly proposals: number;
  readonly proposed: readonly TextOrigin[];
  readonly edited: readonly TextOrigin[];
}

const MOST_NAMED = 3;

function originOf({ contact, inputs }: TextOrigin): string {
  const trust = `trust ${inputs}`;
  if (contact === undefined) return trust;
  if (contact === SELF) return `from a turn of its own, ${trust}`;
  return `from ${isBatch({ contact }) ? "a turn of several senders" : `a turn with ${printable(contact)}`}, ${trust}`;
}

/** Says that edited texts are not what is sent, or no longer what is declared. */
export function passedOverLines({
  agent,
  displaced,
  outdated,
}: Readonly<Record<"displaced" | "outdated", number> & { agent: string }>): readonly string[] {
  const texts = (n: number): string => `${count(n, "edited text")} of ${agent} ${n === 1 ? "is" : "are"}`;
  const notSent = `${texts(displaced)} not sent, because the layer was moved or removed: \`strata layer list ${agent}\` shows what is declared; write it again, roll it back, or declare the layer again`;
  const oldSent = `${texts(outdated)} sent although the text in strata.yaml has changed since: \`strata layer list ${agent}\` shows which`;
  return [...(displaced === 0 ? [] : [notSent]), ...(outdated === 0 ? [] : [oldSent])];
}

// The shapes of answers about an agent's texts.

const TRUST = z.enum(TRUSTS);
const KEY = { layer: z.string(), part: z.string().optional().describe("a skill, in the layer that holds skills") };

export const PASSED_OVER = z.object({ ...KEY, n: z.number(), state: z.enum(["displaced", "outdated"]) }).meta({
  id: "PassedOver",
  description:
    "An edited text. `displaced`: not sent, because its layer has since been locked, removed, or declared with another rank or source. `outdated`: still sent, although the declared text has changed.",
});

export const TEXT_ORIGIN = z
  .object({
    ...KEY,
    n: z.number(),
    parent: z.number().describe("the version that it replaces; 0 is the declared text"),
    inputs: TRUST.describe("the lowest trust of everything that its author had read"),
    turn: z.string().optional().describe("the turn that wrote it; absent for one that an operator passed on"),
    contact: z.string().optional().describe("whose conversation that turn is in; `~self` is the agent itself"),
  })
  .meta({ id: "TextOrigin", description: "A version of a text, and where it came from, without its words." });

export type TextOrigin = Readonly<z.output<typeof TEXT_ORIGIN>>;

export const LAYER = z
  .object({
    id: z.string(),
    rank: z.number(),
    mutability: z.enum(MUTABILITIES).describe("`immutable`: cannot change at run time"),
    editors: z.literal("operators").optional().describe("for a versioned text: only operators; absent: the agent, too"),
    scope: z.enum(LAYER_SCOPES),
    trust: TRUST,
    text: z.string().optional().describe("what is sent of it now; absent if it is filled in each turn"),
    characters: z.number().optional(),
    version: z.number().optional().describe("the active version; 0 is the declared text"),
    textTrust: TRUST,
    proposals: z.number().describe("how many wait"),
    source: z.string().optional(),
    passedOver: list(PASSED_OVER).optional().describe("which of its edited texts; absent: none"),
  })
  .meta({ id: "Layer" });

export const VERSION = z
  .object({
    ...KEY,
    n: z.number(),
    text: z.string().describe("empty if it was erased with the contact in whose turn it was written"),
    line: z.string().optional(),
    status: z.enum(TEXT_STATUSES),
    active: z.boolean(),
    trust: TRUST.describe("whose words"),
    inputs: TRUST.describe("the lowest trust of everything that its author had read"),
    ...DONE_BY,
    turn: z.string().optional(),
    reason: z.string(),
    verdict: z.object({ verdict: z.enum(["pass", "review", "reject"]), findings: list(z.string()) }),
    parent: z.number().describe("the version that it replaces"),
    place: z
      .object({ rank: z.number(), source: z.string(), declared: z.string().optional() })
      .describe("what it was written for: rank and source of its layer, and the digest of the declared text"),
    digest: z.string().describe("the SHA-256 of the text in UTF-8"),
    at: TIME,
  })
  .meta({ id: "TextVersion", description: "One version of a text; versions are never deleted." });

const SIDE = z.object({ n: z.number().describe("the version; 0 is the declared text"), text: z.string() });

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
    seq: z.number().describe("1 for the first of its text"),
    kind: z.enum(MOVE_KINDS),
    n: z.number(),
    from: z.number().nullable(),
    to: z.number().nullable().describe("what is active afterwards: 0 is the declared text, null is nothing"),
    ...DONE_BY,
    turn: z.string().optional(),
    reason: z.string(),
    at: TIME,
  })
  .meta({ id: "TextMove", description: "What was done with a text's versions." });

export const SKILL = z
  .object({
    name: z.string(),
    enabled: z.boolean(),
    text: z.string().describe("what is sent of it while it is enabled; of a disabled one, what was sent last"),
    version: z.number().describe("of that text; 0 is the declared one"),
    textTrust: TRUST,
    proposals: z.number(),
  })
  .meta({ id: "Skill" });
