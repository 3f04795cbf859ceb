import type { LanguageModelV4Message } from "@ai-sdk/provider";
import type { Message, UserPart } from "../protocol/index.ts";
import type { Dialect } from "./dialect.ts";

/** A message, and the edits of layers that came with it, if they are sent as a system message behind it. */
interface Apart {
  readonly message: Message;
  readonly edits: readonly LanguageModelV4Message[];
}

/**
 * Takes the edits out of a message, where the provider takes a system message in the middle of a conversation. Only text that would stand in
 * the prefix is marked so. Such a message must be the last or be followed by an answer: otherwise the edits stay in the message.
 * @param later the messages behind it
 */
export function withEditsApart(
  message: Message,
  later: readonly Message[],
  dialect: Dialect & { readonly hasSystem: boolean },
): Apart {
  // Without a system text at the start, a package would send a later one there.
  const takesSystem = dialect.hasSystem && (dialect.turnScoped !== undefined || dialect.turnScopedOption === true);
  if (message.role !== "user" || !takesSystem || !message.parts.some(isEdit)) return { message, edits: [] };
  const next = later.find(({ role }) => role !== "system");
  if (next !== undefined && !isAnswer(next, dialect)) return { message, edits: [] };
  const texts = message.parts.filter(isEdit).map(({ text }) => text);
  return {
    message: { role: "user", parts: message.parts.filter((part) => !isEdit(part)) },
    edits: [{ role: "system", content: texts.join("\n\n") }],
  };
}

const isEdit = (part: UserPart): part is Extract<UserPart, { type: "text" }> =>
  part.type === "text" && part.told?.system === true;

/** Whether any of it is sent: reasoning goes back only to the provider that it came from. */
const isAnswer = ({ role, parts }: Message, { provider }: Dialect): boolean =>
  role === "assistant" &&
  parts.some((part) => {
    if (part.type === "reasoning") return part.metadata?.[provider] !== undefined;
    return part.type !== "text" || part.text.trim() !== "";
  });
