import { join } from "node:path";
import { pathToFileURL } from "node:url";
import { z } from "zod";
import { allTools } from "../src/app/entry/features.ts";
import { openSqlite } from "../src/store/index.ts";
import { isTestFile, ROOT, readFiles, type SourceFile } from "./files.ts";
import { type Token, tokens } from "./tokens.ts";
import { SAMPLES } from "./wording-samples.ts";

const HEAD = `What models read: every tool of the features, and every sentence of the platform's with sample values.
Written by "npm run fix". Whoever changes a line changes what models see: read it before you commit it.`;

/** The text of `tests/house/golden/wording.txt`. */
export async function wordingText(): Promise<string> {
  const rooms = await Promise.all(sources().filter(holdsSentences).map(roomText));
  return `${[HEAD, await toolsText(), ...rooms].join("\n\n")}\n`;
}

const sources = (): readonly SourceFile[] =>
  readFiles((path) => /^src\/(store|turn|compiler|guard|models|features)\/.*\.ts$/.test(path) && !isTestFile(path));

/** A room's or feature's `wording.ts`, or a file with the object `WORDING` where the sentences are few. */
const holdsSentences = ({ path, text }: SourceFile): boolean =>
  path.endsWith("/wording.ts") || text.includes("export const WORDING = ");

async function roomText({ path, text }: SourceFile): Promise<string> {
  const room = path.replace(/^src\/|\/[^/]*$/g, "");
  const module: unknown = await import(pathToFileURL(join(ROOT, path)).href);
  const exports = z.record(z.string(), z.unknown()).parse({ ...Object(module) });
  const values = path.endsWith("/wording.ts") ? exports : { WORDING: exports["WORDING"] };
  const inOrder = Object.entries(values).toSorted(
    ([one], [other]) => text.indexOf(`const ${one} =`) - text.indexOf(`const ${other} =`),
  );
  return [`# ${room}`, "", ...new Set(sentencesIn(room, "", Object.fromEntries(inOrder)))].join("\n");
}

/** Each string in it, and what each function gives for its samples. */
export function sentencesIn(room: string, name: string, value: unknown): readonly string[] {
  if (typeof value === "string") return [listed(value)];
  if (typeof value === "function") {
    const samples = SAMPLES[room]?.[name];
    if (samples === undefined) throw new Error(`checks/wording-samples.ts has no values for ${name} of ${room}`);
    return samples.flatMap((values) => sentencesIn(room, name, Reflect.apply(value, undefined, values)));
  }
  if (typeof value !== "object" || value === null || value instanceof RegExp) return [];
  return Object.entries(value).flatMap(([key, one]) => sentencesIn(room, key, one));
}

const listed = (sentence: string): string => `- ${sentence.trim().replaceAll("\n", "\n  ")}`;

const TOOL = z.looseObject({ properties: z.record(z.string(), z.object({ description: z.string().optional() })) });

async function toolsText(): Promise<string> {
  const store = await openSqlite(":memory:");
  const tools = await allTools({ store, agentOf: () => undefined, files: "" });
  await store.close();
  const lines = tools.map(({ schema: { name, description, input } }) => {
    const { properties } = TOOL.parse(input);
    const about = Object.entries(properties).flatMap(([key, { description: message }]) =>
      message ? [`  ${key}: ${message}`] : [],
    );
    return [`- ${name}: ${description}`, ...about].join("\n");
  });
  return ["# tools", "", ...lines.sort()].join("\n");
}

/** What makes a text the model's to read, by the name of the function that takes it. */
const GIVE_TO_MODELS =
  /^(?:answered|answeredAs|edited|failed|failure|refusal|refused|refusedAs|replying|trusted|untrusted|NotFetched)$/;

/** Of these, what is given may be others' words: looked at is only what is written in the call itself. */
const QUOTES = /^(?:failed|failure|untrusted)$/;

/** What these take is read by people and programs. */
const FOR_PEOPLE = /^(?:StrataError|describe)$/;

