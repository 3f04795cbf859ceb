import { posix } from "node:path";
import { PassThrough } from "node:stream";
import type { Command } from "commander";
import { describe, expect, it } from "vitest";
import { z } from "zod";
import { readFiles } from "../../checks/files.ts";
import { importsOf } from "../../checks/imports.ts";
import { AGENT_KEYS, LAYER_SOURCES } from "../../src/app/entry/agents.ts";
import { FEATURES } from "../../src/app/entry/features.ts";
import { createContext, createProgram } from "../../src/doors/cli/index.ts";
import {
  columnsOf,
  type Feature,
  fieldsOf,
  givingColumns,
  mcpTool,
  type Operation,
  type OperationContext,
  pathFields,
  threadColumn,
} from "../../src/features/index.ts";
import { styleOf } from "../../src/print/index.ts";
import { contactId } from "../../src/protocol/index.ts";
import { OPERATOR, testRuntime } from "../../src/turn/index.contract.ts";
import { featureApi } from "../../src/turn/index.ts";

const LISTED = await Promise.all(FEATURES.map(async (listed) => ({ listed, feature: await listed.load() })));
const OPERATIONS = LISTED.flatMap(({ feature }) => feature.operations);
const SOURCES = readFiles((path) => /^src\/features\/[\w-]+\/.*\.ts$/.test(path) && !/\.test(-d)?\.ts$/.test(path));

const twice = (names: readonly string[]): readonly string[] => names.filter((name, at) => names.indexOf(name) !== at);

describe.each(LISTED)("the feature $listed.name", ({ listed, feature }) => {
  const folder = `src/features/${listed.name}/`;

  it("is called as its folder, and lists every noun of its commands and no other", () => {
    expect(feature.name).toBe(listed.name);
    const nouns = feature.operations.flatMap(({ name, command }) =>
      command ? [nounOf(name), command.alias ?? nounOf(name)] : [],
    );
    expect([...new Set(nouns)].sort()).toEqual(Object.keys(listed.nouns).sort());
  });

  it("names the features whose words it uses, and enters each by its `index.ts`, for its types alone by `api.ts`, or for what it only declares by `config.ts`", () => {
    // A contract is part of tests: `checks/rooms.ts` says which doors it may enter.
    const product = SOURCES.filter(({ path }) => path.startsWith(folder) && !path.endsWith(".contract.ts"));
    const used = product.flatMap(({ path, text }) =>
      importsOf(text).flatMap(
        ({ from = "" }) =>
          /^src\/features\/([\w-]+\/.*)$/
            .exec(posix.join(posix.dirname(path), from))?.[1]
            ?.replace(/\/(?:api|config)\.ts$/, "/index.ts") ?? [],
      ),
    );
    const others = used.filter((path) => !path.startsWith(`${listed.name}/`));
    expect([...new Set(others)].sort()).toEqual([...(feature.needs ?? [])].map((name) => `${name}/index.ts`).sort());
  });
});

