import {
  type Agent,
  asStrataError,
  type CountTokens,
  EPHEMERAL_TAIL,
  type Epoch,
  type FrozenMemory,
  holdsReasoning,
  type LayerContent,
  type LayerId,
  type Ledger,
  type LedgerEntry,
  lowestTrust,
  type Mode,
  type Request,
  type StoredEvent,
  StrataError,
  sentIn,
  type TailPart,
  type TailPlan,
  type TextPart,
  type ToolSchema,
  type TranscriptMessage,
  type Trust,
  type TurnId,
} from "../protocol/index.ts";
import { cutEpoch, leastOf, type Summary, total } from "./cut.ts";
import { cutPlan, type EarlyCut, type Keep, whyCut, withPlan } from "./cut-plan.ts";
import { drafts } from "./drafts.ts";
import { eventsMessage, wholeMessage } from "./events.ts";
import { apart, begunAnew, frozenWithin, renderFrozen, withFrozen } from "./frozen.ts";
import { type Draft, pieceOf, render } from "./layers.ts";
import { cuttable, plainly, reasonOf } from "./plainly.ts";
import { orderTools, renderPrefix, toolsEntry } from "./prefix.ts";
import { type Allotment, type Piece, shareOut } from "./share-out.ts";
import { standingOf } from "./standing.ts";
import { carry, nothingNow, requestsLeft, toldAnew, withKept } from "./tail.ts";
import { NOTHING_TOLD, type ToldLayers, toldIn } from "./told.ts";

/** Everything a turn's first request is made from. */
export interface CompileInput {
  readonly agent: Agent;
  readonly turn: TurnId;
  readonly mode: Mode;
  /** Tokens that may be sent: the budget less the reserve for the reply. */
  readonly limit: number;
  readonly tools: readonly ToolSchema[];
  /** The thread's running epoch; none for a thread's first turn. */
  readonly epoch: Epoch | undefined;
  /** Never empty. */
  readonly events: readonly StoredEvent[];
  /** What the live layers' sources gave. */
  readonly contents: ReadonlyMap<LayerId, LayerContent>;
  readonly count: CountTokens;
  /** How the live layers are carried; left out, they stand at the end and are gone in the next request. */
  readonly tail?: TailPlan;
  /** What stands frozen at the start of an epoch that the turn opens; left out, what stands there now stays. */
  readonly memory?: FrozenMemory;
  /** True: something that the running epoch shows of memories was forgotten, so it ends here. */
  readonly forgotten?: boolean;
  /** What stands for the messages that a cut of this turn takes away; where it does not fit, their mark stands alone. */
  readonly summary?: Summary;
  /** What must stay of the transcript when it is cut; left out, it is cut only where it must be. */
  readonly keep?: Keep;
  /** What was chosen where a cut is cheaper now than later. */
  readonly early?: EarlyCut;
  /** True: the model's provider binds reasoning to all that was sent before it, and refuses it behind anything else. */
  readonly binds?: boolean;
}

/** A turn's request in the making: what is frozen, what grows, what is only for now, and every piece's fate. */
export interface Compilation {
  readonly epoch: Epoch;
  /** Epochs this turn opened, the oldest first. */
  readonly opened: readonly Epoch[];
  /** The turn's own messages so far: the events, then replies and results. */
  readonly own: readonly TranscriptMessage[];
  readonly tail: readonly TailPart[];
  /** All that the live layers say whose changes stay in the turn's own messages, and the tokens of these changes. */
  readonly kept: { readonly whole: readonly TextPart[]; readonly tokens: number };
  readonly ledger: Ledger;
  /** The lowest trust of all that the turn has sent so far: a cut does not raise it again. */
  readonly taint: Trust;
  /** Tokens of the older transcript that stay even when it gives way. */
  readonly least: number;
  /** What must stay of it when it is cut. */
  readonly keep?: Keep;
  /** Whether what was reasoned before a cut may not stand behind it. */
  readonly binds?: boolean;
}

/**
 * The first request of a turn. Pure: same input, same bytes.
 * @throws StrataError `budget_too_small`, before anything is sent
 */
