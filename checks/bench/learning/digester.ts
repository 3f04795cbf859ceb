/**
 * A program in the place of the model that digests lessons. It sees the request of a digest alone and believes every lesson: what keeps a bad
 * one away is not here.
 */

interface Lesson {
  readonly id: string;
  readonly wrong: string;
  readonly instead: string;
  readonly isGeneral: boolean;
  readonly isOver: boolean;
  /** What contacts had written when it was taught. */
  readonly situations: readonly string[];
  /** Where the edits that taught it stand in the request, by their messages. */
  readonly places: ReadonlyMap<string, number>;
  /** Each time it took the place of something. */
  readonly replaces: boolean;
}

/** A rule as this program writes it: about which words, what to write, in place of what, or as the whole answer. */
interface Rule {
  readonly about: readonly string[];
  /** Words that turned out to say nothing about it. */
  readonly not: readonly string[];
  readonly wrong: string;
  readonly instead: string;
  readonly isWhole: boolean;
}

/** What a digest asks for, answered; nothing for another request. */
export function digestOf(request: string): string | undefined {
  if (!request.includes("folded_lesson_ids")) return undefined;
  const blocks = blocksOf(request);
  const rules = blocks
    .filter(({ kind }) => kind === "rules")
    .flatMap(({ lines }) => lines.flatMap((line) => readRule(line) ?? []));
  const lessons = lessonsIn(blocks);
  const written = joined(lessons).reduce<readonly Rule[]>((now, lesson) => taught(now, lesson, lessons), rules);
  return JSON.stringify({
    body_markdown: fitting(written)
      .map((rule) => `- ${ruleText(rule)}`)
      .join("\n"),
    change_summary: `${lessons.length} lessons were folded in.`,
    folded_lesson_ids: lessons.map(({ id }) => id),
  });
}

const MOST = 30;

/** Of too many rules, the oldest of those go that hold for some messages alone. */
function fitting(rules: readonly Rule[]): readonly Rule[] {
  const narrow = rules.filter(({ about }) => about.length > 0);
  const gone = new Set(narrow.slice(0, Math.max(0, rules.length - MOST)));
  return rules.filter((rule) => !gone.has(rule));
}

interface Block {
  readonly kind: string;
  readonly lines: readonly string[];
}

/** The quoted blocks of a request, each with the first word of its heading. */
function blocksOf(request: string): readonly Block[] {
  const blocks: { kind: string; lines: string[] }[] = [];
  for (const line of request.split("\n")) {
    const head = /^\[(rules|lesson|correction) (?:operator|member|agent|contact) /.exec(line)?.[1];
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
      const wrong = part(block, "wrong");
      return {
        id,
        wrong,
        instead: part(block, "instead"),
        isGeneral: block.lines[0]?.includes(", whatever the message was about") ?? false,
        isOver: block.lines[0]?.endsWith(", taken back since") ?? false,
        situations: [...new Set(situations.filter((text) => text !== ""))],
        places: new Map(others.map((one) => [part(one, "The contact wrote"), blocks.indexOf(one)])),
        replaces: wrong !== "" && others.every((one) => part(one, "You wrote") !== ""),
      };
    })
    .filter(({ id }) => id !== "");
}

/** Lessons that took the place of something in the same messages are one: the whole answer was written anew. */
function joined(lessons: readonly Lesson[]): readonly (Lesson & { readonly isWhole: boolean })[] {
  const left = [...lessons];
  const found: (Lesson & { readonly isWhole: boolean })[] = [];
  for (let one = left.shift(); one !== undefined; one = left.shift()) {
    const first = one;
    const same = left.filter((other) => isOneAnswer(first, other));
    for (const other of same) left.splice(left.indexOf(other), 1);
    const isWhole = same.length > 0 || (isReplacing(first) && sentences(first.wrong) > 1);
    const inOrder = [first, ...same].sort(inText);
    found.push({ ...first, instead: inOrder.map(({ instead }) => instead).join(" "), isWhole });
  }
  return found;
}

/** Two of one answer in the order in which they stood there. */
function inText({ places: one }: Lesson, { places: other }: Lesson): number {
  const both = [...one.keys()].find((message) => other.has(message));
  return both === undefined ? 0 : (one.get(both) ?? 0) - (other.get(both) ?? 0);
}

