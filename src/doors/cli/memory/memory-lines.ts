import { isoSecond, type Memory, type Scope } from "../../../protocol/index.ts";
import { setIn } from "../shell/set-in.ts";
import { count, number, printable, type Style } from "../shell/style.ts";
import { table } from "../shell/table.ts";

type Shown = Memory & { readonly scope?: Scope };

/** Memories for a person: a line of what is known about each, then its text. */
export function memoryLines(memories: readonly Shown[], style: Style, none: string): readonly string[] {
  if (memories.length === 0) return [none];
  return [
    ...memories.flatMap((memory) => [
      ...setIn(memoryHead(memory), { first: "", more: "    " }, style).map(style.dim),
      ...setIn(memory.content, "  ", style),
    ]),
    style.dim(count(memories.length, "memory", "memories")),
  ];
}

/** What is known about a memory, on one line. */
export function memoryHead({
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
}: Shown): string {
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
  const { id, kind, trust, by, speaker, session, tags, support, turn, sources = [], at, supersedes } = memory;
  const { validFrom, validUntil, supersededBy, content } = memory;
  const rows: readonly (readonly [string, string | undefined])[] = [
    ["kind", kind],
    ["trust", trust],
    ["saved by", by ?? "agent"],
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
