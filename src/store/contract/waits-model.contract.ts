/**
 * The reference for a turn that waits: no statuses and no rows, only what was said and what that means. Pure; one value per thread.
 * `waits.contract.ts` compares the store with it.
 */
export interface SaidOnce {
  /** The sender's own id: sent twice, it is stored once. */
  readonly key: string;
  readonly text: string;
  /** The call that it answers. */
  readonly answers?: string;
}

/** `keeps`: messages that come meanwhile wait, too. */
export interface ModelCall {
  readonly call: string;
  readonly keeps: boolean;
  readonly due: number;
}

/** How a turn on a called thread ends for its caller. */
export type Way = "responds" | "forwards" | "ends";

interface Heard extends SaidOnce {
  /** It answers a call that was cancelled: it goes with the next turn and begins none. */
  readonly quiet: boolean;
}

export interface ModelThread {
  readonly caller?: { readonly thread: string; readonly call: string };
  /** All keys ever taken, what waits in the order received, and the calls of the last message. */
  readonly keys: readonly string[];
  readonly waiting: readonly Heard[];
  readonly open: readonly (ModelCall & { readonly answered: boolean; readonly cancelled: boolean })[];
  readonly transcript: readonly string[];
  /** The events of the running or interrupted turn, by their keys, with the results first. */
  readonly taken?: readonly string[];
  /** The run that its open calls belong to. */
  readonly run?: number;
}

export const EMPTY: ModelThread = { keys: [], waiting: [], open: [], transcript: [] };

const unanswered = ({ open }: ModelThread) => open.filter(({ answered, cancelled }) => !answered && !cancelled);

/** An event may begin a turn: a message if no open call keeps it waiting, or an answer if no call is open any more. */
export function isDue(thread: ModelThread): boolean {
  const left = unanswered(thread);
  const loud = thread.waiting.filter(({ quiet }) => !quiet);
  if (left.length === 0) return loud.length > 0;
  return !left.some(({ keeps }) => keeps) && loud.some(({ answers }) => answers === undefined);
}

export function heard(thread: ModelThread, said: SaidOnce): ModelThread {
  if (thread.keys.includes(said.key)) return thread;
  const call = thread.open.find((one) => one.call === said.answers);
  const open = thread.open.map((one) => (one === call ? { ...one, answered: true } : one));
  const waiting = [...thread.waiting, { ...said, quiet: call?.cancelled === true }];
  return { ...thread, keys: [...thread.keys, said.key], waiting, open };
}

/**
 * What the next turn takes: an answer for each open call that has one, then the first `most` of the rest. An interrupted one takes the same
 * again.
 */
export function claimed(thread: ModelThread, most: number): ModelThread & { readonly taken: readonly string[] } {
  if (thread.taken !== undefined) return { ...thread, taken: thread.taken };
  const results = thread.open.flatMap(({ call }) => thread.waiting.find(({ answers }) => answers === call) ?? []);
  const others = thread.waiting.filter((one) => !results.includes(one)).slice(0, most);
  return { ...thread, taken: [...results, ...others].map(({ key }) => key) };
}

/** What a turn adds to its thread, as in its transcript. */
export type ModelEnd = { readonly text: string } | { readonly calls: readonly ModelCall[] };

/** The turn that is kept: what it took is answered, and what came after that keeps waiting. */
export function kept(thread: ModelThread, turn: number, end: ModelEnd): ModelThread {
  const { taken: keys = [], run, ...rest } = thread;
  const taken = keys.flatMap((key) => thread.waiting.find((one) => one.key === key) ?? []);
  const results = thread.open.map(({ call }) => ({ call, answer: taken.find((one) => one.answers === call) }));
  const used = new Set(results.map(({ answer }) => answer));
  const own = thread.open.length > 0 ? (run ?? turn) : turn;
  return {
    ...rest,
    ...("calls" in end && { run: own }),
    waiting: thread.waiting.filter((one) => !taken.includes(one)),
    open: "calls" in end ? end.calls.map((one) => ({ ...one, answered: false, cancelled: false })) : [],
    transcript: [
      ...thread.transcript,
      ...results.map(({ call, answer }) => `tool|${call}|${answer?.text ?? "-"}`),
      ...taken.flatMap((one) => (used.has(one) ? [] : [`user|${one.answers ?? ""}|${one.text}`])),
      ...("calls" in end ? end.calls.map(({ call }) => `assistant|${call}|calls`) : [`assistant||${end.text}`]),
    ],
  };
}

/** A failure that is tried again: its events wait, and what is open stays open. */
export function failed({ taken: _, ...thread }: ModelThread): ModelThread {
  return thread;
}

/** A failure that is not tried again takes back what it took: sent again, that is stored again. */
export function failedForGood({ taken = [], ...thread }: ModelThread): ModelThread {
  const keys = thread.keys.filter((key) => !taken.includes(key));
  return { ...thread, keys, waiting: thread.waiting.filter(({ key }) => !taken.includes(key)) };
}

/** The calls whose time is up, the longest first. */
export const overdueAt = ({ open }: ModelThread, now: number): readonly string[] =>
  open
    .filter(({ answered, cancelled, due }) => !answered && !cancelled && due <= now)
    .toSorted((one, other) => one.due - other.due || (one.call < other.call ? -1 : 1))
    .map(({ call }) => call);

/** The wait is over: the run has ended, and the next turn begins a new run. */
export function cancelled({ run: _, ...thread }: ModelThread): ModelThread {
  const named = (call: string | undefined): boolean => thread.open.some((one) => one.call === call);
  return {
    ...thread,
    open: thread.open.map((one) => ({ ...one, cancelled: true })),
    waiting: thread.waiting.map((one) => (named(one.answers) ? { ...one, quiet: true } : one)),
  };
}

/** The fork of a thread at its last stored turn: the calls that are open there cannot be answered here. */
export function forked({ transcript, open }: ModelThread): ModelThread {
  return { ...EMPTY, transcript, open: open.map((one) => ({ ...one, answered: false, cancelled: true })) };
}

/** Providers require that each call's result follows it, exactly once, and that there are no other results. */
export function providerTakes(transcript: readonly string[]): boolean {
  let open: string[] = [];
  for (const [role, call = ""] of transcript.map((one) => one.split("|"))) {
    if (role === "tool") {
      if (!open.includes(call)) return false;
      open = open.filter((one) => one !== call);
    } else if (role === "assistant" && call !== "") open.push(call);
    else if (open.length > 0) return false;
  }
  return true;
}
