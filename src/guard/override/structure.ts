import { untrusted } from "../../protocol/index.ts";
import { clean, oneLineBreak, withoutHidden } from "../clean.ts";
import { disarmProviderTokens } from "../provider-tokens.ts";
import { finding, type GuardFinding } from "./verdict.ts";

/** What no honest layer holds, and what an honest one may quote. */
export interface Structure {
  readonly rejected: readonly GuardFinding[];
  readonly doubtful: readonly GuardFinding[];
}

const HEADINGS: readonly (readonly [RegExp, string])[] = [
  [/^[\s>\p{M}]{0,12}#{1,6}\s{0,8}layer\s{0,8}(?:[0-5]\b|\d{1,3}\s{0,8}·)/imu, "a heading of another layer"],
  [
    /^[\s>\p{M}]{0,12}\[(?:message|operator|scheduled|system|platform|event|note)\b[^\]\n]{0,80}·[^\]\n]{0,80}\]/imu,
    "the header of a frame",
  ],
  [
    /^[^\S\n]{0,20}\[?(?:operator|owner|platform|system)(?: instruction)?s?[^\]\n]{0,60}\]/imu,
    "an instruction of the operator's",
  ],
  [/^[^\S\n]{0,20}(?:system|assistant|developer)\s{0,8}:\s{0,8}\S/imu, "another speaker's line"],
];

const ROLE_TAG =
  /<\/?\s{0,8}(?:system|assistant|user|developer|operator|instructions?|system_prompt|tool_result|function_calls|invoke|contact_message)\b[^>\n]{0,60}>/iu;

/** Characters that nobody sees, imitated structure, marks of roles; the latter only where they are not plainly spoken of. */
export function structureOf(text: string): Structure {
  const wide = oneLineBreak(text.replaceAll("\u2800", " ")).normalize("NFKC");
  const rejected = [...hiddenIn(text)];
  for (const [pattern, what] of HEADINGS) {
    const found = pattern.exec(wide)?.[0];
    if (found !== undefined) rejected.push(finding("imitates", `it imitates ${what}`, found));
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
  const tag = ROLE_TAG.exec(text)?.[0];
  const tokens = disarmProviderTokens(text) !== text;
  return [
    ...(tag === undefined
      ? []
      : [finding("imitates", "it holds a role tag; one that is only spoken of stands in quotes or code marks", tag)]),
    ...(tokens
      ? [
          finding(
            "imitates",
            "it holds a control token of a chat template; one that is only spoken of stands in quotes or code marks",
            clean(untrusted(text)),
          ),
        ]
      : []),
  ];
}

function hiddenIn(text: string): readonly GuardFinding[] {
  const tags = (text.match(/[\u{e0020}-\u{e007e}]/gu) ?? [])
    .map((sign) => String.fromCodePoint((sign.codePointAt(0) ?? 0) - 0xe0000))
    .join("");
  if (tags !== "") return [finding("hidden", "it holds text that no reader sees", tags)];
  const blanks = text.match(/[ \u2800]/g)?.length ?? 0;
  const hidden = text.length - blanks - withoutHidden(text.toWellFormed()).replaceAll(" ", "").length;
  return hidden > 0 ? [finding("hidden", "it holds characters that no reader sees", `${hidden} of them`)] : [];
}
