import { count, number, printable, type Style, table } from "../../print/index.ts";
import {
  type CacheUse,
  type Ledger,
  type LedgerEntry,
  type LedgerPart,
  never,
  type Request,
} from "../../protocol/index.ts";

const COLUMNS = [
  { head: "place" },
  { head: "section" },
  { head: "rank", right: true },
  { head: "scope" },
  { head: "trust" },
  { head: "tokens", right: true },
  { head: "wanted", right: true },
  { head: "fate", least: 14, wraps: true },
  { head: "cache" },
] as const;

/** A ledger as a table: one row per section, in the order of the request. `breakpoints` says where the provider's cache is asked to keep it. */
export function ledgerTable(
  ledger: Ledger,
  style: Style,
  breakpoints: Pick<Request, "prefix" | "messages" | "breakpoints"> | undefined,
): readonly string[] {
  const cache = breakpoints === undefined ? new Map<LedgerEntry, string>() : breakpointsBySection(ledger, breakpoints);
  const rows = ledger.entries.flatMap((entry) => [
    [
      entry.place,
      entry.section,
      entry.rank === undefined ? "" : number(entry.rank),
      entry.scope ?? "",
      entry.trust,
      number(entry.tokens),
      entry.wanted === entry.tokens ? "" : number(entry.wanted),
      fateOf(entry, style),
      cache.get(entry) ?? "",
    ],
    ...(entry.parts ?? []).map((part) => partRow(part, style)),
  ]);
  return [
    ...table(COLUMNS, rows, style),
    `${number(ledger.tokens)} tokens of ${number(ledger.limit)} that may be sent`,
    ...edited(ledger),
    ...(ledger.omitted ?? []).map(({ parameter, because }) => `${parameter} is left out: ${because}`),
    ...(ledger.caches ?? []).map(({ layer, use }) => `read from disk: ${layer}, ${CACHE_SAYS[use]}`),
  ];
}

/** How a layer that is read from disk came by its text. */
const CACHE_SAYS: Readonly<Record<CacheUse, string>> = {
  hit: "kept from before (hit)",
  stale: "kept from before, and read anew behind the turn (stale)",
  miss: "read anew (miss)",
};

/** A file or a skill under its layer. */
function partRow({ name, fate, because, tokens }: LedgerPart, style: Style): readonly string[] {
  const sentence = printable(because === undefined ? fate : `${fate}: ${because}`);
  const shown = fate === "kept" ? sentence : fate === "empty" ? style.dim(sentence) : style.yellow(sentence);
  return ["", `  ${printable(name)}`, "", "", "", number(tokens), "", shown, ""];
}

/** The edits to the prefix since the conversation began, and how the model learns of them. */
function edited({ edits }: Ledger): readonly string[] {
  if (edits === undefined) return [];
  const way = edits.way === "told" ? "told in the message" : "a new epoch begins with it";
  return [`edited: ${edits.layers.join(", ")}; ${way}: ${edits.because}`];
}

function fateOf(entry: LedgerEntry, style: Style): string {
  const version = entry.edited === undefined ? "" : `, version ${entry.edited}`;
  const items = `${version}${entry.items === undefined ? "" : describeItems(entry.items)}`;
  switch (entry.fate) {
    case "kept":
      return `kept${items}`;
    case "empty":
      return style.dim(`empty: ${entry.because}`);
    case "truncated":
    case "lined":
    case "dropped":
      return style.yellow(`${entry.fate}${items}: ${entry.because}`);
    default:
      return never(entry);
  }
}

/** How many items there are, what else was found but omitted, and why they are where they are. */
function describeItems({ shown, of, left = [], because }: NonNullable<LedgerEntry["items"]>): string {
  const without = left.map((one) => `${one.items} ${one.because}`);
  const more = [...without, ...(because === undefined ? [] : [because])].join(", ");
  return `, ${shown} of ${count(of, "item")}${more === "" ? "" : ` (${more})`}`;
}

/** Each breakpoint belongs to the last section before it. */
function breakpointsBySection(
  { entries }: Ledger,
  { prefix, messages, breakpoints }: Pick<Request, "prefix" | "messages" | "breakpoints">,
): Map<LedgerEntry, string> {
  const found = new Map<LedgerEntry, string>();
  for (const { after, lifetime } of breakpoints) {
    const layers = after.zone === "system" ? (prefix.system[after.block]?.layers.map(({ layer }) => layer) ?? []) : [];
    const section = after.zone === "message" && after.index < messages.length - 1 ? "transcript" : "message";
    const entry =
      after.zone === "system"
        ? entries.findLast((one) => layers.some((layer) => layer === one.section))
        : entries.findLast((one) => one.place === section);
    if (entry !== undefined) found.set(entry, `${lifetime} up to here`);
  }
  return found;
}

/** What was cut, by section, and the one line in its place; `nothing cut` if all of it was sent. */
export function cuts({ entries, epoch }: Ledger): string {
  const lined = entries.filter(({ fate }) => fate === "lined").map(({ section }) => section);
  const cut = entries
    .filter((entry) => isCut(entry) && entry.fate !== "lined")
    .map((entry) =>
      entry.section === "transcript"
        ? `the first ${count(epoch.cut, "message")}`
        : `${entry.section} to ${number(entry.tokens)} of ${number(entry.wanted)}`,
    );
  const said = cut.length === 0 ? "nothing cut" : `cut: ${cut.join(", ")}`;
  return lined.length === 0 ? said : `${said} · as a one-line summary: ${lined.join(", ")}`;
}

/** Whether a section lost something to the budget or the mode. */
export const isCut = ({ fate }: LedgerEntry): boolean => fate !== "kept" && fate !== "empty";
