import { type PrivateWords, privateWords, type Scan, scanFor, type VerbatimRun } from "../../guard/index.ts";
import {
  type Agent,
  type LayerId,
  layerId,
  type Reply,
  spoken,
  type TurnEvent,
  type Vault,
} from "../../protocol/index.ts";

/** What stands for words that were withheld. */
const WITHHELD = "[…]";

/** Filters what a model says: removes the values of secrets, and longer quotes from private layers. */
interface ReplyGuard {
  /** What of the words so far may go out now. */
  push(delta: string): string;
  /** The rest, when no more come. */
  end(): string;
  /** The whole answer, as it is kept and goes into the next request. */
  reply(whole: Reply): Reply;
  /** What was withheld, for those who may know. */
  readonly withheld: () => readonly Extract<TurnEvent, { type: "withheld" }>[];
}

const made = new WeakMap<Agent, PrivateWords>();

/** The texts of an agent that no reply may quote: those that nobody may change, except layers that allow it. */
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
  let secrets = false;
  let waiting = "";
  let text = "";
  let released = 0;

  const hide = (said: string): string => {
    const hidden = vault.hide(said);
    secrets ||= hidden !== said;
    return hidden;
  };
  const release = (): string => {
    const out = without(text, scan.found, released, scan.settled);
    released = scan.settled;
    return out;
  };
  const take = (said: string): void => {
    text += said;
    scan.push(said);
  };
  return {
    push: (delta) => {
      waiting += delta;
      const settled = vault.settled(waiting);
      take(hide(waiting.slice(0, settled)));
      waiting = waiting.slice(settled);
      return release();
    },
    end: () => {
      take(hide(waiting));
      waiting = "";
      scan.end();
      return release();
    },
    reply: (whole) => {
      const texts = whole.parts.map((part) => (part.type === "text" ? hide(part.text) : ""));
      const again = scanned(words, texts.join(""));
      for (const run of again.found) layers.set(layerId(run.name), (layers.get(layerId(run.name)) ?? 0) + run.words);
      let at = 0;
      const parts = whole.parts.map((part, i) => {
        const [from, to] = [at, at + (texts[i]?.length ?? 0)];
        at = to;
        return part.type === "text" ? { ...part, text: spoken(without(texts.join(""), again.found, from, to)) } : part;
      });
      return { ...whole, parts };
    },
    withheld: () => [
      ...(secrets ? [{ type: "withheld" } as const] : []),
      ...[...layers].map(([layer, count]) => ({ type: "withheld", layer, words: count }) as const),
    ],
  };
}

/** Without a private layer's words: for what an agent says by a tool. */
export function withoutPrivate(agent: Agent, text: string): string {
  return without(text, scanned(privateOf(agent), text).found, 0, text.length);
}

function scanned(words: PrivateWords, text: string): Scan {
  const scan = scanFor(words);
  scan.push(text);
  scan.end();
  return scan;
}

/** A part of a text, with `[…]` in the place of each run. A run that crosses the part's borders has it where the run begins. */
function without(text: string, runs: readonly VerbatimRun[], from: number, to: number): string {
  let out = "";
  let at = from;
  for (const run of runs) {
    if (run.to <= at || run.from >= to) continue;
    out += text.slice(at, Math.max(at, run.from));
    if (run.from >= from) out += WITHHELD;
    at = Math.min(run.to, to);
  }
  return out + text.slice(at, to);
}
