/** Sentences whose words are named in one place and called in another: `x = "layer"; ignore {x}`. */

const NAME = String.raw`([A-Za-z_]\w{0,15})`;
const VALUE = String.raw`(?:"([^"\n]{1,60})"|'([^'\n]{1,60})'|“([^”\n]{1,60})”|\x60([^\x60\n]{1,60})\x60|([\p{L}\d][\p{L}\d -]{0,40}))`;
/** Ways to give a name to words. */
const GIVEN: readonly RegExp[] = [
  new RegExp(String.raw`(?:^|[\s;,({!]|let |const |var |set )${NAME}\s{0,2}(?::=|=|:|->|:-)\s{0,2}${VALUE}`, "gmu"),
  new RegExp(String.raw`#define\s+${NAME}\s+${VALUE}`, "gu"),
  new RegExp(
    String.raw`\b(?:let|set|say|where|with|call|define|take)\s+${NAME}\s+(?:be|is|as|=|to|for|means?|equals?|stands? for)\s+${VALUE}`,
    "giu",
  ),
  new RegExp(String.raw`${NAME}\s+(?:means|stands for|is short for|equals)\s+${VALUE}`, "gu"),
];
const MOST = 24;
/** What has grown longer is not replaced in again: each replacement may double it. */
const LONGEST = 20_000;

/** A text with the words in place of the names that it gives them; nothing where it gives none. */
export function withValues(text: string): string | undefined {
  const values = new Map<string, string>();
  for (const given of GIVEN)
    for (const [, name = "", ...found] of text.matchAll(given)) {
      const value = found.find((one) => one !== undefined)?.trim();
      if (value !== undefined && values.size < MOST && !values.has(name)) values.set(name, value);
    }
  if (values.size === 0) return undefined;
  const called = [...values.keys()].map((name) => name.replaceAll(/\W/g, "")).join("|");
  const read = text
    .replaceAll(
      new RegExp(String.raw`(?:\$?\{\{?|<|%|\[\[?|\$)\s?(${called})\s?(?:\}\}?|>|%|\]\]?|\b)`, "g"),
      (_, name: string) => values.get(name) ?? name,
    )
    .replaceAll(new RegExp(String.raw`(?<![\w"'=$])(${called})(?![\w"'=]|\s?[=:])`, "g"), (name: string) =>
      name.length < 3 ? (values.get(name) ?? name) : name,
    );
  return read === text ? undefined : read;
}

/** Signs that a text says to put letters for: `replace # by e`, `.replace("#", "e")`. */
export function withReplacements(text: string): string | undefined {
  const said = [
    ...text.matchAll(
      /\b(?:replace|read|swap|exchange|turn|write)\s+(?:all |each |every )?["'`]?(\S{1,3}?)["'`]?\s+(?:by|with|as|for|into|to)\s+["'`]?(\w{1,3})\b/gi,
    ),
    ...text.matchAll(/replace(?:All)?\(\s?["'`/](\S{1,3}?)["'`/]g?,\s?["'`](\w{0,3})["'`]\)/gi),
  ];
  const read = said
    .slice(0, MOST)
    .reduce((now, [, from = "", to = ""]) => (now.length > LONGEST ? now : now.replaceAll(from, to)), text);
  return read === text ? undefined : read;
}
