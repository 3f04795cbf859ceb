/** Deferred tools: their schemas are sent when the agent looks for them, at the end of the conversation. */

import { z } from "zod";
import {
  type Allowed,
  isAllowed,
  type Json,
  type Tool,
  type ToolReader,
  type ToolSchema,
  type TurnId,
  toolName,
} from "../../protocol/index.ts";
import type { Runtime } from "../../turn/index.ts";
import { answeredWithTools, defineTool, foundIn, meantBy, refused, schemaBegins } from "../../turn/tools/index.ts";
import { turnColumn } from "../column.ts";
import type { Feature } from "../feature.ts";
import { list } from "../fields.ts";
import { KEYS, MORE_TOOLS } from "./config.ts";
import { described, describedNative, found, nothingFound, WORDING } from "./wording.ts";

export { MORE_TOOLS } from "./config.ts";

/** Schemas that one search returns at most. */
const MOST = 5;

const FIND = z.string().min(1).max(500).describe(WORDING.find);
const INPUT = z.object({
  find: FIND.optional(),
  call: z.string().min(1).max(64).optional().describe(WORDING.call),
  input: z.record(z.string(), z.json()).optional().describe(WORDING.input),
});

function moreTools(): Tool {
  // The schemas of tools, as the operator declared them.
  const all = { name: MORE_TOOLS, description: described([]), effect: "none", trust: "operator" } as const;
  const finding = defineTool({ ...all, input: z.object({ find: FIND }), run: () => refused(WORDING.none) });
  const tool = defineTool({
    ...all,
    input: INPUT,
    run: ({ find, call }, { deferred = [] }) => {
      if (find === undefined || call !== undefined) return refused(WORDING.either);
      if (deferred.length === 0) return refused(WORDING.none);
      const fitting = searched(deferred, find);
      if (fitting.length === 0) return refused(nothingFound(deferred.map(({ name }) => name)));
      const text = [found(fitting.length), ...fitting.map(schemaLine)].join("\n");
      return answeredWithTools(
        text,
        fitting.map(({ name }) => name),
      );
    },
  });
  return {
    ...tool,
    schemaFor: ({ defer = [], loadsTools }: ToolReader) =>
      loadsTools
        ? { ...finding.schema, description: describedNative(defer) }
        : { ...tool.schema, description: described(defer) },
    forwards: (input: Json) => {
      const { data } = INPUT.safeParse(input);
      if (data?.call === undefined || data.find !== undefined) return undefined;
      return { tool: toolName(data.call), input: data.input ?? {} };
    },
  };
}

const schemaLine = ({ name, description, input }: ToolSchema): string =>
  `${schemaBegins(name)}${JSON.stringify(description)},"input":${JSON.stringify(input)}}`;

/** The named tools; if none is named, those that share the most words with the search, a word of the name counting three times. */
function searched(tools: readonly ToolSchema[], text: string): readonly ToolSchema[] {
  const asked = new Set(text.toLowerCase().split(/[^\p{L}\p{N}_-]+/u));
  const named = tools.filter(({ name }) => asked.has(name.toLowerCase()));
  if (named.length > 0) return named.slice(0, MOST);
  const words = wordsOf(text);
  const score = ({ name, description }: ToolSchema): number =>
    3 * shared(words, wordsOf(name)) + shared(words, wordsOf(description));
  return tools
    .map((tool) => ({ tool, points: score(tool) }))
    .filter(({ points }) => points > 0)
    .sort((a, b) => b.points - a.points)
    .slice(0, MOST)
    .map(({ tool }) => tool);
}

/** Words of at least three letters, by their first six: `reservation` finds `reservations` and `reserve`. */
const wordsOf = (text: string): ReadonlySet<string> =>
  new Set(
    text
      .toLowerCase()
      .split(/[^\p{L}\p{N}]+/u)
      .flatMap((word) => (word.length < 3 ? [] : [word.slice(0, 6)])),
  );

const shared = (one: ReadonlySet<string>, other: ReadonlySet<string>): number =>
  [...one].filter((word) => other.has(word)).length;

const MORE = moreTools();

/** What a turn's requests say of deferred tools: the record of the turn has it all. */
export const DEFERRED = turnColumn({
  name: "deferred",
  schema: z
    .object({
      tools: list(z.string()).describe("those whose schemas were not sent with the others"),
      found: list(z.string()).describe("those that a search of the turn returned"),
      called: list(z.string()).describe(
        "those that were called, by their names or through `more_tools`, in the order of the calls",
      ),
    })
    .describe("the deferred tools of its agent; absent if it has none"),
  read: async ({ runtime, actor }, _, turns) => {
    if (!isAllowed(actor, "explain")) return new Map();
    const read = await Promise.all(turns.map(async ({ id }) => [id, await deferredIn(runtime, actor, id)] as const));
    return new Map(read.flatMap(([id, value]) => (value === undefined ? [] : [[id, value] as const])));
  },
  show: ({ tools, found: those, called }) =>
    [
      tools.join(", "),
      ...(those.length === 0 ? [] : [`found ${those.join(", ")}`]),
      ...(called.length === 0 ? [] : [`called ${called.join(", ")}`]),
    ].join(" · "),
});

/** The tools that a description of the finder names. */
function namedIn(description: string): readonly string[] {
  const before = described([]).slice(0, -1);
  return description.startsWith(before) ? description.slice(before.length, -1).split(", ") : [];
}

async function deferredIn(runtime: Runtime, actor: Allowed<"explain">, id: TurnId) {
  const { requests } = await runtime.turn(actor, id);
  const last = requests.at(-1);
  // Where texts were erased, there is no request to read.
  const sent = last && (await runtime.rebuilt(actor, id, last.n).catch(() => undefined));
  const more = sent?.request.prefix.tools.find(({ name }) => name === MORE_TOOLS);
  if (sent === undefined || more === undefined) return undefined;
  const calls = requests.flatMap(({ reply }) => reply?.parts.filter((part) => part.type === "call") ?? []);
  const own = new Set(calls.map((call) => call.id));
  const tools = { get: (name: string) => (name === MORE_TOOLS ? MORE : undefined) };
  const lines = foundIn(tools, sent.request.messages, own);
  const loadable = sent.request.prefix.tools.flatMap(({ name, deferred }) => (deferred ? [name] : []));
  const names: readonly string[] = loadable.length > 0 ? loadable : namedIn(more.description);
  return {
    tools: names,
    found: names.filter((name) => lines.some((line) => line.startsWith(schemaBegins(name)))),
    called: calls.map((call) => meantBy(tools, call).tool).filter((name) => names.includes(name)),
  };
}

export const FEATURE: Feature = {
  name: "defer",
  keys: KEYS,
  tools: () => [MORE],
  operations: [],
  columns: { turns: [DEFERRED] },
};
