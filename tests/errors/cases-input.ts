import { appendFileSync, mkdirSync, rmSync } from "node:fs";
import { join } from "node:path";
import { place, project, recording, strata } from "../cli/strata.ts";
import { type Case, cli, site } from "./doors.ts";

const THREAD = "thr_01jd8k3v5x9m2q7r4t6w8y0zab";
const TURN = "trn_01jd8k3v5x9m2q7r4t6w8y0zab";
const CALL = "cal_01jd8k3v5x9m2q7r4t6w8y0zab";
const MEMORY = "mem_01jd8k3v5x9m2q7r4t6w8y0zab";

const compose = (cwd: string) => cli(["compose", "companion", "--message", "hi"], { cwd });

function replay(cwd: string, ...more: readonly string[]) {
  return cli(["replay", "talk.jsonl", "--agent", "companion", "--replies", "recorded", ...more], { cwd });
}

/** What people write: command lines, recordings, requests. */
export const INPUT: readonly Case[] = [
  {
    code: "invalid_id",
    when: "an id is none",
    provoke: () => cli(["explain", "thr_1"], { cwd: place() }),
    message: ['"thr_1" is not a thread id', "must be"],
  },
  {
    code: "invalid_input",
    when: "an option has a value that is not known",
    provoke: () => cli(["replay", "talk.jsonl", "--agent", "companion", "--replies", "guessed"], { cwd: place() }),
    message: ['--replies "guessed" is not known', "recorded"],
  },
  {
    code: "invalid_input",
    when: "a body has a field that is not known",
    provoke: async () => (await site()).refused("POST /v1/threads", { agent: "companion", contcat: "ann" }),
    message: ['"contcat"', "did you mean `contact`"],
  },
  {
    code: "invalid_line",
    when: "a line of a recording is damaged",
    shown: "A line of an input file",
    provoke: () => {
      const cwd = place();
      recording(cwd, [
        { thread: "ann", from: "contact", text: "Hello." },
        { thread: "ann", from: "robot", text: "Hi." },
      ]);
      return replay(cwd);
    },
    message: ["talk.jsonl:2:", '"robot"', "contact"],
  },
  {
    code: "file_not_found",
    when: "a named file is not there",
    provoke: () => replay(place()),
    message: ["talk.jsonl cannot be read", "no such file"],
  },
  {
    code: "route_not_found",
    when: "nothing is served at a path",
    provoke: async () => (await site()).refused("GET /v1/treads"),
    message: ["GET /v1/treads", "GET /v1/openapi.json"],
  },
  {
    code: "method_not_allowed",
    when: "a path is served by another method",
    provoke: async () => (await site()).refused("DELETE /v1/threads"),
    message: ["/v1/threads does not support DELETE", "it supports", "POST"],
  },
  {
    code: "body_too_large",
    when: "a body is larger than a megabyte",
    provoke: async () => (await site()).refused("POST /v1/threads", " ".repeat(1_048_577)),
    message: ["1048576 bytes", "send less"],
  },
  {
    code: "body_not_json",
    when: "a body is a form",
    provoke: async () => {
      const headers = { "content-type": "application/x-www-form-urlencoded" };
      return (await site()).refused("POST /v1/threads", "agent=companion", headers);
    },
    message: ['"application/x-www-form-urlencoded"', "send JSON in UTF-8"],
  },
  {
    code: "unauthenticated",
    when: "a token is not known",
    provoke: async () => (await site()).refused("GET /v1/agents", undefined, { authorization: "Bearer sk_strata_x" }),
    message: ["no valid key was sent", "strata key create", "operator.token"],
  },
  {
    code: "not_allowed",
    when: "a page of another site asks",
    provoke: async () => (await site()).refused("GET /v1/agents", undefined, { origin: "https://elsewhere.example" }),
    message: ['"https://elsewhere.example"', "its names are"],
  },
  {
    code: "agent_not_found",
    when: "no agent has that name",
    provoke: () => cli(["chat", "compannion"], { cwd: project() }),
    message: ['no agent "compannion"', "the declared ones are: companion"],
  },
  {
    code: "thread_not_found",
    when: "no thread has that id",
    provoke: async () => cli(["explain", THREAD], { cwd: await withData() }),
    message: [THREAD, "`strata thread list` or `GET /v1/threads` lists"],
  },
  {
    code: "call_not_found",
    when: "no call of that id waits in the conversation",
    provoke: async () => cli(["ask", "--answer", `${CALL}=12:00`, "--as", "ann"], { cwd: await withData() }),
    message: [CALL, "name the `thread` of the call"],
  },
  {
    code: "turn_not_found",
    when: "no turn has that id",
    provoke: async () => cli(["turn", TURN], { cwd: await withData() }),
    message: [TURN, "`strata explain THREAD` or `GET /v1/threads/THREAD/turns` lists"],
  },
  {
    code: "memory_not_found",
    when: "no memory has that id",
    provoke: async () => (await site()).refused(`DELETE /v1/memories/${MEMORY}?agent=companion&contact=ann`),
    message: [MEMORY, "`GET /v1/memories` lists"],
  },
];