export function compile(input: CompileInput): Compilation {
  const { agent, count, limit, mode, tail: plan = EPHEMERAL_TAIL } = input;
  const running = input.epoch && input.forgotten ? begunAnew(input.epoch, input) : input.epoch;
  const told = plan.framed === "delta" ? toldIn(running?.transcript ?? []) : NOTHING_TOLD;
  const tail = drafts(agent.layers, "tail", mode, nothingNow(agent.layers, input.contents, { plan, told }), count);
  const whole = wholeMessage(input.events, count);
  const { epoch, room } = begin({ ...input, epoch: running }, tail, whole);
  const tailSent = tail.map((one) => render(one, room.allotment.get(one.layer.id), "tail", count));
  const start: Omit<Compilation, "own" | "tail" | "kept"> = {
    epoch,
    opened: epoch === input.epoch ? [] : [epoch],
    ledger: {
      mode,
      epoch: { n: epoch.n, reason: epoch.reason, opened: epoch !== input.epoch, cut: epoch.cut },
      entries: [],
      tokens: 0,
      limit,
    },
    taint: "platform",
    least: 0,
    ...(input.keep && { keep: input.keep }),
    ...(input.binds && { binds: true }),
  };
  const lay = (known: ToldLayers): Compilation => {
    const carried = carry(tailSent, { plan, told: known, requests: requestsLeft(epoch, limit), count });
    const own = withKept({ ...room.message, turn: input.turn }, carried, { plan, count });
    const kept = { whole: carried.whole, tokens: own.tokens - room.message.tokens };
    const made = { ...start, own: [own], tail: carried.parts, kept };
    return settleRoom(made, [...carried.entries, room.messageEntry], count, input);
  };
  const made = lay(told);
  // A cut takes away what changes were told of: all is told anew.
  return made.epoch === epoch || told.size === 0 ? made : lay(NOTHING_TOLD);
}

/**
 * The turn's next request: its own messages grow, the tail stays as it was computed.
 * @throws StrataError `budget_too_small`
 */
export function extend(compilation: Compilation, added: readonly TranscriptMessage[], count: CountTokens): Compilation {
  const live = compilation.ledger.entries.filter((entry) => entry.place === "tail");
  const before = compilation.ledger.entries.find((entry) => entry.place === "message");
  const own = [...compilation.own, ...added];
  const tokens = total(own) - compilation.kept.tokens;
  const message: LedgerEntry = {
    ...(before ?? { piece: "message", place: "message", fate: "kept" }),
    trust: lowestTrust(own.map((one) => one.trust)),
    tokens,
    wanted: tokens + ((before?.wanted ?? 0) - (before?.tokens ?? 0)),
  };
  const next = settleRoom({ ...compilation, own }, [...live, message], count);
  return next.epoch === compilation.epoch
    ? next
    : (withAllTold({ ...compilation, own }, [...live, message], count) ?? next);
}

/** The same after a cut in the middle of a turn, with all that the live layers say: what their changes stood behind is gone. */
function withAllTold(
  compilation: Compilation,
  live: readonly LedgerEntry[],
  count: CountTokens,
): Compilation | undefined {
  const { own, kept } = compilation;
  const anew = toldAnew({ own, whole: kept.whole, entries: live }, count);
  if (anew === undefined) return undefined;
  const { message, entries } = anew;
  const tokens = kept.tokens + anew.tokens;
  try {
    return settleRoom({ ...compilation, own: [...own, message], kept: { ...kept, tokens } }, entries, count);
  } catch (thrown) {
    if (asStrataError(thrown).code !== "budget_too_small") throw thrown;
    return undefined;
  }
}

/**
 * The same request without the model's reasoning, for a provider that would not have it back: in an epoch of its own, for what
 * was sent is never changed. Nothing where there is none to leave out.
 */
export function unreasoned(compilation: Compilation, count: CountTokens): Compilation | undefined {
  const { epoch, opened, own, ledger } = compilation;
  const { transcript } = epoch;
  if (epoch.reason === "refused" || ![...transcript, ...own].some(({ message }) => holdsReasoning(message))) return;
  const next: Epoch = { ...epoch, n: epoch.n + 1, reason: "refused", transcript: plainly(transcript, count) };
  const live = ledger.entries.filter(({ place }) => place === "tail" || place === "message");
  return settleRoom({ ...compilation, epoch: next, opened: [...opened, next] }, live, count);
}

/** Tokens that the turn's own messages may still grow by, when the older transcript gives way. */
export function roomLeft({ ledger, least }: Compilation): number {
  const transcript = ledger.entries.find(({ piece }) => piece === "transcript")?.tokens ?? 0;
  return ledger.limit - ledger.tokens + transcript - least;
}

