/** Puts the lines that a person types together to messages. */
export interface MessageReader {
  /** Takes a line; gives the message when it is whole, nothing while it continues. */
  readonly take: (line: string) => string | undefined;
  /** The same for a line that came with more in one paste: the message continues until a line is typed. */
  readonly paste: (line: string) => string | undefined;
  /** Whether a message has begun and continues. */
  readonly isOpen: () => boolean;
  /** Drops what was begun. */
  readonly clear: () => void;
}

const QUOTES = '"""';

/** A line that ends in a backslash continues with the next; `"""` begins a block and ends it; any other line is a message. */
export function messageReader(): MessageReader {
  let lines: string[] = [];
  let isBlock = false;
  let isPasted = false;
  const end = (last: string): string => {
    const message = [...lines, last].join("\n");
    clear();
    return message;
  };
  const clear = (): void => {
    lines = [];
    isBlock = false;
    isPasted = false;
  };
  const go = (line: string): undefined => void lines.push(line);
  const inBlock = (line: string): string | undefined => {
    if (!line.trimEnd().endsWith(QUOTES)) return go(line);
    const last = line.trimEnd().slice(0, -QUOTES.length);
    // What closes the block may stand on a line of its own.
    return last.trim() === "" && lines.length > 0 ? end(lines.pop() ?? "") : end(last);
  };
  const opensBlock = (line: string): boolean => lines.length === 0 && line.trimStart().startsWith(QUOTES);
  const take = (line: string): string | undefined => {
    if (isBlock) return inBlock(line);
    if (opensBlock(line)) {
      isBlock = true;
      const first = line.trimStart().slice(QUOTES.length);
      return first.trim() === "" ? undefined : inBlock(first);
    }
    // A paste may have ended with its last line's end.
    if (isPasted && line === "") return end(lines.pop() ?? "");
    return line.endsWith("\\") ? go(line.slice(0, -1)) : end(line);
  };
  return {
    take,
    paste: (line) => {
      if (isBlock || opensBlock(line)) return take(line);
      isPasted = true;
      return go(line);
    },
    isOpen: () => isBlock || lines.length > 0,
    clear,
  };
}
