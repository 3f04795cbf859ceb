import { PassThrough } from "node:stream";
import { expect, it } from "vitest";
import { threadId, turnId } from "../../../protocol/index.ts";
import { createContext } from "./context.ts";
import { plainTeller } from "./teller.ts";

it.each([
  [true, /^The bird sings\.\n$/],
  [undefined, /canary/],
])("a terminal gets words that are held only as they went out (held: %s)", (held, shown) => {
  const stdout = Object.assign(new PassThrough(), { isTTY: true, columns: 80 });
  const { signal } = new AbortController();
  const terminal = { stdin: stdout, stdout, stderr: new PassThrough(), env: {}, cwd: "/", signal };
  const tell = plainTeller(createContext(terminal), () => true);
  const turn = turnId("trn_00000000000000000000000000");
  const start = { type: "turn-start", turn, thread: threadId("thr_00000000000000000000000000"), events: 1 } as const;
  tell({ ...start, ...(held && { held }) });
  tell({ type: "text-delta", text: "The canary sings." });
  tell({ type: "done", turn, text: "The bird sings.", because: "answered" });
  expect(String(stdout.read())).toMatch(shown);
});
