import { frameResult, type Keeping } from "../../compiler/index.ts";
import type { Agent, CallPart, CountTokens, KeptResult, Message, ResultPart, ToolName } from "../../protocol/index.ts";
import type { Toolset } from "../tools/index.ts";

/** Characters that are kept of one result, and of all in one request: each turn reads them with the transcript. */
const MOST = 200_000;
const MOST_TOGETHER = 1_000_000;

/** The kept results that messages show, in their order. */
export const keptIn = (messages: Iterable<Message>): readonly KeptResult[] =>
  [...messages].flatMap(({ role, parts }) => (role === "tool" ? parts.flatMap(({ kept }) => kept ?? []) : []));

/** What a turn knows of results. */
interface Framing {
  readonly parts: { readonly tools: Toolset };
  readonly setup: { readonly agent: Agent; readonly count: CountTokens };
}

/** Frames a result within so many tokens. */
export type FramesResult = (
  made: Pick<CallPart, "id" | "tool">,
  answer: Parameters<typeof frameResult>[1],
  room: number,
  /** The tool that was meant, where the call went through another one. */
  meant?: ToolName,
) => ResultPart;

/**
 * Frames results behind these messages. If the agent has a tool that reads them, those that are too long are kept, numbered in the order in which the
 * request shows them.
 */
export function framingResults(
  { parts: { tools }, setup: { agent, count } }: Framing,
  messages: Iterable<Message>,
): FramesResult {
  const reader = agent.tools.find((name) => tools.get(name)?.readsResults);
  const before = reader === undefined ? [] : keptIn(messages);
  let n = Math.max(0, ...before.map((one) => one.n));
  let left = before.reduce((rest, { text }) => rest - text.length, MOST_TOGETHER);
  const keeping = (name: ToolName): Keeping | undefined => {
    const tool = tools.get(name);
    // Of memories, the turn has to know which were shown; and what was found of tools or results can be found again.
    if (reader === undefined || tool?.returnsMemories || tool?.readsResults || tool?.forwards) return undefined;
    return left < MOST ? undefined : { n: n + 1, reader, most: MOST };
  };
  return (made, answer, room, meant = made.tool) => {
    const keep = keeping(meant);
    const result = frameResult(made, { ...answer, ...(keep && { keep }) }, room, count);
    if (result.kept !== undefined) {
      n++;
      left -= result.kept.text.length;
    }
    return result;
  };
}
