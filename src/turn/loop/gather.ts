import { setImmediate } from "node:timers/promises";
import { type Compilation, chooseMode, type Summary, saidAbove, wholeMessage } from "../../compiler/index.ts";
import {
  type Agent,
  asStrataError,
  type ContactId,
  type ContactScope,
  type Digest,
  type Epoch,
  frozenIn,
  isMedia,
  type MemoryId,
  type Mode,
  partText,
  type Renewal,
  type StoredEvent,
  type ThreadId,
  type ToolName,
  type ToolReader,
  type TranscriptMessage,
  type TurnId,
} from "../../protocol/index.ts";
import type { Store, Thread, TurnRecord } from "../../store/index.ts";
import { rulesOf, tailPlanOf } from "../../wire/index.ts";
import type { Parts } from "../parts.ts";
import {
  type GatherContext,
  type Gathered,
  gather,
  type LiveSources,
  type ToolAllowance,
  type TurnProgress,
} from "../sources/index.ts";
import { type ColdCache, compileFirst } from "./early-cut.ts";
import { IN_TURN, limitsOf, outOfState } from "./run-tool.ts";
import { inWindow, limitOf } from "./setup.ts";
import type { FoundThread, FrozenBlock, TurnParts, TurnSetup } from "./steps.ts";
import { type StoredTexts, storedTexts, withStored } from "./stored-texts.ts";

/** The subject of a turn's first request. */
export interface Occasion {
  readonly scope: ContactScope;
  readonly turn: TurnId;
  readonly events: readonly StoredEvent[];
  /** The results of calls that an earlier turn of the run left open. */
  readonly results?: readonly TranscriptMessage[];
  /** How far the run has come, where this turn continues it. */
  readonly progress?: TurnProgress;
  /** The subject of the run, if this turn has only results: recall searches for it. */
  readonly about?: readonly StoredEvent[];
  /** Whose thread is whose, where the events are of several senders. */
  readonly senders?: ReadonlyMap<ThreadId, ContactId>;
  readonly epoch: Epoch | undefined;
  /** Nothing before the conversation's first turn. */
  readonly thread?: Thread | undefined;
  /** Why the running epoch ends with this turn; if omitted, it continues. */
  readonly renewal?: Renewal | undefined;
  /** Set once the provider's cache of the thread has expired. */
  readonly cold?: ColdCache | undefined;
  readonly signal?: AbortSignal;
}

/** A turn's first request, and a line for each source that failed or was late. */
export interface Prepared {
  readonly compilation: Compilation;
  readonly notes: Gathered["notes"];
  /** When a text of the prefix was edited last. */
  readonly since?: number;
  /** How many of the events are in it, from the first on. */
  readonly taken: number;
  /** The same request with a summary of what was cut from it. */
  readonly withSummary: (summary: Summary) => Compilation;
}

/**
 * Compiles the turn's first request. A tool works on what a layer lists: if that layer is left out, the request is compiled again without
 * the tool, and a running epoch continues without it.
 * @throws StrataError `source_failed` for a required layer, `budget_too_small`
 */
export async function compileFor(parts: TurnParts, setup: TurnSetup, occasion: Occasion): Promise<Prepared> {
  const { agent } = setup;
  if (keepsTools(agent, occasion)) {
    const gone = agent.tools.filter((name) => !isOffered(parts, agent, { name, epoch: occasion.epoch }));
    return compileGathered(parts, await withoutTools(setup, gone), occasion);
  }
  const prepared = await compileGathered(parts, setup, occasion);
  const { prefixEntries } = prepared.compilation.epoch;
  const omitted = agent.layers.filter(({ id }) =>
    prefixEntries.some(({ section, fate }) => section === id && fate === "dropped"),
  );
  const kinds = new Set<string | undefined>(omitted.map(({ source }) => source.kind));
  const useless = agent.tools.filter((name) => kinds.has(parts.tools.get(name)?.listedIn));
  return useless.length === 0 ? prepared : compileGathered(parts, await withoutTools(setup, useless), occasion);
}

interface Offered {
  readonly name: ToolName;
  readonly epoch: Occasion["epoch"];
}

/** Whether an epoch offers this tool, if it is one that depends on a layer. */
const isOffered = ({ tools }: Parts, { defer }: Agent, { name, epoch }: Offered): boolean =>
  tools.get(name)?.listedIn === undefined ||
  defer?.includes(name) ||
  epoch?.prefix.tools.some((one) => one.name === name) !== false;

