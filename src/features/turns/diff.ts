import { count, number, printable, type Style, table } from "../../print/index.ts";
import {
  type AssistantPart,
  changedLines,
  type DiffLine,
  diffLines,
  type Ledger,
  type LedgerEntry,
  never,
  type Place,
  type Request,
  type ResultPart,
  type TurnId,
  type UserPart,
} from "../../protocol/index.ts";

/** A request as it was sent in a turn. */
export interface Sent {
  readonly turn: TurnId;
  readonly ledger: Ledger;
  readonly request: Request;
}

/** What happened to one section from the one request to the other. No tokens: it was not there. */
interface SectionChange {
  readonly place: Place;
  readonly section: string;
  readonly before?: number;
  readonly after?: number;
  readonly change: "added" | "removed" | "changed" | "same";
}

/** How two requests differ. */
interface TurnDiff {
  readonly before: Whole;
  readonly after: Whole;
  readonly sections: readonly SectionChange[];
  /** Of each part of the request whose text differs, all its lines. */
  readonly texts: readonly { readonly part: string; readonly lines: readonly DiffLine[] }[];
}

interface Whole {
  readonly turn: TurnId;
  readonly tokens: number;
  readonly epoch: number;
}

/** What changed between two requests. Pure. */
export function turnDiff(old: Sent, fresh: Sent): TurnDiff {
  const [before, after] = [linesByPart(old.request), linesByPart(fresh.request)];
  const names = [...new Set([...before.keys(), ...after.keys()])];
  const texts = names.flatMap((part) => {
    const lines = diffLines(before.get(part) ?? [], after.get(part) ?? []);
    return lines.every(({ sign }) => sign === " ") ? [] : [{ part, lines }];
  });
  const different = new Set(texts.map(({ part }) => part));
  return { before: wholeOf(old), after: wholeOf(fresh), sections: sectionChanges(old, fresh, different), texts };
}

const wholeOf = ({ turn, ledger }: Sent): Whole => ({ turn, tokens: ledger.tokens, epoch: ledger.epoch.n });

/** A request's texts as lines, under the name of their part. */
function linesByPart({ prefix, messages, tail }: Request): ReadonlyMap<string, readonly string[]> {
  const linesOf = (list: Request["messages"]): readonly string[] =>
    list.flatMap(({ role, parts }) => [`(${role})`, ...parts.flatMap((part) => partText(part).split("\n"))]);
  const tools = prefix.tools.flatMap(({ name, description, input }) => [
    `${name}: ${printable(description)}`,
    `  ${JSON.stringify(input)}`,
  ]);
  return new Map([
    ["tools", tools],
    ...prefix.system.map(({ scope, text }) => [`system, scope ${scope}`, text.split("\n")] as const),
    ["transcript", linesOf(messages.slice(0, -1))],
    ["message", linesOf(messages.slice(-1))],
    ...tail.map(({ layer, text }) => [`tail, ${layer}`, text.split("\n")] as const),
  ]);
}

/** In the order of the older request; additions follow. */
function sectionChanges(old: Sent, fresh: Sent, different: ReadonlySet<string>): readonly SectionChange[] {
  const [before, after] = [entriesByPlace(old.ledger), entriesByPlace(fresh.ledger)];
  return [...new Set([...before.keys(), ...after.keys()])].flatMap((key) => {
    const [was, is] = [before.get(key), after.get(key)];
    const entry = is ?? was;
    if (entry === undefined) return [];
    const change = was === undefined ? "added" : is === undefined ? "removed" : changeOf(was, is, different);
    const tokens = { ...(was && { before: was.tokens }), ...(is && { after: is.tokens }) };
    return [{ place: entry.place, section: entry.section, ...tokens, change }];
  });
}

const entriesByPlace = ({ entries }: Ledger): ReadonlyMap<string, LedgerEntry> =>
  new Map(entries.map((entry) => [`${entry.place}/${entry.section}`, entry]));