/** The compilation as a request without marks: the planner sets them. */
export function requestOf(
  { epoch, own, tail }: Compilation,
  parameters: Request["parameters"],
): Omit<Request, "marks"> {
  const { messages } = standingOf(epoch.transcript);
  const sent = sentIn(epoch, messages.concat(own.map((one) => one.message)));
  return { prefix: epoch.prefix, messages: sent, tail, parameters };
}

const fixedPiece = (id: string, wanted: number): Piece => ({
  id,
  rank: 0,
  wanted,
  minimum: wanted,
  cuttable: false,
  droppable: false,
});

function frozenPieces(epoch: Epoch, count: CountTokens): Piece[] {
  const prefix = epoch.prefixEntries.map(({ piece, place, tokens }) =>
    fixedPiece(place === "transcript" ? `${piece} (frozen)` : piece, tokens),
  );
  return [...prefix, fixedPiece("transcript", leastOf(epoch, count))];
}

const sumOfLeast = (pieces: readonly Piece[]): number =>
  pieces.reduce((sum, piece) => sum + (piece.cuttable || piece.droppable ? piece.minimum : piece.wanted), 0);

/**
 * Layers and message share the room; the transcript takes what is left. The message gets no more than half of the limit,
 * or, where it cannot be cut so far, what the rest can spare.
 */
function shareRoom(
  { events, limit, count }: CompileInput,
  whole: TranscriptMessage,
  pieces: readonly Piece[],
): { allotment: Allotment; message: TranscriptMessage; messageEntry: LedgerEntry } {
  const spare = limit - sumOfLeast(pieces);
  const { message, entry } = eventsMessage(events, [Math.min(Math.floor(limit / 2), spare), spare], count, whole);
  return {
    allotment: shareOut([...pieces, fixedPiece("message", message.tokens)], limit),
    message,
    messageEntry: entry,
  };
}

type Shared = ReturnType<typeof shareRoom>;

/**
 * The epoch that the turn goes on with, and how what comes after its prefix shares the rest. The prefix of a first epoch is
 * whole where all fits, and else cut to one of few sizes, whatever the first message says: so threads of one agent send the
 * same bytes, and not each its own. What cannot be cut takes the room it needs.
 * @throws StrataError `budget_too_small`
 */
function begin(
  input: CompileInput,
  tail: readonly Draft[],
  whole: TranscriptMessage,
): { readonly epoch: Epoch; readonly room: Shared } {
  const share = (epoch: Epoch) => ({
    epoch,
    room: shareRoom(input, whole, [...frozenPieces(epoch, input.count), ...tail.map(pieceOf)]),
  });
  if (input.epoch !== undefined) return share(input.epoch);
  const { tools, made, pieces } = prefixOf(input);
  const needed = sumOf([...pieces, ...tail]) + whole.tokens;
  const sizes = needed <= input.limit ? [input.limit] : sizesFor(input.limit);
  const frozen = frozenWithin(input.limit - needed, input);
  const least = sumOfLeast(pieces);
  for (const size of sizes) {
    try {
      return share(withFrozen(firstEpoch(input, tools, made, shareOut(pieces, Math.max(size, least))), frozen));
    } catch (thrown) {
      if (size === sizes.at(-1) || asStrataError(thrown).code !== "budget_too_small") throw thrown;
    }
  }
  throw new StrataError("unexpected", "no size for the prefix was tried: this is a bug in Strata, please report it");
}

/** Tokens that a cut prefix may have, the first that leaves enough: all but an eighth (or 2,000), but a quarter, a half, or what cannot be cut. */
const sizesFor = (limit: number): readonly number[] => [
  limit - Math.min(Math.ceil(limit / 8), 2_000),
  limit - Math.ceil(limit / 4),
  limit - Math.ceil(limit / 2),
  0,
];

function prefixOf({ agent, mode, contents, count, ...input }: CompileInput) {
  const tools = orderTools(input.tools);
  const made = drafts(agent.layers, "system", mode, contents, count);
  return { tools, made, pieces: [fixedPiece("tools", toolsEntry(tools, count).tokens), ...made.map(pieceOf)] };
}