const sentences = (text: string): number => text.split(/(?<=[.!?])\s+/).length;

const isReplacing = ({ replaces, isGeneral, isOver, instead }: Lesson): boolean =>
  replaces && !isGeneral && !isOver && instead !== "";

function isOneAnswer(one: Lesson, other: Lesson): boolean {
  if (!isReplacing(one) || !isReplacing(other)) return false;
  const both = one.situations.filter((text) => other.situations.includes(text)).length;
  return 2 * both >= new Set([...one.situations, ...other.situations]).size;
}

/** The rules with one lesson more: what it corrects is changed, what it narrows is narrowed, and what is new is added. */
function taught(
  rules: readonly Rule[],
  lesson: Lesson & { readonly isWhole: boolean },
  all: readonly Lesson[],
): readonly Rule[] {
  const { wrong, instead, isWhole, isOver } = lesson;
  const known = rules.find((rule) =>
    instead === "" ? rule.instead === "" && isAlike(rule.wrong, wrong) : isAlike(rule.instead, instead),
  );
  if (isOver) return rules.filter((rule) => rule !== known);
  const meant = rules.find(
    (rule) => wrong !== "" && rule !== known && (isAlike(rule.instead, wrong) || rule.instead.includes(wrong)),
  );
  // A whole answer holds what was known of it before.
  const others = rules.filter((rule) => rule !== known && rule !== meant && !(isWhole && isPartOf(rule, instead)));
  if (meant !== undefined && instead !== "" && known === undefined && isSameMatter(meant, lesson))
    // The text itself is out of date.
    return [...others, { ...meant, instead, about: aboutOf(lesson, meant, all) }];
  const narrowed = meant === undefined ? [] : narrower(meant, lesson);
  if (instead === "" && meant !== undefined) return [...others, ...narrowed, ...(known ? [known] : [])];
  if (known !== undefined) {
    const text = known.isWhole && !isWhole ? known.instead : instead;
    const about = aboutOf(lesson, known, all);
    return [...others, ...narrowed, { ...known, about, instead: text, isWhole: known.isWhole || isWhole }];
  }
  return [...others, ...narrowed, { ...freshRule(lesson, all), ...(meant && { wrong: "" }) }];
}

const isPartOf = (rule: Rule, text: string): boolean => rule.instead !== "" && text.includes(rule.instead);

const freshRule = (lesson: Lesson & { readonly isWhole: boolean }, all: readonly Lesson[]): Rule => ({
  about: aboutOf(lesson, { about: [], not: [] }, all),
  not: [],
  wrong: lesson.wrong,
  instead: lesson.instead,
  isWhole: lesson.isWhole,
});

/** A rule that was taken out of these messages: what it named of them said nothing. One that nothing is left of goes. */
function narrower(rule: Rule, { situations, isGeneral }: Lesson): readonly Rule[] {
  const here = new Set(situations.flatMap(wordsOf));
  const [gone, about] = [rule.about.filter((word) => here.has(word)), rule.about.filter((word) => !here.has(word))];
  if (isGeneral || about.length === 0) return [];
  return [{ ...rule, about, not: [...new Set([...rule.not, ...gone])].slice(-MOST_NOT) }];
}

/** Two sentences of mostly the same words, as after a slip. */
function isAlike(one: string, other: string): boolean {
  const words = (text: string): readonly string[] => text.toLowerCase().match(/[\p{L}\p{N}]+/gu) ?? [];
  const [here, there] = [words(one), words(other)];
  if (here.length === 0) return one === other;
  const common = here.filter((word) => there.includes(word)).length;
  return 2 * common >= 0.85 * (here.length + there.length) && digits(one) === digits(other);
}

const digits = (text: string): string => text.replace(/\D+/g, " ");

const isSameMatter = (rule: Rule, { situations }: Lesson): boolean =>
  situations.filter((text) => wordsOf(text).some((word) => rule.about.includes(word))).length * 2 > situations.length;

/** So many words tell what a rule is about, and so many what it is not. */
const MOST_ABOUT = 12;
const MOST_NOT = 6;

