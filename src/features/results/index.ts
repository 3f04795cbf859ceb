/** Long results: what a request does not show of them is kept with the conversation, and the agent reads it in parts. */

import { z } from "zod";
import { LONGEST_LINE, lineStarts, longestFitting } from "../../guard/index.ts";
import type { KeptResult, Tool, ToolOutcome } from "../../protocol/index.ts";
import { answeredAs, defineTool, refusedAs } from "../../turn/tools/index.ts";
import type { Feature } from "../feature.ts";
import { linesFound, linesShown, noSuchLine, noSuchResult, notFound, WORDING } from "./wording.ts";

/** Of a result, no more lines are kept. */
const LINE = z.int().min(1).max(200_000);

const readResult: Tool = {
  ...defineTool({
    name: "read_result",
    description: WORDING.description,
    input: z.object({
      result: z.int().min(1).max(10_000),
      from: LINE.optional().describe(WORDING.from),
      to: LINE.optional().describe(WORDING.to),
      find: z.string().min(1).max(LONGEST_LINE).optional().describe(WORDING.find),
    }),
    effect: "none",
    // Each answer has the trust of the result that it shows.
    trust: "contact",
    run: ({ result: n, from, to, find }, { kept: { results, fits } = NONE }) => {
      if (find !== undefined && (from ?? to) !== undefined) return refusedAs("platform", WORDING.either);
      if (results.length === 0) return refusedAs("platform", WORDING.none);
      const result = results.find((one) => one.n === n);
      if (result === undefined) {
        const known = results.map((one) => one.n);
        return refusedAs("platform", noSuchResult(n, known));
      }
      return find === undefined ? read(result, { from, to }, fits) : found(result, find, fits);
    },
  }),
  readsResults: true,
};

type KeptResults = NonNullable<Parameters<Tool["run"]>[1]["kept"]>;

const NONE: KeptResults = { results: [], fits: () => true };

/** As many of the lines as fit. */
function read(
  { text, trust }: KeptResult,
  { from = 1, to }: { readonly from?: number | undefined; readonly to?: number | undefined },
  fits: KeptResults["fits"],
): ToolOutcome {
  const starts = lineStarts(text);
  if (from > starts.length) return refusedAs("platform", noSuchLine(from, starts.length));
  const showing = (lines: number): string => {
    const last = from + lines - 1;
    const shown = text.slice(starts[from - 1], starts[last]).replace(/\n$/, "");
    return `${linesShown(from, last, starts.length)}\n${shown}`;
  };
  const wanted = Math.max(1, Math.min(to ?? starts.length, starts.length) - from + 1);
  return answeredAs(trust, showing(longestFitting(wanted, (lines) => fits(showing(lines)))));
}

/** The lines in which a text begins, whatever its letters' case; a match may go on into the next line. */
function found({ text, trust }: KeptResult, find: string, fits: KeptResults["fits"]): ToolOutcome {
  const starts = lineStarts(text);
  const wanted = new RegExp(find.replace(/[\\^$.*+?()[\]{}|/]/g, "\\$&"), "giu");
  const numbers = new Set<number>();
  let line = 1;
  for (const { index } of text.matchAll(wanted)) {
    while ((starts[line] ?? Number.POSITIVE_INFINITY) <= index) line++;
    numbers.add(line);
  }
  const lines = [...numbers].map((n) => `${n}: ${text.slice(starts[n - 1], starts[n]).replace(/\n$/, "")}`);
  if (lines.length === 0) return refusedAs("platform", notFound(starts.length));
  const showing = (some: number): string => [linesFound(some, lines.length), ...lines.slice(0, some)].join("\n");
  return answeredAs(trust, showing(longestFitting(lines.length, (some) => fits(showing(some)))));
}

export const FEATURE: Feature = { name: "results", tools: () => [readResult], operations: [] };
