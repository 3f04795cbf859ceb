import { clean } from "../../../guard/index.ts";
import { type AgentName, isoSecond, type Memory, untrusted } from "../../../protocol/index.ts";
import { type DraftReading, type MemoryDraft, tagsOf, timeOf } from "./draft.ts";

interface Open {
  readonly line: number;
  readonly lines: string[];
  /** A list's item continues with lines set in; a paragraph with any that are not empty. */
  readonly isItem: boolean;
}

const HEADING = /^(#{1,6})\s+(\S.*)$/;
const ITEM = /^(?:[-*+]|\d{1,9}[.)])\s+(?:\[[ xX]\]\s+)?(.*)$/;
const LONGEST_HEADING = 400;
const FENCE = /^\s*(```+|~~~+)/;
const DATED = /^\[?(\d{4}-\d\d-\d\d(?:T[\d:.]+(?:Z|[+-]\d\d:\d\d))?)\]?\s*(?:[-–—:·.]\s*)?(?=\S)/;

/** Reads a text: a list item with the text indented below it is a memory, and so is a paragraph; the headings above are its tags. */
export function readMarkdown(text: string, reading: DraftReading): readonly MemoryDraft[] {
  const drafts: MemoryDraft[] = [];
  const headings: string[] = [];
  let open: Open | undefined;
  let fence: string | undefined;
  const close = (): void => {
    const draft = open && draftOf(open, headings, reading);
    if (draft !== undefined) drafts.push(draft);
    open = undefined;
  };
  for (const [n, line] of withoutComments(text).split("\n").entries()) {
    if (fence === undefined && line.trim() === "") {
      // An empty line ends a paragraph; an item may continue after it.
      if (open?.isItem !== true) close();
      else open.lines.push("");
      continue;
    }
    const heading = fence === undefined ? HEADING.exec(line) : null;
    const item = fence === undefined ? ITEM.exec(line) : null;
    const [, marks] = FENCE.exec(item?.[1]?.replace(DATED, "") ?? line) ?? [];
    if (heading !== null) {
      close();
      headings.length = Math.min(headings.length, (heading[1] ?? "").length - 1);
      headings[(heading[1] ?? "").length - 1] = (heading[2] ?? "").slice(0, LONGEST_HEADING).replace(/[\s#]+$/, "");
    } else if (item !== null) {
      close();
      open = { line: n + 1, lines: [item[1] ?? ""], isItem: true };
    } else if (open !== undefined && (fence !== undefined || !open.isItem || goesOn(open, line))) {
      open.lines.push(line);
    } else {
      close();
      open = { line: n + 1, lines: [line], isItem: false };
    }
    if (marks !== undefined) fence = fence === undefined ? marks : marks.startsWith(fence) ? undefined : fence;
  }
  close();
  return drafts;
}

/** A line right below an item belongs to it, indented or not; after an empty line only indented text does. */
const goesOn = ({ lines }: Open, line: string): boolean => /^\s/.test(line) || lines.at(-1) !== "";

/** Line for line: a removed part leaves its line ends, so that every line keeps its number. */
function withoutComments(text: string): string {
  const lines = text.replace(/\r\n?/g, "\n");
  const front = lines.startsWith("---\n") ? lines.indexOf("\n---\n", 3) + 5 : 4;
  let plain = front > 4 ? blank(lines.slice(0, front)) : "";
  for (let at = front > 4 ? front : 0; ; ) {
    const from = lines.indexOf("<!--", at);
    const to = from < 0 ? -1 : lines.indexOf("-->", from);
    if (to < 0) return plain + lines.slice(at);
    plain += lines.slice(at, from) + blank(lines.slice(from, to));
    at = to + 3;
  }
}

const blank = (text: string): string => text.replace(/[^\n]/g, "");

function draftOf(
  { line, lines, isItem }: Open,
  headings: readonly string[],
  { file }: DraftReading,
): MemoryDraft | undefined {
  const whole = isItem ? lines.map((one, n) => (n === 0 ? one : one.replace(/^(?: {1,4}|\t)/, ""))) : lines;
  const text = whole.join("\n").trim();
  if (text === "" || isRule(text)) return undefined;
  const [dated = "", day] = DATED.exec(text) ?? [];
  const at = timeOf(day);
  const where = `line ${line}`;
  const [, top, session] = headings;
  if (isItem && top === SAID && at !== undefined) return saidDraft(text.slice(dated.length), { where, session, at });
  return {
    where,
    memory: {
      content: untrusted(at === undefined ? text : text.slice(dated.length)),
      tags: tagsOf(headings.filter((heading) => heading !== undefined).flatMap((heading) => heading.split(","))),
      sources: [`${file}:${line}`],
      ...(at !== undefined && { at }),
    },
  };
}

/** A message as `markdownOf` writes it, with the speaker in front. Its trust follows from the speaker. */
function saidDraft(
  text: string,
  { where, session, at }: { readonly where: string; readonly session: string | undefined; readonly at: number },
): MemoryDraft {
  const [named = "", speaker] = /^([^:\n]{1,100}): /.exec(text) ?? [];
  const memory = { kind: "message", content: untrusted(text.slice(named.length)), tags: [], at } as const;
  return {
    where,
    memory: { ...memory, ...(speaker !== undefined && { speaker }), ...(session !== undefined && { session }) },
  };
}

/** A line across the page. */
const isRule = (text: string): boolean => text.length < 200 && /^(?:-[ -]*|\*[ *]*|_[ _]*)$/.test(text);

/** Memories for people, and for other systems: their tags are headings, a memory is an item. */
export function markdownOf(memories: readonly Memory[], agent: AgentName): readonly string[] {
  const [said, saved] = [memories.filter(isSaid), memories.filter((one) => !isSaid(one))];
  const byTags = Map.groupBy(saved, ({ tags }) => tags.join(", "));
  const sections = [...byTags].toSorted(([a], [b]) => (a < b ? -1 : 1));
  const talks = [...Map.groupBy(said, ({ session = "" }) => session)];
  return [
    ...sections.flatMap(([tags, those]) => section(tags === "" ? "" : `## ${onOneLine(tags)}\n\n`, those, agent)),
    ...(talks.length === 0 ? [] : [`## ${SAID}\n\n`]),
    ...talks.flatMap(([session, those]) =>
      section(session === "" ? "" : `### ${onOneLine(session)}\n\n`, those, agent),
    ),
  ];
}

const isSaid = ({ kind }: Memory): boolean => kind === "message";

const onOneLine = (text: string): string => clean(untrusted(text)).replaceAll("\n", " ");

const section = (heading: string, memories: readonly Memory[], agent: AgentName): readonly string[] => [
  ...(heading === "" ? [] : [heading]),
  ...memories.map((memory) => listItem(memory, agent)),
  "\n",
];

/** Our heading for messages; each talk has its own heading below it. */
const SAID = "What was said";

/** To the second, or to the day if nothing more is known. Another speaker with the agent's name is marked: an import trusts the agent more. */
function listItem({ kind, content, speaker, by, at }: Memory, agent: AgentName): string {
  const name = speaker === agent && by !== "agent" ? `${speaker} (${by ?? "contact"})` : speaker;
  const said = kind === "message" && name !== undefined ? `${name}: ` : "";
  const when = isoSecond(at).replace(/T00:00:00Z$/, "");
  const lines = `${said}${clean(content)}`.split("\n").map((line) => (line.trim() === "" ? "" : line));
  return `- [${when}] ${lines.join("\n  ")}\n`;
}
