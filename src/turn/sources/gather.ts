import {
  type Agent,
  asStrataError,
  type Layer,
  type LayerContent,
  type LayerId,
  type Source,
  StrataError,
  trusted,
} from "../../protocol/index.ts";
import type { GatherContext, Timer, ToolAllowance, TurnProgress } from "./context.ts";
import { own } from "./own.ts";
import {
  allowed,
  callsAllowed,
  callsLeft,
  clockLine,
  leftNow,
  NO_TOOLS,
  onlyTools,
  onlyWhile,
  SOURCE_FAILED,
} from "./wording.ts";

/** The sources' results, one content for each requested layer, and the problems on the way. */
export interface Gathered {
  readonly contents: ReadonlyMap<LayerId, LayerContent>;
  readonly notes: readonly Note[];
}

/** A source that failed or was late: a line for the log. */
interface Note {
  readonly layer: LayerId;
  readonly message: string;
}

/** How one source ended. */
type SourceEnd = { readonly content: LayerContent } | { readonly because: string; readonly cause?: unknown };

/** How long a source that only reads the store is waited for: a store that answers at all has done so by then. */
const STORE_PATIENCE = 30_000;

/**
 * Asks the sources of these layers in parallel; none takes longer than the agent's `budgets.source`, unless it only reads the store. A
 * source that fails or is late gives an empty layer, which a line reports to the model, and a note (law 13).
 * @throws StrataError `source_failed` naming a required layer, `turn_cancelled` or the signal's reason
 */
export async function gather(agent: Agent, layers: readonly Layer[], context: GatherContext): Promise<Gathered> {
  const { source } = agent.budgets;
  const [quick, patient] = [deadline(source, context), deadline(Math.max(source, STORE_PATIENCE), context)];
  try {
    const asked = layers.map((layer) => {
      const end = context.live?.[layer.source.kind]?.readsStore ? patient : quick;
      return Promise.race([ask(agent, layer, { ...context, signal: end.signal }), end.reached]);
    });
    return collect(layers, await Promise.all(asked), context.live);
  } finally {
    quick.clear();
    patient.clear();
  }
}

/** Never rejects, so a source that fails after the deadline has no effect. */
async function ask(agent: Agent, layer: Layer, context: TimedContext): Promise<SourceEnd> {
  try {
    return { content: await fillLayer(agent, layer, context) };
  } catch (thrown) {
    return { because: thrown instanceof Error ? thrown.message : String(thrown), cause: thrown };
  }
}

/** A context whose signal is aborted when the turn ends and when the time is up. */
type TimedContext = GatherContext & { readonly signal: AbortSignal };

async function fillLayer(agent: Agent, layer: Layer, context: TimedContext): Promise<LayerContent> {
  const { source } = layer;
  const fill = context.live?.[source.kind];
  if (fill !== undefined) return fill(layer, context);
  switch (source.kind) {
    case "text":
      return { kind: "text", text: source.text };
    case "clock":
      return clock(source.timezone, context.at);
    case "allowance":
      return allowance(agent, context);
    case "own":
      return own(source.name, context, context.signal);
    default:
      return { kind: "empty", because: "nothing here fills it" };
  }
}

interface Deadline {
  /** Tells when the time is up; rejects when the turn is stopped. */
  readonly reached: Promise<SourceEnd>;
  /** For sources still at work: aborted when the time is up, when the turn is stopped, and when the result is no longer needed. */
  readonly signal: AbortSignal;
  clear(): void;
}

function deadline(milliseconds: number, { signal, timer = realTimer }: GatherContext): Deadline {
  const { promise, resolve, reject } = Promise.withResolvers<SourceEnd>();
  const late = new AbortController();
  const stop = (): void => {
    reject(asStrataError(signal?.reason, "turn_cancelled"));
    late.abort(signal?.reason);
  };
  const cancel = timer(milliseconds, () => {
    resolve({ because: `it returned nothing within ${milliseconds} ms` });
    late.abort();
  });
  if (signal?.aborted) stop();
  signal?.addEventListener("abort", stop, { once: true });
  // With no layers, this promise is never awaited.
  promise.catch(() => {});
  return {
    reached: promise,
    signal: late.signal,
    clear: () => {
      cancel();
      late.abort(OVER);
      signal?.removeEventListener("abort", stop);
    },
  };
}

/** Created once: capturing a stack trace in each turn would take longer than all the rest here. */
const OVER = new DOMException("nobody waits for this source any more", "AbortError");

const realTimer: Timer = (milliseconds, fire) => {
  const timeout = setTimeout(fire, milliseconds);
  return () => clearTimeout(timeout);
};

