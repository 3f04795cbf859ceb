import {
  AssistantMessage,
  type BasePromptElementProps,
  OutputMode,
  PromptElement,
  type PromptPiece,
  Raw,
  renderPrompt,
  SystemMessage,
  UserMessage,
} from "@vscode/prompt-tsx";
import { AROUND, type Engine, memoized } from "./engine.ts";
import type { Count, Work } from "./work.ts";

interface Props extends BasePromptElementProps {
  readonly work: Work;
  readonly message: string;
}

/**
 * prompt-tsx as its pages say: an element a piece, each with its priority. The newest message and required layers go last,
 * the oldest of the history first: the same preference as with the other engines.
 */
export function promptTsx(name: string, count: Count, { memo }: { readonly memo: boolean }): Engine {
  return {
    name,
    open(work) {
      const tokenizer = tokenizerOf(memo ? memoized(count) : count);
      const endpoint = { modelMaxPromptTokens: work.limit };
      return {
        next: (message) => () => renderPrompt(Prompt, { work, message }, endpoint, tokenizer),
        sent(made, message) {
          const texts = rendered(made);
          return { texts, hasMessage: texts.at(-1) === message };
        },
      };
    },
  };
}

class Prompt extends PromptElement<Props> {
  override render(): PromptPiece {
    const { work, message } = this.props;
    const system = work.layers.map(({ text, priority, required }) =>
      piece(SystemMessage, { priority: priority + (required ? 1_000_000 : 100_000) }, [text]),
    );
    const history = work.history.map(({ role, text }, n) =>
      piece(role === "user" ? UserMessage : AssistantMessage, { priority: n }, [text]),
    );
    const newest = piece(UserMessage, { priority: 2_000_000 }, [message]);
    return { ...vscpp(vscppf, {}), children: [...system, ...history, newest] };
  }
}

/** What a TSX expression compiles to. */
function piece(ctor: PromptPiece["ctor"], props: PromptPiece["props"], children: PromptPiece["children"]): PromptPiece {
  return { ctor, props, children };
}

function tokenizerOf(count: Count) {
  const tokenLength = (part: Raw.ChatCompletionContentPart) =>
    part.type === Raw.ChatCompletionContentPartKind.Text ? count(part.text) : 0;
  return {
    mode: OutputMode.Raw,
    tokenLength,
    countMessageTokens: ({ content }: Raw.ChatMessage) =>
      content.reduce((sum, part) => sum + tokenLength(part), AROUND),
  } as const;
}

function rendered(made: unknown): string[] {
  const messages = made !== null && typeof made === "object" && "messages" in made ? made.messages : undefined;
  if (!Array.isArray(messages)) throw new Error("prompt-tsx gave no messages");
  return messages.map(({ content }: Raw.ChatMessage) =>
    content.map((part) => (part.type === Raw.ChatCompletionContentPartKind.Text ? part.text : "")).join(""),
  );
}
