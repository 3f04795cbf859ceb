import { describe, expect, it } from "vitest";
import { z } from "zod";
import { readFiles } from "../../checks/files.ts";
import { allOperations, FEATURES } from "../../src/app/entry/features.ts";
import type { Feature } from "../../src/features/index.ts";
import { agentName, contactId, type Json, type Tainted, type Tool } from "../../src/protocol/index.ts";
import { openSqlite } from "../../src/store/index.ts";
import { sampleAgent, testRuntime } from "../../src/turn/index.contract.ts";

/** What crosses each feature's border, as a person has reviewed it. */
const REVIEWED = readFiles((path) => /^(tests\/house|src\/features\/[\w-]+)\/borders\.txt$/.test(path))
  .flatMap(({ text }) => text.split("\n"))
  .filter((line) => line !== "" && !line.startsWith("#"))
  .map((line) => line.trim().split(/\s+/).join(" "));

const OPERATIONS = await allOperations();
const store = await openSqlite(":memory:");
const LOADED = await Promise.all(FEATURES.map(async ({ name, load }) => [name, await load()] as const));

/** An agent whose declaration names the host that the calls go to, and what a call needs at least. */
const HOST = "docs.example.org";
const NAMING = sampleAgent({
  fetch: { allow: [HOST], post: [HOST], bytes: 1_000_000, seconds: 20, redirects: 5 },
  assistant: { members: { ann: { agents: [agentName("companion")] } }, operations: [] },
});
const SCOPE = { org: NAMING.org, agent: NAMING.name, contact: contactId("ann") };
const inputOf = ({ schema }: Tool): Json =>
  Object.fromEntries(
    z
      .array(z.string())
      .default([])
      .parse(schema.input["required"])
      .map((key) => [key, key === "agent" ? "companion" : `https://${HOST}/`]),
  );

/** What becomes of its call in a tainted turn. */
const taintedOf = (tool: Tool | undefined): Tainted => tool?.tainted?.(inputOf(tool), SCOPE) ?? "run";

/**
 * What its tools act on, the trust that their answers have at most, what becomes of a call in a tainted turn, and behind the bar where the
 * declaration names the host that it goes to; and the channels that the feature opens threads on.
 */
function borderOf(
  name: string,
  { tools, toolFamilies = [], operationTools, channels = [] }: Feature,
): readonly string[] {
  const made = tools?.({ store, agentOf: () => undefined, files: "" }) ?? [];
  const naming = tools?.({ store, agentOf: () => NAMING, files: "" }) ?? [];
  const rows = [
    ...made.map((tool, i) => {
      const { schema, effect, trust } = tool;
      return `${name} tool ${schema.name} ${effect} ${trust} ${taintedOf(tool)}|${taintedOf(naming[i])}`;
    }),
    ...toolFamilies.map(({ prefix, tool }) => {
      const { effect, trust } = tool("name");
      return `${name} tools ${prefix}… ${effect} ${trust} ${taintedOf(tool("name"))}`;
    }),
    ...(operationTools ? operationRows(operationTools) : []).map((row) => `${name} tools ${row}`),
    ...channels.map((channel) => `${name} channel ${channel.name} ${channel.answersCalls ? "answers-calls" : "own"}`),
  ];
  return rows.length === 0 ? [`${name} nothing`] : rows;
}

/** Nothing runs here, but a call is asked for only where its member reaches. */
const WORLD = Object.assign(Object.create(null), { runtime: (await testRuntime([], { agent: NAMING })).runtime });

/** What such a tool does, for each operation that is one: said once where it is the same. */
function operationRows(family: NonNullable<Feature["operationTools"]>): readonly string[] {
  const { prefix, tool } = family({ list: OPERATIONS, world: () => WORLD });
  const offered = OPERATIONS.flatMap(({ name }) => {
    try {
      return [tool(name.replace(".", "_"))];
    } catch {
      return [];
    }
  });
  return [...new Set(offered.map((one) => `${prefix}… ${one.effect} ${one.trust} ${taintedOf(one)}`))];
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
