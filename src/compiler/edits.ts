import {
  type Digest,
  digestOf,
  type Epoch,
  type Layer,
  type Ledger,
  type LedgerEntry,
  layerHeading,
  type Renewal,
  type TextPart,
  trusted,
} from "../protocol/index.ts";
import type { CompileInput } from "./compile-input.ts";
import { transcriptWithoutReasoning } from "./cut.ts";
import { USUAL_RATES } from "./cut-plan.ts";
import { contentOf } from "./drafts.ts";
import { begunAnew } from "./frozen.ts";
import { type Draft, draft, trustOf } from "./layers.ts";
import { type PrefixInput, prefixOf, prefixWithin } from "./prefix.ts";
import { type ShownLayers, shownLayersIn } from "./shown-layers.ts";
import { sizeWhileRunning } from "./sizing.ts";
import { requestsLeft, type Tail } from "./tail.ts";
import { countBlock, countMessage, transcriptSum } from "./tokens.ts";
import { NOTHING_NOW, replacesAbove } from "./wording.ts";

/** A prefix with its entries of the ledger. */
export type Folded = Pick<Epoch, "prefix" | "prefixEntries">;

/** What this turn has to report of texts that changed after the running prefix was rendered. */
export interface PendingEdits {
  readonly parts: readonly TextPart[];
  readonly entries: readonly LedgerEntry[];
  readonly tokens: number;
}

export const NO_PENDING_EDITS: PendingEdits = { parts: [], entries: [], tokens: 0 };

/** The epoch that the turn continues with, and how edits reach it. */
interface RunningEpoch {
  /** Undefined: the turn begins one. */
  readonly running: Epoch | undefined;
  readonly pendingEdits: PendingEdits;
  /** Undefined if the prefix is the same as it would be today. */
  readonly edits?: { readonly choice?: NonNullable<Ledger["edits"]> };
  /** What the prefix of a conversation that continues can be rendered from; undefined while one of its texts is not known. */
  readonly prefixNow?: PrefixInput;
}

/**
 * The running epoch, or the one that replaces it. Law 1 forbids changing a prefix, so a text that was edited since is either shown in this
 * turn's message, or a new epoch begins with it, whichever costs less. An epoch that begins for another reason shows it anyway.
 */
export function runningIn(input: CompileInput): RunningEpoch {
  const { agent, epoch, forgotten, binds, count } = input;
  if (epoch === undefined || agent.history === "log") return { running: undefined, pendingEdits: NO_PENDING_EDITS };
  if (input.renewal !== undefined)
    return { running: renewed(epoch, input, input.renewal), pendingEdits: NO_PENDING_EDITS, prefixNow: input };
  const before = forgotten ? begunAnew(epoch, input, "forgotten") : epoch;
  const prefixNow = { ...input, tools: before.prefix.tools, mode: before.mode };
  const changed = prefixChanges(before, prefixNow);
  if (changed === undefined)
    return { running: before, pendingEdits: NO_PENDING_EDITS, ...(isKnown(input) && { prefixNow }) };
  const { fold, pendingEdits, layers } = changed;
  const anew = (): Epoch => folded(before, fold, count);
  if (forgotten) {
    const because = "a memory was forgotten, and the epoch ended anyway";
    return {
      running: anew(),
      pendingEdits: NO_PENDING_EDITS,
      edits: { choice: { layers, way: "epoch", because } },
      prefixNow,
    };
  }
  if (layers.length === 0) return { running: before, pendingEdits, edits: {}, prefixNow };
  const choice = { layers, ...cheaper(before, changed, input) };
  if (choice.way === "told") return { running: before, pendingEdits, edits: { choice }, prefixNow };
  const begun = anew();
  const running: Epoch = {
    ...begun,
    n: before.n + 1,
    // Reasoning that a provider refused is not sent again.
    reason: before.reason === "refused" ? "refused" : "edited",
    transcript: binds ? transcriptWithoutReasoning(begun.transcript, count) : begun.transcript,
  };
  return { running, pendingEdits: NO_PENDING_EDITS, edits: { choice }, prefixNow };
}

