import { basename } from "node:path";
import { z } from "zod";
import { didYouMean, suggestion } from "../protocol/index.ts";
import type { TranslatedKey, Translation } from "./devclaw.ts";
import type { Path } from "./path.ts";
import { type Report, reportOn } from "./report.ts";
import { SLUG } from "./schema-parts.ts";
import { editableYaml, readYaml } from "./yaml-source.ts";

/** The default of a number, according to the format's own documentation. */
const USUAL = { slots: 1_000, threads: 10_000, ttlHours: 24, graceMinutes: 10, reply: 4_096, calls: 100 };

/** Which of the blueprint's files the result does not keep: its texts and its code. */
const OF_BLUEPRINT = /^(?:layers|handlers)\//;
const COMMON_LAYERS = ["layers/precedence.md", "layers/safety.md"];

const wholeNumberUpTo = (most: number) => z.number().int("expected a whole number").min(1).max(most);

const LISTENER = z.looseObject({
  name: z.string().regex(SLUG, "expected a name of a-z, 0-9, `_` and `-`"),
  description: z.string().min(1).max(300).optional(),
  prompt: z.string().min(1).optional(),
  peers: z.array(z.string()).default([]),
});

const ORGANISM = z.looseObject({
  organism: z.looseObject({ name: z.string().regex(SLUG, "expected a name of a-z, 0-9, `_` and `-`") }).optional(),
  platform: z
    .looseObject({
      context_buffer: z
        .looseObject({
          max_slots_per_thread: wholeNumberUpTo(1_000_000).optional(),
          max_threads: wholeNumberUpTo(10_000_000).optional(),
          ttl_hours: z.number().min(0.001).max(100_000).optional(),
        })
        .optional(),
      prompt_registry: z.looseObject({ allow_runtime_update: z.boolean().optional() }).optional(),
      llm: z
        .looseObject({
          rate_limit_per_agent: wholeNumberUpTo(100_000).optional(),
          cache_ttl_seconds: z.number().int("expected whole seconds").min(0).max(2_592_000).optional(),
          max_tokens_per_request: wholeNumberUpTo(1_000_000).optional(),
        })
        .optional(),
    })
    .optional(),
  listeners: z.array(LISTENER).min(1, "expected at least one listener"),
});
type Organism = z.output<typeof ORGANISM>;

/**
 * Translates an organism.yaml into the blueprint `organism`: `texts` are the blueprint's files by path. An invalid value is an error with
 * its line, a key without a counterpart is named with the next step.
 * @throws StrataError `config_invalid`
 */
export function translateOrganism(
  from: { readonly file: string; readonly text: string },
  texts: ReadonlyMap<string, string>,
): Translation {
  const source = readYaml(from.file, from.text);
  const report = reportOn(source);
  const parsed = ORGANISM.safeParse(source.value);
  for (const { path, message } of parsed.error?.issues ?? []) report.add(path.filter(isStep), message);
  report.end();
  const organism = ORGANISM.parse(source.value);
  checkPeers(organism, report);
  report.end();
  const yaml = editableYaml(texts.get("strata.yaml") ?? "");
  const { organism: { name } = { name: "home" }, platform: { context_buffer: buffer, llm } = {} } = organism;
  yaml.set("organization", name);
  yaml.set("entry", yaml.createNode(findEntryListeners(organism)));
  yaml.set(
    "buffer",
    yaml.createNode({
      slots: buffer?.max_slots_per_thread ?? USUAL.slots,
      threads: buffer?.max_threads ?? USUAL.threads,
      ttlHours: buffer?.ttl_hours ?? USUAL.ttlHours,
      graceMinutes: USUAL.graceMinutes,
    }),
  );
  yaml.delete("agents");
  yaml.set("limits", yaml.createNode({ agent: { calls: llm?.rate_limit_per_agent ?? USUAL.calls } }));
  const { cache_ttl_seconds: seconds = 0 } = llm ?? {};
  if (seconds > 0) yaml.set("responseCache", yaml.createNode({ seconds }));
  const reply = llm?.max_tokens_per_request ?? USUAL.reply;
  yaml.set(
    "agents",
    yaml.createNode(Object.fromEntries(organism.listeners.map((one) => [one.name, translateListener(one, reply)]))),
  );
  const keys = leavesOf(source.value).map(({ path, value }): TranslatedKey => {
    const line = source.locate(path, true).line;
    return { key: path.join("."), line, ...outcomeOf(path, value, organism) };
  });
  const prompted = organism.listeners.some(({ prompt }) => prompt !== undefined);
  const kept = [...texts].filter(([path]) => !OF_BLUEPRINT.test(path) || (prompted && COMMON_LAYERS.includes(path)));
  const handlers = organism.listeners.flatMap((one) =>
    one.prompt === undefined ? [[handlerOf(one.name), stub(one)] as const] : [],
  );
  return {
    files: new Map([...kept, ...handlers, ["strata.yaml", replaceHeader(yaml.toString({ lineWidth: 0 }), from.file)]]),
    keys: [...keys, ...withoutPrompt(organism, (path) => source.locate(path, true).line)].toSorted(
      (a, b) => a.line - b.line,
    ),
  };
}

