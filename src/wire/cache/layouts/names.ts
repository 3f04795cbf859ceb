/** The ways of laying a thread out that can be compared: those that move or mark the turn's context first, the plan's kin last. */
export const LAYOUTS = [
  "none",
  "seed000",
  "seed000-last",
  "seed000-tools",
  "seed004",
  "last-message",
  "kept",
  "last-two",
  "automatic",
  "plan",
  "plan-changes",
  "plan-sliding",
  "plan-halving",
] as const;
export type Layout = (typeof LAYOUTS)[number];

/** What each layout does, for people. */
export const LAYOUT_SAYS: Readonly<Record<Layout, string>> = {
  none: "no caching",
  seed000: "the turn's context inside the system text, one mark after it",
  "seed000-last": "as seed000, and a mark on the last message",
  "seed000-tools": "as seed000, and a mark on the last tool",
  seed004: "one mark after the system text, the turn's context in the user's message",
  "last-message": "as seed004, and a mark on the last message, behind the turn's context",
  kept: "as last-message, and each turn's context stays where it was said",
  "last-two": "marks on the first two system texts and the last two messages",
  automatic: "one mark of the provider's own on the last block",
  plan: "as the requests were made",
  "plan-changes": "the plan's marks; of the turn's context only what changed, and that stays",
  "plan-sliding": "the plan's marks on the newest 4,000 tokens of history; beside the same window's optimum",
  "plan-halving": "the same window, cut to its half whenever it is full; beside its own optimum",
};
