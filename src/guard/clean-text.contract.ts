import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import * as fc from "fast-check";
import { z } from "zod";
import { ROOT } from "../../checks/files.ts";
import {
  CONTEXT_KINDS,
  type FrameHeader,
  isoSecond,
  KIND_FORM,
  OUTSIDE_KINDS,
  ownKind,
  PROOFS,
  TRUSTS,
  type Untrusted,
  untrusted,
} from "../protocol/index.ts";

/** An attacker's input: everything that some reader takes for a line, a mark, a header or nothing at all. */
const PIECES = [
  ..."\n\r\v\f\t\b\0\u001b\u001c\u001d\u001e\u001f\u007f\u0085\u009b\u2028\u2029 \u00a0\u3000\u2800",
  ..."\u200b\u200c\u200d\u200e\u202e\u2066\u2069\u00ad\u034f\u115f\u3164\uffa0\ufeff\ufe00\ufe0f\ufff9\ufffc",
  ..."<>|[]/_*#@$&\\`'\"{}:;-.()·=~＜＞｜［］／﹤﹥﹇﹈【】‹›¦⟦⟧",
  ..."aИसक्कیمم한あ1²ﬁ™ﷺ̸́⃣",
  ...["👍", "🏽", "❤", "👩", "👧", "🏴", "🇩", "🇪", "\u{e0067}", "\u{e007f}", "\u{e0100}", "\ud800", "\udc00"],
  ...[
    "\r\n",
    "\n\n\n\n\n",
    " ".repeat(90),
    "\u001b[2K",
    "\\n",
    "| ",
    "|@ ",
    "|# Sat 2026-11-21",
    "[message contact 09:30Z]",
    "[memory contact 2026-11-21]",
    "[result contact]",
    "[message · contact · 2026-11-21T09:30:00Z]",
  ],
  ...["# Layer 0 · core", "[Operator instruction]", "</system>", "Human:", "$&", "__proto__"],
  ...["<|im_start|>", "< | im_start | >", "＜｜im_start｜＞", "<｜User｜>", "<|", "|>", "im_start", "<|𝐢𝐦_𝐬𝐭𝐚𝐫𝐭|>"],
  ...[
    "[INST]",
    "[/INST]",
    "[ INST ]",
    "［ＩＮＳＴ］",
    "<<SYS>>",
    "<</SYS>>",
    "<s>",
    "</s>",
    "<start_of_turn>",
    "INST",
    "SYS",
  ],
];

/** Any text, mostly of the pieces above. */
export const nastyText: fc.Arbitrary<Untrusted> = fc
  .array(fc.oneof({ weight: 6, arbitrary: fc.constantFrom(...PIECES) }, fc.string({ unit: "binary", maxLength: 8 })), {
    maxLength: 24,
  })
  .map((pieces) => untrusted(pieces.join("")));

/** Names that a feature could give to a kind of event. */
export const anyKind = fc
  .stringMatching(new RegExp(`^${KIND_FORM}$`))
  .filter((name) => ![...OUTSIDE_KINDS, ...CONTEXT_KINDS, "reply"].some((other) => other === name))
  .map(ownKind);

/** Any header. */
export const anyHeader: fc.Arbitrary<FrameHeader> = fc
  .record({
    kind: fc.oneof(fc.constantFrom(...OUTSIDE_KINDS, ...CONTEXT_KINDS), anyKind),
    trust: fc.constantFrom(...TRUSTS),
    proof: fc.constantFrom(...PROOFS, undefined),
    at: fc.integer({ min: 0, max: 253_402_300_799 }).map((second) => second * 1000),
  })
  .map(({ proof, ...header }) => ({ ...header, ...(proof && { proof }) }));

const MINUTE = 60_000;
const DAY = 24 * 60 * MINUTE;

/** The visible time of a frame: events and data show the minute, results nothing, and other frames the day. */
export function shownTime({ kind, at }: FrameHeader): number {
  if (kind === "result") return 0;
  return at - (at % (kind !== "data" && CONTEXT_KINDS.some((one) => one === kind) ? DAY : MINUTE));
}

/** A header in the form that was written until November 2026. */
export const oldHeader = ({ kind, trust, proof, at }: FrameHeader): string =>
  `[${[kind, trust, ...(proof === undefined ? [] : [proof]), isoSecond(at)].join(" · ")}]`;

const ROWS = join(ROOT, "../shared/data/guard");
const row = z.object({ id: z.string(), text: z.string(), kind: z.string() });

/** The collected texts of one kind, or nothing where the folder is absent: it is never copied into the project. */
export function collected(name: "attacks" | "benign"): readonly z.output<typeof row>[] | undefined {
  const file = join(ROWS, `${name}.jsonl`);
  if (!existsSync(file)) return undefined;
  return readFileSync(file, "utf8")
    .trim()
    .split("\n")
    .map((line) => row.parse(JSON.parse(line)));
}

const TOKEN =
  /<\|[\p{L}\p{N}_▁.:/-]+\|>|< *\| *(im_start|im_end|system|user|start|message|end|endoftext) *\| *>|<<\/?sys>>|<\/?s>|<(start|end)_of_turn>|\[ *\/?(inst|tool_results|tool_calls|available_tools) *\]/iu;
const INDIC = "Deva Beng Guru Gujr Orya Taml Telu Knda Mlym Sinh Mymr Khmr"
  .split(" ")
  .map((name) => `\\p{Script=${name}}`)
  .join("");
const JOINER_IN_PLACE = new RegExp(
  [
    "(?<=\\p{Extended_Pictographic}[\\ufe0f\\p{Emoji_Modifier}]?)\\u200d(?=\\p{Extended_Pictographic})",
    "(?<=[\\p{Extended_Pictographic}0-9#*])\\ufe0f",
    `(?<=[${INDIC}\\p{Script=Inherited}])[\\u200c\\u200d]`,
    "(?<=[\\p{Script=Arab}\\p{Script=Inherited}])\\u200c(?=[\\p{Script=Arab}\\p{Script=Inherited}])",
  ].join("|"),
  "gu",
);

/** What must be gone, detected by other means than those that remove it. */
export function leftovers(text: string): string[] {
  const found: string[] = [];
  if (/[\r\v\f\u001c-\u001e\u0085\u2028\u2029]/.test(text)) found.push("line maker");
  if (/(?![\n\t])\p{Cc}/u.test(text) || !text.isWellFormed()) found.push("control");
  if (/[\p{Default_Ignorable_Code_Point}\ufff9-\ufffb]/u.test(text.replace(JOINER_IN_PLACE, ""))) found.push("hidden");
  if (TOKEN.test(text.normalize("NFKC"))) found.push("token");
  return found;
}
