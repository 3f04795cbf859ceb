/** What an agent reads of what was learned. `tests/house/golden/wording.txt` lists it all. */

export const WORDING = {
  corrections:
    "(Earlier drafts of yours for this contact, and what a person of the team sent instead. Where one fits this message, write as the person did.)",
  killed: "The program that answered was ended before its end.",
} as const;

export const failedTurn = (code: string): string => `The turn failed: ${code}.`;

/** One correction: what the contact had written, what was wrong in the draft, and what was sent. An empty side is left out. */
export function correctionText(
  { situation, wrong, instead }: { readonly situation: string; readonly wrong: string; readonly instead: string },
  shown: (text: string) => string = (text) => text,
): string {
  const sent =
    instead === ""
      ? "It was sent without that."
      : wrong === ""
        ? `This was added: ${shown(instead)}`
        : `This was sent instead: ${shown(instead)}`;
  return [
    ...(situation === "" ? [] : [`The contact wrote: ${shown(situation)}`]),
    ...(wrong === "" ? [] : [`You wrote: ${shown(wrong)}`]),
    sent,
  ].join("\n");
}