async function withoutTools(setup: TurnSetup, names: readonly ToolName[]): Promise<TurnSetup> {
  if (names.length === 0) return setup;
  const { texts } = (await setup.withoutTools?.(names)) ?? setup;
  const tools = setup.agent.tools.filter((name) => !names.includes(name));
  return { ...setup, agent: { ...setup.agent, tools }, ...(texts && { texts }) };
}

/**
 * Asks the live layers' sources in parallel under their deadline, then compiles. If compiling cut what the sources left out because the
 * model would see it anyway, they are asked again.
 */
async function compileGathered(parts: TurnParts, setup: TurnSetup, occasion: Occasion): Promise<Prepared> {
  const { agent } = setup;
  // Each turn of a log is independent: nothing of the thread's epoch is seen, cut or summarized.
  const running = agent.history === "log" ? undefined : occasion.epoch;
  const undone = await undoneFor(parts.store, occasion.thread);
  const start = await atStart(parts, setup, { scope: occasion.scope, epoch: running, undone });
  const isRunning = running !== undefined;
  const { steps } = parts;
  const context = {
    scope: occasion.scope,
    events: occasion.about ?? occasion.events,
    at: parts.clock.recorded(),
    count: setup.count,
  };
  const edited = await storedTexts(parts, agent, { isRunning });
  const stored = await withStored(agent, edited, {
    stored: steps.stored(parts, agent, edited.active),
    isRunning,
    context: { ...context, ...(occasion.signal && { signal: occasion.signal }) },
  });
  const texts = { ...stored, contents: new Map([...stored.contents, ...(setup.texts ?? [])]) };
  await setImmediate();
  const live = parts.steps.sources(parts, agent);
  const kept = occasion.renewal === undefined ? running : undefined;
  const mode = modeFor(parts, setup, { running: kept, texts });
  const setting = { ...occasion, undone, texts, live, mode };
  const begun = shownIn(start, mode);
  const prepared = await compileWith(parts, setup, { ...setting, start: begun });
  await setImmediate();
  const seen = seenOtherwise(begun, prepared.compilation);
  return seen === undefined ? prepared : compileWith(parts, setup, { ...setting, start: { ...begun, seen } });
}

/** Without the frozen memories of a layer that is absent in this mode. */
function shownIn({ frozen, ...start }: AtStart, mode: Mode): AtStart {
  if (frozen === undefined) return start;
  return frozen.layer.modes[mode] === "absent"
    ? { ...start, seen: { ...start.seen, frozen: [] } }
    : { ...start, frozen };
}

/** The same with what sources may know of it: what the model sees of the thread, and, if memories are frozen, all that were saved. */
interface AtStart extends FrozenBlock {
  readonly seen: Pick<GatherContext, "epoch" | "saved"> & { readonly frozen: readonly MemoryId[] };
}

async function atStart(parts: TurnParts, setup: TurnSetup, found: FoundThread): Promise<AtStart> {
  const frozenBlock = (await parts.steps.frozenBlock(parts, setup, found)) ?? NOTHING;
  const { epoch } = found;
  const isFresh = epoch === undefined || frozenBlock.forgotten;
  const frozen = isFresh ? (frozenBlock.frozen?.items.map(({ id }) => id) ?? []) : frozenIn(epoch);
  return { ...frozenBlock, seen: seenWith(epoch, frozen, frozenBlock.saved) };
}

const NOTHING: FrozenBlock = { forgotten: false, saved: [], notes: [] };

/** Where the model's view differs from what the sources assumed: a cut removes messages, and frozen memories may not have fit. */
function seenOtherwise({ seen, saved }: AtStart, { epoch }: Compilation): AtStart["seen"] | undefined {
  const frozen = frozenIn(epoch);
  const same = frozen.length === seen.frozen.length && frozen.every((id, i) => id === seen.frozen[i]);
  const isCut = seen.epoch !== undefined && seen.epoch.cut !== epoch.cut;
  return same && !isCut ? undefined : seenWith(epoch, frozen, saved);
}

const seenWith = (
  epoch: FoundThread["epoch"],
  frozen: readonly MemoryId[],
  saved: FrozenBlock["saved"],
): AtStart["seen"] => ({
  epoch,
  frozen,
  ...(frozen.length > 0 && { saved }),
});