function firstEpoch(input: CompileInput, tools: readonly ToolSchema[], made: readonly Draft[], room: Allotment): Epoch {
  const { prefix, entries } = renderPrefix(tools, made, room, input.count);
  return { n: 1, reason: "first", cut: 0, prefix, prefixEntries: entries, mode: input.mode, transcript: [] };
}

const sumOf = (pieces: readonly Pick<Piece, "wanted">[]): number => pieces.reduce((sum, { wanted }) => sum + wanted, 0);

/** Adds up what is sent; a transcript that no longer fits, or has passed its mark, is cut, deeply, in a new epoch. */
function settleRoom(
  compilation: Compilation,
  live: readonly LedgerEntry[],
  count: CountTokens,
  start?: Pick<CompileInput, "summary" | "early" | "memory">,
): Compilation {
  const { limit } = compilation.ledger;
  const { epoch } = compilation;
  const taken = ({ prefixEntries }: Epoch) => [...prefixEntries, ...live].reduce((sum, entry) => sum + entry.tokens, 0);
  const others = taken(epoch);
  const room = limit - others;
  const plan = cutPlan(epoch, room, compilation.keep);
  const because = whyCut(epoch, room, { plan, isStart: start !== undefined, early: start?.early });
  const planned = { ...compilation, ledger: withPlan(compilation.ledger, plan, because ?? start?.early?.because) };
  if (because === undefined) return withLedger(planned, live, others, count);
  const shown = cuttable(compilation, count);
  // A new epoch begins with what is remembered now; where that has no room, with what stood there.
  const fresh = start?.memory === undefined ? shown : withFrozen(shown, renderFrozen(start.memory, count));
  const cutTo = (from: Epoch): Epoch | undefined => {
    const { frozen, rest } = apart(from);
    const cut = cutEpoch({ ...from, transcript: rest }, limit - taken(from), { plan, count }, start?.summary);
    return cut && { ...cut, reason: reasonOf(compilation), transcript: [...frozen, ...cut.transcript] };
  };
  const next = cutTo(fresh) ?? cutTo(shown);
  if (next === undefined) throw noRoom(compilation, live, limit);
  // What must stay may be all that there is.
  if (next.cut === epoch.cut && standingOf(epoch.transcript).tokens <= room)
    return withLedger({ ...planned, ledger: withPlan(planned.ledger, plan) }, live, others, count);
  return withLedger({ ...planned, epoch: next, opened: [...compilation.opened, next] }, live, taken(next), count);
}

function noRoom(compilation: Compilation, live: readonly LedgerEntry[], limit: number): StrataError {
  const own = total(compilation.own);
  const prefix =
    tokensAt(compilation.epoch.prefixEntries, "tools") + tokensAt(compilation.epoch.prefixEntries, "system");
  const tail = tokensAt(live, "tail");
  return new StrataError(
    "budget_too_small",
    `the prefix (${prefix}), this turn's messages (${own}) and the live layers (${tail}) leave no room in the ${limit} tokens that may be sent; raise budgets.total or lower budgets.result`,
    { prefix, own, tail, limit },
  );
}

const tokensAt = (entries: readonly LedgerEntry[], place: LedgerEntry["place"]): number =>
  entries.filter((entry) => entry.place === place).reduce((sum, entry) => sum + entry.tokens, 0);

function withLedger(
  compilation: Compilation,
  live: readonly LedgerEntry[],
  others: number,
  count: CountTokens,
): Compilation {
  const { epoch, opened } = compilation;
  const { tokens, trust } = standingOf(epoch.transcript);
  const transcript: LedgerEntry = {
    piece: "transcript",
    place: "transcript",
    trust,
    tokens,
    wanted: tokens,
    ...(epoch.cut > 0 ? { fate: "truncated", because: `the first ${epoch.cut} messages were cut` } : { fate: "kept" }),
  };
  const entries = [
    ...epoch.prefixEntries,
    transcript,
    ...live.filter((one) => one.place === "message"),
    ...live.filter((one) => one.place === "tail"),
  ];
  const ledger: Ledger = {
    ...compilation.ledger,
    epoch: { n: epoch.n, reason: epoch.reason, opened: opened.includes(epoch), cut: epoch.cut },
    entries,
    tokens: others + tokens,
  };
  const sent = entries.filter((entry) => entry.tokens > 0).map((entry) => entry.trust);
  const taint = lowestTrust([compilation.taint, ...sent]);
  return { ...compilation, ledger, taint, least: leastOf(epoch, count) };
}
