import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import BetterSqlite3 from "better-sqlite3";
import { describe, expect, it, onTestFinished } from "vitest";
import { anthropicEvents, sendEvents, textEvents } from "../local-server.ts";
import { child, jsonLines, place, project, provider, recording, serving, strata, until, untilTurns } from "./strata.ts";

const address = (out: string): string => /http:\/\/127\.0\.0\.1:\d+/.exec(out)?.[0] ?? "";

/** What has become of each turn and of each message, as the record has it. */
function statuses(cwd: string): { readonly turns: readonly unknown[]; readonly events: readonly unknown[] } {
  const db = new BetterSqlite3(join(cwd, ".strata/strata.db"), { readonly: true });
  const of = (table: string): readonly unknown[] => db.prepare(`select status from ${table} order by id`).pluck().all();
  try {
    return { turns: of("turn"), events: of("event") };
  } finally {
    db.close();
  }
}

describe("strata start as a process", () => {
  it("serves its health without a terminal until SIGTERM, and ends with 0", async () => {
    const cwd = place();
    const started = child(["start", "--port", "0"], { cwd });
    await started.message("listens on");
    await started.message("`rehearsal` is not a real model");
    const { out } = started.sofar();
    expect(out).toContain(join(cwd, ".strata"));
    expect(await (await fetch(`${address(out)}/health`)).json()).toMatchObject({ status: "ok" });
    const token = readFileSync(join(cwd, ".strata/operator.token"), "utf8").trim();
    expect(out).not.toContain(token);
    const headers = { authorization: `Bearer ${token}` };
    const health = await (await fetch(`${address(out)}/health`, { headers })).json();
    expect(health).toMatchObject({
      agents: [
        { name: "companion", model: "rehearsal" },
        { name: "sovereign", model: "rehearsal" },
        { name: "workbench", model: "rehearsal" },
      ],
      data: join(cwd, ".strata"),
    });

    // The same data, while it serves.
    expect((await strata(["chat", "companion"], { cwd, input: "hi\n" })).code).toBe(0);
    started.process.kill("SIGTERM");
    expect(await started.ended).toMatchObject({ code: 0 });
  });

  it("25.5 refuses what comes after SIGTERM, cancels what does not end in time, and leaves the message to the next start", async () => {
    const asked = Promise.withResolvers<void>();
    let answers = false;
    const slow = await provider((_, response) => {
      asked.resolve();
      if (answers) sendEvents(response, anthropicEvents(textEvents("Hello, Ann.")));
    });
    // Its messages are taken up at once; those of other agents are left to whoever sent them for half a minute.
    const cwd = project((yaml) =>
      slow
        .edit(yaml)
        .replace("history: transcript", "history: log\n    inbox: batch")
        .replace("tools: [", "tools: [reply_to_sender, "),
    );
    const started = child(["start", "--port", "0", "--drain", "1"], { cwd, env: slow.env });
    await started.message("config ");
    const url = address(started.sofar().out);
    const authorization = `Bearer ${readFileSync(join(cwd, ".strata/operator.token"), "utf8").trim()}`;
    const post = (text: string): Promise<Response> =>
      fetch(`${url}/v1/agents/companion/messages`, {
        method: "POST",
        headers: { authorization, "content-type": "application/json" },
        body: JSON.stringify({ contact: "ann", text }),
      });
    const first = post("Hello?").then(({ status }) => status);
    await asked.promise;
    const stopped = performance.now();
    started.process.kill("SIGTERM");
    let refused = await fetch(`${url}/health`);
    for (; refused.status !== 503; refused = await fetch(`${url}/health`));
    expect([refused.headers.get("retry-after"), refused.headers.get("connection")]).toEqual(["5", "close"]);
    expect((await post("And now?")).status).toBe(503);
    expect(await started.ended).toMatchObject({ code: 0 });
    // The turn had its second.
    expect(performance.now() - stopped).toBeGreaterThan(950);
    expect(await first).not.toBe(200);
    expect(statuses(cwd).events).toEqual(["pending"]);
    expect(statuses(cwd).turns).not.toContain("running");

    answers = true;
    const next = serving(["start", "--port", "0"], { cwd, env: slow.env });
    await until(
      () => statuses(cwd).events[0] === "consumed",
      () => JSON.stringify([statuses(cwd), next.sofar()]),
    );
    expect(statuses(cwd).turns.at(-1)).toBe("done");
  }, 20_000);

  it("says which port is taken and how to take another", async () => {
    const { port } = await provider(() => {});
    const { code, err } = await strata(["start", "--port", `${port}`], { cwd: place() });
    expect(code).toBe(14);
    expect(err).toContain(`port ${port} of 127.0.0.1`);
    expect(err).toContain("--port");
  });

  it("says what an agent lacks to answer, and keeps serving", async () => {
    const cwd = project((yaml) => `${yaml}\nmodel: anthropic:claude-sonnet-4-5\n`);
    const started = child(["start", "--port", "0", "--json"], { cwd });
    await started.message("\n");
    const [told] = jsonLines<{ url: string; agents: readonly object[] }>(started.sofar().out);
    expect(told?.agents[0]).toMatchObject({
      model: "anthropic:claude-sonnet-4-5",
      problem: expect.stringContaining("key"),
    });
    expect((await fetch(`${told?.url}/health`)).status).toBe(200);
  });
});