/** All that is known of the turn before its sources are asked. */
interface Setting {
  readonly undone: ReadonlySet<string>;
  readonly texts: StoredTexts;
  /** What features fill layers with. */
  readonly live: LiveSources;
  readonly mode: Mode;
}

/** A running epoch keeps its mode, unless the agent or the run names another: its prefix was rendered in it. */
function modeFor(
  { tools }: Parts,
  setup: TurnSetup,
  { running, texts: { contents } }: Pick<Setting, "texts"> & { readonly running: Epoch | undefined },
): Mode {
  const { agent, card, count, tier } = setup;
  if (agent.mode !== "auto") return agent.mode;
  if (running !== undefined) return running.mode;
  return chooseMode({
    agent,
    window: card.contextWindow,
    tools: tools.schemas(agent.tools, readerOf(setup)),
    contents,
    count,
    tier,
  });
}

/** What the schemas of a turn's tools depend on. */
const readerOf = ({ agent, card }: Pick<TurnSetup, "agent" | "card">): ToolReader => ({
  ...agent,
  ...(card.loadsTools && { loadsTools: true }),
});

async function compileWith(
  parts: TurnParts,
  setup: TurnSetup,
  { start, texts, mode, ...occasion }: Occasion & Setting & { readonly start: AtStart },
): Promise<Prepared> {
  const { agent, count, card } = setup;
  const layers = agent.layers.filter(({ scope, id }) => scope === "turn" && !setup.texts?.has(id));
  const { sources, vault } = parts;
  const given = await gather(agent, layers, {
    ...occasion,
    events: occasion.about ?? occasion.events,
    ...start.seen,
    at: parts.clock.recorded(),
    sources,
    vault,
    count,
    mode,
    tools: allowances(parts, setup),
    modelCalls: setup.limits.modelCalls,
  });
  const gathered = parts.steps.gathered(agent, layers, given);
  // Nothing here waits for a disk or a network: without pauses, a turn over long texts would block all others.
  await setImmediate();
  const contents = new Map([...texts.contents, ...gathered.contents]);
  const notes = [...start.notes, ...texts.notes, ...gathered.notes];
  const { read, write5m: write } = rulesOf(card).multipliers;
  const input = {
    agent,
    turn: occasion.turn,
    mode,
    limit: limitOf(setup),
    // A running epoch keeps the schemas it was sent with. It also continues if a tool was removed: calls of it are then refused.
    tools: keepsTools(agent, occasion) ? [] : parts.tools.schemas(agent.tools, readerOf(setup)),
    ...goingOn(occasion),
    contents,
    count,
    tail: tailPlanOf(card, agent.liveLayers),
    rates: { read, write, cold: occasion.cold !== undefined, uncached: card.cache === "none" },
    ...(card.reasoningBoundToHistory && { binds: true }),
    ...(start.frozen && { memory: start.frozen }),
    forgotten: start.forgotten,
  };
  await countLong(parts, occasion.events, agent.history === "log" ? undefined : occasion.epoch);
  // More events than one message can hold are taken in several turns: half of them, until they fit.
  for (let taken = occasion.events.length; ; taken = Math.floor(taken / 2)) {
    try {
      const fitting = { ...input, events: occasion.events.slice(0, taken) };
      return {
        ...compileFirst(fitting, occasion.cold),
        notes,
        taken,
        ...(texts.since !== undefined && { since: texts.since }),
      };
    } catch (thrown) {
      const error = asStrataError(thrown);
      if (taken <= 1 || error.code !== "budget_too_small") throw inWindow(setup, error, mode);
    }
  }
}

/** What the request continues. */
const goingOn = ({ epoch, results, renewal }: Occasion) => ({
  epoch,
  ...(results && { results }),
  ...(renewal && { renewal }),
});

const keepsTools = ({ history }: Agent, { epoch, renewal }: Occasion): boolean =>
  epoch !== undefined && renewal === undefined && history !== "log";

/**
 * Why a running epoch ends: something that it showed was retracted, the thread was moved to another version of its agent since, another model answers, whose requests
 * have another shape, or the turn is run in another mode.
 */
export function renewalOf(
  epoch: Epoch | undefined,
  version: Digest,
  { agent, model }: Pick<TurnSetup, "agent" | "model">,
): Renewal | undefined {
  if (epoch?.retracted && agent.history !== "log") return "retracted";
  const was = epoch?.openedFor;
  if (epoch === undefined || was === undefined) return undefined;
  if (was.version !== version) return "migrated";
  if (was.wire !== null && was.wire !== model.wire) return "model";
  return agent.history === "log" || keepsMode(epoch, agent) ? undefined : "mode";
}

