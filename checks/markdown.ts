interface Line {
  readonly text: string;
  readonly line: number;
  /** Inside a fenced block. */
  readonly isCode: boolean;
}

export interface Link {
  readonly target: string;
  readonly line: number;
}

export interface NpmCommand {
  readonly command: string;
  readonly script: string;
  readonly line: number;
}

const FENCE = /^\s*(?:>\s*)*(`{3,}|~{3,})/;

/** The targets of links, images and link definitions, and of `href` and `src`; not those that stand in code. */
export function linksOf(page: string): readonly Link[] {
  return linesOf(page).flatMap(({ text, line, isCode }) => {
    if (isCode) return [];
    const prose = text.replace(/(`+).*?\1/g, "");
    const inline = prose.matchAll(/\]\(\s*<?([^()\s<>]*(?:\([^()\s]*\)[^()\s<>]*)*)>?(?:\s+["'(][^)]*)?\)/g);
    const definitions = prose.matchAll(/^\s{0,3}\[[^\]^][^\]]*\]:\s*<?([^\s>]+)/g);
    const html = prose.matchAll(/\b(?:href|src)="([^"]*)"/g);
    return [...inline, ...definitions, ...html].map(([, target = ""]) => ({ target, line }));
  });
}

/** The anchors of a page: its headings as GitHub names them, and ids given by hand. */
export function anchorsOf(page: string): ReadonlySet<string> {
  const found = new Set<string>();
  for (const { text, isCode } of linesOf(page)) {
    if (isCode) continue;
    for (const [, id = ""] of text.matchAll(/\b(?:id|name)="([^"]+)"/g)) found.add(id);
    const heading = /^\s{0,3}#{1,6}\s+(.*?)\s*#*\s*$/.exec(text)?.[1];
    if (heading !== undefined) addHeading(found, heading);
  }
  return found;
}

/** The second heading of the same words gets `-1`, the third `-2`. */
function addHeading(found: Set<string>, heading: string): void {
  const slug = heading
    .replace(/!?\[([^\]]*)\]\([^)]*\)/g, "$1")
    .toLowerCase()
    .replace(/[^\p{L}\p{M}\p{N}\p{Pc} -]/gu, "")
    .replaceAll(" ", "-");
  let name = slug;
  for (let count = 1; found.has(name); count += 1) name = `${slug}-${count}`;
  found.add(name);
}

/** Commands of npm that run a script: the lines of fenced blocks, and code in a sentence that begins with `npm`. */
export function npmCommandsOf(page: string): readonly NpmCommand[] {
  return linesOf(page).flatMap(({ text, line, isCode }) => {
    const commands = isCode ? text.split(/&&|;|\|/) : [...text.matchAll(/`([^`]+)`/g)].map(([, code = ""]) => code);
    return commands.flatMap((command) => {
      const script = scriptOf(command);
      return script === undefined ? [] : [{ command: command.trim(), script, line }];
    });
  });
}

function scriptOf(command: string): string | undefined {
  const words = command
    .trim()
    .replace(/^\$\s+/, "")
    .replace(/^(\w+=\S*\s+)+/, "")
    .split(/\s+/);
  if (words[0] !== "npm") return undefined;
  const [verb, name] = words.slice(1).filter((word) => !word.startsWith("-"));
  if (verb === "start" || verb === "test" || verb === "t") return verb === "start" ? "start" : "test";
  return verb === "run" || verb === "run-script" ? name : undefined;
}

function linesOf(page: string): readonly Line[] {
  /** The mark that opened the block we are in; only one as long closes it. */
  let fence: string | undefined;
  return page.split("\n").map((text, index) => {
    const mark = FENCE.exec(text)?.[1];
    const isCode = fence !== undefined || mark !== undefined;
    if (fence === undefined) fence = mark;
    else if (mark?.startsWith(fence)) fence = undefined;
    return { text, line: index + 1, isCode };
  });
}