/** The blueprint's first lines are about its own agents. */
const replaceHeader = (yaml: string, file: string): string =>
  yaml.replace(
    /^(?:#.*\n)+/,
    `# Agents that ask each other over declared edges, translated from ${basename(file)}. After a change, run \`strata lock\`.\n`,
  );

const isStep = (step: PropertyKey): step is string | number => typeof step !== "symbol";

function checkPeers({ listeners }: Organism, report: Report): void {
  const names = listeners.map(({ name }) => name);
  for (const [i, { name, peers }] of listeners.entries()) {
    if (names.indexOf(name) < i) report.add(["listeners", i, "name"], "is the name of another listener, too");
    for (const [n, peer] of peers.entries())
      if (!names.includes(peer))
        report.add(["listeners", i, "peers", n], `there is no listener \`${peer}\`${suggestion(peer, names)}`);
  }
}

/** Listeners without a caller are for people. */
function findEntryListeners({ listeners }: Organism): readonly string[] {
  const asked = new Set(listeners.flatMap(({ name, peers }) => peers.filter((peer) => peer !== name)));
  const first = listeners.map(({ name }) => name);
  const free = first.filter((name) => !asked.has(name));
  return free.length > 0 ? free : first.slice(0, 1);
}

function translateListener(
  { name, description = `The listener ${name}.`, prompt, peers }: Organism["listeners"][number],
  reply: number,
) {
  const layers = [
    { id: "precedence", rank: 0, scope: "all", trust: "platform", file: "layers/precedence.md" },
    { id: "safety", rank: 10, file: "layers/safety.md" },
    { id: "prompt", rank: 20, text: prompt },
  ];
  if (prompt === undefined) return { description, peers, handler: handlerOf(name), layers: [] };
  return { description, budgets: { reply }, peers, layers };
}

const handlerOf = (name: string): string => `handlers/${name}.ts`;

/** A placeholder for the code of a listener without a prompt, which must be written by hand: it answers with its input. */
const stub = ({
  name,
  peers,
}: Organism["listeners"][number]): string => `import type { HandlerFunction } from "strata/testing";

/**
 * Answers for ${name}, without a model. Return \`{ payload }\` to respond,${peers.length === 0 ? "" : ` \`{ payload, to }\` to ask ${peers.join(" or ")},`} or nothing to end the turn without a reply.
 * \`strata lock\` accepts a change.
 */
const handle: HandlerFunction = (payload) => ({ payload });
export default handle;
`;

interface Leaf {
  readonly path: Path;
  readonly value: unknown;
}

/** Everything that the file says, each with its place; a list of names is one thing. */
function leavesOf(value: unknown, path: Path = []): readonly Leaf[] {
  if (value === null || typeof value !== "object") return [{ path, value }];
  if (Array.isArray(value) && value.every((one) => typeof one !== "object")) return [{ path, value }];
  const members: readonly (readonly [string | number, unknown])[] = Array.isArray(value)
    ? value.map((one, i) => [i, one] as const)
    : Object.entries(value);
  return members.flatMap(([step, one]) => leavesOf(one, [...path, step]));
}

type Translated = { readonly to: string } | { readonly next: string };

const BUFFER: Readonly<Record<string, string>> = {
  max_slots_per_thread: "slots",
  max_threads: "threads",
  ttl_hours: "ttlHours",
};
const LISTENED: Readonly<Record<string, string>> = {
  description: "description",
  prompt: "the layer prompt",
  peers: "peers",
};

