import type { App, Composed, Conversation } from "../../../app.ts";
import { count, number, type Style, table } from "../../../print/index.ts";
import { type LayerScope, type LedgerEntry, type Mode, StrataError, untrusted } from "../../../protocol/index.ts";
import type { Context } from "../shell/context.ts";

/** What sizes are computed for. */
interface Sizing {
  readonly app: App;
  readonly conversation: Conversation;
  readonly json: boolean;
  readonly message: string | undefined;
  /** As if this mode were chosen. */
  readonly mode: Mode | undefined;
}

/** One layer's tokens in each mode with room for everything, how it appears in the compact one, and what is sent of it. */
interface LayerSize {
  readonly layer: string;
  readonly rank?: number;
  /** Who shares its bytes: all agents, one, a conversation, a turn. */
  readonly scope?: LayerScope;
  /** Its soft budget, tokens. */
  readonly budget?: number;
  readonly full: number;
  readonly compact: number;
  readonly compactly: string;
  /** Absent if nothing can be sent. */
  readonly sent?: number;
}

/** A prompt in each mode, as it would be with room for everything and as it is sent; or why it cannot be. */
interface Prompts {
  readonly full: Composed;
  readonly compact: Composed;
  readonly minimal: Composed;
  readonly sent: Composed | StrataError;
}

/** Prints how large a prompt is, layer by layer, without the message: in full, in compact mode, and what of it is sent. */
export async function explainSizes(context: Context, sizing: Sizing): Promise<void> {
  const prompts = await composed(sizing);
  const { agent, model } = prompts.full;
  const sizes = sizesOf(prompts);
  const sums = { full: sumOf(sizes, "full"), compact: sumOf(sizes, "compact") };
  const { sent } = prompts;
  const cut = [...cutIn(sent), ...absentIn(prompts)];
  if (sizing.json) {
    const chosen = sent instanceof StrataError ? {} : { mode: sent.ledger.mode, limit: sent.ledger.limit };
    const all = { ...sums, minimal: minimalOf(prompts) };
    const tokens = sent instanceof StrataError ? all : { ...all, sent: sumOf(sizes, "sent") };
    context.json({ agent: agent.name, model, ...chosen, layers: sizes, tokens, cut });
  } else {
    const rows = table(COLUMNS, sizes.map(sizeRow), context.style);
    const minimal = `minimal  ${number(minimalOf(prompts))} tokens without the message`;
    const before = sent instanceof StrataError ? [] : continuesLine(sent);
    context.say(
      titleOf(prompts, context.style),
      ...before,
      "",
      ...rows,
      "",
      ...totals(sizes),
      minimal,
      ...cut.map(cutLine),
      ...freeLine(sent),
    );
  }
  if (sent instanceof StrataError) context.fail(sent);
}

async function composed({ app, conversation, message, mode }: Sizing): Promise<Prompts> {
  const compose = (talk: Conversation, options: { readonly mode: Mode | undefined; readonly uncut?: true }) =>
    app.runtime.compose(app.operator, talk, untrusted(message ?? "Hello."), options);
  // A conversation that continues keeps its mode and its prefix: each mode is looked at as one begins.
  const anew = { ...conversation, key: `${conversation.key} anew` };
  return {
    full: await compose(anew, { mode: "full", uncut: true }),
    compact: await compose(anew, { mode: "compact", uncut: true }),
    minimal: await compose(anew, { mode: "minimal", uncut: true }),
    sent: await compose(conversation, { mode }).catch(asTooLarge),
  };
}

/** A prompt that does not fit is exactly what a user of this command wants to see. */
function asTooLarge(thrown: unknown): StrataError {
  if (thrown instanceof StrataError && thrown.code === "budget_too_small") return thrown;
  throw thrown;
}

function titleOf({ full: { agent, model }, sent }: Prompts, style: Style): string {
  const title = `${style.bold(agent.name)} with ${model}`;
  if (sent instanceof StrataError) return `${title}: what must be sent does not fit`;
  const { mode, limit } = sent.ledger;
  return `${title}: mode ${style.bold(mode)}, ${number(limit)} tokens may be sent`;
}

/** That the request holds more than the agent and the message: the conversation that a chat would continue. */
export function continuesLine({ request: { messages }, ledger }: Composed): readonly string[] {
  const tokens = ledger.entries.reduce((sum, { place, tokens: own }) => sum + (place === "transcript" ? own : 0), 0);
  // What the platform said in system messages of its own is none of the conversation's.
  const before = messages.filter(({ role }) => role !== "system").length - 1;
  if (before <= 0) return [];
  return [`It continues the newest chat of this contact: ${count(before, "message")}, ${number(tokens)} tokens.`];
}

