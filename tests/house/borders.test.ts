import { describe, expect, it } from "vitest";
import { readFiles } from "../../checks/files.ts";
import { FEATURES } from "../../src/app/entry/features.ts";
import type { Feature } from "../../src/features/index.ts";
import { openSqlite } from "../../src/store/index.ts";

/** What crosses each feature's border, as a person has reviewed it. */
const REVIEWED = readFiles((path) => /^(tests\/house|src\/features\/[\w-]+)\/borders\.txt$/.test(path))
  .flatMap(({ text }) => text.split("\n"))
  .filter((line) => line !== "" && !line.startsWith("#"))
  .map((line) => line.trim().split(/\s+/).join(" "));

const store = await openSqlite(":memory:");
const LOADED = await Promise.all(FEATURES.map(async ({ name, load }) => [name, await load()] as const));

/** The trust that its tools' answers have at most, what they act on, and the channels that it opens threads on. */
function borderOf(name: string, { tools, channels = [] }: Feature): readonly string[] {
  const made = tools?.({ store, agentOf: () => undefined, files: "" }) ?? [];
  const rows = [
    ...made.map(({ schema, effect, trust }) => `${name} tool ${schema.name} ${effect} ${trust}`),
    ...channels.map((channel) => `${name} channel ${channel.name} ${channel.answersCalls ? "answers-calls" : "own"}`),
  ];
  return rows.length === 0 ? [`${name} nothing`] : rows;
}

describe("what crosses the border of a feature", () => {
  it.each(LOADED)("%s: its tools and channels are those that were reviewed", (name, feature) => {
    const reviewed = REVIEWED.filter((row) => row.startsWith(`${name} `));
    expect(
      reviewed,
      `say in src/features/${name}/borders.txt or tests/house/borders.txt what crosses the border of ${name}`,
    ).not.toEqual([]);
    expect(reviewed.toSorted()).toEqual(borderOf(name, feature).toSorted());
  });

  it("has no row of a feature that is not there", () => {
    const names = LOADED.map(([name]) => name);
    expect(REVIEWED.filter((row) => !names.includes(row.split(" ")[0] ?? ""))).toEqual([]);
  });
});
