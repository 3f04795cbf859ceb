import {
  KEY_FILTERS,
  type KeyFilter,
  type PrivateWords,
  privateWords,
  type Scan,
  scanFor,
  type VerbatimRun,
} from "../../guard/index.ts";
import {
  type Agent,
  type AssistantPart,
  type LayerId,
  layerId,
  type Reply,
  spoken,
  type TurnEvent,
  type Vault,
} from "../../protocol/index.ts";

/** Replaces words that were withheld. */
const WITHHELD = "[…]";

/** Filters what a model says: removes the values of secrets, keys of well-known forms, and longer quotes from private layers. */
interface ReplyGuard {
  /** What of the words so far may go out now. */
  push(delta: string): string;
  /** The rest, when no more come. */
  end(): string;
  /** The whole answer, as it is stored and goes into the next request. */
  reply(whole: Reply): Reply;
  /** The withheld text, for those who may see it. */
  readonly withheld: () => readonly Extract<TurnEvent, { type: "withheld" }>[];
}

const made = new WeakMap<Agent, PrivateWords>();

/** An agent's texts that no reply may quote: the immutable ones, except layers that allow it. */
function privateOf(agent: Agent): PrivateWords {
  const known = made.get(agent);
  if (known !== undefined) return known;
  const texts = agent.layers.flatMap(({ id, mutability, private: isPrivate, source, line }) => {
    if (mutability !== "immutable" || isPrivate === false || source.kind !== "text") return [];
    return [source.text, ...(line === undefined ? [] : [line])].map((text) => ({ name: id, text }));
  });
  const words = privateWords(texts);
  made.set(agent, words);
  return words;
}

export function replyGuard(agent: Agent, vault: Vault): ReplyGuard {
  const words = privateOf(agent);
  const scan = scanFor(words);
  const layers = new Map<LayerId, number>();
  const stream = withoutValues(vault);
  /** The text that is not released yet, and where it begins. */
  let held = "";
  let released = 0;
  let first = 0;

  const release = (): string => {
    const { settled, found } = scan;
    const runs = found.slice(first).map((run) => ({ ...run, from: run.from - released, to: run.to - released }));
    const out = without(held, runs, { from: 0, to: settled - released, first: 0 });
    held = held.slice(settled - released);
    released = settled;
    while ((found[first]?.to ?? Number.POSITIVE_INFINITY) <= released) first++;
    return out;
  };
  const take = (said: string): string => {
    held += said;
    scan.push(said);
    return release();
  };
  let secrets = false;
  return {
    push: (delta) => take(stream.push(delta)),
    end: () => {
      const out = take(stream.end());
      scan.end();
      return out + release();
    },
    reply: (whole): Reply => {
      const cleared = withoutValues(vault);
      const texts = whole.parts.map((part) => (part.type === "text" ? cleared.push(part.text) : ""));
      const last = whole.parts.findLastIndex(({ type }) => type === "text");
      if (last >= 0) texts[last] = (texts[last] ?? "") + cleared.end();
      secrets = cleared.found();
      const said = texts.join("");
      const again = scanned(words, said);
      for (const run of again.found) layers.set(layerId(run.name), (layers.get(layerId(run.name)) ?? 0) + run.words);
      let at = 0;
      let first = 0;
      const parts = whole.parts.flatMap((part, i): readonly AssistantPart[] => {
        if (part.type !== "text") return [part];
        const [from, to] = [at, at + (texts[i]?.length ?? 0)];
        at = to;
        const kept = without(said, again.found, { from, to, first });
        while ((again.found[first]?.to ?? Number.POSITIVE_INFINITY) <= to) first++;
        // A part whose words all belong to a value or a run that began in the part before says nothing more.
        return kept === "" && part.text !== "" ? [] : [{ ...part, text: spoken(kept) }];
      });
      return { ...whole, parts };
    },
    withheld: () => [
      ...(secrets ? [{ type: "withheld" } as const] : []),
      ...[...layers].map(([layer, count]) => ({ type: "withheld", layer, words: count }) as const),
    ],
  };
}

interface Filter {
  push(delta: string): string;
  end(): string;
  /** Whether something was removed. */
  readonly found: () => boolean;
}

/** Removes the values of secrets, and then keys, from a text that arrives in pieces. However it is cut, the same comes out. */
function withoutValues(vault: Vault): Filter {
  const values = filter({ settled: (text) => vault.settled(text), hide: (text) => vault.hide(text) });
  const filters = [values, ...KEY_FILTERS.map(filter)];
  return {
    push: (delta) => filters.reduce((said, next) => next.push(said), delta),
    end: () => filters.reduce((said, next) => next.push(said) + next.end(), ""),
    found: () => filters.some((one) => one.found()),
  };
}

function filter({ settled, hide }: KeyFilter): Filter {
  let waiting = "";
  let before = "";
  let found = false;
  const release = (to: number): string => {
    const said = waiting.slice(0, to);
    const hidden = hide(said, before);
    found ||= hidden !== said;
    before = said.at(-1) ?? before;
    waiting = waiting.slice(to);
    return hidden;
  };
  return {
    push: (delta) => {
      waiting += delta;
      return release(settled(waiting, before));
    },
    end: () => release(waiting.length),
    found: () => found,
  };
}

/** Without a private layer's words: for what an agent says by a tool. */
export function withoutPrivate(agent: Agent, text: string): string {
  return without(text, scanned(privateOf(agent), text).found, { from: 0, to: text.length, first: 0 });
}

function scanned(words: PrivateWords, text: string): Scan {
  const scan = scanFor(words);
  scan.push(text);
  scan.end();
  return scan;
}

/**
 * A part of a text, with `[…]` in the place of each run. A run that crosses the part's borders has it where the run begins.
 * @param first the first of the runs that may end in it or behind it
 */
function without(
  text: string,
  runs: readonly VerbatimRun[],
  { from, to, first }: { readonly from: number; readonly to: number; readonly first: number },
): string {
  let out = "";
  let at = from;
  for (let i = first; i < runs.length; i++) {
    const run = runs[i];
    if (run === undefined || run.from >= to) break;
    if (run.to <= at) continue;
    out += text.slice(at, Math.max(at, run.from));
    if (run.from >= from) out += WITHHELD;
    at = Math.min(run.to, to);
  }
  return out + text.slice(at, to);
}
