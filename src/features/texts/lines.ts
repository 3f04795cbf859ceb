import { count, minute, number, oneLine, printable, type Style, setIn, table } from "../../print/index.ts";
import { changedLines, diffLines, type TextKey, type TextMove, type TextVersion } from "../../protocol/index.ts";

/** A text's name in a sentence. */
export const nameOf = ({ layer, part }: TextKey): string => part ?? layer;

/** A version for a person: what it is, who wrote it and why, and what the guard said. */
export function versionLines(version: TextVersion, style: Style): readonly string[] {
  const { n, status, active, at, by, turn, trust, verdict, parent, digest, reason, text } = version;
  const over = parent === 0 ? "the declared text" : `version ${parent}`;
  return [
    `${style.bold(`version ${n}`)} · ${active ? "active" : status} · ${minute(at)} · by the ${by}`,
    `  ${count(text.length, "character")} over ${over} · words of the ${trust}`,
    ...(turn === undefined ? [] : [`  turn: ${turn}${readOf(version)}`]),
    ...setIn([verdict.verdict, ...verdict.findings].join("; "), { first: "  guard: ", more: "    " }, style),
    ...setIn(oneLine(reason), { first: "  reason: ", more: "    " }, style),
    style.dim(`  sha256 ${digest}`),
  ];
}

/** What the turn had read before it wrote, where that is trusted less than the agent itself. */
const readOf = ({ inputs }: TextVersion): string => (inputs === "contact" ? ", after words of a contact" : "");

const MOVES = [
  { head: "when (UTC)" },
  { head: "what" },
  { head: "version", right: true },
  { head: "active" },
  { head: "by" },
  { head: "reason", least: 16, wraps: true },
] as const;

/** What was done with versions, one line each. */
export function moveLines(moves: readonly TextMove[], style: Style): readonly string[] {
  const rows = moves.map(({ at, kind, n, from, to, by, reason }) => [
    minute(at),
    kind,
    number(n),
    from === to ? pointer(to) : `${pointer(from)} → ${pointer(to)}`,
    by,
    oneLine(reason),
  ]);
  return table(MOVES, rows, style);
}

const pointer = (to: number | null): string => (to === null ? "none" : number(to));

/** What came of a move, in a sentence. */
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

/** How an edit by a person is told. */
interface Telling {
  readonly name: string;
  /** The sentence that says how it is taken back. */
  readonly back: string;
  readonly style: Style;
}

/** What came of an edit by a person. */
export function editedLines(version: TextVersion, { name, back, style }: Telling): readonly string[] {
  const { n, status, verdict } = version;
  if (status !== "kept")
    return [`Version ${n} of ${name} waits: another text was changed meanwhile. \`strata layer proposals\` shows it.`];
  const told = `Version ${n} of ${name} is active: the next turn uses it.`;
  if (verdict.verdict === "pass") return [`${told} ${back}`];
  const found = verdict.findings.map(printable).join("; ");
  return [
    told,
    style.yellow(`Careful: for an agent's edit, the guard would ask for a review first: ${found}. ${back}`),
  ];
}

/** How many proposals wait, and where they are seen. */
export const proposalsLine = (proposals: number, agent: string): string =>
  `${count(proposals, "proposal")} of ${agent} ${proposals === 1 ? "waits" : "wait"}: \`strata layer proposals ${agent}\` shows ${proposals === 1 ? "it" : "them"}`;

/** That edited texts are not what is sent, or not what is declared any more. */
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
