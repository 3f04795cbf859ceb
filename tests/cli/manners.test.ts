import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { atTerminal, jsonLines, place, strata } from "./strata.ts";

describe("an error", () => {
  it("is one JSON object on stderr with --json", async () => {
    const cwd = place();
    const { code, out, err } = await strata(["chat", "nobody", "--json"], { cwd });
    expect({ code, out }).toEqual({ code: 3, out: "" });
    expect(jsonLines(err)).toEqual([
      {
        error: {
          code: "agent_not_found",
          message: expect.stringContaining("companion"),
          details: expect.objectContaining({ agent: "nobody" }),
        },
      },
    ]);
  });

  it("advises a command as it works here: through npm for whoever runs the source with it", async () => {
    const around = { cwd: place(), env: { npm_lifecycle_event: "strata" } };
    expect((await strata(["thread", "list"], around)).err).toContain("`npm run -s strata -- chat AGENT`");
    const byNpx = { cwd: place(), env: { npm_lifecycle_event: "npx" } };
    expect((await strata(["thread", "list"], byNpx)).err).toContain("`npx strata chat AGENT`");
    const { out } = await strata(["init", "companion"], byNpx);
    expect(out).toMatch(/^ {2}npx strata chat companion$/m);
    expect((await strata(["thread", "list"], { cwd: place() })).err).toContain("`strata chat AGENT`");
  });

  it.each([
    ["{}", "it is no list"],
    ["[{}]", "entry 1 has no `org`"],
    ['[{"org":"home","seq":-1,"hash":null}]', "entry 1 has no `seq`, a whole number"],
    ['[{"org":"home","seq":1,"hash":"x"}]', "entry 1 has no `hash`, 64"],
  ])("of an anchor %s says in plain words what is wrong", async (text, says) => {
    const cwd = place();
    await strata(["chat", "companion"], { cwd, input: "hi\n" });
    writeFileSync(join(cwd, "anchor.json"), text);
    const { code, err } = await strata(["verify", "--anchor", "anchor.json"], { cwd });
    expect(code).toBe(2);
    expect(err).toContain(says);
    expect(err).not.toMatch(/expected|Invalid input/);
  });
});

describe("a chat", () => {
  it("says which thread it continues", async () => {
    const cwd = place();
    expect((await strata(["chat", "companion"], { cwd, input: "hi\n" })).err).not.toContain("Continues");
    const { err } = await strata(["chat", "companion"], { cwd, input: "hi\n" });
    expect(err).toMatch(/Continues thread thr_\w+ \(1 turn\); --new begins another\./);
  });

  it("drops what is half typed at Ctrl-C, and leaves at the next", async () => {
    const chat = atTerminal(["chat", "companion"], { cwd: place() });
    await chat.sees("me › ");
    chat.press("half a sen");
    await chat.sees("half a sen");
    chat.press("\u0003");
    await chat.sees(/half a sen.*me › /s);
    chat.press("hello\r");
    await chat.sees("I have read your message.");
    expect(chat.screen()).not.toContain("half a senhello");
    chat.press("\u0003");
    expect(await chat.ended).toBe(0);
  });
});