it("every built-in tool comes from a feature: the rooms of a turn name none", () => {
  const core = readFiles((path) => /^src\/(turn|app)\/.*\.ts$/.test(path) && !/\.(test|contract)\.ts$/.test(path));
  expect(core.filter(({ text }) => /\bdefineTool\(\{/.test(text)).map(({ path }) => path)).toEqual([]);
  expect(LISTED.flatMap(({ feature }) => (feature.tools === undefined ? [] : [feature.name]))).toContain("workspace");
});

// What a feature has is a token of its own. A word goes in here when the last file under `src/turn` has lost it.
const NOT_IN_TURN =
  /(?<!needs|")approv|credit|evict|overtaken|lesson|escalat|schedule\b|consolidat|\bpeer|inbox|EDIT_TOOL|update_prompt_layer|payment|\bforget\b|StoreWrite\["kind"\]/i;

it("no two features open threads on the same channel, and nobody can talk where a feature says what its threads hold", async () => {
  const channels = LISTED.flatMap(({ feature }) => feature.channels ?? []);
  expect(twice(channels.map(({ name }) => name))).toEqual([]);
  const { runtime, agent } = await testRuntime([]);
  for (const { name: channel, holds } of channels) {
    const conversation = { agent: agent.name, contact: contactId("ann"), channel, key: "main" };
    const opened = runtime.open(OPERATOR, conversation).then(() => "opened", String);
    expect(await opened, channel).toContain(holds ?? "opened");
  }
});

describe("a feature's functions", () => {
  const NAME_API = featureApi<{ readonly name: () => string }>("names");
  const names: Feature = {
    name: "names",
    operations: [],
    open: () => ({ api: () => NAME_API.open({ name: () => "Ann" }) }),
  };

  it("are reached by their token, those of each runtime on its own, and the error names a feature that is not in the list", async () => {
    const [own, other] = [await testRuntime([], { parts: { features: [names] } }), await testRuntime([])];
    expect(own.runtime.use(NAME_API).name()).toBe("Ann");
    expect(() => other.runtime.use(NAME_API)).toThrow(/names/);
  });

  it("may use those of the features that it needs, wherever these are in the list", async () => {
    const GREETING_API = featureApi<{ readonly greeting: string }>("greetings");
    const greetings: Feature = {
      name: "greetings",
      needs: ["names"],
      operations: [],
      open: () => ({ api: ({ use }) => GREETING_API.open({ greeting: `Hello, ${use(NAME_API).name()}` }) }),
    };
    const { runtime } = await testRuntime([], { parts: { features: [greetings, names] } });
    expect(runtime.use(GREETING_API).greeting).toBe("Hello, Ann");
  });
});

it("a feature's column is read once for all rows of an agent, and is in the answer, in its shape and on the page", async () => {
  const asked: (readonly string[])[] = [];
  const mood = threadColumn({
    name: "mood",
    schema: z.string().describe("how it goes"),
    read: async (_, { agent, contact }, rows) => {
      asked.push([agent, String(contact), ...rows.map(({ id }) => id)]);
      return new Map(rows.slice(1).map(({ id }) => [id, "calm"]));
    },
    show: (value) => `is ${value}`,
  });
  const moods: Feature = { name: "moods", operations: [], columns: { threads: [mood] } };
  const { runtime, agent, open } = await testRuntime([], { parts: { features: [moods] } });
  const ids = [(await open("ann")).id, (await open("bob")).id].toReversed();
  const list = OPERATIONS.find(({ name }) => name === "thread.list");
  if (list?.kind !== "value") throw new Error("there is no list of threads");
  const call = { actor: OPERATOR, signal: new AbortController().signal, progress: () => undefined };
  const context: Pick<OperationContext, "runtime" | "clock"> = { runtime, clock: { recorded: () => 0, real: () => 0 } };
  const answer = await list.run(Object(context), { values: {}, naming: { whole: "it", field: (name) => name } }, call);
  expect(asked).toEqual([[agent.name, "null", ...ids]]);
  expect(answer.json).toMatchObject([{ id: ids[0] }, { id: ids[1], mood: "calm" }]);
  expect(answer.json).not.toHaveProperty("0.mood");
  const page = await answer.lines({ style: styleOf({}, { env: {} }), agentWords: "" });
  expect(page.map((line) => line.split(/ {2,}/).at(-1))).toEqual(["mood", "just now", "is calm"]);
  const given = givingColumns(list, columnsOf([moods]));
  expect(JSON.stringify(given.kind === "value" && z.toJSONSchema(given.gives))).toContain('"mood"');
  expect(JSON.stringify(z.toJSONSchema(list.gives))).not.toContain('"mood"');
});

it("a turn names no feature by its words", () => {
  const found = readFiles((path) => /^src\/turn\/.*(?<!\.test|\.contract)\.ts$/.test(path)).flatMap(({ path, text }) =>
    text.split("\n").flatMap((line, i) => (NOT_IN_TURN.test(line) ? [`${path}:${i + 1}: ${line.trim()}`] : [])),
  );
  expect(found).toEqual([]);
});

it("every key of an agent that a feature brings is listed, and no key that no feature brings", () => {
  const brought = LISTED.flatMap(({ feature }) => Object.entries(feature.keys ?? {}));
  expect(twice(brought.map(([name]) => name))).toEqual([]);
  expect(brought.toSorted(byName)).toEqual(Object.entries<unknown>(AGENT_KEYS).toSorted(byName));
});

it("every kind of source that layers may name is said in one feature's folder, or with what every program has", () => {
  const core = readFiles(
    (path) => /^src\/(agents|protocol)\/.*\.ts$/.test(path) && !/\.(test|contract)\.ts$/.test(path),
  );
  for (const name of Object.keys(LAYER_SOURCES)) {
    const declares = SOURCES.filter(
      ({ path, text }) => path.endsWith("/config.ts") && text.includes(`  ${name}: sourceForm(`),
    );
    expect(declares, name).toHaveLength(1);
    const sentence = new RegExp(`kind: (?:z\\.literal\\()?"${name}"|case "${name}"`);
    expect(core.filter(({ text }) => sentence.test(text)).map(({ path }) => path)).toEqual([]);
  }
});

const byName = ([a]: readonly [string, unknown], [b]: readonly [string, unknown]): number => (a < b ? -1 : 1);

it.each([...Object.keys(AGENT_KEYS), "senders", "instructions", "tail", "summaries"])(
  "the key `%s` is said in one place",
  (name) => {
    const core = readFiles((path) =>
      /^src\/(agents\/(config-schema|agent-spec|build-agent)|protocol\/agent)\.ts$/.test(path),
    );
    expect(core).toHaveLength(4);
    const sentence = new RegExp(`\\b(?:config\\.)?${name}\\??:|\\{[^}]*\\b${name}\\b[^}]*\\}: AgentConfig`);
    expect(core.filter(({ text }) => sentence.test(text)).map(({ path }) => path)).toEqual([]);
  },
);

const nounOf = (name: string): string => name.split(".")[0] ?? "";

it("no feature needs itself, over whichever others", () => {
  const needs = new Map(LISTED.map(({ feature }) => [feature.name, feature.needs ?? []]));
  const above = (name: string, seen: readonly string[]): readonly string[] =>
    seen.includes(name)
      ? [[...seen, name].join(" → ")]
      : (needs.get(name) ?? []).flatMap((one) => above(one, [...seen, name]));
  expect([...needs.keys()].flatMap((name) => above(name, []))).toEqual([]);
});

it("no two operations share a name, a route or a command, and no two features a noun", () => {
  expect(twice(LISTED.flatMap(({ listed }) => Object.keys(listed.nouns)))).toEqual([]);
  expect(twice(OPERATIONS.map(({ name }) => name))).toEqual([]);
  const routes = OPERATIONS.flatMap(({ at }) => (at ? [`${at.method} ${at.path.replaceAll(/\{\w+\}/g, "{}")}`] : []));
  expect(twice(routes)).toEqual([]);
  const options = OPERATIONS.flatMap(({ command: { optionOf } = {} }) =>
    optionOf ? [`${optionOf.operation} --${optionOf.option}`] : [],
  );
  expect(twice(options)).toEqual([]);
});

/** Answers whose lists end by themselves: what strata.yaml declares, what belongs to one thing, the best hits of a search. */
const BOUNDED = [
  ...[
    "agent.graph",
    "agent.list",
    "agent.show",
    "agent.snapshot",
    "agent.attention",
    "block.list",
    "file.list",
    "layer.list",
    "setting.list",
  ],
  ...[
    "layer.diff",
    "lesson.show",
    "learning.list",
    "learning.show",
    "learning.rate",
    "memory.show",
    "memory.search",
    "memory.explain",
    "memory.stats",
    "memory.vectors",
    "peer.list",
    "schedule.list",
    "member.list",
    "line.list",
    "limit.list",
  ],
  ...["subagent.list", "turn.diff", "turn.show", "usage"],
];

it("every list that grows can be read on from where a page ended", () => {
  const lists = OPERATIONS.flatMap((one) =>
    one.kind !== "value" || !(one.gives instanceof z.ZodObject) || !hasList(one.gives) ? [] : [one],
  );
  const pages = ({ takes, gives }: (typeof lists)[number]): boolean =>
    "limit" in takes.shape && "after" in takes.shape && gives instanceof z.ZodObject && "next" in gives.shape;
  expect(
    lists
      .filter((one) => one.at?.method === "get" && !pages(one))
      .map(({ name }) => name)
      .sort(),
  ).toEqual(BOUNDED.toSorted());
});

const hasList = ({ shape }: z.ZodObject): boolean =>
  Object.values(shape).some((field) => field instanceof z.ZodReadonly && field.unwrap() instanceof z.ZodArray);

/** Who says what it does begins with these; `Lists` and `The list` describe it, and `List` tells it to be done. */
const IMPERATIVE = /^(?!(?:A|All|An|How|The|What|Who)\b)[A-Z][a-z]*(?<!s) /;

describe.each(OPERATIONS.map((operation) => [operation.name, operation] as const))("%s", (name, operation) => {
  it("has a name of one or two words, and says in whole sentences and in the imperative what it does", () => {
    expect(name).toMatch(/^[a-z]+(\.[a-z]+)?$/);
    expect(operation.does).toMatch(IMPERATIVE);
    expect(operation.does).toMatch(/\.$/);
  });

  it("can be reached, says of every field what it is, and takes each that stands in its path", () => {
    const { at, command, takes } = operation;
    expect(at ?? command).toBeDefined();
    const fields = fieldsOf(takes);
    expect(fields.filter(({ message: sentence }) => sentence === "").map((field) => field.name)).toEqual([]);
    const known = fields.map((field) => field.name);
    expect(known).toEqual(expect.arrayContaining(at === undefined ? [] : [...pathFields(at)]));
    const { words = [], rest, file, stdin } = command ?? {};
    expect(known).toEqual(expect.arrayContaining([...words, rest, file, stdin].filter((one) => one !== undefined)));
  });

  it("is a tool for programs that speak MCP, with the fields that every door takes, each explained", () => {
    const { inputSchema, ...told } = mcpTool(operation);
    expect(told).toEqual({
      name: name.replace(".", "_"),
      description: operation.does,
      annotations: {
        readOnlyHint: ["view", "read", "explain"].includes(operation.may),
        destructiveHint: operation.command?.confirm !== undefined || operation.at?.method === "delete",
      },
    });
    const fields = fieldsOf(operation.takes);
    expect(inputSchema.type).toBe("object");
    expect(Object.keys(inputSchema.properties)).toEqual(fields.map((field) => field.name));
    expect(inputSchema.required).toEqual(fields.filter(({ required }) => required).map((field) => field.name));
    const explained = Object.values(inputSchema.properties).map((one) => Reflect.get(Object(one), "description"));
    expect(explained).toEqual(fields.map(({ message: sentence }) => sentence));
  });

  it("has examples that the command line takes as this command", async () => {
    if (operation.command === undefined) return;
    expect(operation.command.examples.length).toBeGreaterThan(0);
    const { alias = commandOf(operation), examples } = operation.command;
    for (const line of examples) expect([commandOf(operation), alias], line).toContain(await parsedAs(line));
  });
});

const commandOf = ({ name, command }: Operation): string => (command?.optionOf?.operation ?? name).replace(".", " ");

/** The words of the command that a line is parsed as; nothing is run. @throws what is wrong with the line */
async function parsedAs(line: string): Promise<string> {
  const [stdin, stdout, stderr] = [new PassThrough(), new PassThrough(), new PassThrough()];
  const { signal } = new AbortController();
  const program = await createProgram(createContext({ stdin, stdout, stderr, env: {}, cwd: "/", signal }));
  let found = "";
  for (const command of leaves(program))
    command.exitOverride().action(() => {
      found = pathOf(command).join(" ");
    });
  await program.parseAsync(wordsOf(line), { from: "user" });
  return found;
}

const leaves = (command: Command): readonly Command[] =>
  command.commands.length === 0 ? [command] : command.commands.flatMap(leaves);

const pathOf = (command: Command): readonly string[] =>
  command.parent === null ? [] : [...pathOf(command.parent), command.name()];

/** A line as a shell reads it, to its first redirection or second command. */
function wordsOf(line: string): readonly string[] {
  const [own = ""] = line.split(/ (?:&&|[<>|]) /);
  return [...own.matchAll(/'([^']*)'|"([^"]*)"|(\S+)/g)].map(
    ([, single, double, bare]) => single ?? double ?? bare ?? "",
  );
}
