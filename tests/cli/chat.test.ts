import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { openApp } from "../../src/app.ts";
import { agentName, contactId, untrusted } from "../../src/protocol/index.ts";
import { messagesServer } from "../errors/messages-server.ts";
import { anthropicEvents, sendEvents, textEvents } from "../local-server.ts";
import { atTerminal, jsonLines, place, project, provider, strata } from "./strata.ts";

const CAT = "Remember that my cat is called Miso.\n";
const ASK = "What is my cat called?\n";

const THINKING = `    settings:
      thinking: {choices: ["off", low, high], default: low, sets: reasoning}
`;
const THINKING_LAYER = `      - {id: thinking, rank: 12, source: setting, setting: thinking, texts: {high: Think it through first.}}
`;

describe("strata chat over a pipe", () => {
  it("001.4 sets a thinking level with /think, from the next message on", async () => {
    const cwd = project((yaml) => yaml.replace(/^ {4}layers:\n/m, `${THINKING}    layers:\n${THINKING_LAYER}`));
    const person = atTerminal(["chat"], { cwd });
    await person.sees("me › ");
    person.press("/think\r");
    await person.sees(/thinking +low +by default +off, low, high/);
    person.press("/think high\r");
    await person.sees("thinking is high from your next message on.");
    person.press("hi\r");
    await person.sees(/sent [12],\d{3}/);
    person.press("/think very\r");
    await person.sees('thinking cannot be "very": it is one of off, low, high');
    person.press("\u0004");
    await person.ended;
    const [thread] = JSON.parse((await strata(["thread", "list", "--json"], { cwd })).out);
    const [turn = ""] = /trn_\w+/.exec((await strata(["explain", thread.id], { cwd })).out) ?? [];
    expect((await strata(["explain", turn], { cwd })).out).toMatch(
      /thinking .*thinking is high: the model's own setting says so/,
    );
    const set = await strata(["setting", "set", thread.id, "thinking", "off"], { cwd });
    expect(set.out).toContain("thinking is off on");
    expect(JSON.parse((await strata(["setting", "list", thread.id, "--json"], { cwd })).out)).toMatchObject([
      { name: "thinking", value: "off", by: "operator", sets: "reasoning" },
    ]);
  });

  it("answers each line and remembers across restarts, without prompts or colours", async () => {
    const cwd = place();
    const first = await strata(["chat", "companion"], { cwd, input: `hi\n\n${CAT}` });
    expect(first.code).toBe(0);
    expect(first.out).toContain("Hello.\nI am Strata's rehearsal model.");
    expect(first.out).not.toMatch(/›|\u001b/);
    const second = await strata(["chat", "companion"], { cwd, input: ASK });
    expect(second.out).toContain("Miso");
  });

  it("talks to the one agent that is declared where none is named", async () => {
    const { code, out } = await strata(["chat"], { cwd: project(), input: "hi\n" });
    expect({ code, out }).toEqual({ code: 0, out: expect.stringContaining("Hello.") });
  });

  it("shows a reply that was committed when the program that should have shown it had ended", async () => {
    const cwd = place();
    const app = await openApp({ folder: cwd, data: join(cwd, ".strata"), env: {} });
    const { runtime, operator } = app;
    const talk = { agent: agentName("companion"), contact: contactId("me"), channel: "chat", key: "chat" };
    const thread = await runtime.open(operator, talk);
    const content = [{ type: "text", text: untrusted("Remember that my cat is called Miso.") }] as const;
    await runtime.post(operator, thread, [
      { kind: "message", trust: "contact", channel: "chat", content, at: Date.now() },
    ]);
    for await (const event of runtime.run(operator, thread)) if (event.type === "done") break;
    await app.close();

    const shown = await strata(["chat", "companion"], { cwd, input: "" });
    expect(shown.out).toContain('I saved this: "my cat is called Miso".');
    expect(shown.err).toContain("perhaps never shown");
    expect((await strata(["chat", "companion"], { cwd, input: "" })).out).toBe("");
  });

  it("says after each turn on stderr what was sent, and which tools ran", async () => {
    const { err } = await strata(["chat", "companion"], { cwd: place(), input: `hi\n${CAT}` });
    const sent = err.split("\n").filter((line) => line.startsWith("· sent "));
    expect(sent).toHaveLength(2);
    expect(sent[0]).toMatch(
      /^· sent 2,\d{3} tokens to rehearsal: system 1,\d{3} \(7 layers\) · tools \d+ · transcript 0 · message \d+ · .*nothing cut · 1 request, \d+ ms$/,
    );
    expect(sent[0]).toMatch(/ · clock \d+ · /);
    expect(sent[0]).toMatch(/ · recall 0 \(.+\) · /);
    expect(sent[1]).toMatch(/the last of 2 requests, 1 tool call, \d+ ms/);
    expect(err).toContain("→ memory_save");
  });

  it("says it in one row of a narrow terminal, in whole words, and counts memories that stand frozen", async () => {
    const cwd = place();
    for (const fact of ["My cat is called Miso.", "My bicycle is green."])
      await strata(["memory", "save", fact], { cwd });
    const input = "Hello there\nWhat is my cat called?\n";
    for (const columns of [40, 60, 80, 100]) {
      const looking = { cwd, input, watch: () => undefined, columns, env: { NO_COLOR: "1" } };
      const { err } = await strata(["chat", "companion", "--new"], looking);
      const sent = err.split("\n").filter((line) => line.startsWith("· "));
      expect(sent).toHaveLength(2);
      for (const line of sent) {
        expect(line.length).toBeLessThanOrEqual(columns);
        expect(line).toMatch(/^· (?:sent )?\d,\d{3} tokens(?: to rehearsal)?\b.* · [2-9] memories\b/);
        expect(line).toMatch(/ · (?:1 request, )?[\d.]+ m?s$/);
        expect(line).not.toMatch(/recall 0|…/);
      }
    }
    const { err } = await strata(["chat", "companion"], { cwd, input });
    expect(err).toMatch(
      / · transcript \d+ · message \d+ · .* · recall \d+ \(\d memories, (?:2 of them )?frozen\) · nothing cut/,
    );
  });

  it("says it no more where STRATA_QUIET=1 asks for that, nor in a chat after /quiet, until it is asked for again", async () => {
    const cwd = place();
    const silent = await strata(["chat", "companion"], { cwd, input: CAT, env: { STRATA_QUIET: "1" } });
    expect(silent.out).toContain("Miso");
    expect(silent.err).not.toContain("· sent");
    const person = atTerminal(["chat", "companion"], { cwd });
    await person.sees("me › ");
    person.press("/quiet\rWhat is my cat called?\r");
    await person.sees("is hidden: /quiet shows it again");
    await person.sees(/is called Miso/);
    person.press("/why\r");
    await person.sees(/\nsystem +precedence +0 /);
    expect(person.screen()).not.toContain("· sent");
    person.press("/quiet\rhello\r");
    await person.sees(/is shown again[\s\S]*· sent [\d,]+ tokens/);
    person.press("\u0004");
    expect(await person.ended).toBe(0);
  });

  it("keeps contacts apart", async () => {
    const cwd = place();
    await strata(["chat", "companion", "--as", "ann"], { cwd, input: CAT });
    const other = await strata(["chat", "companion", "--as", "bob"], { cwd, input: ASK });
    expect(other.out).not.toContain("Miso");
  });

  it("begins a new thread with --new, and continues with that one afterwards", async () => {
    const cwd = place();
    const threads = async () =>
      jsonLines<readonly { id: string; turns: number }[]>((await strata(["explain", "--json"], { cwd })).out)[0] ?? [];
    await strata(["chat", "companion"], { cwd, input: "hi\n" });
    await strata(["chat", "companion", "--new"], { cwd, input: "hi\n" });
    expect(await threads()).toHaveLength(2);
    await strata(["chat", "companion"], { cwd, input: "hi\n" });
    expect((await threads()).map((thread) => thread.turns)).toEqual([2, 1]);
  });

  it("leaves no thread behind when nothing was said", async () => {
    const cwd = place();
    await strata(["chat", "companion"], { cwd, input: "\n" });
    const person = atTerminal(["chat", "companion"], { cwd });
    await person.sees("me › ");
    person.press("/retry\r/withdraw\r/approve\r\u0004");
    await person.sees("No call waits for a person here.");
    expect(await person.ended).toBe(0);
    expect((await strata(["thread", "list", "--json"], { cwd })).out).toBe("[]\n");
  });

  it("gives every event as a JSON object with --json", async () => {
    const { out } = await strata(["chat", "companion", "--json"], { cwd: place(), input: "hi\n" });
    const types = jsonLines<{ type: string }>(out).map((event) => event.type);
    expect(types[0]).toBe("turn-start");
    expect(types).toContain("compiled");
    expect(types.at(-1)).toBe("done");
  });

  it("exits with the error's code when a turn failed, and the message waits for the next one", async () => {
    const failing = await provider((_request, response) => response.writeHead(500).end("{}"));
    const cwd = project(failing.edit);
    const around = { input: "hi\n", env: failing.env };
    // Both try again for some seconds.
    const [{ code, out, err }, json] = await Promise.all([
      strata(["chat", "companion"], { cwd, ...around }),
      strata(["chat", "companion", "--json"], { cwd: project(failing.edit), ...around }),
    ]);
    expect({ code, out }).toEqual({ code: 12, out: "" });
    expect(err).toMatch(/^strata: anthropic did not answer for claude-sonnet-4-5/m);
    const again = await strata(["chat", "companion"], { cwd, env: failing.env });
    expect(again.err).toContain("1 earlier message without an answer");
    expect(jsonLines<object>(json.out).at(-1)).toMatchObject({ type: "failed", error: { code: "model_failed" } });
  });

  it("says in plain words what was changed since the conversation began, and how it gets that", async () => {
    const cwd = project();
    const chat = async (...more: string[]) =>
      (await strata(["chat", "companion", ...more], { cwd, input: "hi\n" })).err;
    await chat();
    writeFileSync(join(cwd, "layers/shop.md"), "You answer for the Corner Shop.\n");
    writeFileSync(join(cwd, "layers/conduct.md"), "Be kind.\n");
    const file = join(cwd, "strata.yaml");
    const changed = readFileSync(file, "utf8")
      .replace("    layers:\n", "    layers:\n      - { id: shop, rank: 27, file: layers/shop.md }\n")
      .replace(
        "[list, memory_forget, memory_save, memory_search, read, write]",
        "[list, memory_forget, memory_save, memory_search, memory_stats]",
      );
    writeFileSync(file, changed);
    await strata(["lock"], { cwd });
    const told = await chat();
    expect(told).toContain(
      "companion has changed since this conversation began, which continues with the old version: layer shop is new; the text of layer conduct changed; tool memory_stats is new; tool read is gone; tool write is gone.",
    );
    const [, id = ""] =
      /\/new \(or --new\) begins .* `strata thread migrate (thr_\w+)` moves this one/.exec(told) ?? [];
    const [{ out, code }, again] = [await strata(["thread", "migrate", id], { cwd }), await chat()];
    expect({ code, out }).toEqual({ code: 0, out: expect.stringContaining("  layer shop is new\n") });
    expect(again).toContain(`Continues thread ${id} (2 turns)`);
    expect(again).not.toContain("was changed");
    expect((await strata(["thread", "migrate", id], { cwd })).out).toContain(
      "already has the declared version of companion",
    );
  });

  it("is answered by a model that was connected meanwhile, in the conversation that rehearsal began, and says nothing of versions", async () => {
    const cwd = project();
    await strata(["chat", "companion"], { cwd, input: "My cat is called Miso.\n" });
    const model = await messagesServer([{ type: "text", text: "Miso, of course." }]);
    const file = join(cwd, "strata.yaml");
    const providers = `providers:\n  anthropic:\n    key: \${TEST_KEY}\n    url: ${model.url}\n`;
    writeFileSync(file, `${readFileSync(file, "utf8")}\nmodel: anthropic:claude-sonnet-4-5\n${providers}`);
    const { out, err } = await strata(["chat", "companion"], { cwd, input: ASK, env: { TEST_KEY: "none" } });
    expect(out).toBe("Miso, of course.\n");
    expect(err).toMatch(/^Continues thread .*\(1 turn\)/);
    expect(err).not.toMatch(/was changed|version/);
    expect(model.received[0]?.body).toContain("My cat is called Miso.");
  });

  it("says that the next turn follows what is declared where turns stand alone, and once it did, nothing", async () => {
    const cwd = place();
    const declare = async (text: string) => {
      writeFileSync(
        join(cwd, "strata.yaml"),
        `organization: home\nmodel: rehearsal\nagents:\n  baker:\n    description: It bakes.\n    history: log\n    layers:\n      - { id: core, rank: 0, text: ${text} }\n`,
      );
      await strata(["lock"], { cwd });
    };
    const chat = async () => (await strata(["chat", "baker"], { cwd, input: "hi\n" })).err;
    await declare("Be brief.");
    await chat();
    await declare("Be kind.");
    const moved = await chat();
    expect(moved).toMatch(
      /^baker has changed since the last turn: the next turn uses version \w{12} instead of \w{12}\.$/m,
    );
    expect(moved).not.toContain("stays with it");
    expect(await chat()).not.toMatch(/has changed|stays with it/);
  });

  it("shows no escape sequence of a model to the terminal", async () => {
    const { out } = await strata(["chat", "companion"], {
      cwd: place(),
      input: "Remember that my key is \u001b]52;c;AAAA\u0007.\nWhat is my key?\n",
    });
    expect(out).toContain("my key is");
    expect(out).not.toMatch(/[\u001b\u0007]/);
  });
});

