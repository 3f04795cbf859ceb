/**
 * A program in the place of the model that digests lessons. It sees the request of a digest alone and believes every lesson: what keeps a bad
 * one away is not here.
 */

interface Lesson {
  readonly id: string;
  readonly wrong: string;
  readonly instead: string;
  /** What contacts had written when it was taught. */
  readonly situations: readonly string[];
}

/** A rule as this program writes it: about which words, what to write, and in place of what. */
interface Rule {
  readonly about: readonly string[];
  readonly wrong: string;
  readonly instead: string;
}

/** What a digest asks for, answered; nothing for another request. */
export function digestOf(request: string): string | undefined {
  if (!request.includes("folded_lesson_ids")) return undefined;
  const blocks = blocksOf(request);
  const rules = blocks
    .filter(({ kind }) => kind === "rules")
    .flatMap(({ lines }) => lines.flatMap((line) => readRule(line) ?? []));
  const lessons = lessonsIn(blocks);
  const written = lessons.reduce(taught, rules);
  return JSON.stringify({
    body_markdown: written
      .slice(-MOST)
      .map((rule) => `- ${ruleText(rule)}`)
      .join("\n"),
    change_summary: `${lessons.length} lessons were folded in.`,
    folded_lesson_ids: lessons.map(({ id }) => id),
  });
}

const MOST = 30;

interface Block {
  readonly kind: string;
  readonly lines: readonly string[];
}

/** The quoted blocks of a request, each with the first word of its heading. */
function blocksOf(request: string): readonly Block[] {
  const blocks: { kind: string; lines: string[] }[] = [];
  for (const line of request.split("\n")) {
    const head = /^\[(\w+) · /.exec(line)?.[1];
    if (head !== undefined) blocks.push({ kind: head, lines: [] });
    else if (line.startsWith("| ")) blocks.at(-1)?.lines.push(line.slice(2));
  }
  return blocks;
}

function lessonsIn(blocks: readonly Block[]): readonly Lesson[] {
  const part = ({ lines }: Block, name: string): string =>
    lines.find((line) => line.startsWith(`${name}: `))?.slice(name.length + 2) ?? "";
  return blocks
    .filter(({ kind }) => kind === "lesson")
    .map((block) => {
      const id = /^(lsn_\w+):/.exec(block.lines[0] ?? "")?.[1] ?? "";
      const others = blocks.filter(({ kind, lines }) => kind === "correction" && lines[0] === id);
      const situations = [part(block, "situation"), ...others.map((one) => part(one, "The contact wrote"))];
      return {
        id,
        wrong: part(block, "wrong"),
        instead: part(block, "instead"),
        situations: [...new Set(situations.filter((text) => text !== ""))],
      };
    })
    .filter(({ id }) => id !== "");
}

/** The rules with one lesson more: what it corrects is changed, what it narrows is narrowed, and what is new is added. */
function taught(rules: readonly Rule[], { wrong, instead, situations }: Lesson): readonly Rule[] {
  const here = new Set(situations.flatMap(wordsOf));
  const meant = rules.find((rule) => wrong !== "" && rule.instead === wrong);
  if (meant !== undefined) {
    const about = meant.about.filter((word) => !here.has(word));
    const others = rules.filter((rule) => rule !== meant);
    // The text itself is out of date.
    if (instead !== "") return [...others, { ...meant, instead }];
    return about.length === 0 ? others : [...others, { ...meant, about }];
  }
  const rule = { about: aboutOf(situations), wrong, instead };
  return [...rules.filter((one) => one.wrong !== wrong || one.instead !== instead), rule];
}

/** A rule that was taught in so many different situations holds for every message. */
const MANY = 3;

/** The words that most of these messages have in common; of a single one, its rarest. */
function aboutOf(situations: readonly string[]): readonly string[] {
  const all = situations.map(wordsOf);
  const count = new Map<string, number>();
  for (const word of all.flat()) count.set(word, (count.get(word) ?? 0) + 1);
  const common = [...count].filter(([, n]) => n >= Math.max(1, 0.6 * all.length)).map(([word]) => word);
  if (common.length === 0) return all.length >= MANY ? [] : [...count.keys()].slice(0, 2);
  return common.sort((a, b) => (count.get(b) ?? 0) - (count.get(a) ?? 0) || b.length - a.length).slice(0, 2);
}

const COMMON = new Set(
  `about again also any are ask been bought buy can close come could did does from get give good had has have hello help here how into its just know
  like long look looking many may month much must near need new next now off once only our out own per please said say see sell send shall she should some
  still take tell thank that the their them then there these they this those till today too until use want was were week what when where which while who why
  will with work would yes you your`.split(/\s+/),
);

const wordsOf = (text: string): readonly string[] => [
  ...new Set(
    (text.toLowerCase().match(/\p{L}{3,}/gu) ?? [])
      .filter((word) => !COMMON.has(word))
      .map((word) => word.replace(/ies$/, "y").replace(/([^s])s$/, "$1")),
  ),
];

const quoted = (text: string): string => JSON.stringify(text.replace(/\s+/g, " "));

function ruleText({ about, wrong, instead }: Rule): string {
  const head = about.length === 0 ? "" : `When a message is about ${about.join(", ")}: `;
  if (wrong === "") return `${head}add ${quoted(instead)}`;
  return instead === ""
    ? `${head}leave out ${quoted(wrong)}`
    : `${head}instead of ${quoted(wrong)} write ${quoted(instead)}`;
}

/** A line that `ruleText` has written; other people's rules are left as they are, and not known here. */
function readRule(line: string): Rule | undefined {
  const [, about = "", rest = ""] = /^- (?:When a message is about ([^:]+): )?(.+)$/.exec(line) ?? [];
  const text = (pattern: RegExp): string => {
    const found = pattern.exec(rest)?.[1];
    return found === undefined ? "" : String(JSON.parse(found));
  };
  const wrong = text(/(?:leave out|instead of) ("(?:[^"\\]|\\.)*")/);
  const instead = text(/(?:add|write) ("(?:[^"\\]|\\.)*")/);
  return wrong === "" && instead === ""
    ? undefined
    : { about: about.split(", ").filter((word) => word !== ""), wrong, instead };
}
