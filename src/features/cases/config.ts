import { z } from "zod";
import { type KindsOf, sourceForm } from "../../agents/index.ts";
import { suggestion, trusted } from "../../protocol/index.ts";

/** Constant for a whole conversation: a text that it chooses may be in the prefix. */
export const OF_THREAD = ["channel", "caller"] as const;

/** May change with each message or with the clock: a text that it chooses goes in the tail. */
export const OF_TURN = ["delivery", "hours", "kind", "line", "questions", "speaker"] as const;

export type Fact = (typeof OF_THREAD)[number] | (typeof OF_TURN)[number];

const FACTS: readonly string[] = [...OF_THREAD, ...OF_TURN];

/** A layer with the one of its declared texts that a fact of the conversation chooses. */
export const SOURCES = {
  case: sourceForm({
    fills: "the one of the layer's `texts` that a fact of the conversation chooses, named in `by`",
    isStored: true,
    changesFor: "thread",
    inTail: true,
    isRepeatable: true,
    takes: ["by", "texts"],
    kept: { by: z.string(), texts: z.record(z.string(), z.string().transform(trusted)) },
    make: ({ by = "", texts = {} }) => ({
      by,
      texts: Object.fromEntries(Object.entries(texts).map(([value, text]) => [value, trusted(text)])),
    }),
    unfit: ({ layers }) => {
      for (const { source, by = "", texts, scope, id } of layers) {
        if (source !== "case") continue;
        if (!FACTS.includes(by)) return `\`${id}\` needs \`by\`: one of ${FACTS.join(", ")}${suggestion(by, FACTS)}`;
        if (texts === undefined) return `\`${id}\` needs \`texts\`: what it says for each value of \`${by}\``;
        if (scope !== "turn" && !OF_THREAD.some((one) => one === by))
          return `\`${by}\` may change with each message, so \`${id}\` stands at the end of the request; use \`scope: turn\``;
      }
      return undefined;
    },
  }),
};

declare module "../../protocol/layer.ts" {
  interface SourceKinds extends KindsOf<typeof SOURCES> {}
}
