import { describe, expect, it } from "vitest";
import { child, jsonLines, place, project, provider, strata } from "./strata.ts";

interface Turn {
  readonly id: string;
  readonly thread: string;
}

/** A chat of two messages; gives where it took place, its thread and its turns. */
async function talked() {
  const cwd = place();
  await strata(["chat", "companion", "--as", "ann"], { cwd, input: "My cat is called Miso.\nGood night.\n" });
  const { out } = await strata(["thread", "list", "--json"], { cwd });
  const [threads = []] = jsonLines<readonly { id: string }[]>(out);
  const thread = threads[0]?.id ?? "";
  const explained = await strata(["explain", thread, "--json"], { cwd });
  const [{ turns } = { turns: [] }] = jsonLines<{ turns: readonly Turn[] }>(explained.out);
  return { cwd, thread, turns: turns.map(({ id }) => id) };
}

describe("strata thread fork", () => {
  it("begins a thread after a turn; a chat continues with the parent, and with the fork where it is named", async () => {
    const { cwd, thread, turns } = await talked();
    const [first = ""] = turns;
    const forked = await strata(["thread", "fork", thread, "--turn", first, "--key", "other"], { cwd });
    expect(forked).toMatchObject({ code: 0, out: expect.stringContaining(`continues after ${first} of ${thread}`) });
    const again = await strata(["thread", "fork", thread, "--turn", first, "--key", "other", "--json"], { cwd });
    const [fork] = jsonLines<{ id: string; forkedFrom: unknown }>(again.out);
    expect(forked.out).toContain(fork?.id);
    expect(fork?.forkedFrom).toEqual({ thread, turn: first });
    expect(forked.err).toContain(`\`strata chat companion --thread ${fork?.id}\` continues it`);
    await strata(["chat", "companion", "--thread", fork?.id ?? ""], { cwd, input: "And here?\n" });
    await strata(["chat", "companion", "--as", "ann"], { cwd, input: "And there?\n" });
    const shown = async (id = "") => (await strata(["thread", "show", id], { cwd })).out;
    expect(await shown(fork?.id)).toMatch(/ann\n {2}And here\?/);
    expect(await shown(fork?.id)).not.toContain("And there?");
    expect(await shown(thread)).toContain("And there?");
    expect(await shown(thread)).not.toContain("And here?");
    expect((await strata(["verify"], { cwd })).out).toContain("The record is complete and unchanged.");
  });

  it("takes place where it is said, and nowhere that nobody talks", async () => {
    const { cwd, thread } = await talked();
    const fork = (channel: string) => strata(["thread", "fork", thread, "--channel", channel, "--json"], { cwd });
    const [made] = jsonLines<{ channel: string }>((await fork("mail")).out);
    expect(made).toMatchObject({ channel: "mail", forkedFrom: { thread } });
    expect(await fork("replay")).toMatchObject({ code: 2, err: expect.stringContaining("name another channel") });
  });

  it.each([
    [["--as", "bob"], /is a thread of companion with ann; `strata chat companion --thread thr_\w+` continues it/],
    [["--new"], /use only one of them/],
  ])("is not gone on with by a chat that also says %j", async (more, message) => {
    const { cwd, thread } = await talked();
    const { code, err } = await strata(["chat", "companion", "--thread", thread, ...more], { cwd, input: "hi\n" });
    expect(code).toBe(2);
    expect(err).toMatch(message);
  });

  it("says which turns there are when the turn is none of the thread's", async () => {
    const { cwd, thread } = await talked();
    const wrong = await strata(["thread", "fork", thread, "--turn", `trn_${"0".repeat(26)}`], { cwd });
    expect(wrong).toMatchObject({ code: 3, err: expect.stringContaining(`strata explain ${thread}`) });
  });
});

describe("strata turn regenerate", () => {
  it("shows the old reply and the new one, which stands on a fork", async () => {
    const { cwd, thread, turns } = await talked();
    const [first = ""] = turns;
    const { code, out } = await strata(["turn", "regenerate", first, "--model", "rehearsal"], { cwd });
    expect(code).toBe(0);
    expect(out).toMatch(
      new RegExp(`Before \\(${first}, rehearsal\\):\nHello[^]*Now \\(trn_[^]*on the fork thr_[^]*Hello`),
    );
    const asked = await strata(["turn", "regenerate", first], { cwd });
    expect(asked.err).toMatch(/`strata chat companion --thread thr_\w+` continues it/);
    await strata(["chat", "companion", "--as", "ann"], { cwd, input: "And after that?\n" });
    expect((await strata(["thread", "show", thread], { cwd })).out).toContain("And after that?");
    const told = await strata(["turn", "regenerate", first, "--json"], { cwd });
    const events = jsonLines<{ type: string; thread?: string }>(told.out);
    expect(events.at(0)).toMatchObject({ type: "turn-start" });
    expect(events.at(0)?.thread).not.toBe(thread);
    expect(events.at(-1)).toMatchObject({ type: "done" });
  });

  it("refuses a model that is not known", async () => {
    const { cwd, turns } = await talked();
    const wrong = await strata(["turn", "regenerate", turns[0] ?? "", "--model", "nobody:knows"], { cwd });
    expect(wrong.code).not.toBe(0);
    expect(wrong.err).toContain("nobody");
  });
});

describe("strata thread cancel", () => {
  it("stops the turn of another process, whose message then waits", async () => {
    const asked = Promise.withResolvers<void>();
    const silent = await provider(() => asked.resolve());
    const cwd = project(silent.edit);
    const chat = child(["chat", "companion"], { cwd, env: silent.env, input: "hello\n" });
    await asked.promise;
    const listed = await strata(["thread", "list", "--json"], { cwd, env: silent.env });
    const [threads = []] = jsonLines<readonly { id: string }[]>(listed.out);
    const thread = threads[0]?.id ?? "";
    const stopped = await child(["thread", "cancel", thread], { cwd, env: silent.env }).ended;
    expect(stopped).toMatchObject({ code: 0, out: expect.stringContaining("is being cancelled") });
    const { code, err } = await chat.ended;
    expect(code).toBe(130);
    expect(err).toContain("the turn was cancelled; its messages keep waiting");
    const again = await strata(["thread", "cancel", thread, "--json"], { cwd, env: silent.env });
    expect(jsonLines(again.out)).toEqual([{ cancelled: false }]);
    expect((await strata(["thread", "show", thread], { cwd, env: silent.env })).out).toContain("1 message without");
    const back = await strata(["thread", "withdraw", thread], { cwd, env: silent.env });
    expect(back).toMatchObject({ code: 0, out: "1 message taken back.\n" });
    expect((await strata(["thread", "show", thread], { cwd, env: silent.env })).out).not.toContain("without");
    const none = await strata(["thread", "withdraw", thread], { cwd, env: silent.env });
    expect(none.out).toBe(`No message waits on ${thread}.\n`);
  }, 30_000);
});