/** Sentences for models that stand elsewhere than in a file of sentences, where the list does not show them. */
export function strayWording(files: readonly SourceFile[] = sources()): readonly string[] {
  return files.filter((file) => !holdsSentences(file)).flatMap(straysIn);
}

const isSentence = ({ text }: Token): boolean => /^["'`}].*[a-z]{2} [a-z]{2}/s.test(text);

function straysIn({ path, text }: SourceFile): readonly string[] {
  const all = declarationsIn(tokens(text).filter(({ kind }) => kind !== "comment"));
  const strays = all.flatMap((own) =>
    own.code.flatMap(({ kind, text: name }, at) => {
      if (kind !== "word" || !GIVE_TO_MODELS.test(name) || own.code[at + 1]?.text !== "(") return [];
      const given = argumentsAt(own.code, at + 1);
      return (QUOTES.test(name) ? given : [...given, ...madeOf(given, own, all)]).filter(isSentence);
    }),
  );
  return [...new Set(strays)].map(
    (stray) => `${path}:${stray.line}: ${stray.text} is for models; put it into the wording.ts here`,
  );
}

/** A declaration at the top of a file. */
interface Declaration {
  readonly name: string;
  readonly code: readonly Token[];
}

function declarationsIn(code: readonly Token[]): readonly Declaration[] {
  const starts = [0];
  let depth = 0;
  code.forEach(({ kind, text }, at) => {
    if (at > 0 && depth === 0 && kind === "word" && /^(?:class|const|function|import|interface|type)$/.test(text))
      starts.push(at);
    if (kind === "punct") depth += nesting(text);
  });
  return starts.map((from, i) => ({
    name: code.slice(from + 1, from + 3).find(({ kind }) => kind === "word")?.text ?? "",
    code: code.slice(from, starts[i + 1]),
  }));
}

const nesting = (text: string): number => (/^[([{]$/.test(text) ? 1 : /^[)\]}]$/.test(text) ? -1 : 0);

/** The code of all that a value is made of in its file: constants beside it, and what they name in turn. */
function madeOf(
  value: readonly Token[],
  own: Declaration,
  all: readonly Declaration[],
  seen = new Set<string>(),
): readonly Token[] {
  const code = withoutSentencesForPeople(value);
  return code.flatMap(({ kind, text: name }, at) => {
    if (kind !== "word" || code[at - 1]?.text === "." || code[at + 1]?.text === ":" || seen.has(name)) return [];
    seen.add(name);
    const other = all.find((one) => one.name === name);
    const found = withoutSentencesForPeople(other?.code ?? constantIn(own.code, name));
    return [...found, ...madeOf(found, other ?? own, all, seen)];
  });
}

function withoutSentencesForPeople(code: readonly Token[]): readonly Token[] {
  const skipped = new Set(code.flatMap(({ text }, at) => (FOR_PEOPLE.test(text) ? argumentsAt(code, at + 1) : [])));
  return code.filter((token) => !skipped.has(token));
}

/** What a constant inside a declaration is given. */
function constantIn(code: readonly Token[], name: string): readonly Token[] {
  const from = code.findIndex(({ text }, at) => text === name && code[at - 1]?.text === "const");
  let depth = 0;
  const end = code.findIndex(({ kind, text }, at) => {
    if (at > from && kind === "punct") depth += nesting(text);
    return at > from && depth === 0 && text === ";";
  });
  return from < 0 ? [] : code.slice(from + 1, end);
}

/** What stands between the parenthesis at this place and its end. */
function argumentsAt(code: readonly Token[], from: number): readonly Token[] {
  let depth = 0;
  for (let at = from; at < code.length; at += 1) {
    const { kind, text } = code[at] ?? { kind: "punct", text: ";" };
    if (kind !== "punct") continue;
    if (text === "(") depth += 1;
    if (text === ")") depth -= 1;
    if (depth === 0) return code.slice(from + 1, at);
  }
  return [];
}
