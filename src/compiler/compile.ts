import {
  asStrataError,
  type CountTokens,
  EPHEMERAL_TAIL,
  type Epoch,
  type FramedAbove,
  holdsReasoning,
  type Ledger,
  type LedgerEntry,
  lowestTrust,
  type Request,
  StrataError,
  sentIn,
  type TailPart,
  type TextPart,
  type TranscriptMessage,
  type Trust,
} from "../protocol/index.ts";
import type { CompileInput } from "./compile-input.ts";
import { cutEpoch, cuttable, leastOf, reasonOf, total, transcriptWithoutReasoning } from "./cut.ts";
import { cutPlan, type Keep, keepOf, wasDue, whyCut, withPlan } from "./cut-plan.ts";
import { cachesIn, drafts, renderWithin, type Shares } from "./drafts.ts";
import { isEarlier } from "./earlier.ts";
import { NO_PENDING_EDITS, type PendingEdits, runningIn, withPendingEdits } from "./edits.ts";
import { eventsMessage, saidAbove, wholeMessage } from "./events.ts";
import { apart, frozenWithin, renderFrozen, withFrozen } from "./frozen.ts";
import { type Draft, sectionOf } from "./layers.ts";
import { prefixOf, prefixWithin } from "./prefix.ts";
import { type PrefixNow, sizedAnew, withinClaim } from "./resize.ts";
import { fixedSection, leastSum, liveWithin, type Section, shareOut, wantedSum } from "./share-out.ts";
import { NOTHING_SHOWN, type ShownLayers, shownLayersIn } from "./shown-layers.ts";
import { ceilingOf, claimAhead, MARGIN, sizesAlone, sizesFor } from "./sizing.ts";
import { carry, nothingNow, requestsLeft, shownAnew, withKept } from "./tail.ts";
import { transcriptSum } from "./tokens.ts";

/** A turn's request in the making: the frozen epoch, the turn's own messages, the tail of this request, and what became of every section. */
export interface Compilation {
  readonly epoch: Epoch;
  /** Epochs this turn opened, the oldest first. */
  readonly opened: readonly Epoch[];
  /** The turn's own messages so far: the events, then replies and results. */
  readonly own: readonly TranscriptMessage[];
  readonly tail: readonly TailPart[];
  /** The full texts of the live layers whose changes stay in the turn's own messages, and the tokens of these changes. */
  readonly kept: { readonly whole: readonly TextPart[]; readonly tokens: number };
  readonly ledger: Ledger;
  /** The lowest trust of everything that the turn has sent so far; a cut does not raise it again. */
  readonly taint: Trust;
  /** Tokens of the older transcript that stay even if it is cut. */
  readonly least: number;
  /** What must stay of the older transcript when it is cut. Not set for a request outside of all conversations. */
  readonly keep?: Keep;
  /** What the running epoch's prefix can be rendered from now. */
  readonly prefixNow?: PrefixNow;
  /** Whether reasoning from before a cut must not follow it. */
  readonly binds?: boolean;
}

/**
 * The first request of a turn. Pure: same input, same bytes.
 * @throws StrataError `budget_too_small`, before anything is sent
 */
export function compile(input: CompileInput): Compilation {
  const { agent, count, limit, mode, tail: plan = EPHEMERAL_TAIL, results = [] } = input;
  const { running, pendingEdits, edits, prefixNow } = runningIn(input);
  const shown = plan.framed === "delta" ? shownLayersIn(running?.transcript ?? []) : NOTHING_SHOWN;
  const tail = drafts(agent.layers, "tail", mode, nothingNow(agent.layers, input.contents, { plan, shown }), count);
  const above = saidAbove(running?.transcript ?? []);
  const whole = wholeMessage(input.events, { above, count });
  const { epoch, room } = startEpoch(input, running, { tail, whole, above, pendingEdits: pendingEdits.tokens });
  const tailSent = renderWithin(tail, room.shares, { place: "tail", count });
  const start: Omit<Compilation, "own" | "tail" | "kept"> = {
    epoch,
    opened: epoch === input.epoch ? [] : [epoch],
    ledger: {
      mode,
      epoch: { n: epoch.n, reason: epoch.reason, opened: epoch !== input.epoch, cut: epoch.cut },
      entries: [],
      tokens: 0,
      limit,
      ...(edits?.choice && { edits: edits.choice }),
      ...cachesIn(input.contents),
    },
    taint: "platform",
    least: 0,
    keep: keepOf(agent.budgets, limit, input.rates),
    ...(input.binds && { binds: true }),
    ...(prefixNow && { prefixNow: { input: prefixNow, changed: edits !== undefined } }),
  };
  const lay = (known: ShownLayers, saying: PendingEdits): Compilation => {
    const isAlone = agent.history === "log";
    const carrying = { plan, shown: known, isAlone, requests: requestsLeft(epoch, limit), count };
    const carried = withPendingEdits(carry(tailSent, carrying), saying);
    const said = withKept({ ...room.message, turn: input.turn }, carried, carrying);
    const kept = { whole: carried.whole, tokens: said.tokens - room.message.tokens };
    const isSaid = said.message.role !== "user" || said.message.parts.length > 0;
    const made = { ...start, own: [...results, ...(isSaid ? [said] : [])], tail: carried.parts, kept };
    return settleRoom(made, [...carried.entries, withResults(room.messageEntry, results)], count, input);
  };
  const made = lay(shown, pendingEdits);
  // A cut removes the texts that changes refer to, so the layers are sent in full again. Edits of the prefix are not: it was rendered
  // again.
  if (made.epoch === epoch || (shown.size === 0 && pendingEdits.parts.length === 0)) return made;
  const anew = lay(NOTHING_SHOWN, NO_PENDING_EDITS);
  return anew.epoch === epoch ? lay(NOTHING_SHOWN, pendingEdits) : anew;
}

