/**
 * A model that sees nothing but its request, and follows what stands there: lines of guidance, and earlier drafts with what was sent
 * instead. What it writes by itself is a few polite sentences.
 */
export function answer(prompt: string): string {
  const said = lastSaid(prompt);
  let draft = `Thank you for your message. ${said.includes("?") ? "Yes, that is no problem." : "Of course, that is no problem."} Just come by any time.`;
  // Nobody sends an empty message, whatever is to be left out.
  for (const line of guidance(prompt)) draft = follow(draft, line, said).trim() || draft;
  for (const one of corrections(prompt)) draft = correct(draft, one).trim() || draft;
  return draft.replace(/[ \t]{2,}/g, " ").trim();
}

/** What the contact wrote last: the quoted lines below the last heading of a message. */
function lastSaid(prompt: string): string {
  const lines = prompt.split("\n");
  const from = lines.findLastIndex((line) => /^\[(?:message|call-ended) · /.test(line));
  const own = lines.slice(from + 1);
  const to = own.findIndex((line) => !line.startsWith("|"));
  return (to < 0 ? own : own.slice(0, to))
    .filter((line) => !line.startsWith("|@"))
    .map((line) => line.slice(2))
    .join("\n");
}

/** Lines of a list, wherever they stand, that say how to write. */
const guidance = (prompt: string): readonly string[] =>
  prompt.split("\n").flatMap((line) => /^(?:\| )?- (.+)$/.exec(line)?.slice(1) ?? []);

const QUOTED = `"((?:[^"\\\\]|\\\\.)*)"`;

/** "When a message speaks of A, B: …" holds for a message with most of these words; without that it always holds. */
function follow(draft: string, line: string, said: string): string {
  const about = /^when (?:a|the) (?:message|contact) (?:speaks of|mentions|asks about|is about) ([^:]+):/i.exec(
    line,
  )?.[1];
  if (about !== undefined && !speaksOf(said, about)) return draft;
  const quotes = (pattern: string): string | undefined => {
    const found = new RegExp(pattern.replace("Q", QUOTED), "i").exec(line)?.[1];
    return found?.replace(/\\(.)/g, "$1");
  };
  const [wanted, unwanted] = [quotes("(?:write|say|add) Q"), quotes("(?:instead of|leave out|not) Q")];
  return changed(draft, unwanted, wanted);
}

const wordsIn = (text: string): readonly string[] => text.toLowerCase().match(/[\p{L}\p{N}]{3,}/gu) ?? [];
const stem = (word: string): string => word.replace(/(?:ies|es|s|y)$/, "");

function speaksOf(said: string, about: string): boolean {
  const here = new Set(wordsIn(said).map(stem));
  const wanted = wordsIn(about).map(stem);
  return wanted.filter((word) => here.has(word)).length * 2 >= wanted.length;
}

interface Correction {
  readonly wrote?: string;
  readonly sent?: string;
}

/** Earlier drafts with what a person made of them, from their lines. */
function corrections(prompt: string): readonly Correction[] {
  const found: { wrote?: string; sent?: string }[] = [];
  let now: { wrote?: string; sent?: string } = {};
  for (const line of prompt.split("\n")) {
    const [, head = "", rest = ""] =
      /^\| (The contact wrote|You wrote|This was sent instead|This was added|It was sent without that)[:.] ?(.*)$/.exec(
        line,
      ) ?? [];
    if (head === "") continue;
    if (head === "You wrote") now.wrote = rest;
    if (head === "The contact wrote") continue;
    if (head === "You wrote") continue;
    if (head !== "It was sent without that") now.sent = rest;
    found.push(now);
    now = {};
  }
  return found;
}

const correct = (draft: string, { wrote, sent }: Correction): string => changed(draft, wrote, sent);

/** Writes one thing in place of another. What should go and is not there changes nothing, unless something is to be added. */
function changed(draft: string, unwanted: string | undefined, wanted: string | undefined): string {
  if (wanted !== undefined && draft.includes(wanted))
    return unwanted === undefined ? draft : draft.replace(unwanted, "");
  if (unwanted !== undefined) return draft.includes(unwanted) ? draft.replace(unwanted, wanted ?? "") : draft;
  return wanted === undefined ? draft : `${draft} ${wanted}`;
}
