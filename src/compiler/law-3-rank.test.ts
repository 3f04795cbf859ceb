import fc from "fast-check";
import { expect, it } from "vitest";
import {
  LAYER_SCOPES,
  type Layer,
  layerHeading,
  looksLikeOurs,
  MODES,
  readFrames,
  type SystemBlock,
} from "../protocol/index.ts";
import { type Compilation, compile } from "./index.ts";
import { randomContents, randomEvents, randomLayers } from "./random.contract.ts";
import { agentOf, entryOf, inputOf, request, unlessTooSmall } from "./samples.contract.ts";

/** A text as a reader sees it: under each heading everything up to the next one. */
function sections(text: string): { heading: string; body: string }[] {
  const found: { heading: string; lines: string[] }[] = [];
  for (const line of text.split("\n")) {
    // A single line follows on the line of its heading.
    const [, heading, said] = /^(# Layer \d+ · [^:]+)(?:: (.*))?$/.exec(line) ?? [];
    if (heading !== undefined) found.push({ heading, lines: said === undefined ? [] : [said] });
    else if (found.length === 0) throw new Error(`text above every heading: ${JSON.stringify(line)}`);
    else found.at(-1)?.lines.push(line);
  }
  return found.map(({ heading, lines }) => ({ heading, body: lines.join("\n") }));
}

/** All sections of the prefix in order; the blank line between two layers belongs to neither. */
const systemSections = (blocks: readonly SystemBlock[]) =>
  blocks.flatMap((block) => {
    const found = sections(block.text);
    return found.map(({ heading, body }, i) => ({
      heading,
      scope: block.scope,
      body: i === found.length - 1 ? body : body.replace(/\n$/, ""),
    }));
  });

const textOf = (one: Layer): string => (one.source.kind === "text" ? one.source.text : "");

/** A layer's possible content: its text, its line, its beginning and the mark of the cut, or that it is left out. */
function expectOwn(one: Layer, body: string, made: Compilation): void {
  const entry = entryOf(made, one.id);
  const lined = one.line !== undefined && one.modes[made.ledger.mode] === "line";
  const whole = lined ? one.line : textOf(one);
  if (entry.fate === "dropped") {
    expect(body).toBe("(Omitted: over budget.)");
    return;
  }
  if (entry.fate !== "truncated") {
    expect(entry.fate).toBe(lined ? "lined" : "kept");
    expect(body).toBe(whole);
    return;
  }
  const mark = `\n(Truncated: ${one.id} exceeds its budget.)`;
  expect(body.endsWith(mark)).toBe(true);
  expect(whole.startsWith(body.slice(0, -mark.length))).toBe(true);
}

const anything = randomLayers.chain((layers) => fc.tuple(fc.constant(layers), randomContents(layers)));
/** How much of what all would take may be sent, in percent. */
const shares = fc.oneof(fc.constant(100), fc.integer({ min: 20, max: 99 }));

it("law 3: every layer's text stands under its own heading, lower ranks first, the widest scope first", () => {
  let cuts = 0;
  fc.assert(
    fc.property(anything, fc.constantFrom(...MODES), shares, ([layers, contents], mode, share) => {
      const input = inputOf({ agent: agentOf(...layers), contents, mode, limit: 1_000_000 });
      const limit = Math.ceil((compile(input).ledger.tokens * share) / 100);
      const made = unlessTooSmall(() => compile({ ...input, limit }));
      if (made === undefined) return;
      const { prefix, tail } = request(made);
      const stand = systemSections(prefix.system);
      const sent = layers.filter(
        (one) => one.scope !== "turn" && made.ledger.entries.some((e) => e.section === one.id && e.tokens > 0),
      );
      expect(stand.map((one) => one.heading).sort()).toEqual(sent.map(layerHeading).sort());

      const places = stand.map(({ heading, scope }) => ({ scope: LAYER_SCOPES.indexOf(scope), rank: rankOf(heading) }));
      const sorted = places.toSorted((a, b) => a.scope - b.scope || a.rank - b.rank);
      expect(places).toEqual(sorted);
      for (const one of sent) {
        const section = stand.find(({ heading }) => heading === layerHeading(one));
        expect(section?.scope).toBe(one.scope);
        expectOwn(one, section?.body ?? "", made);
        if (one.mutability === "immutable") expect(entryOf(made, one.id).fate).not.toMatch(/truncated|dropped/);
      }
      for (const part of tail) {
        const owner = layers.find((one) => one.id === part.layer);
        expect(sections(part.text).map((one) => one.heading)).toEqual([owner && layerHeading(owner)]);
      }
      const ranks = tail.map((part) => rankOf(part.text.split("\n")[0] ?? ""));
      expect(ranks).toEqual(ranks.toSorted((a, b) => a - b));
      if (made.ledger.entries.some((one) => one.fate === "truncated")) cuts++;
    }),
    { numRuns: 300 },
  );
  expect(cuts).toBeGreaterThan(3);
});

it("law 3: no message, memory or result opens a section: only layers have headings", () => {
  fc.assert(
    fc.property(anything, randomEvents(), ([layers, contents], events) => {
      const made = compile(inputOf({ agent: agentOf(...layers), contents, events, limit: 1_000_000 }));
      const texts = request(made).messages.flatMap((one) =>
        one.parts.flatMap((part) => ("text" in part ? [part.text] : [])),
      );
      for (const text of texts) {
        const ours = text.split("\n").filter(looksLikeOurs);
        expect(ours).toHaveLength(readFrames(text).length);
        expect(ours.some((line) => line.startsWith("#"))).toBe(false);
      }
    }),
    { numRuns: 200 },
  );
});

const rankOf = (heading: string): number => Number(/^# Layer (\d+) · /.exec(heading)?.[1]);