function changeOf(was: LedgerEntry, is: LedgerEntry, different: ReadonlySet<string>): "changed" | "same" {
  const isSame =
    was.fate === is.fate && was.tokens === is.tokens && was.version === is.version && !different.has(partName(is));
  return isSame ? "same" : "changed";
}

/** The part in which an entry's text is alone. Layers of the system share a block; their versions distinguish them. */
function partName({ place, section }: LedgerEntry): string {
  return place === "tail" ? `tail, ${section}` : place === "system" ? "" : place;
}

const COLUMNS = [
  { head: "place" },
  { head: "section" },
  { head: "before", right: true },
  { head: "after", right: true },
  { head: "tokens", right: true },
  { head: "change" },
] as const;

/** How many lines of one text are shown; `--json` has them all. */
const MOST_LINES = 60;

/** The difference for a person: what changed as a table, then the changed texts. */
export function diffView({ before, after, sections, texts }: TurnDiff, style: Style): readonly string[] {
  const changed = sections.filter(({ change }) => change !== "same");
  const head = `${style.bold(before.turn)} (epoch ${number(before.epoch)}) → ${style.bold(after.turn)} (epoch ${number(after.epoch)})`;
  const total = `${number(before.tokens)} → ${number(after.tokens)} tokens (${signed(after.tokens - before.tokens)}), ${number(sections.length - changed.length)} of ${number(sections.length)} sections the same`;
  if (changed.length === 0 && texts.length === 0) return [head, total, "", "The two requests are the same."];
  return [
    head,
    total,
    "",
    ...table(COLUMNS, changed.map(changeRow), style),
    ...texts.flatMap(({ part, lines }) => [
      "",
      style.bold(part),
      ...changedLines(lines, MOST_LINES).map((line) => coloured(printable(line), style)),
    ]),
  ];
}

const changeRow = ({ place, section, before, after, change }: SectionChange): readonly string[] => [
  place,
  section,
  before === undefined ? "–" : number(before),
  after === undefined ? "–" : number(after),
  signed((after ?? 0) - (before ?? 0)),
  change,
];

const signed = (value: number): string => (value > 0 ? `+${number(value)}` : number(value));

function coloured(line: string, style: Style): string {
  if (line.startsWith("+")) return style.cyan(line);
  return line.startsWith("-") ? style.red(line) : style.dim(line);
}

/** A request's texts for reading, in the order they are sent. The exact bytes are what `--wire` prints. */
export function requestText({ prefix, messages, tail }: Request, style: Style): readonly string[] {
  const { tools, system } = prefix;
  return [
    style.bold(`tools (${number(tools.length)})`),
    ...tools.map(
      ({ name, description, deferred }) =>
        `${name}${deferred ? " (deferred: only the provider sees it until it is found)" : ""}: ${printable(description)}`,
    ),
    ...system.flatMap(({ scope, layers, text }) => [
      "",
      style.bold(`system, scope ${scope} (${count(layers.length, "layer")})`),
      printable(text),
    ]),
    ...messages.flatMap(({ role, parts }, i) => [
      "",
      style.bold(`message ${number(i + 1)}, ${role}`),
      ...parts.map(partText),
    ]),
    ...tail.flatMap(({ layer, text }) => ["", style.bold(`tail, ${layer}`), printable(text)]),
  ];
}

/** One part of a message for reading. */
export function partText(part: UserPart | AssistantPart | ResultPart): string {
  switch (part.type) {
    case "text":
      return printable(part.text);
    case "reasoning":
      return `(reasoning) ${printable(part.text)}`;
    case "call":
      return `(calls ${part.tool}, id ${printable(part.id)}) ${printable(JSON.stringify(part.input))}`;
    case "result":
      return `(${part.failed ? "failure" : "result"} of ${part.tool}, id ${printable(part.id)})\n${[printable(part.text), ...(part.media ?? []).map(partText)].join("\n")}`;
    case "image":
    case "file":
      return `(${part.type} ${printable(part.mediaType)}, ${count(part.data.length, "character")} of base64)`;
    default:
      return never(part);
  }
}
