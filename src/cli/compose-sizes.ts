import type { App, Composed, Conversation } from "../app.ts";
import { type LedgerEntry, type Mode, untrusted } from "../protocol/index.ts";
import type { Context } from "./context.ts";
import { number } from "./style.ts";
import { table } from "./table.ts";

/** What the sizes are asked for. */
interface Sizing {
  readonly app: App;
  readonly conversation: Conversation;
  readonly json: boolean;
  readonly message: string | undefined;
}

/** One layer's tokens in each mode, and how it appears in the compact one. */
interface LayerSize {
  readonly layer: string;
  readonly rank?: number;
  readonly full: number;
  readonly compact: number;
  readonly compactly: string;
}

/** Prints how large a prompt is in full and in compact mode: layer by layer, without the message, and which mode is chosen. */
export async function explainSizes(context: Context, { app, conversation, json, message }: Sizing): Promise<void> {
  const compose = (mode?: Mode): Promise<Composed> =>
    app.runtime.compose(app.operator, conversation, untrusted(message ?? "Hello."), { mode });
  const chosen = await compose();
  const sizes = layersOf(await compose("full"), await compose("compact"));
  const sums = { full: sumOf(sizes, "full"), compact: sumOf(sizes, "compact") };
  const { agent, model, ledger } = chosen;
  const { mode, limit } = ledger;
  if (json) {
    context.json({ agent: agent.name, model, mode, limit, layers: sizes, tokens: sums });
    return;
  }
  const { style } = context;
  const [head = "", ...lines] = table(COLUMNS, sizes.map(rowOf));
  context.say(
    `${style.bold(agent.name)} with ${model}: mode ${style.bold(mode)}, ${number(limit)} tokens may be sent`,
    "",
    style.dim(head),
    ...lines,
    "",
    `full     ${number(sums.full)} tokens beside the message`,
    `compact  ${number(sums.compact)} tokens beside the message`,
  );
}

const COLUMNS = [
  { head: "piece" },
  { head: "rank", right: true },
  { head: "full", right: true },
  { head: "compact", right: true },
  { head: "in compact mode" },
] as const;

const rowOf = ({ layer, rank, full, compact, compactly }: LayerSize): readonly string[] => [
  layer,
  rank === undefined ? "" : number(rank),
  number(full),
  number(compact),
  compactly,
];

function layersOf(full: Composed, compact: Composed): readonly LayerSize[] {
  const short = new Map(compact.ledger.entries.map((entry) => [entry.piece, entry]));
  return full.ledger.entries.filter(isSized).map(({ piece, rank, tokens }) => {
    const other = short.get(piece);
    return {
      layer: piece,
      ...(rank !== undefined && { rank }),
      full: tokens,
      compact: other?.tokens ?? 0,
      compactly: other === undefined ? "absent" : APPEARS[other.fate],
    };
  });
}

/** The conversation and the message are no part of what an agent is told beforehand. */
const isSized = ({ place }: LedgerEntry): boolean => place !== "transcript" && place !== "message";

const APPEARS: Readonly<Record<LedgerEntry["fate"], string>> = {
  kept: "whole",
  lined: "one line",
  truncated: "cut",
  dropped: "left out",
  empty: "empty",
};

const sumOf = (sizes: readonly LayerSize[], mode: "full" | "compact"): number =>
  sizes.reduce((sum, size) => sum + size[mode], 0);
