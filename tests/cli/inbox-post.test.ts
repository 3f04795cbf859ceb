import { describe, expect, it } from "vitest";
import { living } from "./living.ts";
import { jsonLines, refuses, strata } from "./strata.ts";

interface Posted {
  readonly id: string;
  readonly thread: string;
  readonly status: string;
  readonly externalId?: string;
  readonly content: readonly { readonly text: string }[];
}

const posted = ({ out }: { readonly out: string }): Posted | undefined => jsonLines<Posted>(out)[0];

async function automaton() {
  const cwd = await living();
  await strata(["credits", "add", "20"], { cwd });
  const run = (argv: readonly string[], input?: string) => strata(argv, { cwd, ...(input !== undefined && { input }) });
  return { cwd, run };
}

describe("strata inbox post", () => {
  it("lets a message wait, says its id and what runs it, and runs nothing", async () => {
    const { run } = await automaton();
    const { code, out, err } = await run(["inbox", "post", "Water the roses.", "--as", "ann"]);
    expect({ code, out }).toEqual({
      code: 0,
      out: expect.stringMatching(/^evt_\w{26} waits for automaton on thr_\w{26}\.\n$/),
    });
    expect(err).toContain("`strata inbox run` handles what waits for longest.");
    const id = out.slice(0, 30);
    const waiting = await run(["inbox", "list"]);
    expect(waiting.out).toContain("ann");
    expect(waiting.out).toContain("Water the roses.");
    expect(waiting.out).toContain(id);
    expect((await run(["inbox", "run"])).err).toContain("1 message of ann");
    expect((await run(["outbox", "list"])).out).toContain("to ann");
  });

  it.each([[["-"]], [[]]])("reads stdin with %j, all of it as one message", async (text) => {
    const { run } = await automaton();
    const event = posted(await run(["inbox", "post", ...text, "--json"], "Two\nlines.\n"));
    expect(event).toMatchObject({ status: "pending", content: [{ text: "Two\nlines." }] });
  });

  it("stores a message with an id once, refuses the id with another text, and says what was handled", async () => {
    const { cwd, run } = await automaton();
    const post = (text: string, ...more: string[]) =>
      run(["inbox", "post", text, "--as", "ann", "--id", "m-1", ...more]);
    const first = posted(await post("Hello.", "--json"));
    expect(first).toMatchObject({ externalId: "m-1" });
    expect(posted(await post("Hello.", "--json"))).toEqual(first);
    await refuses(cwd, ["inbox", "post", "Bye.", "--as", "ann", "--id", "m-1"], {
      exit: 2,
      message: "another external id",
    });
    await run(["inbox", "run"]);
    const late = await post("Hello.");
    expect(late.out).toMatch(/^evt_\w{26} came before and was handled: `strata explain trn_\w{26}` shows how\.\n$/);
    expect(late.err).toBe("");
  });

  it("refuses a message that says nothing", async () => {
    const { cwd } = await automaton();
    await refuses(cwd, ["inbox", "post"], { exit: 2, message: "a message that says something" });
  });

  it("refuses one word that names an agent while something may be on stdin, and says how to write it", async () => {
    const { cwd, run } = await automaton();
    await refuses(cwd, ["inbox", "post", "automaton"], { exit: 2, message: "`strata inbox post - automaton`" });
    expect((await run(["inbox", "list", "--json"])).out).toBe("[]\n");
    const letter = posted(await run(["inbox", "post", "--agent", "automaton", "--json"], "A letter.\n"));
    expect(letter).toMatchObject({ content: [{ text: "A letter." }] });
    const word = posted(await run(["inbox", "post", "automaton", "--agent", "automaton", "--json"]));
    expect(word).toMatchObject({ content: [{ text: "automaton" }] });
  });
});
