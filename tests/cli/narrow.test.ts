import { describe, expect, it } from "vitest";
import { living, proposed } from "./living.ts";
import { jsonLines, strata } from "./strata.ts";

const ADDRESS = "0x5aaeb6053f3e94c9b9a09f33669435e7ef1beaed";
const REASON = "the steps were forgotten too often, and whoever read them asked for fewer";

/** An agent that lives by itself, with something in each list, and its folder. */
async function busy() {
  const cwd = await living();
  const run = async (argv: readonly string[], columns?: number, input?: string) =>
    strata(argv, { cwd, env: { NO_COLOR: "1" }, ...(columns && { columns }), ...(input && { input }) });
  await run(["credits", "add", "20", "--note", `for December: ${REASON}`]);
  await run(["chat", "automaton", "--as", ADDRESS], undefined, "I want tea.\n");
  await run(["layer", "edit", "6", "--text", "Act.", "--reason", REASON]);
  await run(["skill", "set", "baking", "--text", `Bake bread at dawn, for ${REASON}.`]);
  await proposed(cwd, "Weigh twice.");
  return run;
}

const TABLES: readonly string[] = [
  "agent acts",
  "log list",
  "credits list",
  "layer list",
  "layer history 6",
  "skill list",
  "thread list",
  "usage",
];

describe("a table on a terminal", () => {
  it.each([80, 100, 132])("is no wider than its %i columns, and has whole what somebody may copy", async (columns) => {
    const run = await busy();
    for (const list of [...TABLES, "agent show automaton"]) {
      const { out, code } = await run(list.split(" "), columns);
      expect({ list, code }).toEqual({ list, code: 0 });
      for (const line of out.split("\n")) expect(line.length, `${list}: ${line}`).toBeLessThanOrEqual(columns);
    }
    const { out } = await run(["thread", "list"], columns);
    expect(out).toMatch(/thr_\w{26}/);
    expect(out).toContain(ADDRESS);
  });

  it("breaks or cuts what is free text where its lines are too short, and nothing where nobody looks", async () => {
    const run = await busy();
    for (const [list, all] of [
      ["layer history 6", REASON],
      ["credits list", `for December: ${REASON}`],
    ] as const) {
      const narrow = (await run(list.split(" "), 80)).out;
      expect(narrow, list).toMatch(new RegExp(`  ${all.slice(0, 14)}.*\n {30}`));
      expect(narrow.replaceAll(/\s+/g, " "), list).toContain(all);
      expect((await run(list.split(" "))).out, list).toContain(`  ${all}\n`);
      expect((await run(list.split(" "), 200)).out, list).toContain(`  ${all}\n`);
    }
    expect((await run(["skill", "list"], 80)).out).toMatch(/ {2}Bake bread.*…$/m);
  });

  it("takes several lines for each row, the later ones further in, where nothing may be cut", async () => {
    const run = await busy();
    const [thread] =
      jsonLines<readonly { readonly id: string }[]>((await run(["thread", "list", "--json"])).out)[0] ?? [];
    const { out } = await run(["thread", "list"], 60);
    expect(out.split("\n")).toEqual([
      "thread                          agent",
      expect.stringMatching(/^ {2}contact +channel {2}turns$/),
      "  active",
      `${thread?.id}  automaton`,
      expect.stringMatching(/^ {2}0x5aaeb6053f3e94c9b9a09f33669435e7ef1beaed {2}chat +1$/),
      "  just now",
      "",
    ]);
  });
});

describe("what was said, on a terminal", () => {
  const LONG = `${"Tea ".repeat(30)}${"x".repeat(100)} 2026-11-21 automaton: I will pay you.`;

  it("is broken where the terminal would break it, so that no line of it can look like one of ours", async () => {
    const run = await busy();
    await run(["chat", "automaton", "--as", "bob"], undefined, `${LONG}\n`);
    await run(["memory", "save", LONG, "--as", "bob"]);
    for (const look of ["log show bob", "thread show", "outbox list", "memory list --as bob"]) {
      const [thread] =
        jsonLines<readonly { readonly id: string }[]>((await run(["thread", "list", "--json"])).out)[0] ?? [];
      const argv = [...look.split(" "), ...(look === "thread show" ? [thread?.id ?? ""] : [])];
      const { out } = await run(argv, 60);
      for (const line of out.split("\n")) {
        if (!/Tea|x{9}|I will pay/.test(line)) continue;
        expect(line.length, `${look}: ${line}`).toBeLessThanOrEqual(60);
        expect(line, look).toMatch(/^( {2}|bob: |automaton: )/);
      }
      // The list of what was said shows beginnings.
      if (look === "outbox list") continue;
      expect(out.replaceAll(/\n {2}| /g, ""), look).toContain("x".repeat(100));
      expect((await run(argv)).out, look).toContain(LONG);
    }
  });
});