function outcomeOf(path: Path, value: unknown, { listeners }: Organism): Translated {
  const [top, second, third] = path.map(String);
  if (top === "organism" && second === "name") return { to: `organization: ${value}` };
  const buffer = second === "context_buffer" && top === "platform" ? BUFFER[third ?? ""] : undefined;
  if (buffer !== undefined) return { to: `buffer.${buffer}: ${value}` };
  if (top === "platform" && second === "prompt_registry" && third === "allow_runtime_update")
    return value === false
      ? { to: "immutable layers, which strata.lock holds" }
      : {
          next: "layers are immutable here; a text that is edited at run time is a layer with `mutability: versioned`",
        };
  if (top === "platform" && second === "llm") {
    const to = ofModel(third ?? "", value);
    if (to !== undefined) return { to };
  }
  const listener = top === "listeners" ? listeners[Number(second)] : undefined;
  if (listener !== undefined && third === "name") return { to: `agents.${listener.name}` };
  const field = listener && LISTENED[third ?? ""];
  return field === undefined ? { next: withoutPlace(path) } : { to: `${field} of agents.${listener?.name}` };
}

/** Where each key of the format belongs. */
export const PLACES_OF_KEYS: ReadonlyMap<string, string> = new Map([
  ...["context_buffer", "prompt_registry", "llm"].map((key) => [key, "platform"] as const),
  ...Object.keys(BUFFER).map((key) => [key, "platform.context_buffer"] as const),
  ["allow_runtime_update", "platform.prompt_registry"],
  ...["rate_limit_per_agent", "cache_ttl_seconds", "max_tokens_per_request"].map(
    (key) => [key, "platform.llm"] as const,
  ),
  ...Object.keys(LISTENED).map((key) => [key, "listeners"] as const),
]);

/** Keys of the seed that its file has no values to translate for, and what is written by hand in their place. */
const BY_HAND: ReadonlyMap<string, string> = new Map([
  [
    "thread_scheduling",
    "is not translated: write `turns: {chains: breadth}` in strata.yaml to run turns in order of arrival",
  ],
  [
    "handler",
    "is not translated: a listener without `prompt` gets handlers/NAME.ts, to which its code is moved by hand",
  ],
  ["payload_class", "is not translated: write the type and its schema as `payload` of the agent in strata.yaml"],
]);

/** What to do with a key that has no counterpart where it is. */
function withoutPlace(path: Path): string {
  const keys = path.map(String);
  const isMisplaced = (key: string, i: number): boolean => {
    const above = keys.slice(0, keys[0] === "listeners" ? Math.min(i, 1) : i).join(".");
    return PLACES_OF_KEYS.has(key) && PLACES_OF_KEYS.get(key) !== above;
  };
  const known = keys.findLast(isMisplaced);
  const place = PLACES_OF_KEYS.get(known ?? "");
  if (place !== undefined)
    return `\`${known}\` belongs below ${place === "listeners" ? "an entry of `listeners`" : `\`${place}\``}`;
  const byHand = BY_HAND.get(keys.at(-1) ?? "");
  if (byHand !== undefined) return byHand;
  return `nothing corresponds to it${didYouMean(keys.at(-1) ?? "", PLACES_OF_KEYS.keys()) || "; leave it out"}`;
}

function ofModel(key: string, value: unknown): string | undefined {
  if (key === "max_tokens_per_request") return `budgets.reply of each agent: ${value}`;
  if (key === "rate_limit_per_agent") return `limits.agent.calls: ${value}`;
  if (key === "cache_ttl_seconds") return value === 0 ? "no `responseCache`" : `responseCache.seconds: ${value}`;
  return undefined;
}

/** A listener without a prompt is answered by its own code. */
const withoutPrompt = ({ listeners }: Organism, lineOf: (path: Path) => number): readonly TranslatedKey[] =>
  listeners.flatMap(({ name, prompt }, i) =>
    prompt === undefined
      ? [
          {
            key: `listeners.${i}`,
            line: lineOf(["listeners", i]),
            next: `${name} has no prompt, so its own code answers: ${handlerOf(name)} answers with what it is sent until you write it, or give agents.${name} \`layers\``,
          },
        ]
      : [],
  );