describe("strata as a process", () => {
  it("converses over a pipe and remembers across restarts", async () => {
    const cwd = place();
    const first = await child(["chat", "companion"], { cwd, input: "Remember that my cat is called Miso.\n" }).ended;
    expect(first).toMatchObject({ code: 0, out: expect.stringContaining("Miso") });
    const second = await child(["chat", "companion"], { cwd, input: "What is my cat called?\n" }).ended;
    expect(second).toMatchObject({ code: 0, out: expect.stringContaining("Miso") });
  });

  it("stops a turn that runs on SIGINT, whose message then waits", async () => {
    const asked = Promise.withResolvers<void>();
    const silent = await provider(() => asked.resolve());
    const cwd = project(silent.edit);
    const chat = child(["chat", "companion"], { cwd, env: silent.env });
    chat.process.stdin?.write("hello\n");
    await asked.promise;
    await new Promise((resolve) => setTimeout(resolve, 500));
    chat.process.kill("SIGINT");
    const { code, err } = await chat.ended;
    expect(code).toBe(130);
    expect(err).toContain("the turn was cancelled; its messages keep waiting");
    const again = await strata(["chat", "companion"], { cwd, env: silent.env });
    expect(again.err).toContain("1 earlier message without an answer");
  });

  it("ends quietly when nobody reads on", async () => {
    const cwd = place();
    await strata(["chat", "companion"], { cwd, input: "hi\n" });
    const listing = child(["compose", "companion", "--message", "word ".repeat(20_000), "--json"], { cwd });
    listing.process.stdout?.destroy();
    const { code, err } = await listing.ended;
    expect({ code, err }).toEqual({ code: 0, err: "" });
  });

  it("shows a stack only with STRATA_DEBUG=1", async () => {
    const { err } = await strata(["chat", "nobody"], { cwd: place(), env: { STRATA_DEBUG: "1" } });
    expect(err).toMatch(/\n\s+at /);
  });
});

/** A tool and a source that leave errors behind where nobody waits for them. The second line of each throws. */
const STRAYS = `import { defineSource, defineTool, z } from "strata";
const late = () => { throw new Error("the till is on fire"); };
const lost = async () => { throw new Error("the drawer is stuck"); };
export const stray = defineTool({
  name: "stray",
  description: "Leaves an error behind.",
  input: z.object({ how: z.enum(["timer", "promise", "words", "nothing", "key"]) }),
  effect: "none",
  trust: "operator",
  run: ({ how }, { secret }) => {
    if (how === "key") Promise.reject(new Error("refused: " + secret("till")));
    if (how === "timer") setTimeout(late);
    if (how === "promise") lost();
    if (how === "words") Promise.reject("only words");
    if (how === "nothing") Promise.reject();
    return "It looks fine.";
  },
});
export const leaking = defineSource({
  name: "leaking",
  trust: "operator",
  load: () => { lost(); return new Promise(() => {}); },
});
`;

const TILL_KEY = "till-0123456789-abcdef";

function straying(): string {
  const layer = "      - id: leaking\n        rank: 55\n        source: leaking\n";
  const cwd = project((yaml) =>
    `modules: [shop.ts]\nsecrets: {till: "${"$"}{TILL_KEY}"}\n${yaml}`
      .replace("    layers:\n", `    layers:\n${layer}`)
      .replace(/^ {4}tools:.*\n/m, "    tools: [memory_save, stray]\n"),
  );
  writeFileSync(join(cwd, "shop.ts"), STRAYS);
  writeFileSync(join(cwd, ".env"), `TILL_KEY=${TILL_KEY}\n`);
  return cwd;
}

