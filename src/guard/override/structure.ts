import { untrusted } from "../../protocol/index.ts";
import { clean } from "../clean.ts";
import { withoutHidden } from "../hidden.ts";
import { disarmProviderTokens } from "../provider-tokens.ts";
import { taggedText } from "./readings.ts";
import type { GuardFinding } from "./verdict.ts";

/** Lines that look as if the platform had written them. */
const IMITATED: readonly (readonly [RegExp, string])[] = [
  [/^[^\S\n]{0,3}#{1,6}\s*layer\s*(?:[0-5]\b|\d+\s*·)/imu, "a heading of another layer"],
  [
    /^[^\S\n]{0,3}\[(?:message|operator|scheduled|system|platform|event|note)\b[^\]\n]{0,80}·[^\]\n]{0,80}\]/imu,
    "the header of a frame",
  ],
  [
    /^[^\S\n]{0,20}\[?(?:operator|owner|platform|system)(?: instruction)?s?[^\]\n]{0,60}\]/imu,
    "an instruction of the operator's",
  ],
  [/^[^\S\n]{0,20}(?:system|assistant|developer)\s*:\s*\S/imu, "another speaker's line"],
  [
    /<\/?\s*(?:system|assistant|user|developer|operator|instructions?|system_prompt|tool_result|function_calls|invoke|contact_message)\b[^>\n]{0,60}>/iu,
    "a role tag",
  ],
];

/** What no honest layer holds: characters that nobody sees, tokens of chat templates, imitated structure. */
export function structureOf(text: string): readonly GuardFinding[] {
  const findings: GuardFinding[] = [];
  const tagged = taggedText(text);
  if (tagged !== "")
    findings.push({ kind: "hidden", says: "it holds text that no reader sees", words: tagged.slice(0, 120) });
  else if (hiddenIn(text) > 0)
    findings.push({
      kind: "hidden",
      says: "it holds characters that no reader sees",
      words: `${hiddenIn(text)} of them`,
    });
  const wide = text.normalize("NFKC");
  for (const [pattern, what] of IMITATED) {
    const found = pattern.exec(wide)?.[0];
    if (found !== undefined)
      findings.push({ kind: "imitates", says: `it imitates ${what}`, words: found.trim().slice(0, 120) });
  }
  if (disarmProviderTokens(text) !== text)
    findings.push({ kind: "imitates", says: "it holds a control token of a chat template", words: differing(text) });
  return findings;
}

const hiddenIn = (text: string): number =>
  text.length - withoutHidden(text.toWellFormed()).replaceAll(" ", "").length - (text.match(/[ \u2800]/g)?.length ?? 0);

const differing = (text: string): string => clean(untrusted(text)).slice(0, 120);