/** With `auto`, nothing is chosen again in a running epoch; `minimal` is never chosen, so that a run asked for it. */
const keepsMode = ({ mode }: Epoch, agent: Agent): boolean =>
  agent.mode === "auto" ? mode !== "minimal" : agent.mode === mode;

/** Characters from which a text is counted ahead. */
const LONG = 4_000;

/** Compiling blocks all other turns, so long texts are counted before it, with pauses. */
async function countLong({ countAhead }: Parts, events: Occasion["events"], epoch: Epoch | undefined): Promise<void> {
  const isShort = events.every(({ content }) =>
    content.every((part) => !isMedia(part) && 4 * partText(part).length < LONG),
  );
  if (countAhead === undefined || isShort) return;
  // In its frame, as it is sent, and without it, which is how it is measured when it has to be cut.
  const whole = wholeMessage(events, { above: saidAbove(epoch?.transcript ?? []), count: () => 0 });
  const framed = whole.message.parts.flatMap((part) => (part.type === "text" ? part.text : []));
  const bare = events.flatMap(({ content }) => content.flatMap((part) => (isMedia(part) ? [] : partText(part))));
  for (const text of [...framed, ...bare]) if (text.length > LONG) await countAhead(text);
}

/** The tools of the turn, as fixed at its start. */
export function allowances(
  parts: Parts,
  { agent, parameters }: Pick<TurnSetup, "agent" | "parameters">,
  epoch?: Epoch,
): readonly ToolAllowance[] {
  return (parameters?.tools ?? agent.tools).flatMap((name) => {
    const tool = parts.tools.get(name);
    if (tool === undefined || !isOffered(parts, agent, { name, epoch })) return [];
    const { calls } = limitsOf(agent, tool);
    return [
      {
        name,
        ...(Number.isFinite(calls) && { calls }),
        // A condition that every call meets need not be mentioned.
        ...(outOfState(tool, IN_TURN) !== undefined && { states: tool.states ?? [] }),
        ...(tool.waiting && { waiting: async () => (await tool.waiting?.(agent)) ?? [] }),
      },
    ];
  });
}

/** At most this many threads of a contact are searched for forks from the same place. */
const MOST_THREADS = 1_000;

/**
 * What has not happened on a fork: the turns after the fork's point that its parent, and other forks from the same point, had run when it
 * was made, with their messages. A model that answers the same message again must not see those answers. Everything said elsewhere, or
 * later, is known as on every thread.
 */
async function undoneFor(store: Store, thread: Thread | undefined): Promise<ReadonlySet<string>> {
  if (thread?.forkedFrom === undefined) return NONE;
  const threads = await store.threads(thread.scope, MOST_THREADS);
  const undone: TurnRecord[] = [];
  for (let fork: Thread | undefined = thread; fork?.forkedFrom !== undefined; ) {
    const { id, createdAt } = fork;
    const forkedFrom: Point = fork.forkedFrom;
    const beside = threads.filter((one) => one.id !== id && isSamePoint(one.forkedFrom, forkedFrom));
    const turnsOf = async (one: ThreadId): Promise<readonly TurnRecord[]> => store.turns(thread.scope, one);
    const parents = await turnsOf(forkedFrom.thread);
    const point = parents.find((turn) => turn.id === forkedFrom.turn)?.seq ?? 0;
    const others = [
      parents.filter(({ seq }) => seq > point),
      ...(await Promise.all(beside.map((one) => turnsOf(one.id)))),
    ];
    undone.push(...others.flat().filter(({ startedAt }) => startedAt <= createdAt));
    fork = threads.find((one) => one.id === forkedFrom.thread);
  }
  return new Set(
    undone.flatMap(({ id, events }) => [id, ...events.flatMap((event) => [event.id, memoryOf(event.id)])]),
  );
}

type Point = NonNullable<Thread["forkedFrom"]>;

const NONE: ReadonlySet<string> = new Set();

const isSamePoint = (one: Thread["forkedFrom"], other: Point): boolean =>
  one !== undefined && one.thread === other.thread && one.turn === other.turn;

/** The memory of a message has the same number; summaries list it among their sources. */
const memoryOf = (event: string): string => `mem_${event.slice(4)}`;