describe("an error of a module that nobody waits for", () => {
  const heard = ({ sofar }: ReturnType<typeof child>, what: string): Promise<void> =>
    until(
      () => sofar().err.includes(what),
      () => `no ${what} in:\n${sofar().err}`,
    );

  it("as of `stray` is reported by `start`, which keeps serving, whatever it left behind", async () => {
    const cwd = straying();
    const started = child(["start", "--port", "0"], { cwd });
    await started.message("config ");
    const { out } = started.sofar();
    const authorization = `Bearer ${readFileSync(join(cwd, ".strata/operator.token"), "utf8").trim()}`;
    const send = async (path: string, body: object): Promise<object> => {
      const headers = { authorization, "content-type": "application/json" };
      const answer = await fetch(address(out) + path, { method: "POST", headers, body: JSON.stringify(body) });
      return Object(await answer.json());
    };
    const talk = (text: string) => send("/v1/agents/companion/messages", { contact: "ann", text });
    for (const [how, sentence] of [
      ["timer", "shop.ts:2: the till is on fire; await what may fail there, or catch it; everything else continues"],
      ["promise", "shop.ts:3: the drawer is stuck; await what may fail there, or catch it; everything else continues"],
      ["words", "an unhandled error, and its stack names no file outside Strata: it threw 'only words'"],
      ["nothing", "an unhandled error, and its stack names no file outside Strata: it threw undefined"],
    ] as const) {
      expect(JSON.stringify(await talk(`Use stray {"how": "${how}"}`))).toContain("It looks fine.");
      await heard(started, sentence);
      expect(JSON.stringify(await talk(`Remember that my ${how} is called Miso.`))).toContain("Miso");
    }
    started.process.kill("SIGTERM");
    expect(await started.ended).toMatchObject({ code: 0 });
  });

  it("is reported by `chat`, with its stack if STRATA_DEBUG=1 asks for it, and the talk continues", async () => {
    const chat = child(["chat", "companion"], { cwd: straying(), env: { STRATA_DEBUG: "1" } });
    chat.process.stdin?.write('Use stray {"how": "timer"}\n');
    await heard(chat, "the till is on fire; await what may fail there");
    await heard(chat, "caused by Error: the till is on fire\n    at ");
    chat.process.stdin?.write('Use stray {"how": "key"}\n');
    await heard(chat, "refused: [secret TILL_KEY]");
    chat.process.stdin?.end("Remember that my cat is called Miso.\n");
    expect(await chat.ended).toMatchObject({ code: 0, out: expect.stringContaining("Miso") });
    expect(JSON.stringify(chat.sofar())).not.toContain(TILL_KEY);
  });

  it("ends every other command with 1 and the sentence", async () => {
    const cwd = straying();
    const { code, err } = await child(["compose", "companion", "--message", "hi"], { cwd }).ended;
    expect(err).toContain(
      `an unhandled error in ${join(cwd, "shop.ts")}:3: the drawer is stuck; await what may fail there`,
    );
    expect(err).not.toContain("everything else continues");
    expect(code).toBe(1);
  });
});

describe("a replay that is killed", () => {
  const MESSAGES = 40;
  const TALK = Array.from({ length: MESSAGES }, (_, i) => [
    { thread: "ann", from: "contact", text: `This is message ${i} of many.` },
    {
      thread: "ann",
      from: "agent",
      text: `And this answer ${i}.`,
      calls: [{ id: `c${i}`, tool: "look", input: { i } }],
    },
    { thread: "ann", from: "tool", id: `c${i}`, name: "look", text: `seen ${i}` },
    { thread: "ann", from: "agent", text: `Done with ${i}.` },
  ]).flat();

  it("continues without a lost or doubled message, and the record stays whole", async () => {
    const cwd = place();
    const argv = ["replay", recording(cwd, TALK), "--agent", "companion", "--replies", "recorded"];
    for (const turns of [5, 15]) {
      const running = child(argv, { cwd });
      onTestFinished(() => void running.process.kill("SIGKILL"));
      await untilTurns(cwd, turns, running.sofar);
      running.process.kill("SIGKILL");
      await running.ended;
    }
    const { out, code } = await strata([...argv, "--dump", "requests.jsonl", "--json"], { cwd });
    expect(code).toBe(0);
    const [report] = jsonLines<{ turns: { fresh: number; before: number; failed: number } }>(out);
    expect(report).toMatchObject({ requests: 2 * MESSAGES, messages: { received: MESSAGES, said: 2 * MESSAGES } });
    expect(report?.turns.before).toBeGreaterThanOrEqual(15);
    expect(report?.turns.failed).toBe(0);
    expect((await strata(["verify"], { cwd })).code).toBe(0);

    // A replay that nothing interrupted has sent the same bytes.
    const other = place();
    recording(other, TALK);
    await strata([...argv, "--dump", "requests.jsonl"], { cwd: other });
    expect(bodies(cwd)).toEqual(bodies(other));
  }, 120_000);

  it("hears Ctrl-C between two requests, says how far it came, and continues when it is run again", async () => {
    const cwd = place();
    const argv = ["replay", recording(cwd, TALK), "--agent", "companion", "--replies", "recorded"];
    const running = child(argv, { cwd });
    onTestFinished(() => void running.process.kill("SIGKILL"));
    await untilTurns(cwd, 3, running.sofar);
    running.process.kill("SIGINT");
    const { code, err } = await running.ended;
    expect(code).toBe(130);
    expect(err).toMatch(/stopped after \d+ of 40 turns; run the same command again/);
    const { out } = await strata([...argv, "--json"], { cwd });
    expect(jsonLines(out)[0]).toMatchObject({ requests: 2 * MESSAGES, turns: { failed: 0 } });
  }, 120_000);
});

const bodies = (cwd: string): readonly string[] =>
  jsonLines<{ body: string }>(readFileSync(join(cwd, "requests.jsonl"), "utf8")).map((line) => line.body);

describe("an address of a provider that is set to nothing", () => {
  it("is not set: the program starts as without it", async () => {
    const env = { OPENAI_BASE_URL: "", ANTHROPIC_BASE_URL: "" };
    expect(await child(["--version"], { cwd: place(), env }).ended).toMatchObject({ code: 0, err: "" });
  });
});
