import {
  type CallPart,
  type Message,
  readFrames,
  type Tool,
  type ToolName,
  type ToolReader,
} from "../../protocol/index.ts";

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
  return foundIn(tools, messages).some((line) => line.startsWith(schemaBegins(name)));
}

/** The lines that searches for deferred tools returned. What a tool answered that was called through the same one is not among them. `calls`: only of these. */
export function foundIn(tools: Tools, messages: Iterable<Message>, calls?: ReadonlySet<string>): readonly string[] {
  const searches = new Set<string>();
  const lines: string[] = [];
  for (const { role, parts } of messages) {
    if (role === "assistant") {
      for (const part of parts) {
        if (part.type !== "call") continue;
        const finder = tools.get(part.tool)?.forwards;
        // An id that comes again belongs to the newer call.
        const isAsked = calls?.has(part.id) ?? true;
        if (isAsked && finder !== undefined && finder(part.input) === undefined) searches.add(part.id);
        else searches.delete(part.id);
      }
    }
    if (role !== "tool") continue;
    const results = parts.filter(({ id, failed }) => searches.has(id) && !failed);
    for (const { text } of results) lines.push(...readFrames(text).flatMap((frame) => frame.text.split("\n")));
  }
  return lines;
}

/** How the line with a found tool's schema begins. */
export const schemaBegins = (name: string): string => `{"name":${JSON.stringify(name)},"description":`;