const COLUMNS = [
  { head: "section" },
  { head: "rank", right: true },
  { head: "scope" },
  { head: "budget", right: true },
  { head: "full", right: true },
  { head: "compact", right: true },
  { head: "in compact mode" },
  { head: "sent", right: true },
] as const;

const sizeRow = ({ layer, rank, scope, budget, full, compact, compactly, sent }: LayerSize): readonly string[] => [
  layer,
  rank === undefined ? "" : number(rank),
  scope ?? "",
  budget === undefined ? "" : number(budget),
  number(full),
  number(compact),
  compactly,
  sent === undefined ? "" : number(sent),
];

function totals(sizes: readonly LayerSize[]): readonly string[] {
  const isSent = sizes.some(({ sent }) => sent !== undefined);
  const modes = ["full", "compact", ...(isSent ? (["sent"] as const) : [])] as const;
  return modes.map((mode) => `${mode.padEnd(7)}  ${number(sumOf(sizes, mode))} tokens without the message`);
}

function sizesOf({ full, compact, sent }: Prompts): readonly LayerSize[] {
  const [short, now] = [entriesBySection(compact), sent instanceof StrataError ? undefined : entriesBySection(sent)];
  return full.ledger.entries.filter(isSized).map(({ section, rank, scope, wanted }) => {
    const other = short.get(section);
    const { budget } = full.agent.layers.find(({ id }) => id === section) ?? {};
    return {
      layer: section,
      ...(rank !== undefined && { rank }),
      ...(scope !== undefined && { scope }),
      ...(budget !== undefined && { budget }),
      full: wanted,
      compact: other?.wanted ?? 0,
      compactly: other === undefined ? "absent" : APPEARS[other.fate],
      ...(now !== undefined && { sent: now.get(section)?.tokens ?? 0 }),
    };
  });
}

const entriesBySection = ({ ledger }: Composed): ReadonlyMap<string, LedgerEntry> =>
  new Map(ledger.entries.map((entry) => [entry.section, entry]));

/** What of the sent prompt gave way, and how far. */
interface CutSection {
  readonly section: string;
  readonly tokens: number;
  readonly wanted: number;
  readonly because: string;
}

const cutIn = (sent: Prompts["sent"]): readonly CutSection[] =>
  sent instanceof StrataError
    ? []
    : sent.ledger.entries.flatMap(({ section, tokens, wanted, ...fate }) =>
        fate.fate === "truncated" || fate.fate === "dropped"
          ? [{ section, tokens, wanted, because: fate.because }]
          : [],
      );

/** What the mode of the sent prompt omits. */
function absentIn({ full, sent }: Prompts): readonly CutSection[] {
  if (sent instanceof StrataError) return [];
  const there = entriesBySection(sent);
  return full.ledger.entries
    .filter((entry) => isSized(entry) && entry.wanted > 0 && !there.has(entry.section))
    .map(({ section, wanted }) => ({ section, tokens: 0, wanted, because: `mode ${sent.ledger.mode}` }));
}

function cutLine({ section, tokens, wanted, because }: CutSection): string {
  const what = tokens === 0 ? "left out" : `cut to ${number(tokens)}`;
  return `${section}: ${what} of ${number(wanted)} tokens (${because})`;
}

/** Why something was cut although there is room: a prefix that is too long leaves some to the conversation after it. */
function freeLine(sent: Prompts["sent"]): readonly string[] {
  if (sent instanceof StrataError) return [];
  const { entries, limit, tokens } = sent.ledger;
  const isPrefixCut = entries.some(
    ({ place, fate }) => place === "system" && (fate === "truncated" || fate === "dropped"),
  );
  return isPrefixCut && limit > tokens
    ? [`${number(limit - tokens)} tokens stay free for what the conversation adds`]
    : [];
}

const minimalOf = ({ minimal: { ledger } }: Prompts): number =>
  ledger.entries.filter(isSized).reduce((sum, { wanted }) => sum + wanted, 0);

/** The conversation and the message are not part of the fixed prompt. */
const isSized = ({ place }: LedgerEntry): boolean => place !== "transcript" && place !== "message";

const APPEARS: Readonly<Record<LedgerEntry["fate"], string>> = {
  kept: "whole",
  lined: "one line",
  truncated: "cut",
  dropped: "left out",
  empty: "empty",
};

const sumOf = (sizes: readonly LayerSize[], column: "full" | "compact" | "sent"): number =>
  sizes.reduce((sum, size) => sum + (size[column] ?? 0), 0);
