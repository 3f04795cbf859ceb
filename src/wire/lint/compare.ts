import { canonicalJson, type Json, type Request } from "../../protocol/index.ts";

/** A part of a request before its tail, as bytes. */
export interface SentSection {
  readonly section: string;
  readonly text: string;
}

/** Where two renders differ: which section, how many bytes into it and into the request, and the text there. */
export interface Difference {
  readonly request: number;
  readonly section: string;
  /** Bytes of the section, and of all before the tail, that are the same. */
  readonly byte: number;
  readonly ofRequest: number;
  readonly one: string;
  readonly other: string;
}

/** The changed conditions of a render. A variant without settings is the same request, rendered again. */
export interface RenderVariant {
  readonly name: string;
  /** True: by a separate process, which loads the project again. */
  readonly fresh?: true;
  /** The time of the clock, in milliseconds since 1970. */
  readonly at?: number;
  readonly timezone?: string;
  readonly locale?: string;
  /** What is reversed: maps, keys and layers, or the order of registered tools. */
  readonly reversed?: readonly ("maps" | "tools")[];
}

/** A year with summer time; a day's last second; a zone with three quarters of an hour; a language with other capitals. */
export const WORLDS: readonly RenderVariant[] = [
  { name: "rendered again" },
  { name: "loaded again", fresh: true },
  { name: "with maps in another order", reversed: ["maps"] },
  { name: "with tools registered in another order", reversed: ["tools"] },
  { name: "on another day", fresh: true, at: Date.UTC(2027, 1, 28, 23, 59, 59) },
  { name: "in another year, in summer time", fresh: true, at: Date.UTC(2031, 6, 15, 1, 30), timezone: "Europe/Berlin" },
  { name: "in another time zone", fresh: true, timezone: "Pacific/Chatham" },
  { name: "in another language", fresh: true, locale: "tr_TR.UTF-8" },
];

/** All changes at once: if nothing differs, the worlds need not be tried one by one. */
export const TOGETHER: readonly RenderVariant[] = [
  { name: "rendered again" },
  {
    name: "with all of it",
    fresh: true,
    at: Date.UTC(2031, 6, 15, 23, 59, 59),
    timezone: "Pacific/Chatham",
    locale: "tr_TR.UTF-8",
    reversed: ["maps", "tools"],
  },
];

/** Renders an agent's first requests in a world, each as its sections. */
export type Render = (world: RenderVariant) => Promise<readonly (readonly SentSection[])[]>;

/** A difference and the worlds in which the section differs. */
export interface Unstable extends Difference {
  readonly worlds: readonly string[];
}

/** Renders that must be equal without any change around them; if they differ, no other cause is needed. */
const WITHOUT_CAUSE = ["rendered again", "loaded again"];

/** Renders in this world and in each of the others, and returns the sections before the tail that differ (CACHING §4.6). */
export async function perturb(render: Render, worlds: readonly RenderVariant[] = WORLDS): Promise<readonly Unstable[]> {
  const usual = await render({ name: "as it is" });
  const found = new Map<string, Unstable>();
  for (const world of worlds) {
    for (const difference of differences(usual, await render(world))) {
      const known = found.get(difference.section);
      if (known === undefined) found.set(difference.section, { ...difference, worlds: [world.name] });
      else if (!known.worlds.some((name) => name === world.name || WITHOUT_CAUSE.includes(name)))
        found.set(difference.section, { ...known, worlds: [...known.worlds, world.name] });
    }
  }
  return [...found.values()];
}

type Requests = readonly (readonly SentSection[])[];

const differences = (usual: Requests, other: Requests): readonly Difference[] =>
  usual.flatMap((sections, n) => differing(sections, other[n] ?? []).map((one) => ({ request: n + 1, ...one })));

/** Each section whose text differs; if the sections themselves or their order differ, the first one that does. */
function differing(
  usual: readonly SentSection[],
  other: readonly SentSection[],
): readonly Omit<Difference, "request">[] {
  const found: Omit<Difference, "request">[] = [];
  let before = 0;
  for (let n = 0; n < Math.max(usual.length, other.length); n++) {
    const [one, two] = [usual[n], other[n]];
    const [text, otherText] = [one?.text ?? "", two?.text ?? ""];
    const at = sharedLength(text, otherText);
    const byte = byteLength(text.slice(0, at));
    if (text !== otherText) {
      const section = sectionAt(one ?? two ?? { section: "request", text: "" }, at);
      found.push({ section, byte, ofRequest: before + byte, one: around(text, at), other: around(otherText, at) });
    }
    if (one?.section !== two?.section) break;
    before += byteLength(text);
  }
  return found;
}

const byteLength = (text: string): number => new TextEncoder().encode(text).length;

function sharedLength(one: string, other: string): number {
  let at = 0;
  while (at < one.length && one[at] === other[at]) at++;
  return at;
}

/** The layer of a byte in a system block, by the heading above it. */
function sectionAt({ section, text }: SentSection, at: number): string {
  const headings = [...text.matchAll(/^# Layer \d+ · (\S+)$/gm)].filter(({ index }) => index <= at);
  const layer = headings.at(-1)?.[1];
  return layer === undefined || !section.startsWith("system") ? section : `layer ${layer}`;
}

const BEFORE = 24;
const AFTER = 40;

const around = (text: string, at: number): string =>
  `${at > BEFORE ? "…" : ""}${text.slice(Math.max(0, at - BEFORE), at + AFTER)}${at + AFTER < text.length ? "…" : ""}`;

/**
 * Everything before a request's tail: tools, system blocks, messages, and the form of the answer. A live layer's text in a message is left
 * out: it never changes, and is not rendered again.
 */
export function sentSections({
  prefix,
  messages,
  parameters,
}: Pick<Request, "prefix" | "messages" | "parameters">): readonly SentSection[] {
  return [
    ...prefix.tools.map((tool) => ({ section: `tool ${tool.name}`, text: JSON.stringify(tool) })),
    ...prefix.system.map(({ scope, text }) => ({ section: `system block ${scope}`, text })),
    ...messages.map(({ role, parts }, n) => ({
      section: `message ${n + 1}`,
      text: JSON.stringify({ role, parts: parts.filter((part) => !("told" in part)) }),
    })),
    { section: "output", text: canonicalJson(outputOf(parameters)) },
  ];
}

const outputOf = ({ output }: Pick<Request["parameters"], "output">): Json => output ?? null;