function collect(layers: readonly Layer[], ends: readonly SourceEnd[], live: GatherContext["live"]): Gathered {
  const contents = new Map<LayerId, LayerContent>();
  const notes: Note[] = [];
  for (const [i, end] of ends.entries()) {
    const layer = layers[i];
    if (layer === undefined) continue;
    if ("content" in end) {
      contents.set(layer.id, end.content);
      continue;
    }
    if (layer.required) throw requiredLayerFailed(layer, end);
    const sentence = live?.[layer.source.kind]?.whenFailed ?? trusted(SOURCE_FAILED);
    contents.set(layer.id, { kind: "empty", because: `its source failed: ${end.because}`, message: sentence });
    notes.push({
      layer: layer.id,
      message: `the ${sourceName(layer.source)} source of layer ${layer.id} failed: ${end.because}`,
    });
  }
  return { contents, notes };
}

function requiredLayerFailed({ id, source }: Layer, end: Extract<SourceEnd, { because: string }>): StrataError {
  const sentence = `the required layer ${id} has no content, its ${sourceName(source)} source failed: ${end.because}; run the turn again, or make the layer optional`;
  return new StrataError("source_failed", sentence, { layer: id, source: sourceName(source) }, end.cause);
}

const sourceName = (source: Source): string => (source.kind === "own" ? source.name : source.kind);

/**
 * The tools of the turn as they were fixed at its start: how often each and the model may be called, in which states, and which of
 * their calls wait for a person. After a call: what is left.
 */
async function allowance(agent: Agent, context: GatherContext): Promise<LayerContent> {
  const { tools = [], modelCalls = agent.budgets.turn.modelCalls, progress } = context;
  if (tools.length === 0) return { kind: "text", text: trusted(NO_TOOLS) };
  if (progress !== undefined) return { kind: "text", text: trusted(leftText(tools, progress)) };
  if (agent.layers.some(({ source }) => source.kind === "limits"))
    return { kind: "text", text: trusted(await besidesLimits(agent, { tools, modelCalls })) };
  const intro = allowed(agent.budgets.turn.toolCalls, modelCalls);
  const lines = await Promise.all(tools.map(async (tool) => allowanceLine(tool, (await tool.waiting?.()) ?? [])));
  // Names of tools and layers are the operator's, the states and numbers the platform's.
  return { kind: "text", text: trusted([intro, ...lines].join("\n")) };
}

/** Where the agent's prefix has its limits: what the turn has of them, and what is in its way. */
async function besidesLimits(
  agent: Agent,
  { tools, modelCalls }: { readonly tools: readonly ToolAllowance[]; readonly modelCalls: number },
): Promise<string> {
  const lines = await Promise.all(
    tools.map(async ({ name, states, waiting }) => {
      const waits = (await waiting?.()) ?? [];
      return states === undefined && waits.length === 0
        ? []
        : [allowanceLine({ name, ...(states && { states }) }, waits)];
    }),
  );
  return [
    leftNow(agent.budgets.turn.toolCalls, modelCalls),
    ...(tools.length < agent.tools.length ? [onlyTools(tools.map(({ name }) => name))] : []),
    ...lines.flat(),
  ].join("\n");
}

/** What is left after calls: of the turn, and of the tools that have their own limit. */
function leftText(tools: readonly ToolAllowance[], progress: TurnProgress): string {
  const { toolCalls, modelCalls, calls: used, last } = progress;
  if (last !== undefined) return last;
  const lines = tools.flatMap(({ name, calls }) =>
    calls === undefined ? [] : [`- ${callsLeft(name, Math.max(0, calls - (used.get(name) ?? 0)))}`],
  );
  return [leftNow(toolCalls, modelCalls), ...lines].join("\n");
}

function allowanceLine({ name, calls, states }: ToolAllowance, waiting: readonly string[]): string {
  const limits = [
    ...(calls === undefined ? [] : [callsAllowed(calls)]),
    ...(states === undefined ? [] : [onlyWhile(states)]),
    ...waiting,
  ];
  return `- ${[name, ...limits].join(" · ")}`;
}

/** Date, weekday and time in a zone, to the minute. @throws RangeError for a zone that the system does not know */
function clock(timezone: string, at: number): LayerContent {
  const format = formats.get(timezone) ?? formatOf(timezone);
  formats.set(timezone, format);
  // Part by part: how a system joins them changes between its versions.
  const part = new Map(format.formatToParts(at).map(({ type, value }) => [type, value]));
  const date = `${part.get("year")}-${part.get("month")}-${part.get("day")}`;
  const time = `${part.get("hour")}:${part.get("minute")}`;
  const text = clockLine(part.get("weekday") ?? "", `${date}, ${time}`, timezone);
  // The zone is the operator's, from strata.yaml; all else is the platform's.
  return { kind: "text", text: trusted(text) };
}

/** Zones are few, and a format takes longer to make than to use a hundred times. */
const formats = new Map<string, Intl.DateTimeFormat>();

const formatOf = (timeZone: string): Intl.DateTimeFormat =>
  new Intl.DateTimeFormat("en-GB", {
    timeZone,
    weekday: "long",
    year: "numeric",
    month: "2-digit",
    day: "2-digit",
    hour: "2-digit",
    minute: "2-digit",
    hourCycle: "h23",
  });
