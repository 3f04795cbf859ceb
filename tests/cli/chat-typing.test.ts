import { describe, expect, it } from "vitest";
import { atTerminal, jsonLines, place, project, strata } from "./strata.ts";

const ASKING = (yaml: string): string => yaml.replace("read, write]", "read, {name: write, approval: true}]");

/** What contacts said in this folder, in order. */
const said = async (cwd: string): Promise<readonly string[]> =>
  jsonLines<{ from: string; text: string }>((await strata(["export"], { cwd })).out)
    .filter(({ from }) => from === "contact")
    .map(({ text }) => text);

async function chatting(cwd = place()) {
  const person = atTerminal(["chat", "companion"], { cwd });
  await person.sees("me › ");
  const leave = async (): Promise<void> => {
    person.press("/quit\r");
    expect(await person.ended).toBe(0);
  };
  return { ...person, cwd, leave };
}

describe("a line of a chat that begins with a slash and a word", () => {
  it("is a command, whatever stands behind it, and not a message", async () => {
    const { cwd, press, sees, leave } = await chatting();
    press("Remember that my cat is called Miso.\r");
    await sees(/· sent [\d,]+ tokens/);
    press("/ help\r/memory cat\r/memory zebra\r/layers now\r/dance with me\r");
    await sees("the newest memories about you");
    await sees(/mem_\w{26} · .+\s+my cat is called Miso/);
    await sees('No memory about me matches "zebra"');
    await sees("/layers takes nothing after it");
    await sees("There is no command /dance");
    press('"""/dance with me"""\r/etc/hosts is a file\r');
    await sees(/· sent [\s\S]*· sent [\s\S]*· sent /);
    await leave();
    expect(await said(cwd)).toEqual(["Remember that my cat is called Miso.", "/dance with me", "/etc/hosts is a file"]);
  });

  it("decides about the call it names, and says so of one that is not known", async () => {
    const cwd = project(ASKING);
    const { press, sees, leave, screen } = await chatting(cwd);
    press("Write notes.txt: buy bread\r");
    await sees(/strata approval approve apr_\w{26}/);
    const [id = ""] = /apr_\w{26}/.exec(screen()) ?? [];
    press(`/approve apr_${"0".repeat(26)}\r/approve apr_1\r`);
    await sees(`apr_${"0".repeat(26)}`);
    await sees(/no approval .*apr_0{26}/);
    await sees('"apr_1" is not an approval id');
    press(`/deny ${id} not today\r`);
    await sees("write was denied by the operator and not run: not today");
    await leave();
  });

  it("is refused over a pipe, whose lines may be anybody's, unless --commands is given; what is no command is a message", async () => {
    const cwd = place();
    const input = "/memory cat\n/etc/hosts is a file\n/dance with me\n";
    const refused = await strata(["chat", "companion"], { cwd, input });
    expect(refused).toMatchObject({
      code: 2,
      err: expect.stringMatching(/"\/memory cat" is a command of the chat, so it was not sent; `\S*.*--commands`/),
    });
    expect(await said(cwd)).toEqual(["/etc/hosts is a file", "/dance with me"]);
    const obeyed = await strata(["chat", "companion", "--commands"], {
      cwd,
      input: "/memory zebra\n/approve apr_1\nHello.\n/why\n/quit\nNever said.\n",
    });
    expect(obeyed).toMatchObject({ code: 2, err: expect.stringContaining('"apr_1" is not an approval id') });
    expect(obeyed.out).toContain('No memory about me matches "zebra"');
    expect(obeyed.out).toMatch(/trn_\w+/);
    expect((await said(cwd)).slice(2)).toEqual(["Hello."]);
    const json = await strata(["chat", "companion", "--commands", "--json"], { cwd, input: "/why\n" });
    expect(json).toMatchObject({ code: 2, err: expect.stringContaining("does not go with --json") });
  });
});

describe("what is pasted into a terminal", () => {
  it("is one message, however many lines it has", async () => {
    const { cwd, press, sees, leave } = await chatting();
    await sees("\u001b[?2004h");
    press("See: \u001b[200~one\rtwo\\\r\r/help\r\u001b[201~");
    press("\r");
    await sees(/· sent [\d,]+ tokens/);
    press("\u001b[200~three\rfour\u001b[201~ and five\r");
    await sees(/· sent [\s\S]*· sent /);
    await leave();
    expect(await said(cwd)).toEqual(["See: one\ntwo\\\n\n/help", "three\nfour and five"]);
  });
});
