import { count, duration, number, type Style, table } from "../../../print/index.ts";
import type { PieceTally, Tally } from "../shell/tally.ts";

/** What the end of a replay tells besides the tally. */
export interface ReplayReport {
  readonly file: string;
  readonly agent: string;
  /** Lines with something in them. */
  readonly lines: number;
  /** Exchanges of the file: each is to become a turn. */
  readonly exchanges: number;
  readonly milliseconds: number;
  readonly tally: Tally;
}

/** The end of a replay for a person: counts, then what each piece cost. */
export function replayTable(report: ReplayReport, style: Style): readonly string[] {
  const { file, agent, tally, milliseconds } = report;
  const pieces = [...tally.pieces.values()].sort(inOrder).map((piece) => pieceRow(piece, tally));
  return [
    style.bold(`${file} through ${agent}`),
    ...table([{ head: "" }, { head: "", right: true }, { head: "" }], counts(report), style),
    "",
    ...table(COLUMNS, pieces, style),
    "",
    `${duration(milliseconds)}${tally.turns.fresh === 0 ? "" : `, ${duration(milliseconds / tally.turns.fresh)} a fresh turn`}`,
  ];
}

function counts({ tally, lines, exchanges }: ReplayReport): readonly (readonly string[])[] {
  const { turns, requests, messages, calls, tokens, epochs, recall, pieces } = tally;
  const done = turns.fresh + turns.before + turns.failed;
  const cut = [...pieces.values()].reduce((sum, piece) => sum + piece.cut, 0);
  const begun = Object.entries(epochs).map(([reason, times]) => `${number(times)} ${reason}`);
  return [
    [
      "turns",
      number(done),
      `of ${number(exchanges)}: ${number(turns.fresh)} fresh, ${number(turns.before)} done before, ${number(turns.failed)} failed`,
    ],
    [
      "messages",
      number(lines),
      `lines in the file; received ${number(messages.received)}, said ${number(messages.said)}`,
    ],
    ["requests", number(requests), ""],
    ["tool calls", number(calls), ""],
    ["tokens", number(tokens), requests === 0 ? "" : `${number(Math.round(tokens / requests))} a request`],
    ["pieces cut", number(cut), cut === 0 ? "" : "in all requests together"],
    ["epochs", number(Object.values(epochs).reduce((sum, times) => sum + times, 0)), begun.join(", ")],
    ["recall", number(recall.turns), `turns with hits, ${count(recall.items, "item")} shown`],
  ];
}

const COLUMNS = [
  { head: "place" },
  { head: "piece" },
  { head: "tokens", right: true },
  { head: "mean a request", right: true },
  { head: "in requests", right: true },
  { head: "cut", right: true },
] as const;

const PLACES = ["tools", "system", "transcript", "message", "tail"];

/** In the order of a request; pieces of one place stay as they were first met. */
const inOrder = (a: PieceTally, b: PieceTally): number => PLACES.indexOf(a.place) - PLACES.indexOf(b.place);

function pieceRow({ place, piece, tokens, requests, cut }: PieceTally, tally: Tally): readonly string[] {
  const mean = tally.requests === 0 ? 0 : tokens / tally.requests;
  return [place, piece, number(tokens), number(Math.round(mean)), number(requests), cut === 0 ? "" : number(cut)];
}

/** The same for programs. */
export function replayJson({ tally: { pieces, ...tally }, ...report }: ReplayReport) {
  return { ...report, ...tally, pieces: [...pieces.values()].sort(inOrder) };
}
