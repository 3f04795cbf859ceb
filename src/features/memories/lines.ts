import { passageOf } from "../../memory/index.ts";
import { count, number, oneLine, printable, type Style, setIn, table } from "../../print/index.ts";
import { isoSecond, type Memory, type Scope, untrusted } from "../../protocol/index.ts";
import type { MemoryApi } from "./api-types.ts";

type MemoryLine = Memory & { readonly scope?: Scope };

/** A memory that was found, and why. */
export type MemoryHit = Awaited<ReturnType<MemoryApi["searchMemories"]>>[number];

/** Memories for a person: a line of details for each, then its text. */
export function memoryLines(memories: readonly MemoryLine[], style: Style, none: string): readonly string[] {
  if (memories.length === 0) return [none];
  return [
    ...memories.flatMap((memory) => [
      ...setIn(memoryHead(memory), { first: "", more: "    " }, style).map(style.dim),
      ...setIn(memory.content, "  ", style),
    ]),
    style.dim(count(memories.length, "memory", "memories")),
  ];
}

/** A memory's details on one line. */
function memoryHead({
  id,
  at,
  trust,
  kind,
  speaker,
  support,
  supersededBy,
  tags,
  scope,
  ...memory
}: MemoryLine): string {
  const more = [
    ...(kind === "fact" ? [] : [kind]),
    ...(speaker === undefined ? [] : [`said by ${speaker}`]),
    ...(scope?.contact === null ? ["for all contacts"] : []),
    ...(support > 1 ? [`${number(support)} times`] : []),
    ...(supersededBy === undefined ? [] : ["superseded"]),
    ...(memory.validFrom === undefined ? [] : [`so from ${isoSecond(memory.validFrom)}`]),
    ...(memory.validUntil === undefined ? [] : [`so until ${isoSecond(memory.validUntil)}`]),
    ...(tags.length === 0 ? [] : [tags.join(", ")]),
  ];
  return printable([id, isoSecond(at), trust, ...more].join(" · "));
}

/** All that is kept of one memory. */
export function memoryView(memory: Memory, style: Style): readonly string[] {
  const {
    id,
    kind,
    trust,
    by = "agent",
    byId = by,
    speaker,
    session,
    tags,
    support,
    turn,
    sources = [],
    at,
    supersedes,
  } = memory;
  const { validFrom, validUntil, supersededBy, content } = memory;
  const rows: readonly (readonly [string, string | undefined])[] = [
    ["kind", kind],
    ["trust", trust],
    ["saved by", byId],
    ["said by", speaker],
    ["at", isoSecond(at)],
    ["so from", validFrom === undefined ? undefined : isoSecond(validFrom)],
    ["so until", validUntil === undefined ? undefined : isoSecond(validUntil)],
    ["tags", tags.join(", ")],
    ["said", support > 1 ? `${number(support)} times` : ""],
    ["turn", turn],
    ["talk", session],
    ["sources", sources.join(", ")],
    ["in place of", supersedes],
    ["superseded", supersededBy && `by ${supersededBy.memory}, ${isoSecond(supersededBy.at)}`],
  ];
  const known = rows.flatMap(([name, value]) =>
    value === undefined || value === "" ? [] : [[name, printable(value)]],
  );
  return [style.bold(id), ...table([{ head: "" }, { head: "" }], known, style), "", ...setIn(content, "  ", style)];
}

/** Of a longer memory a search shows the passage that fits, in characters; `strata memory show` shows all. */
const PASSAGE = { search: 800, why: 400 };

/** The hits, each shown by the passages that match the query. */
export function hitLines(hits: readonly MemoryHit[], query: string, none: string, style: Style): readonly string[] {
  const fitting = hits.map((hit) => ({ ...hit, content: untrusted(passageOf(hit.content, query, PASSAGE.search)) }));
  return memoryLines(fitting, style, none);
}

/** The table's maximum width without a terminal. */
const WIDTH = 80;

/** The scores as a table, cut into as many as its width asks for; then what each candidate is. */
export function whyLines(hits: readonly MemoryHit[], query: string, style: Style): readonly string[] {
  const names = [...new Set(hits.flatMap(({ features }) => Object.keys(features)))];
  const room = Number.isFinite(style.width) ? style.width : WIDTH;
  return [
    ...blocks(hits, names, room).flatMap(([head = "", ...rows]) => [style.dim(head), ...rows, ""]),
    ...hits.flatMap((hit, n) => [
      `${style.bold(`${n + 1}`)}  ${style.dim(oneLine(memoryHead(hit), style.width - 4))}`,
      ...setIn(passageOf(hit.content, query, PASSAGE.why), "   ", style),
    ]),
  ];
}

/** As many features side by side as fit. */
function blocks(hits: readonly MemoryHit[], names: readonly string[], room: number): readonly (readonly string[])[] {
  const wanted = table(
    [
      { head: "#", right: true },
      { head: "score", right: true },
      { head: "evidence", right: true },
      ...names.map(column),
    ],
    hits.map(({ score, evidence, features }, n) => [
      `${n + 1}`,
      figure(score),
      figure(evidence),
      ...names.map((name) => figure(features[name])),
    ]),
    { dim: (head) => head, width: Number.POSITIVE_INFINITY },
  );
  if (Math.max(...wanted.map((line) => line.length)) <= room || names.length < 2) return [wanted];
  const half = Math.ceil(names.length / 2);
  return [...blocks(hits, names.slice(0, half), room), ...blocks(hits, names.slice(half), room)];
}

const column = (head: string) => ({ head, right: true }) as const;

/** Ranks that were fused are small numbers, and differ late. */
const figure = (value: number | undefined): string => value?.toFixed(Math.abs(value) < 0.1 ? 4 : 2) ?? "";