/** What a rule is about: its words, and for the messages that have none of them the word that most of them have, and few others. */
function aboutOf(
  { id, isGeneral, situations }: Lesson,
  { about, not }: Pick<Rule, "about" | "not">,
  all: readonly Lesson[],
): readonly string[] {
  if (isGeneral) return [];
  const elsewhere = all.filter((other) => other.id !== id).flatMap((other) => other.situations.map(wordsOf));
  const others = (word: string): number => elsewhere.filter((words) => words.includes(word)).length;
  const found = [...about];
  let left = situations.map(wordsOf);
  for (;;) {
    left = left.filter((words) => !words.some((word) => found.includes(word)));
    const [best] = [...new Set(left.flat())]
      .filter((word) => !not.includes(word))
      .map((word) => ({ word, score: left.filter((words) => words.includes(word)).length - 0.5 * others(word) }))
      .sort((a, b) => b.score - a.score || b.word.length - a.word.length);
    if (best === undefined) return found.slice(-MOST_ABOUT);
    found.push(best.word);
  }
}

/** Words that tell nobody what a message is about. */
const COMMON = new Set(
  `about after again all also always and another any anybody anyone anything anyway are around ask away back been before being believe between both bought
  bring but buy can cannot close come coming could day did do does doing done down each either else even ever every everybody everyone everything far few
  find first for found friend from get getting give goes going gone good got had happen happy has have hello help here how however idea into its itself
  just keep kind know last late later least less let like little live long look looking lot made make many may maybe mean might month more morning most
  much must myself near need never new next night nobody nothing now off often okay old once one only other our out over own per perhaps person please
  possible probably put quite rather really right said same saw say see seen sell send shall she should since some somebody someone something sometimes
  soon sorry still such sure take taken tell than thank thanks that the their them then there these they thing think thinking this those though through
  till time today together told tomorrow tonight too tried try two under until use used very wait want was way week well went were what when where
  whether which while who whole why will with without won wonder work would wrong year yes yesterday yet you your yours`.split(
    /\s+/,
  ),
);

/** The words of a text that tell what it is about, in their basic form: `check-ups` is `checkup`. */
const wordsOf = (text: string): readonly string[] => [
  ...new Set(
    (
      text
        .toLowerCase()
        .replace(/(?<=\p{L})-(?=\p{L})/gu, "")
        .match(/\p{L}{3,}/gu) ?? []
    )
      .filter((word) => !COMMON.has(word))
      .map((word) => word.replace(/ies$/, "y").replace(/([^s])s$/, "$1"))
      .filter((word) => !COMMON.has(word)),
  ),
];

const quoted = (text: string): string => JSON.stringify(text.replace(/\s+/g, " "));

function ruleText({ about, not, wrong, instead, isWhole }: Rule): string {
  const note = not.length === 0 ? "" : ` (not ${not.join(", not ")})`;
  const head = about.length === 0 ? "" : `When a message is about ${about.join(" or ")}${note}: `;
  if (isWhole) return `${head}write only ${quoted(instead)}`;
  if (wrong === "") return `${head}add ${quoted(instead)}`;
  return instead === ""
    ? `${head}leave out ${quoted(wrong)}`
    : `${head}instead of ${quoted(wrong)} write ${quoted(instead)}`;
}

/** A line that `ruleText` has written; other people's rules are left as they are, and not known here. */
function readRule(line: string): Rule | undefined {
  const [, about = "", not = "", rest = ""] =
    /^- (?:When a message is about ([^:(]+?)(?: \(not ([^)]*)\))?: )?(.+)$/.exec(line) ?? [];
  const text = (pattern: RegExp): string => {
    const found = pattern.exec(rest)?.[1];
    return found === undefined ? "" : String(JSON.parse(found));
  };
  const wrong = text(/(?:leave out|instead of) ("(?:[^"\\]|\\.)*")/);
  const instead = text(/(?:add|write|write only) ("(?:[^"\\]|\\.)*")/);
  if (wrong === "" && instead === "") return undefined;
  const words = (all: string, by: string): readonly string[] => all.split(by).filter((word) => word !== "");
  return {
    about: words(about, " or "),
    not: words(not, ", not "),
    wrong,
    instead,
    isWhole: rest.startsWith("write only"),
  };
}
