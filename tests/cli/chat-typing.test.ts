import { describe, expect, it } from "vitest";
import { atTerminal, jsonLines, place, project, provider, strata, until } from "./strata.ts";

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

  it("25.18 runs a command of the command line as it was advised, over the data of this chat", async () => {
    const cwd = project(ASKING);
    const { press, sees, leave, screen } = await chatting(cwd);
    press("Write notes.txt: buy bread\r");
    await sees(/`\/strata approval approve apr_\w{26}`/);
    const [, advised = ""] = /`(\/strata approval approve apr_\w{26})`/.exec(screen()) ?? [];
    press(`/strata approval resolve ${"apr_".padEnd(30, "0")} --note "what became of it"\r`);
    await sees(/no approval apr_0{26}/);
    press(`${advised}\r`);
    await sees(/ · done by the operator/);
    await sees("I have read the approval of the contact");
    press("/strata chat\r");
    await sees("chat does not run inside a chat");
    press("/strata approval lst\r");
    await sees("Did you mean list?");
    await leave();
  });

  it("25.18 is refused over a pipe, whose lines may be anybody's, unless --commands is given; one that there is not is never sent", async () => {
    const cwd = place();
    const input = "/memory cat\n/etc/hosts is a file\n/dance with me\n";
    const refused = await strata(["chat", "companion"], { cwd, input });
    expect(refused).toMatchObject({
      code: 2,
      err: expect.stringMatching(/"\/memory cat" is a command of the chat, so it was not sent; `\S*.*--commands`/),
    });
    expect(refused.err).toContain('"/dance with me" looks like a command of the chat');
    expect(await said(cwd)).toEqual(["/etc/hosts is a file"]);
    const obeyed = await strata(["chat", "companion", "--commands"], {
      cwd,
      input: "/memory zebra\n/approve apr_1\n/dance\nHello.\n/why\n/quit\nNever said.\n",
    });
    expect(obeyed).toMatchObject({ code: 2, err: expect.stringContaining('"apr_1" is not an approval id') });
    expect(obeyed.out).toContain('No memory about me matches "zebra"');
    expect(obeyed.out).toMatch(/trn_\w+/);
    expect(obeyed.err).toContain("there is none of that name");
    expect((await said(cwd)).slice(1)).toEqual(["Hello."]);
    const json = await strata(["chat", "companion", "--commands", "--json"], { cwd, input: "/why\n" });
    expect(json).toMatchObject({ code: 2, err: expect.stringContaining("does not go with --json") });
  });
});

describe("what is typed while a turn runs", () => {
  it("25.18 stands below the reply, and a line that waited is printed again when its turn begins", async () => {
    const held: (() => void)[] = [];
    const answering = await provider((_request, response) => void held.push(() => response.writeHead(400).end("{}")));
    const asked = (times: number) =>
      until(
        () => held.length === times,
        () => `the model was asked ${held.length} times`,
      );
    const cwd = project(answering.edit);
    const person = atTerminal(["chat", "companion"], { cwd, env: answering.env });
    await person.sees("me › ");
    person.press("first\r");
    await asked(1);
    person.press("second\rhalf");
    expect(person.screen()).not.toContain("second");
    held[0]?.();
    await person.sees(/1 message without an answer[\s\S]*me › second\r?\n/);
    await asked(2);
    expect(person.screen()).not.toContain("half");
    held[1]?.();
    await person.sees(/2 messages without an answer[\s\S]*me › half/);
    person.press("\u0003\u0004");
    expect(await person.ended).toBe(0);
  });

  it("25.18 /help lists what this agent has, and what is advised at a terminal can be typed there", async () => {
    const { press, sees, leave, screen } = await chatting();
    press("/help\r");
    await sees("/quit    leaves");
    expect(screen()).toContain("/approve runs");
    expect(screen()).not.toContain("/think");
    expect(screen()).not.toContain("/set ");
    await leave();
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