/** What this turn says begins with the results of open calls. */
function withResults(entry: LedgerEntry, results: readonly TranscriptMessage[]): LedgerEntry {
  if (results.length === 0) return entry;
  const tokens = total(results);
  const trust = lowestTrust([...results.map((one) => one.trust), ...(entry.tokens === 0 ? [] : [entry.trust])]);
  return { ...entry, trust, tokens: entry.tokens + tokens, wanted: entry.wanted + tokens };
}

/**
 * The turn's next request: its own messages are added, and the tail does not change.
 * @throws StrataError `budget_too_small`
 */
export function extend(compilation: Compilation, added: readonly TranscriptMessage[], count: CountTokens): Compilation {
  const live = compilation.ledger.entries.filter((entry) => entry.place === "tail");
  const before = compilation.ledger.entries.find((entry) => entry.place === "message");
  const own = [...compilation.own, ...added];
  const tokens = total(own) - compilation.kept.tokens;
  const message: LedgerEntry = {
    ...(before ?? { section: "message", place: "message", fate: "kept" }),
    trust: lowestTrust(own.map((one) => one.trust)),
    tokens,
    wanted: tokens + ((before?.wanted ?? 0) - (before?.tokens ?? 0)),
  };
  const next = settleRoom({ ...compilation, own }, [...live, message], count);
  return next.epoch === compilation.epoch
    ? next
    : (withAllShown({ ...compilation, own }, [...live, message], count) ?? next);
}

