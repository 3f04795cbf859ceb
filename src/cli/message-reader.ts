/** Puts the lines that a person types together to messages. */
export interface MessageReader {
  /** Takes a line; gives the message when it is whole, nothing while it goes on. */
  readonly take: (line: string) => string | undefined;
  /** Whether a message has begun and goes on. */
  readonly isOpen: () => boolean;
  /** Drops what was begun. */
  readonly clear: () => void;
}

const QUOTES = '"""';

/** A line that ends in a backslash goes on with the next; `"""` begins a block and ends it; any other line is a message. */
export function messageReader(): MessageReader {
  let lines: string[] = [];
  let isBlock = false;
  const end = (last: string): string => {
    const message = [...lines, last].join("\n");
    clear();
    return message;
  };
  const clear = (): void => {
    lines = [];
    isBlock = false;
  };
  const go = (line: string): undefined => void lines.push(line);
  const inBlock = (line: string): string | undefined => {
    if (!line.trimEnd().endsWith(QUOTES)) return go(line);
    const last = line.trimEnd().slice(0, -QUOTES.length);
    // What closes the block may stand on a line of its own.
    return last.trim() === "" && lines.length > 0 ? end(lines.pop() ?? "") : end(last);
  };
  return {
    take: (line) => {
      if (isBlock) return inBlock(line);
      if (lines.length === 0 && line.trimStart().startsWith(QUOTES)) {
        isBlock = true;
        const first = line.trimStart().slice(QUOTES.length);
        return first.trim() === "" ? undefined : inBlock(first);
      }
      return line.endsWith("\\") ? go(line.slice(0, -1)) : end(line);
    },
    isOpen: () => isBlock || lines.length > 0,
    clear,
  };
}
