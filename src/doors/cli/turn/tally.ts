import type { ReplayedTurn, TurnRecord } from "../../../app.ts";
import { isCut } from "../../../features/turns/index.ts";
import type { LedgerEntry, Place } from "../../../protocol/index.ts";

/** What one kind of section cost in all requests together. */
export interface SectionTally {
  readonly section: string;
  readonly place: Place;
  tokens: number;
  /** Requests that held it. */
  requests: number;
  cut: number;
}

/** A recording's totals, counted from the record: the same whether this run did a turn or an earlier one. */
export interface Tally {
  turns: { fresh: number; before: number; failed: number };
  requests: number;
  messages: { received: number; said: number; results: number };
  calls: number;
  tokens: number;
  epochs: Record<string, number>;
  recall: { turns: number; items: number };
  readonly sections: Map<string, SectionTally>;
}

export function newTally(): Tally {
  return {
    turns: { fresh: 0, before: 0, failed: 0 },
    requests: 0,
    messages: { received: 0, said: 0, results: 0 },
    calls: 0,
    tokens: 0,
    epochs: {},
    recall: { turns: 0, items: 0 },
    sections: new Map(),
  };
}

/** Adds a turn of the recording. */
export function tallyTurn(tally: Tally, { fresh, end }: ReplayedTurn, turn: TurnRecord): void {
  if (end?.type === "failed") tally.turns.failed++;
  else if (fresh) tally.turns.fresh++;
  else tally.turns.before++;

  tally.messages.received += turn.events.filter((event) => event.kind === "message").length;
  tally.requests += turn.requests.length;
  for (const { reply, ledger } of turn.requests) {
    const parts = reply?.parts ?? [];
    tally.messages.said += parts.filter((part) => part.type === "text").length;
    tally.tokens += ledger.tokens;
    for (const entry of ledger.entries) tallySection(tally, entry);
  }
  tally.calls += turn.totals?.toolCalls ?? 0;
  tallyEpochs(tally, turn);
  tallyRecall(tally, turn);
}

/** An epoch that a turn opened is named in each of its requests and counted once. */
function tallyEpochs({ epochs }: Tally, { requests }: TurnRecord): void {
  const opened = new Map(requests.flatMap(({ ledger: { epoch } }) => (epoch.opened ? [[epoch.n, epoch.reason]] : [])));
  for (const reason of opened.values()) epochs[reason] = (epochs[reason] ?? 0) + 1;
}

function tallySection({ sections }: Tally, entry: LedgerEntry): void {
  const key = `${entry.place}/${entry.section}`;
  const sum = sections.get(key) ?? { section: entry.section, place: entry.place, tokens: 0, requests: 0, cut: 0 };
  sum.tokens += entry.tokens;
  if (entry.tokens > 0) sum.requests++;
  if (isCut(entry)) sum.cut++;
  sections.set(key, sum);
}

/** The tail is computed once a turn: the first request shows what was recalled. */
function tallyRecall({ recall }: Tally, { requests }: TurnRecord): void {
  const live = requests[0]?.ledger.entries.filter(({ place }) => place === "tail") ?? [];
  const shown = live.reduce((sum, entry) => sum + (entry.items?.shown ?? 0), 0);
  if (shown > 0) recall.turns++;
  recall.items += shown;
}
