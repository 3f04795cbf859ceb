import type { Ledger, LedgerEntry, ModelRef, Place, TurnTotals } from "../../protocol/index.ts";
import { count, dollars, duration, number, oneLine } from "./style.ts";

/** What a turn sent, on one line: to whom, how many tokens of what, what was cut, how long it took. Of several requests the last one. */
export function sentLine(ledger: Ledger | undefined, totals: TurnTotals, model: ModelRef): string {
  if (ledger === undefined) return `· nothing was sent · ${duration(totals.milliseconds)}`;
  const parts = [
    `sent ${count(ledger.tokens, "token")} to ${model}: ${wholes(ledger)}`,
    ...ledger.entries.filter((entry) => entry.place === "tail").map(live),
    cuts(ledger),
    work(totals),
  ];
  return `· ${parts.join(" · ")}`;
}

/** What was cut, by piece, and what stood there as its one line; `nothing cut` where all of it was sent. */
export function cuts({ entries, epoch }: Ledger): string {
  const lined = entries.filter(({ fate }) => fate === "lined").map(({ piece }) => piece);
  const cut = entries
    .filter((entry) => isCut(entry) && entry.fate !== "lined")
    .map((entry) =>
      entry.piece === "transcript"
        ? `the first ${count(epoch.cut, "message")}`
        : `${entry.piece} to ${number(entry.tokens)} of ${number(entry.wanted)}`,
    );
  const said = cut.length === 0 ? "nothing cut" : `cut: ${cut.join(", ")}`;
  return lined.length === 0 ? said : `${said} · as one line each: ${lined.join(", ")}`;
}

/** Whether a piece lost something to the budget or the mode. */
export const isCut = ({ fate }: LedgerEntry): boolean => fate !== "kept" && fate !== "empty";

function wholes(ledger: Ledger): string {
  const layers = ledger.entries.filter((entry) => entry.place === "system" && entry.tokens > 0).length;
  return [
    `system ${number(at(ledger, "system"))} (${count(layers, "layer")})`,
    `tools ${number(at(ledger, "tools"))}`,
    `transcript ${number(at(ledger, "transcript"))}`,
    `message ${number(at(ledger, "message"))}`,
  ].join(" · ");
}

const at = ({ entries }: Ledger, place: Place): number =>
  entries.filter((entry) => entry.place === place).reduce((sum, entry) => sum + entry.tokens, 0);

function live(entry: LedgerEntry): string {
  if (entry.fate === "empty") return `${entry.piece} 0 (${oneLine(entry.because, 60)})`;
  const counted = (shown: number): string =>
    entry.piece === "recall" ? count(shown, "memory", "memories") : count(shown, "item");
  const items = entry.items === undefined ? "" : ` (${counted(entry.items.shown)})`;
  return `${entry.piece} ${number(entry.tokens)}${items}`;
}

function work({ rounds, calls, milliseconds, dollars: sum }: TurnTotals): string {
  const requests = rounds > 1 ? `the last of ${count(rounds, "request")}` : count(rounds, "request");
  const called = calls === 0 ? "" : `, ${count(calls, "tool call")}`;
  const cost = sum === 0 ? "" : `, ${dollars(sum)}`;
  return `${requests}${called}, ${duration(milliseconds)}${cost}`;
}
