import { PassThrough } from "node:stream";
import { expect, it } from "vitest";
import { createContext } from "./context.ts";
import { showProgress } from "./progress.ts";

it("what is planned is shown at once, whole, and stays", () => {
  const stream = Object.assign(new PassThrough(), { isTTY: false });
  const { signal } = new AbortController();
  const progress = showProgress(
    createContext({ stdin: stream, stdout: stream, stderr: stream, env: {}, cwd: "/", signal }),
    "learning try",
  );
  const plan =
    "4 recorded turns, each answered with the new text and with none, and 0 fixtures: at most 8 answers and $5";
  progress.show(plan, "planned");
  progress.show("1 of at most 8 answers", 1 / 8);
  progress.end();
  expect(String(stream.read())).toBe(`learning try: ${plan}\n`);
});

it("progress ends at the full number, however fast the end comes", () => {
  const stream = Object.assign(new PassThrough(), { isTTY: true, columns: 80 });
  const { signal } = new AbortController();
  const terminal = { stdin: stream, stdout: stream, stderr: stream, env: {}, cwd: "/", signal };
  const progress = showProgress(createContext(terminal), "walking");
  // As long as it takes until something is drawn; what comes right after it is too soon to be drawn.
  while (stream.readableLength === 0) progress.show("1 of 3", 1 / 3);
  progress.show("2 of 3", 2 / 3);
  progress.show("3 of 3", 1);
  progress.end();
  expect(String(stream.read())).toMatch(/1 of 3.*3 of 3.*\[K$/s);
});