/** Whether each text of the prefix is known now: one that could not be read stays as the running prefix has it. */
const isKnown = ({ agent, contents }: CompileInput): boolean =>
  agent.layers.every(({ id, scope, source }) => scope === "turn" || source.kind === "text" || contents.has(id));

/**
 * The conversation continues in a new epoch, with the prefix that a new conversation would have. Another model does not get the reasoning
 * of the previous one, because it is bound to its provider.
 */
function renewed(epoch: Epoch, input: CompileInput, reason: Renewal): Epoch {
  const begun = begunAnew(epoch, { ...input, binds: reason === "model" || input.binds === true }, reason);
  return { ...folded(begun, prefixWhileRunning(input), input.count), mode: input.mode };
}

function prefixWhileRunning(input: PrefixInput): Folded {
  const unfit = prefixOf(input);
  return prefixWithin(unfit, sizeWhileRunning(unfit, input.agent.budgets, input.limit), input);
}

/** The epoch with another prefix, and without the messages' reports of the edits that the new prefix contains. */
export function folded(epoch: Epoch, { prefix, prefixEntries }: Folded, count: CompileInput["count"]): Epoch {
  const frozen = epoch.prefixEntries.filter(({ place }) => place === "transcript");
  const layers = new Set<string>(prefixEntries.map(({ section }) => section));
  const transcript = epoch.transcript.flatMap((one) => {
    if (one.message.role !== "user") return [one];
    const parts = one.message.parts.filter(
      (part) => part.type !== "text" || !part.told || !layers.has(part.told.layer),
    );
    if (parts.length === one.message.parts.length) return [one];
    const message = { role: "user", parts } as const;
    return parts.length === 0 ? [] : [{ ...one, message, tokens: countMessage(message, count) }];
  });
  return { ...epoch, prefix, prefixEntries: [...prefixEntries, ...frozen], transcript };
}

/** A tail that also reports edits; the reports stay in the turn's own message. */
export const withPendingEdits = (tail: Tail, { parts, entries }: PendingEdits): Tail => ({
  ...tail,
  kept: [...parts, ...tail.kept],
  entries: [...tail.entries, ...entries],
});

/** The current text of a part of the prefix. */
interface Now {
  readonly layer: Layer;
  readonly draft: Draft;
  readonly text: string;
  readonly digest: Digest;
  /** The active version; 0 is the declared text. */
  readonly version: number;
}

interface Changes {
  readonly fold: Folded;
  readonly pendingEdits: PendingEdits;
  /** The layers whose text of today the epoch does not show yet. */
  readonly layers: readonly Layer["id"][];
}

/** How the epoch's prefix differs from what it would be now; undefined if it does not differ and no other text was reported. */
function prefixChanges(epoch: Epoch, input: CompileInput): Changes | undefined {
  const { agent, contents } = input;
  // Only layers whose text was looked up: a text that is not known now does not change.
  const given = agent.layers.filter(({ id, scope, mutability }) => {
    return scope !== "turn" && mutability !== "immutable" && contents.has(id);
  });
  if (given.length === 0) return undefined;
  const shown = shownLayersIn(epoch.transcript);
  const now = given.flatMap((layer) => nowOf(layer, epoch, input));
  const stale = now.filter((one) => !isShown(epoch, one));
  const layers = now.filter((one) => !isShownAlready(shown, one, stale));
  if (stale.length === 0 && layers.length === 0) return undefined;
  const fold = prefixWhileRunning(input);
  return { fold, pendingEdits: pendingEditsOf(layers, input), layers: layers.map(({ layer }) => layer.id) };
}

function nowOf(layer: Layer, { mode }: Epoch, { contents, count }: CompileInput): Now[] {
  const made = draft(layer, contentOf(layer, contents), mode, count);
  if (made === undefined) return [];
  const { content, text: whole } = made;
  const text = content.kind === "empty" ? "" : whole;
  const version = content.kind === "text" ? (content.version ?? 0) : 0;
  return [{ layer, draft: made, text, digest: digestOf(text), version }];
}

