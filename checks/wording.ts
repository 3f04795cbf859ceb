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
  const { WORDING, ...exports } = z.record(z.string(), z.unknown()).parse({ ...Object(module) });
  const values = path.endsWith("/wording.ts") ? exports : WORDING;
  const inOrder = Object.entries({ ...Object(values) }).toSorted(
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

/** Sentences for models that stand elsewhere than in a file of sentences, where the list does not show them. */
export function strayWording(files: readonly SourceFile[] = sources()): readonly string[] {
  return files.filter((file) => !holdsSentences(file)).flatMap(straysIn);
}

function straysIn({ path, text }: SourceFile): readonly string[] {
  const code = tokens(text).filter(({ kind }) => kind !== "comment");
  return code.flatMap(({ kind, text: name, line }, at) => {
    if (kind !== "word" || !GIVE_TO_MODELS.test(name) || code[at + 1]?.text !== "(") return [];
    const stray = argumentsAt(code, at + 1).find((token) => /^["'`}].*[a-z]{2} [a-z]{2}/s.test(token.text));
    return stray === undefined ? [] : [`${path}:${line}: ${stray.text} is for models; put it into the wording.ts here`];
  });
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