/** The same after a cut in the middle of a turn, with the live layers in full: the texts that their changes refer to are gone. */
function withAllShown(
  compilation: Compilation,
  live: readonly LedgerEntry[],
  count: CountTokens,
): Compilation | undefined {
  const { own, kept } = compilation;
  const anew = shownAnew({ own, whole: kept.whole, entries: live }, count);
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
 * The same request without the model's reasoning, for a provider that rejected it: in a new epoch, because sent bytes are never changed.
 * Undefined if there is no reasoning to leave out.
 */
export function unreasoned(compilation: Compilation, count: CountTokens): Compilation | undefined {
  const { epoch, opened, own, ledger } = compilation;
  const { transcript } = epoch;
  if (epoch.reason === "refused" || ![...transcript, ...own].some(({ message }) => holdsReasoning(message))) return;
  const next: Epoch = {
    ...epoch,
    n: epoch.n + 1,
    reason: "refused",
    transcript: transcriptWithoutReasoning(transcript, count),
  };
  const live = ledger.entries.filter(({ place }) => place === "tail" || place === "message");
  return settleRoom({ ...compilation, epoch: next, opened: [...opened, next] }, live, count);
}

/** Tokens by which the turn's own messages may still grow if the older transcript is cut. */
export function roomLeft({ ledger, least }: Compilation): number {
  const transcript = ledger.entries.find(({ section }) => section === "transcript")?.tokens ?? 0;
  return ledger.limit - ledger.tokens + transcript - least;
}

/** The compilation as a request without breakpoints, which the planner sets. */
export function requestOf(
  { epoch, own, tail }: Compilation,
  parameters: Request["parameters"],
): Omit<Request, "breakpoints"> {
  const { messages } = transcriptSum(epoch.transcript);
  const sent = sentIn(epoch, messages.concat(own.map((one) => one.message)));
  return { prefix: epoch.prefix, messages: sent, tail, parameters };
}

function frozenSections(epoch: Epoch, count: CountTokens): Section[] {
  const prefix = epoch.prefixEntries.map(({ section, place, tokens }) =>
    fixedSection(place === "transcript" ? `${section} (frozen)` : section, tokens),
  );
  return [...prefix, fixedSection("transcript", leastOf(epoch, count))];
}

/**
 * Layers and message share the room, and the transcript gets the rest. The message gets at most half of the limit or, if it cannot be cut
 * that far, what the others can spare.
 */
function shareRoom(
  { events, limit, count, results = [] }: CompileInput,
  { tail, whole, above, pendingEdits }: Coming,
  epoch: Epoch,
): { shares: Shares; message: TranscriptMessage; messageEntry: LedgerEntry } {
  const fixed = [
    ...frozenSections(epoch, count),
    fixedSection("edits", pendingEdits),
    fixedSection("results", total(results)),
  ];
  const least = limit - wantedSum(fixed) - Math.min(whole.tokens, Math.floor(limit / 2));
  const growing = transcriptSum(epoch.transcript).tokens - leastOf(epoch, count);
  const live = tailSections(tail, least, least - growing);
  const spare = limit - leastSum([...fixed, ...live]);
  const rooms = [Math.min(Math.floor(limit / 2), spare), spare];
  const { message, entry } = eventsMessage(events, rooms, { above, count }, whole);
  const sections = [...fixed, ...live, fixedSection("message", message.tokens)];
  const margin = Math.floor(limit * MARGIN);
  const room = limit - wantedSum(fixed) - message.tokens - margin;
  return {
    shares: { sections, allotment: shareOut(sections, limit, margin), room },
    message,
    messageEntry: entry,
  };
}

/** The tokens that the live layers get: everything if it fits into `free`, otherwise no more than their shares of `room`. */
function tailSections(tail: readonly Draft[], room: number, free: number): readonly Section[] {
  const sections = tail.map(sectionOf);
  if (wantedSum(sections) <= free) return sections;
  const fits = wantedSum(sections) <= room;
  return tail.map((one) => {
    const { mutability, minimum: reserved } = one.layer;
    return mutability === "live" ? liveWithin(sectionOf(one), { room, fits, reserved }) : sectionOf(one);
  });
}

/**
 * Whether a prefix of this size leaves the live layers all that they ask for, the message up to half of the limit, and a margin for the
 * turn's calls.
 */
function isRoomBeside(size: number, limit: number, { tail, whole }: Coming): boolean {
  const free = limit - size - Math.min(whole.tokens, Math.floor(limit / 2)) - Math.floor(limit * MARGIN);
  return wantedSum(tailSections(tail, free, free)) <= free;
}

type SharedRoom = ReturnType<typeof shareRoom>;

/** The part of a request after the prefix and the transcript. */
interface Coming {
  readonly tail: readonly Draft[];
  readonly whole: TranscriptMessage;
  /** The frame data that the transcript before it already shows. */
  readonly above: FramedAbove;
  /** Tokens of the texts that report edits. */
  readonly pendingEdits: number;
}

/**
 * The epoch that the turn continues with, and how the sections after its prefix share the rest.
 * @throws StrataError `budget_too_small`
 */
function startEpoch(
  input: CompileInput,
  running: Epoch | undefined,
  coming: Coming,
): { readonly epoch: Epoch; readonly room: SharedRoom } {
  const share = (epoch: Epoch) => ({
    epoch,
    room: shareRoom(input, coming, epoch),
  });
  if (running !== undefined) return share(running);
  const isAlone = input.agent.history === "log";
  const unfit = prefixOf(input);
  const beside = wantedSum(unfit.sections) + coming.whole.tokens;
  const needed = beside + wantedSum(tailSections(coming.tail, input.limit - beside, input.limit - beside));
  const ceiling = ceilingOf(input.agent.budgets, unfit.sections);
  const claim = isAlone ? 0 : claimAhead(unfit.sections, input.agent.budgets, input.limit);
  const sizes = isAlone
    ? sizesAlone(input.limit, input.events.length, ceiling)
    : sizesFor(input.limit, needed, {
        hasTail: coming.tail.length > 0,
        claim,
        ceiling,
        isRoomBeside: (size) => isRoomBeside(size + claim, input.limit, coming),
      });
  const frozen = frozenWithin(input.limit - claim - needed, input);
  const begun = isAlone
    ? { n: (input.epoch?.n ?? 0) + 1, reason: "alone" as const }
    : { n: 1, reason: "first" as const };
  for (const size of sizes) {
    try {
      const made = prefixWithin(unfit, size, input);
      return share(withFrozen({ ...begun, cut: 0, ...made, mode: input.mode, transcript: [] }, frozen));
    } catch (thrown) {
      if (size === sizes.at(-1) || asStrataError(thrown).code !== "budget_too_small") throw thrown;
    }
  }
  throw new StrataError("unexpected", "no size for the prefix was tried: this is a bug in Strata, please report it");
}

/**
 * Adds up the request. If there is no room for the running transcript, the prefix is sized again, in a new epoch. A transcript beyond what
 * it may claim, or one that has reached its planned size, is cut deeply.
 */
function settleRoom(
  compilation: Compilation,
  live: readonly LedgerEntry[],
  count: CountTokens,
  start?: Pick<CompileInput, "summary" | "early" | "memory">,
): Compilation {
  const { limit } = compilation.ledger;
  const { epoch, keep } = compilation;
  const taken = ({ prefixEntries }: Epoch) => [...prefixEntries, ...live].reduce((sum, entry) => sum + entry.tokens, 0);
  const others = taken(epoch);
  const room = limit - others;
  const plan = cutPlan(epoch, room, keep);
  const isDue = (): boolean => wasDue(epoch, room, keep);
  const because = whyCut(epoch, room, { plan, isStart: start !== undefined, early: start?.early, isDue });
  const now = because === undefined ? start?.early : { cut: true, because };
  const planned = { ...compilation, ledger: withPlan(compilation.ledger, plan, now) };
  if (because === undefined) return withLedger(planned, live, others, count);
  const plain = cuttable(compilation, count);
  const shown = sizedAnew(compilation, plain, live, count);
  const begun = (next: Epoch, made = planned): Compilation =>
    withLedger({ ...made, epoch: next, opened: [...compilation.opened, next] }, live, taken(next), count);
  const resized = withinClaim(compilation, shown, limit - taken(shown), count);
  if (resized !== undefined && resized !== plain) {
    const ledger = withPlan(compilation.ledger, cutPlan(resized, limit - taken(resized), keep));
    const reason = reasonOf(compilation) === "cut" ? "resized" : "refused";
    return begun({ ...resized, n: epoch.n + 1, reason }, { ...compilation, ledger });
  }
  // A new epoch begins with the memories of now; if they do not fit, with those of the old one.
  const fresh = start?.memory === undefined ? shown : withFrozen(shown, renderFrozen(start.memory, count));
  const cutTo = (from: Epoch): Epoch | undefined => {
    const { frozen, rest } = apart(from);
    const left = limit - taken(from);
    const cutting = { keep: cutPlan(from, left, keep)?.keep ?? 0, count };
    const cut = cutEpoch({ ...from, transcript: rest }, left, cutting, start?.summary);
    if (cut === undefined) return undefined;
    const reason = reasonOf(compilation);
    // Nothing more is gone: only what earlier cuts have left.
    const isLighter = cut.cut === epoch.cut && reason === "cut" && rest.some(isEarlier);
    return { ...cut, reason: isLighter ? "resized" : reason, transcript: [...frozen, ...cut.transcript] };
  };
  const next = cutTo(fresh) ?? cutTo(shown) ?? (shown === plain ? undefined : cutTo(plain));
  if (next === undefined) throw noRoom(compilation, live, limit);
  // Perhaps everything that is there must stay.
  if (next.cut === epoch.cut && transcriptSum(epoch.transcript).tokens <= room)
    return withLedger({ ...planned, ledger: withPlan(planned.ledger, plan) }, live, others, count);
  return begun(next);
}

function noRoom(compilation: Compilation, live: readonly LedgerEntry[], limit: number): StrataError {
  const own = total(compilation.own);
  const prefix =
    tokensAt(compilation.epoch.prefixEntries, "tools") + tokensAt(compilation.epoch.prefixEntries, "system");
  const tail = tokensAt(live, "tail");
  const what = `the prefix (${prefix}), this turn's messages (${own}) and the live layers (${tail}) leave no room in the ${limit} tokens that may be sent`;
  const details = { prefix, own, tail, limit, what };
  return new StrataError("budget_too_small", `${what}; raise budgets.total or lower budgets.result`, details);
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
  const { tokens, trust } = transcriptSum(epoch.transcript);
  const transcript: LedgerEntry = {
    section: "transcript",
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
