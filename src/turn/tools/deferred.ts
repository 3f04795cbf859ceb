import type { CallPart, Message, Tool, ToolName, ToolReader } from "../../protocol/index.ts";

/** An agent's tools, and which of them are deferred. */
interface Deferring extends Pick<ToolReader, "defer"> {
  readonly tools: readonly ToolName[];
}

interface Tools {
  get(name: ToolName): Tool | undefined;
}

/** The tools that another one reveals. If that one is missing, as with a sub-agent that has few tools, nothing is deferred. */
export function deferredOf(tools: Tools, { tools: names, defer = [] }: Deferring): readonly ToolName[] {
  if (defer.length === 0 || !names.some((name) => tools.get(name)?.forwards !== undefined)) return [];
  return names.filter((name) => defer.includes(name));
}

/** The call that the model means: its own, or the one that it makes through another tool. */
export function meantBy(tools: Tools, call: CallPart): CallPart {
  const forwarded = tools.get(call.tool)?.forwards?.(call.input);
  return forwarded === undefined ? call : { ...call, ...forwarded };
}

/** Whether the conversation shows the schema of a deferred tool. A cut takes it away with the results of other tools. */
export function isLoaded(tools: Tools, messages: Iterable<Message>, name: ToolName): boolean {
  for (const message of messages) {
    if (message.role !== "tool") continue;
    const found = message.parts.filter(({ tool }) => tools.get(tool)?.forwards !== undefined);
    if (found.some(({ text }) => text.includes(schemaBegins(name)))) return true;
  }
  return false;
}

/** How the line with a found tool's schema begins. */
export const schemaBegins = (name: string): string => `{"name":${JSON.stringify(name)},"description":`;
