/** The longest run of blank lines, and of blanks inside a line, that stays: more only pushes text out of sight. */
const BLANK_LINES = 3;
const BLANKS = 80;

const ANSI = /(?:\u001b\[|\u009b)[0-?]*[ -/]*[@-~]/g;
const LINE_MAKERS = /\r\n?|[\v\f\u001c-\u001e\u0085\u2028\u2029]/g;
const CONTROLS = /[\0-\u0008\u000e-\u001b\u001f\u007f-\u009f\ufdd0-\ufdef\ufffe\uffff]+/g;
const LONG_BLANKS = new RegExp(`[ \\t\\u00a0\\u1680\\u2000-\\u200a\\u202f\\u205f\\u3000]{${BLANKS + 1},}`, "g");

/** Every character and pair that some reader takes for a line break, as `\n`. */
export function oneLineBreak(text: string): string {
  return text.replace(LINE_MAKERS, "\n");
}

/** Terminal sequences go; any other control or non-character stays visible as U+FFFD, so that nobody reads past it. */
export function withoutControls(text: string): string {
  return text.replace(ANSI, "").replace(CONTROLS, "\ufffd");
}

/** Shortens runs of blanks and of blank lines. Linear: each line is looked at once. */
export function withoutLongGaps(text: string): string {
  const kept: string[] = [];
  let blank = 0;
  for (const line of text.replace(LONG_BLANKS, " ".repeat(BLANKS)).split("\n")) {
    blank = line.trim() === "" ? blank + 1 : 0;
    if (blank <= BLANK_LINES) kept.push(line);
  }
  return kept.join("\n");
}
