import type { Thread } from "../../app.ts";
import type { Context } from "../shell/context.ts";
import { ago, number, printable, type Style } from "../shell/style.ts";
import { table } from "../shell/table.ts";

const COLUMNS = [
  { head: "thread" },
  { head: "agent" },
  { head: "contact" },
  { head: "channel" },
  { head: "turns", right: true },
  { head: "active" },
] as const;

/** Tells which threads there are, and how to begin where there is none. */
export function tellThreads(
  { json, say, style }: Context,
  threads: readonly Thread[],
  wanted: { readonly json: boolean; readonly data: string },
): void {
  if (wanted.json) json(threads);
  else if (threads.length === 0) say(`There is no thread in ${wanted.data} yet; \`strata chat AGENT\` begins one.`);
  else say(...threadTable(threads, style));
}

function threadTable(threads: readonly Thread[], style: Style): readonly string[] {
  const now = Date.now();
  const rows = threads.map(({ id, scope, channel, turns, lastActivity }) => [
    id,
    scope.agent,
    printable(scope.contact),
    printable(channel),
    number(turns),
    ago(now - lastActivity),
  ]);
  return table(COLUMNS, rows, style);
}