/** Whether the prefix itself shows this text. A text that was cut there is compared by its version alone. */
function isShown({ prefixEntries }: Epoch, { layer, draft: made, digest, text, version }: Now): boolean {
  const entry = prefixEntries.find(({ section, place }) => section === layer.id && place === "system");
  if (entry === undefined || entry.fate === "empty") return text === "";
  if (entry.fate === "kept" || entry.fate === "lined") return entry.version === digest;
  return (entry.edited ?? 0) === version && hasSameParts(entry, made);
}

/** A text made of parts has no version of its own: it is compared part by part. */
function hasSameParts({ parts = [] }: LedgerEntry, { content }: Draft): boolean {
  const now = content.kind === "items" ? [] : (content.parts ?? []).filter(({ text }) => text !== "");
  const were = parts.filter(({ fate }) => fate !== "empty");
  return now.length === were.length && now.every(({ text }, i) => digestOf(text) === were[i]?.digest);
}

function isShownAlready(shown: ShownLayers, one: Now, stale: readonly Now[]): boolean {
  const last = shown.get(one.layer.id);
  return last === undefined ? !stale.includes(one) : last.of === one.digest;
}

function pendingEditsOf(changed: readonly Now[], { count, tail }: CompileInput): PendingEdits {
  const system = tail?.trusted === "turn-scoped";
  const parts = changed.map((one) => partOf(one, system));
  const entries = changed.map(({ layer, draft: made, version }, i): LedgerEntry => {
    const tokens = countBlock(parts[i]?.text ?? "", count);
    const { id: section, rank, scope } = layer;
    const trust = trustOf(made);
    const edited = version > 0 ? { edited: version } : {};
    return { section, place: "tail", rank, scope, trust, tokens, wanted: tokens, ...edited, fate: "kept" };
  });
  return { parts, entries, tokens: entries.reduce((sum, { tokens }) => sum + tokens, 0) };
}

/** The platform writes the heading, and the body was trusted before it came here. */
function partOf({ layer, draft: made, text, digest, version }: Now, system: boolean): TextPart {
  const heading = layerHeading(layer);
  const body = text === "" ? NOTHING_NOW : text.slice(heading.length).trimStart();
  const which = made.content.kind !== "items" && made.content.parts ? "reread" : version;
  const sentence = `${heading} ${replacesAbove(which)}\n${body}`;
  const told = { layer: layer.id, as: "whole", of: digest, ...(system && { system }) } as const;
  return { type: "text", text: trusted(sentence), told };
}

/** If the request would take more than this share of the room, an edit is not reported in a message. */
const MOST = 3 / 4;

/**
 * Reporting an edit leaves the old text o where it is, and it is read with each of the T requests that are left. A new epoch writes all R
 * tokens from the first change on again, at w instead of r. So a new epoch pays while (w - r) R < o (w + r (T - 1)), and always if the
 * cache is cold.
 */
function cheaper(
  epoch: Epoch,
  { pendingEdits, layers }: Changes,
  { limit, rates = USUAL_RATES }: CompileInput,
): Omit<NonNullable<Ledger["edits"]>, "layers"> {
  const { cold, uncached } = rates;
  const { read, write } = uncached ? { read: 1, write: 1 } : rates;
  const transcript = transcriptSum(epoch.transcript).tokens;
  const entries = epoch.prefixEntries;
  const sum = (of: readonly LedgerEntry[]): number => of.reduce((all, { tokens }) => all + tokens, 0);
  if (cold) return { way: "epoch", because: "the provider's cache was cold" };
  if (sum(entries) + transcript + pendingEdits.tokens > limit * MOST)
    return { way: "epoch", because: "there was no room to tell it" };
  const isChanged = ({ section }: LedgerEntry): boolean => layers.some((layer) => layer === section);
  const first = entries.findIndex(isChanged);
  const behind = first < 0 ? transcript : sum(entries.slice(first)) + transcript;
  const old = sum(entries.filter(isChanged));
  const requests = requestsLeft(epoch, limit);
  const anew = (write - read) * behind;
  const carried = old === 0 ? 0 : old * (write + read * (requests - 1));
  return anew < carried
    ? { way: "epoch", because: `writing ${behind} tokens anew costs less than carrying on ${old} that hold no more` }
    : { way: "told", because: `writing ${behind} tokens anew costs more than carrying on ${old} that hold no more` };
}