/** What stands in strata.yaml and beside it. */
export const CONFIG: readonly Case[] = [
  {
    code: "config_missing",
    when: "there is no strata.yaml",
    provoke: () => cli(["lock"], { cwd: place() }),
    message: ["no strata.yaml in /home/ann/agent", "--folder"],
  },
  {
    code: "config_invalid",
    when: "a key is not known",
    shown: "A key in strata.yaml that is not known",
    provoke: () => compose(project((yaml) => yaml.replace("history:", "histroy:"))),
    message: [/strata\.yaml:\d+:\d+/, "histroy", "did you mean `history`"],
  },
  {
    code: "secret_missing",
    when: "the environment lacks a key",
    provoke: () => compose(project((yaml) => `${yaml}\nproviders:\n  anthropic:\n    key: \${SOME_KEY}\n`)),
    message: ["SOME_KEY", ".env"],
  },
  {
    code: "tool_not_found",
    when: "an agent names a tool that is not there",
    provoke: () => compose(project((yaml) => yaml.replace("memory_search, read", "memory_serch, read"))),
    message: ["memory_serch", "did you mean `memory_search`"],
  },
  {
    code: "lock_missing",
    when: "there is no lock",
    provoke: () => {
      const cwd = project();
      rmSync(join(cwd, "strata.lock"));
      return compose(cwd);
    },
    message: ["strata.lock does not exist", "run `strata lock`"],
  },
  {
    code: "lock_mismatch",
    when: "an immutable layer was changed",
    shown: "An immutable layer that was changed",
    provoke: () => {
      const cwd = project();
      appendFileSync(join(cwd, "layers/safety.md"), "Be careful with knives.\n");
      return compose(cwd);
    },
    message: [
      "layer safety differs from the lock",
      "+ Be careful with knives.",
      "run `strata lock`",
      "restore the file",
    ],
  },
  {
    code: "budget_too_small",
    when: "not even the minimum fits",
    shown: "A budget that is too small",
    provoke: () =>
      compose(
        project((yaml) => yaml.replace("  companion:", "  companion:\n    budgets: { total: 1500, reply: 500 }")),
      ),
    message: [/needs \d+ tokens and only 1000 may be sent/, "raise budgets.total"],
  },
  {
    code: "model_unknown",
    when: "no model has that name",
    provoke: () => compose(project((yaml) => `${yaml}\nmodel: mystery:one\n`)),
    message: ['"mystery:one"', "anthropic:NAME"],
  },
  {
    code: "unexpected",
    when: "the lock cannot be written because a folder has its name",
    provoke: () => {
      const cwd = project();
      rmSync(join(cwd, "strata.lock"));
      mkdirSync(join(cwd, "strata.lock"));
      return cli(["lock"], { cwd });
    },
    message: ["strata.lock could not be written", "make its folder writable"],
  },
];

/** A folder with data in it, so that there is something to look through. */
async function withData(): Promise<string> {
  const cwd = project();
  await strata(["memory", "save", "Tea, not coffee."], { cwd });
  return cwd;
}
