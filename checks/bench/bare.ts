import type { Engine, Opened } from "./engine.ts";
import type { Count, Work } from "./work.ts";

/** The least that any engine could do: the bytes of all that is given, joined once. */
export const join: Engine = { name: "join", open: (work) => bare(work, () => undefined) };

/** And tokenized once. */
export function joinAndCount(count: Count): Engine {
  return { name: "join + tokenize all", open: (work) => bare(work, (all) => count(all)) };
}

/** What is left where all but the newest message is known: its tokens, and the join. */
export function joinAndCountNew(count: Count): Engine {
  return { name: "join + tokenize new", open: (work) => bare(work, (_, message) => count(message)) };
}

function bare({ layers, history }: Work, then: (all: string, message: string) => void): Opened {
  const before = [...layers, ...history].map(({ text }) => text);
  return {
    next: (message) => () => {
      const all = [...before, message].join("\n");
      then(all, message);
      return all;
    },
    sent: (made) => ({ texts: [String(made)], hasMessage: true }),
  };
}
