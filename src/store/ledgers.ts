import type { Ledger, LedgerEntry } from "../protocol/index.ts";
import type { LedgerForm, StoredLedger } from "./digests.ts";

/** A line of a ledger. Earlier ones say `piece` for its section. */
function toEntry({ piece, ...entry }: LedgerEntry & { readonly piece?: LedgerEntry["section"] }): LedgerEntry {
  return { ...(piece !== undefined && { section: piece }), ...entry };
}

/** The ledger's lines of a prefix. */
export function toEntries(text: string): readonly LedgerEntry[] {
  const entries: readonly LedgerEntry[] = JSON.parse(text);
  return entries.map(toEntry);
}

/** Each section's fate in one request, without the lines that are kept apart. */
export function toStoredLedger(text: string): StoredLedger {
  const ledger: StoredLedger = JSON.parse(text);
  return "form" in ledger ? ledger : { ...ledger, entries: ledger.entries.map(toEntry) };
}

/** The text that it shares with the ledgers of other requests. */
export const toLedgerForm = (text: string): LedgerForm => JSON.parse(text);

/** A ledger with all its values. */
export function toLedger(text: string): Ledger {
  const ledger: Ledger = JSON.parse(text);
  return { ...ledger, entries: ledger.entries.map(toEntry) };
}
