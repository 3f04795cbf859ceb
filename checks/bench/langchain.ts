import { AIMessage, type BaseMessage, HumanMessage, trimMessages } from "@langchain/core/messages";
import { ChatPromptTemplate, MessagesPlaceholder } from "@langchain/core/prompts";
import { AROUND, type Engine, memoized } from "./engine.ts";
import type { Count, Layer, Work } from "./work.ts";

const TEMPLATE = ChatPromptTemplate.fromMessages([
  ["system", "{layers}"],
  new MessagesPlaceholder("history"),
  ["human", "{message}"],
]);

/**
 * A prompt template, then `trimMessages`. It knows no priorities: with `select`, ten lines of the caller's own leave out
 * layers first, so that it has something to do when they are too many.
 */
export function langchain(
  name: string,
  count: Count,
  { memo, select }: { readonly memo: boolean; readonly select: boolean },
): Engine {
  return {
    name,
    open(work) {
      const counter = memo ? memoized(count) : count;
      return {
        next: (message) => () => compose(work, message, counter, select),
        sent(made, message) {
          const texts = trimmed(made);
          return { texts, hasMessage: texts.at(-1) === message };
        },
      };
    },
  };
}

async function compose(work: Work, message: string, count: Count, select: boolean): Promise<BaseMessage[]> {
  const layers = select ? selected(work, message, count) : work.layers;
  const history = work.history.map(({ role, text }) =>
    role === "user" ? new HumanMessage(text) : new AIMessage(text),
  );
  const messages = await TEMPLATE.formatMessages({
    layers: layers.map(({ text }) => text).join("\n\n"),
    history,
    message,
  });
  return trimMessages(messages, {
    maxTokens: work.limit,
    strategy: "last",
    includeSystem: true,
    tokenCounter: (all) => all.reduce((sum, one) => sum + count(textOf(one)) + AROUND, 0),
  });
}

/** The layers that fit beside the newest message, the highest priority first. */
function selected({ layers, limit }: Work, message: string, count: Count): Layer[] {
  let left = limit - count(message) - 2 * AROUND;
  const kept = new Set<Layer>();
  for (const layer of layers.toSorted((a, b) => Number(b.required) - Number(a.required) || b.priority - a.priority)) {
    // A blank line between two layers may be a token or two of its own.
    const tokens = count(layer.text) + 2;
    if (!layer.required && tokens > left) break;
    kept.add(layer);
    left -= tokens;
  }
  return layers.filter((layer) => kept.has(layer));
}

const textOf = ({ content }: BaseMessage): string => (typeof content === "string" ? content : "");

function trimmed(made: unknown): string[] {
  if (!Array.isArray(made)) throw new Error("LangChain gave no messages");
  return made.map((message: BaseMessage | undefined) => (message === undefined ? "" : textOf(message)));
}
