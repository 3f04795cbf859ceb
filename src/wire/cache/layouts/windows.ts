import type { SeenBlock, SeenRequest } from "../seen.ts";
import { apart, goesOn } from "./apart.ts";

/** Tokens of history that a window shows. */
const WINDOW = 4_000;

/** How a full window gives way: turn by turn, or to its half at once. */
export type Giving = "sliding" | "halving";

/** The same requests with the newest of their history only, beginning with a turn; the running turn is always shown. */
export function windowed(requests: readonly SeenRequest[], giving: Giving): readonly SeenRequest[] {
  let from = 0;
  let said: readonly SeenBlock[] = [];
  return requests.map((request) => {
    const { tools, system, messages, tail } = apart(request);
    if (!goesOn(said, messages)) from = 0;
    said = messages;
    if (sizeFrom(messages, from) > WINDOW)
      from = laterStart(messages, from, giving === "sliding" ? WINDOW : WINDOW / 2);
    return { ...request, blocks: [...tools, ...system, ...messages.slice(from), ...tail] };
  });
}

/** The first turn from which on the rest has room, else the last. */
function laterStart(messages: readonly SeenBlock[], from: number, room: number): number {
  const starts = messages.flatMap((block, at) => (at >= from && isStart(block, messages[at - 1]) ? [at] : []));
  return starts.find((start) => sizeFrom(messages, start) <= room) ?? starts.at(-1) ?? from;
}

/** What the user writes after somebody else spoke begins a turn. */
const isStart = ({ role, kind }: SeenBlock, before: SeenBlock | undefined): boolean =>
  role === "user" && kind !== "tool-result" && before?.role !== "user";

const sizeFrom = (messages: readonly SeenBlock[], from: number): number =>
  messages.slice(from).reduce((sum, { tokens }) => sum + tokens, 0);
