import { TRUSTS, untrusted } from "../../protocol/index.ts";
import { clean, oneLineBreak, withoutHidden } from "../clean.ts";
import { disarmProviderTokens } from "../provider-tokens.ts";
import { CONTROL_TOKEN, IMITATED, INVISIBLE_CHARACTERS, INVISIBLE_TEXT, imitates, ROLE_TAG } from "../wording.ts";
import { legible } from "./fold.ts";
import { finding, type GuardFinding } from "./verdict.ts";

/** What no honest layer holds, and what an honest one may quote. */
export interface Structure {
  readonly rejected: readonly GuardFinding[];
  readonly doubtful: readonly GuardFinding[];
}

const HEADINGS: readonly (readonly [RegExp, string])[] = [
  [/^[\s>\p{M}]{0,12}#{1,6}\s{0,8}layer\s{0,8}(?:[0-5]\b|\d{1,3}\s{0,8}·)/imu, IMITATED.heading],
  [
    /^[\s>\p{M}]{0,12}\[(?:message|operator|scheduled|system|platform|event|note)\b[^\]\n]{0,80}·[^\]\n]{0,80}\]/imu,
    IMITATED.header,
  ],
  [/^[^\S\n]{0,20}\[?(?:operator|owner|platform|system)(?: instruction)?s?[^\]\n]{0,60}\]/imu, IMITATED.operator],
  [/^[^\S\n]{0,20}(?:system|assistant|developer)\s{0,8}:\s{0,8}\S/imu, IMITATED.speaker],
];

/** Between the parts of our headers, and what looks like it. */
const DOT = "[·•∙⋅‧・]";
/** A header of ours as a reader takes it: whatever kind it names, and whatever is before or after it. */
const RESEMBLES: readonly (readonly [RegExp, string])[] = [
  [
    new RegExp(
      `^[^\\p{L}\\p{N}[#\\n]{0,20}\\[[^\\]\\n·]{1,40}${DOT}\\s{0,8}(?:${TRUSTS.join("|")})\\s{0,8}${DOT}[^\\]\\n]{4,80}\\]`,
      "imu",
    ),
    IMITATED.header,
  ],
  [new RegExp(`^[^\\p{L}\\p{N}[#\\n]{0,20}#{1,6}\\s{0,8}layer\\s{0,8}\\d{1,3}\\s{0,8}${DOT}`, "imu"), IMITATED.heading],
];

const TAG =
  /<\/?\s{0,8}(?:system|assistant|user|developer|operator|instructions?|system_prompt|tool_result|function_calls|invoke|contact_message)\b[^>\n]{0,60}>/iu;

/** Invisible characters, imitated structure, role markers; the latter only if they are not plainly mentioned. */
export function structureOf(text: string): Structure {
  const wide = oneLineBreak(text.replaceAll("\u2800", " ")).normalize("NFKC");
  const rejected = [...hiddenIn(text)];
  const plain = legible(text);
  for (const [patterns, read] of [
    [HEADINGS, wide],
    [RESEMBLES, plain],
  ] as const)
    for (const [pattern, what] of patterns) {
      const found = pattern.exec(read)?.[0];
      if (found !== undefined) rejected.push(finding("imitates", imitates(what), found));
    }
  const outside = withoutQuotes(wide);
  const bare = rolesIn(outside);
  const quoted = bare.length > 0 || outside === wide ? [] : rolesIn(wide);
  return { rejected: [...rejected, ...bare], doubtful: quoted };
}

/** A mark of a role in quotes, in code or as an example is spoken of; anywhere else it may be obeyed. */
const withoutQuotes = (text: string): string =>
  text
    .replaceAll(/^[^\S\n]{0,8}```[^\n]*\n(?:(?!^[^\S\n]{0,8}```)[^\n]*\n)*[^\S\n]{0,8}```/gmu, " ")
    .replaceAll(
      /(`{1,3})[^`\n]{1,300}\1|"[^"\n]{1,300}"|“[^”\n]{1,300}”|„[^“”\n]{1,300}[“”]|«[^»\n]{1,300}»|(?<![\p{L}\p{N}])'[^'\n]{1,300}'/gu,
      " ",
    )
    .replaceAll(EXAMPLE, " ");

/** `tokens such as <|im_start|>`: one that follows a word for what it is, and no role follows it. */
const EXAMPLE =
  /(?<=\b(?:such as|like|token|tokens|tag|tags|marker|markers|delimiter|delimiters|sequence|sequences|string|strings|and|or|,) )<[^<>\n]{1,40}>(?![^\S\n]{0,8}(?:system|user|assistant|developer|tool)\b)/giu;

function rolesIn(text: string): readonly GuardFinding[] {
  const tag = TAG.exec(text)?.[0];
  const tokens = disarmProviderTokens(text) !== text;
  return [
    ...(tag === undefined ? [] : [finding("imitates", ROLE_TAG, tag)]),
    ...(tokens ? [finding("imitates", CONTROL_TOKEN, clean(untrusted(text)))] : []),
  ];
}

function hiddenIn(text: string): readonly GuardFinding[] {
  const tags = (text.match(/[\u{e0020}-\u{e007e}]/gu) ?? [])
    .map((sign) => String.fromCodePoint((sign.codePointAt(0) ?? 0) - 0xe0000))
    .join("");
  if (tags !== "") return [finding("hidden", INVISIBLE_TEXT, tags)];
  const blanks = text.match(/[ \u2800]/g)?.length ?? 0;
  const hidden = text.length - blanks - withoutHidden(text.toWellFormed()).replaceAll(" ", "").length;
  return hidden > 0 ? [finding("hidden", INVISIBLE_CHARACTERS, `${hidden} of them`)] : [];
}
