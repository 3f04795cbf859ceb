import { cuts, isCut } from "../../../features/turns/index.ts";
import { count, dollars, duration, number, oneLine } from "../../../print/index.ts";
import type { Ledger, LedgerEntry, ModelRef, Place, TurnTotals } from "../../../protocol/index.ts";

/** One piece of the line. It is shown as a whole in one of its forms, or not at all. */
interface Part {
  /** The longest first. */
  readonly forms: readonly string[];
  /** Who gets room before others: the lower number; above 5, only beside the sums. */
  readonly weight: number;
}

/**
 * What a turn sent, in one row of limited width: the model, the tokens of each part, what was remembered and cut, how long it took. If
 * there is not enough room, whole pieces are omitted. If there were several requests, it shows the last one.
 */
export function sentLine(
  ledger: Ledger | undefined,
  { totals, model, width }: { readonly totals: TurnTotals; readonly model: ModelRef; readonly width: number },
): string {
  if (ledger === undefined) return `· nothing was sent · ${duration(totals.milliseconds)}`;
  // Something else has answered in the model's place.
  if (totals.modelCalls === 0) return `· no model was asked · ${work(totals).at(-2)}`;
  const tokens = count(ledger.tokens, "token");
  return fitted(width, [
    { forms: [`sent ${tokens} to ${model}`, `sent ${tokens}`, tokens], weight: 0 },
    { forms: [wholes(ledger, true), wholes(ledger, false)], weight: SUMS },
    ...tailParts(ledger),
    cutPart(ledger),
    { forms: work(totals), weight: 3 },
  ]);
}

/** First each piece in its shortest form, as far as they fit; then longer ones if there is room. */
function fitted(width: number, parts: readonly Part[]): string {
  const shown = parts.map(() => "");
  const inOrder = [...parts.entries()].sort(([, a], [, b]) => a.weight - b.weight);
  const take = (at: number, form: string): boolean => {
    const fits = joinFigures(shown.with(at, form)).length <= width;
    if (fits) shown[at] = form;
    return fits;
  };
  for (const [at, { forms, weight }] of inOrder) {
    // The sums matter most: they get room first, introduced by a verb.
    if (weight === SUMS) take(0, parts[0]?.forms.at(-2) ?? "");
    if (weight <= UNBOUND || shown[WHOLES] !== "") take(at, forms.at(-1) ?? "");
  }
  for (const [at, { forms }] of inOrder) if (shown[at] !== "") forms.some((form) => take(at, form));
  return joinFigures(shown);
}

/** The weight of the sums, and the last one of what is shown without them. */
const SUMS = 4;
const UNBOUND = 5;

/** The position of the sums. Parts that belong to none of them are not shown without them. */
const WHOLES = 1;

const joinFigures = (shown: readonly string[]): string => {
  const [head = "", wholes = "", ...rest] = shown;
  const first = wholes === "" ? head : `${head}: ${wholes}`;
  return `· ${[first, ...rest.filter((text) => text !== "")].join(" · ")}`;
};

function wholes(ledger: Ledger, withLayers: boolean): string {
  const layers = ledger.entries.filter((entry) => entry.place === "system" && entry.tokens > 0).length;
  return [
    `system ${number(at(ledger, "system"))}${withLayers ? ` (${count(layers, "layer")})` : ""}`,
    `tools ${number(at(ledger, "tools"))}`,
    `transcript ${number(at(ledger, "transcript"))}`,
    `message ${number(at(ledger, "message"))}`,
  ].join(" · ");
}

/** Memories frozen in the transcript count as memories. */
const at = ({ entries }: Ledger, place: Place): number =>
  entries.filter((entry) => entry.place === place && !isFrozen(entry)).reduce((sum, entry) => sum + entry.tokens, 0);

const isFrozen = ({ place, items }: LedgerEntry): boolean => place === "transcript" && items?.memories !== undefined;

/** The live part, section by section. A layer of memories may be in two places: frozen at the beginning, and in the tail. */
function tailParts({ entries }: Ledger): readonly Part[] {
  const frozen = new Map(entries.filter(isFrozen).map((entry) => [entry.section, entry]));
  const tail = entries.filter(({ place }) => place === "tail");
  const alone = [...frozen.values()].filter(({ section }) => tail.every((entry) => entry.section !== section));
  return [
    ...alone.map((entry) => memoryPart(entry)),
    ...tail.map((entry) => {
      const beginning = frozen.get(entry.section);
      return beginning !== undefined || entry.section === "recall" ? memoryPart(entry, beginning) : livePart(entry);
    }),
  ];
}

function memoryPart(entry: LedgerEntry, beginning?: LedgerEntry): Part {
  const both = beginning === undefined ? [entry] : [entry, beginning];
  const memories = both.reduce((sum, { items }) => sum + (items?.shown ?? 0), 0);
  if (memories === 0) return { forms: [emptyForm(entry), "no memory"], weight: 2 };
  const stand = both.filter(isFrozen).reduce((sum, { items }) => sum + (items?.shown ?? 0), 0);
  const where = stand === 0 ? "" : stand === memories ? ", frozen" : `, ${number(stand)} of them frozen`;
  const counted = count(memories, "memory", "memories");
  const tokens = both.reduce((sum, one) => sum + one.tokens, 0);
  return { forms: [`${entry.section} ${number(tokens)} (${counted}${where})`, counted], weight: 2 };
}

function livePart(entry: LedgerEntry): Part {
  const short = `${entry.section} ${number(entry.tokens)}`;
  if (entry.fate === "empty") return { forms: [emptyForm(entry), short], weight: 7 };
  return {
    forms: entry.items === undefined ? [short] : [`${short} (${count(entry.items.shown, "item")})`, short],
    weight: 6,
  };
}

const emptyForm = (entry: LedgerEntry): string =>
  entry.fate === "kept" ? `${entry.section} 0` : `${entry.section} 0 (${oneLine(entry.because)})`;

/** Missing parts are shown before present ones. */
function cutPart(ledger: Ledger): Part {
  const sections = ledger.entries.filter((entry) => isCut(entry) && entry.fate !== "lined").length;
  if (sections === 0) return { forms: [cuts(ledger), "nothing cut"], weight: 5 };
  return { forms: [cuts(ledger), `${count(sections, "section")} cut`], weight: 1 };
}

/** The short form shows the costs: time and money. */
function work({ modelCalls, toolCalls, milliseconds, dollars: sum }: TurnTotals): readonly string[] {
  const requests = modelCalls === 0 ? "" : `${count(modelCalls, "request")}, `;
  const called = toolCalls === 0 ? "" : `${count(toolCalls, "tool call")}, `;
  const paid = `${duration(milliseconds)}${sum === 0 ? "" : `, ${dollars(sum)}`}`;
  const whole = `${requests}${called}${paid}`;
  return [...(modelCalls > 1 ? [`the last of ${whole}`] : []), whole, paid];
}
