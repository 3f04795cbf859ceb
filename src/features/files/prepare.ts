import { z } from "zod";
import { readHead } from "../../agents/index.ts";
import { clean, layerJudge, readsAsOurs, withoutSecrets } from "../../guard/index.ts";
import { asStrataError, digestOf, untrusted } from "../../protocol/index.ts";

/** A file's head, if it has one, and the text below it. */
export interface Split {
  readonly head?: Readonly<Record<string, unknown>>;
  readonly body: string;
  /** The line that the body begins at. */
  readonly line: number;
  /** The line of each key of the head in the file. */
  readonly lineOf: (key: string) => number;
  /** Why the head could not be read. */
  readonly problem?: { readonly line: number; readonly message: string };
}

const FENCE = /^---[ \t]*$/;

/** A head is YAML between two lines of `---`, the first of which is the first of the file. It is data: no tag of it runs, no alias is followed. */
export function splitHead(text: string): Split {
  const lines = text.split("\n");
  const end = FENCE.test(lines[0] ?? "") ? lines.findIndex((line, i) => i > 0 && FENCE.test(line)) : 0;
  const whole = { body: text, line: 1, lineOf: () => 1 };
  if (end === 0) return whole;
  if (end < 0)
    return { ...whole, problem: { line: 1, message: "its head has no end: a second line of `---` is missing" } };
  const body = lines.slice(end + 1).join("\n");
  const found = { body, line: end + 2 };
  const problem = (line: number, sentence: string): Split => ({
    ...found,
    lineOf: () => line,
    problem: { line, message: sentence },
  });
  const head = lines.slice(1, end).join("\n");
  try {
    const { value, locate } = readHead(head);
    if (value === null || value === undefined) return { ...found, head: {}, lineOf: () => 1 };
    if (typeof value !== "object" || Array.isArray(value)) return problem(2, "its head is no map of keys and values");
    return { ...found, head: { ...value }, lineOf: (key) => locate([key], true).line + 1 };
  } catch (thrown) {
    const { line, message: sentence } = firstProblem(thrown);
    return problem(line + 1, sentence);
  }
}

const PROBLEMS = z.object({ problems: z.array(z.object({ line: z.number(), expected: z.string() })).min(1) });

function firstProblem(thrown: unknown): { readonly line: number; readonly message: string } {
  const { message, details } = asStrataError(thrown);
  const [first] = PROBLEMS.safeParse(details).data?.problems ?? [];
  return { line: first?.line ?? 1, message: first?.expected ?? message };
}

/** A text as it may appear in a prompt, and what was removed from it. */
export interface Prepared {
  readonly text: string;
  readonly notes: readonly string[];
}

/** Caches checks by the text's digest, whichever file or agent it belongs to. */
function byDigest<T>(look: (text: string) => T): (text: string) => T {
  const known = new Map<string, T>();
  return (text) => {
    const digest = digestOf(text);
    const found = known.get(digest) ?? look(text);
    known.delete(digest);
    known.set(digest, found);
    for (const oldest of known.keys()) if (known.size > MOST) known.delete(oldest);
    return found;
  };
}

const MOST = 500;

export const COMMENTS_REMOVED = "HTML comments were removed";

/**
 * Removes from a text what its readers do not see, what would read as the platform's own, and what looks like a secret. It never fails:
 * each removal is noted, and the rest stays unchanged.
 */
export const prepare = byDigest((given): Prepared => {
  const notes: string[] = [];
  const step = (sentence: string, change: (text: string) => string, text: string): string => {
    const changed = change(text);
    if (changed !== text) notes.push(sentence);
    return changed;
  };
  const once = (text: string): string => {
    const visible = step("hidden characters were removed", (one) => clean(untrusted(one)), text);
    const uncommented = step(COMMENTS_REMOVED, withoutComments, visible);
    const own = step("lines that read as the platform's own were removed", withoutOurs, uncommented);
    return step("what looks like a secret was removed", withoutSecrets, own).trim();
  };
  // Removing one thing may complete another that was already checked: `<|im_<!-- -->start|>`. So this repeats until nothing changes.
  let text = once(given.replace(/\r\n?/g, "\n"));
  for (let rounds = 0; once(text) !== text; rounds++) {
    // Deeper nesting is meant to hide something: nothing is left to reassemble.
    text = once(rounds < ROUNDS ? text : text.replaceAll(/[<[#-]/g, " "));
  }
  return { text, notes: [...new Set(notes)] };
});

const ROUNDS = 6;

/** The faults that the guard of layer texts finds. */
export const faultsIn = byDigest(async (text): Promise<readonly string[]> => {
  const judge = await layerJudge();
  return judge(text).findings.map(({ message: sentence, words }) => `${sentence}: ${JSON.stringify(words)}`);
});

const OPENS_CODE = /^ {0,3}(`{3,}|~{3,})/;

/** Rendered Markdown hides comments; inside code they are visible, and stay. One without an end hides everything after it. */
export function withoutComments(text: string): string {
  if (!text.includes("<!--")) return text;
  const kept: string[] = [];
  let fence: string | undefined;
  let isHidden = false;
  for (const line of text.split("\n")) {
    const mark = isHidden ? undefined : OPENS_CODE.exec(line)?.[1];
    if (mark !== undefined && (fence === undefined || mark.startsWith(fence)))
      fence = fence === undefined ? mark : undefined;
    if (fence !== undefined || mark !== undefined) {
      kept.push(line);
      continue;
    }
    const shown = shownOf(line, isHidden);
    isHidden = shown.isHidden;
    if (shown.text.trim() !== "" || line.trim() === "") kept.push(shown.text);
  }
  return kept.join("\n");
}

/** The part of a line outside comments. */
function shownOf(line: string, wasHidden: boolean): { readonly text: string; readonly isHidden: boolean } {
  let isHidden = wasHidden;
  let text = "";
  for (let at = 0; at < line.length; ) {
    const next = line.indexOf(isHidden ? "-->" : "<!--", at);
    if (!isHidden) text += line.slice(at, next < 0 ? line.length : next);
    if (next < 0) break;
    at = next + (isHidden ? 3 : 4);
    isHidden = !isHidden;
  }
  return { text, isHidden };
}

const withoutOurs = (text: string): string =>
  text
    .split("\n")
    .filter((line) => !readsAsOurs(line))
    .join("\n");