describe("strata chat in a terminal", () => {
  it("prompts with the contact's name, explains the last turn, and leaves with Ctrl-D", async () => {
    const person = atTerminal(["chat", "companion", "--as", "ann"], { cwd: place() });
    await person.sees("ann › ");
    person.press("/why\rhello\r");
    await person.sees("Nothing was said yet");
    await person.sees(/· sent [\d,]+ tokens/);
    person.press("/why\r/help\r/dance\r\r");
    await person.sees("epoch 1, opened here (first)");
    await person.sees("There is no command /dance");
    person.press("\u0004");
    expect(await person.ended).toBe(0);
  });

  it("moves while the provider is silent, tells for how long, and takes that away with the answer", async () => {
    const slow = await provider((_request, response) => {
      setTimeout(() => sendEvents(response, anthropicEvents(textEvents("At last."))), 1_300);
    });
    const person = atTerminal(["chat", "companion"], { cwd: project(slow.edit), env: slow.env });
    await person.sees("me › ");
    person.press("hello\r");
    await person.sees("anthropic:claude-sonnet-4-5 has not answered yet, 0 s; Ctrl-C cancels the turn");
    await person.sees("has not answered yet, 1 s");
    await person.sees("\r\u001b[KAt last.");
    const signs = new Set([...person.screen().matchAll(/\[K(.) anthropic/g)].map(([, sign]) => sign));
    expect(signs.size).toBeGreaterThan(2);
    person.press("\u0004");
    expect(await person.ended).toBe(0);
    expect(person.screen().split("At last.")[1]).not.toContain("has not answered yet");
  });

  it("stops the running turn with Ctrl-C, and leaves with it at the prompt", async () => {
    const asked = Promise.withResolvers<void>();
    const silent = await provider(() => asked.resolve());
    const person = atTerminal(["chat", "companion"], { cwd: project(silent.edit), env: silent.env });
    await person.sees("me › ");
    person.press("hello\r");
    // The provider never answers; nothing but the stop can end this turn.
    await asked.promise;
    person.press("\u0003");
    await person.sees("the turn was cancelled; its messages keep waiting");
    person.press("/quit\r");
    expect(await person.ended).toBe(0);
  });

  it("begins a new conversation with /new, once something is said there", async () => {
    const cwd = place();
    const person = atTerminal(["chat", "companion"], { cwd });
    await person.sees("me › ");
    person.press("hello\r");
    await person.sees(/· sent/);
    person.press("/new\r");
    await person.sees("Your next message begins a new conversation with companion.");
    const turns = async () =>
      (jsonLines<readonly { turns: number }[]>((await strata(["explain", "--json"], { cwd })).out)[0] ?? []).map(
        (one) => one.turns,
      );
    expect(await turns()).toEqual([1]);
    person.press("hello again\rand again\r");
    await person.sees(/· sent[\s\S]*· sent[\s\S]*· sent/);
    person.press("\u0004");
    expect(await person.ended).toBe(0);
    expect(await turns()).toEqual([2, 1]);
  });

  it("tells what the last request held, and what is remembered", async () => {
    const person = atTerminal(["chat", "companion"], { cwd: place() });
    await person.sees("me › ");
    person.press("/layers\r/memory\r");
    await person.sees("Nothing was said yet");
    await person.sees("Nothing is remembered about me yet.");
    person.press("Remember that my cat is called Miso.\r");
    await person.sees(/· sent [\d,]+ tokens/);
    person.press("/layers\r/memory\r/help\r");
    await person.sees(/\nprecedence +0 +platform +\d+ +kept/);
    await person.sees(/mem_\w{26} · .+ · contact\s+my cat is called Miso/);
    await person.sees('""" begins and ends a block');
    person.press("\u0004");
    expect(await person.ended).toBe(0);
  });

  it("shows no greetings and thanks where it is asked what is remembered", async () => {
    const person = atTerminal(["chat", "companion"], { cwd: place() });
    await person.sees("me › ");
    person.press("Good morning!\r");
    await person.sees(/· sent [\d,]+ tokens/);
    person.press("Each morning I feed Miso.\r");
    await person.sees(/· sent [\d,]+ tokens[\s\S]*· sent [\d,]+ tokens/);
    person.press("/memory good morning\r");
    await person.sees(/mem_\w{26} · [^\n]+\s+Each morning I feed Miso\./);
    expect(person.screen().match(/mem_\w{26} · [^\n]+\s+Good morning!/)).toBeNull();
    person.press("\u0004");
    expect(await person.ended).toBe(0);
  });

  it("takes messages of several lines, and drops an unfinished one with Ctrl-C", async () => {
    const cwd = place();
    const person = atTerminal(["chat", "companion"], { cwd });
    await person.sees("me › ");
    person.press("never sent\\\r");
    await person.sees("… ");
    person.press("\u0003");
    person.press('"""\rfirst\rsecond\r"""\r');
    await person.sees(/· sent [\d,]+ tokens/);
    person.press("/quit\r");
    expect(await person.ended).toBe(0);
    const { out } = await strata(["export"], { cwd });
    expect(jsonLines<{ text: string }>(out)[0]?.text).toBe("first\nsecond");
  });

  it("runs a failed turn's messages again with /retry", async () => {
    const refusing = await provider((_request, response) => response.writeHead(400).end("{}"));
    const person = atTerminal(["chat", "companion"], { cwd: project(refusing.edit), env: refusing.env });
    await person.sees("me › ");
    person.press("/retry\r");
    await person.sees("No message waits without an answer.");
    person.press("hello\r");
    await person.sees(/strata: /);
    person.press("/retry\r");
    await person.sees(/strata: [\s\S]*\/retry[\s\S]*strata: /);
    person.press("/quit\r");
    expect(await person.ended).toBe(0);
  });

  it("opens with the server when strata is started there", async () => {
    const person = atTerminal(["start", "--port", "0"], { cwd: place() });
    await person.sees("me › ");
    expect(person.screen()).toMatch(/listens on http:\/\/127\.0\.0\.1:\d+/);
    expect(person.screen()).toContain("`rehearsal` is not a real model");
    person.press("\u0003");
    expect(await person.ended).toBe(0);
    expect(person.screen()).toContain("Stopped.");
  });

  it("says there nothing of an agent that nobody asked for, and shows no token", async () => {
    const cwd = place();
    const person = atTerminal(["start", "--port", "0"], { cwd });
    await person.sees("me › ");
    person.press("hello\r");
    await person.sees(/· sent /);
    person.press("\u0004");
    expect(await person.ended).toBe(0);
    expect(person.screen()).toMatch(/\nagent {4}companion, /);
    expect(person.screen()).not.toMatch(/sovereign|sk_strata_|#token/);
    expect(person.screen()).toContain(`${cwd}/.strata/operator.token`);
  });

  it("begins a new conversation there with --new", async () => {
    const cwd = place();
    await strata(["chat", "companion"], { cwd, input: "hi\n" });
    const person = atTerminal(["start", "--port", "0", "--new"], { cwd });
    await person.sees("me › ");
    person.press("hello\r");
    await person.sees(/· sent /);
    person.press("\u0004");
    expect(await person.ended).toBe(0);
    expect(person.screen()).not.toContain("Continues");
    const { out } = await strata(["explain", "--json"], { cwd });
    expect(jsonLines<readonly { turns: number }[]>(out)[0]?.map(({ turns }) => turns)).toEqual([1, 1]);
  });

  it("draws the prompt again with what is typed when a notice comes, which stands above it", async () => {
    const cwd = project();
    const person = atTerminal(["start", "--port", "0", "--watch"], { cwd });
    await person.sees("me › ");
    person.press("half a sen");
    await person.sees("half a sen");
    changeDescription(cwd);
    await person.sees(/\u001b\[0JRead again: [^\n]*\n[^\n]*me › half a sen/);
    person.press("tence\r");
    await person.sees(/· sent /);
    person.press("\u0004");
    expect(await person.ended).toBe(0);
    expect((await strata(["export"], { cwd })).out).toContain('"half a sentence"');
  });

  it("keeps a notice back while a turn runs", async () => {
    const asked = Promise.withResolvers<void>();
    const silent = await provider(() => asked.resolve());
    const cwd = project(silent.edit);
    const person = atTerminal(["start", "--port", "0", "--watch"], { cwd, env: silent.env });
    await person.sees("me › ");
    person.press("hello\r");
    await asked.promise;
    changeDescription(cwd);
    await new Promise((resolve) => setTimeout(resolve, 600));
    expect(person.screen()).not.toContain("Read again");
    person.press("\u0003");
    await person.sees(/the turn was cancelled[\s\S]*Read again: [^\n]*\n[^\n]*me › /);
    person.press("\u0004");
    expect(await person.ended).toBe(0);
  });

  it("shows its commands for a bare slash", async () => {
    const cwd = place();
    const person = atTerminal(["chat", "companion"], { cwd });
    await person.sees("me › ");
    person.press("/\r");
    await person.sees("/memory  the newest memories about you");
    person.press("\u0004");
    expect(await person.ended).toBe(0);
    expect((await strata(["export"], { cwd })).out).toBe("");
  });
});

/** Declares the agent otherwise: a server that watches says so. */
function changeDescription(cwd: string): void {
  const file = join(cwd, "strata.yaml");
  writeFileSync(file, readFileSync(file, "utf8").replace(/description: .*/, "description: Another one."));
}
