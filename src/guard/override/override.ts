import { type Offence, offenceOf } from "./judge.ts";
import { readingsOf } from "./readings.ts";
import { structureOf } from "./structure.ts";
import type { GuardFinding, GuardVerdict } from "./verdict.ts";
import { respelt } from "./words.ts";

/**
 * Whether a text may become a layer below those that nobody may change. It looks for talk that would take their force, in
 * plain words or disguised, and for what imitates the prompt's own structure. A courtesy and no guarantee: the engine gives
 * such a layer no rank whatever it says.
 */
export function judgeLayerText(text: string): GuardVerdict {
  const structure = structureOf(text);
  const spoken = readingsOf(text).flatMap((reading) =>
    [reading.text, respelt(reading.text)].flatMap((read, i) =>
      read === undefined
        ? []
        : offences(read).map((offence) => ({ offence, by: i === 1 ? "misspelling" : reading.by })),
    ),
  );
  const findings = [...structure, ...spoken.slice(0, 1).map(({ offence, by }) => told(offence, by))];
  if (structure.length > 0) return { verdict: "reject", findings };
  return { verdict: findings.length > 0 ? "review" : "pass", findings };
}

const SENTENCES = /(?<=[.!?。！？;])\s+|\n+/u;

const offences = (text: string): readonly Offence[] =>
  text.split(SENTENCES).flatMap((sentence) => {
    const offence = offenceOf(sentence.trim());
    return offence === undefined ? [] : [offence];
  });

const SAYS: Readonly<Record<Offence["kind"], string>> = {
  weakens: "it speaks of rules that stand above it, and not to keep them",
  "claims rank": "it claims a rank or a role that only the layers above can give",
  grants: "it allows what only the layers above may allow",
};

function told({ kind, words }: Offence, by: string): GuardFinding {
  return { kind, says: by === "" ? SAYS[kind] : `${SAYS[kind]} (hidden by ${by})`, words: words.slice(0, 120) };
}
