import type { Lines } from "./lines.ts";

/** A piece of the prompt. A high priority stays longest; a required piece always stays. */
export interface Layer {
  readonly id: string;
  readonly priority: number;
  readonly required: boolean;
  readonly text: string;
}

/** A message of the conversation so far. The contact and the agent take turns. */
export interface Line {
  readonly role: "user" | "assistant";
  readonly text: string;
}

/** What every engine is given. */
export interface Work {
  readonly layers: readonly Layer[];
  readonly history: readonly Line[];
  readonly limit: number;
}

export type Count = (text: string) => number;

/** Tokens, priority, required: 19,900 tokens in twelve layers, five of which must be sent. */
const LAYERS: readonly (readonly [tokens: number, priority: number, required?: true])[] = [
  [600, 1000, true],
  [900, 950, true],
  [700, 900, true],
  [1_200, 850, true],
  [800, 800, true],
  [1_900, 700],
  [2_200, 600],
  [1_600, 500],
  [2_600, 400],
  [2_400, 300],
  [2_800, 200],
  [2_200, 100],
];

/** One job. Another `edition` is the same job in words that nobody has seen. */
export function workOf(
  lines: Lines,
  size: { readonly history: number; readonly limit: number },
  edition: number,
  count: Count,
): Work {
  let next = size.history;
  const layers = LAYERS.map(([tokens, priority, required], i): Layer => {
    const texts: string[] = [];
    for (let sum = 0; sum < tokens; ) {
      const text = lines.at(next++, edition);
      sum += count(text) + 1;
      if (sum <= tokens) texts.push(text);
    }
    return { id: `layer-${i}`, priority, required: required === true, text: texts.join("\n") };
  });
  const history = Array.from(
    { length: size.history },
    (_, n): Line => ({ role: n % 2 === 0 ? "user" : "assistant", text: lines.at(n, edition) }),
  );
  return { layers, history, limit: size.limit };
}
