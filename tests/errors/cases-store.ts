import { spawn } from "node:child_process";
import { writeFileSync } from "node:fs";
import { createRequire } from "node:module";
import { join } from "node:path";
import BetterSqlite3 from "better-sqlite3";
import { onTestFinished, vi } from "vitest";
import { agentName, contactId, untrusted } from "../../src/index.ts";
import { project, strata } from "../cli/strata.ts";
import { answeredBy, api, type Case, chat, cli, open, type Seen, site } from "./doors.ts";
import { limitedFile } from "./full-disk.ts";

/** What the file holds: where it lies, who else has it open, and what was done to it. */
export const STORE: readonly Case[] = [
  {
    code: "store_busy",
    when: "another program keeps the database locked",
    shown: "A database that is locked",
    provoke: locked,
    message: ["strata.db stayed locked by another program", "close that program"],
  },
  {
    code: "store_failed",
    when: "the disk is full",
    shown: "A disk that is full",
    provoke: async () => {
      const { cwd, fill } = limitedFile();
      await strata(["memory", "save", "Tea, not coffee."], { cwd });
      fill();
      return chat(cwd, {
        input: `${"A long story. ".repeat(300)}
`,
      });
    },
    message: ["strata.db is full; nothing was written", "free some space"],
  },
  {
    code: "store_failed",
    when: "the file is no database",
    provoke: async () => {
      const cwd = await withData();
      writeFileSync(
        join(cwd, ".strata/strata.db"),
        "no database at all, but long enough to be read as the head of one",
      );
      return chat(cwd);
    },
    message: ["strata.db is not a Strata database", "move this one away"],
  },
  {
    code: "store_newer",
    when: "a newer Strata has written the data",
    provoke: async () => {
      const cwd = await withData();
      change(cwd, "insert into migration (number, name) values (999, 'later')");
      return chat(cwd);
    },
    message: ["schema 999", "update Strata"],
  },
  {
    code: "record_broken",
    when: "somebody changed the record behind Strata's back",
    provoke: async () => {
      const cwd = project();
      await chat(cwd);
      change(cwd, "update piece set text = 'Something else.' where text is not null");
      return cli(["verify"], { cwd });
    },
    message: [/\w/],
  },
  {
    code: "thread_busy",
    when: "two turns want one thread",
    provoke: async () => {
      const app = await open();
      const thread = await conversation(app);
      const first = app.runtime.run(app.operator, thread);
      await first.next();
      const seen = await api(() => app.runtime.run(app.operator, thread).next());
      await first.return(undefined);
      return seen;
    },
    message: [/another worker is running a turn on thr_\w+/, "try again"],
  },
  {
    code: "store_moved",
    when: "the data was copied to another folder, where the record goes on",
    provoke: async () => {
      const cwd = await withData();
      await strata(["store", "copy", ".strata", "elsewhere"], { cwd });
      return cli(["memory", "list"], { cwd });
    },
    message: ["was copied to", "strata store resume"],
  },
  {
    code: "queue_full",
    when: "as many turns wait in a server as may",
    provoke: async () => {
      const { cwd, env } = await answeredBy(
        () => undefined,
        (yaml) => `${yaml}\nturns: {atOnce: 1, waiting: 1}\n`,
      );
      const { ask, refused } = await site(cwd, env);
      const say = (key: string) =>
        ["POST /v1/agents/companion/messages", { contact: "ann", key, text: "Hi!" }] as const;
      for (const turns of ['"running":1', '"waiting":1']) {
        void ask(...say(turns)).catch(() => undefined);
        await vi.waitUntil(async () => (await (await ask("GET /health")).text()).includes(turns), { timeout: 20_000 });
      }
      return refused(...say("one more"));
    },
    message: ["is full (1 waiting", "1 of them for ann", /again in \d+ seconds?/, "`turns.waiting`"],
  },
  {
    code: "inbox_full",
    when: "a contact has sent a thousand messages that wait",
    provoke: async () => {
      const { runtime, operator } = await open();
      const whose = { agent: agentName("companion"), contact: contactId("ann"), channel: "test", key: "main" };
      const content = [{ type: "text", text: untrusted("hi") }] as const;
      const event = { kind: "message", trust: "contact", channel: "test", content, at: 0 } as const;
      return api(() => runtime.openAndPost(operator, whose, Array(1_001).fill(event)));
    },
    message: ["1,000 messages of ann wait for companion", "send it again in some seconds"],
  },
  {
    code: "lease_lost",
    when: "a worker that slept too long comes back",
    provoke: async () => {
      const cwd = await withData();
      const [asleep, awake] = [await open(cwd), await open(cwd)];
      const thread = await conversation(asleep);
      const turn = asleep.runtime.run(asleep.operator, thread);
      await turn.next();
      vi.useFakeTimers({ toFake: ["Date"], now: Date.now() + 60_000 });
      onTestFinished(() => void vi.useRealTimers());
      for await (const event of awake.runtime.run(
        awake.operator,
        await awake.runtime.thread(awake.operator, thread.id),
      ))
        if (event.type === "failed") throw event.error;
      for await (const event of turn)
        if (event.type === "failed") return { door: "api", code: event.error.code, text: event.error.message };
      throw new Error("both turns went through");
    },
    message: [/thr_\w+/, /another worker|the other worker/],
  },
];

type App = Awaited<ReturnType<typeof open>>;
type Thread = Awaited<ReturnType<App["runtime"]["open"]>>;

/** A thread with a message that waits. */
async function conversation({ runtime, operator }: App): Promise<Thread> {
  const whose = { agent: agentName("companion"), contact: contactId("ann"), channel: "test", key: "main" };
  const thread = await runtime.open(operator, whose);
  await runtime.post(operator, thread, [
    { kind: "message", trust: "operator", channel: "test", content: [{ type: "text", text: untrusted("hi") }], at: 0 },
  ]);
  return thread;
}

async function withData(): Promise<string> {
  const cwd = project();
  await strata(["memory", "save", "Tea, not coffee."], { cwd });
  return cwd;
}

/** Changes the database as no Strata would. */
function change(cwd: string, sql: string): void {
  const db = new BetterSqlite3(join(cwd, ".strata/strata.db"));
  db.exec(sql);
  db.close();
}

const SQLITE = createRequire(import.meta.url).resolve("better-sqlite3");

/** Holds the database from another process, as a program does that is in the middle of a long transaction. */
async function locked(): Promise<Seen> {
  const cwd = await withData();
  const script = `const db = require(process.argv[1])(process.argv[2]); db.exec("begin exclusive"); console.log("held"); setInterval(() => {}, 1000);`;
  const holder = spawn(process.execPath, ["-e", script, SQLITE, join(cwd, ".strata/strata.db")], { stdio: "pipe" });
  onTestFinished(() => void holder.kill("SIGKILL"));
  await new Promise((held) => holder.stdout.once("data", held));
  hasty();
  return cli(["memory", "save", "Milk, no sugar."], { cwd });
}

/** Whoever opens a database from now on waits a moment for others' locks, and not the usual five seconds. */
function hasty(): void {
  const { pragma } = BetterSqlite3.prototype;
  const opening = vi.spyOn(BetterSqlite3.prototype, "pragma").mockImplementation(function (
    this: BetterSqlite3.Database,
    ...given: Parameters<typeof pragma>
  ) {
    pragma.call(this, "busy_timeout = 20");
    const answer: unknown = pragma.apply(this, given);
    return answer;
  });
  onTestFinished(() => opening.mockRestore());
}
