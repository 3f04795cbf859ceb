import { existsSync, mkdirSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, it } from "vitest";
import { newFolder } from "../contract/folder.contract.ts";
import { copyAside } from "./read-only.ts";

it("a copy to be read removes those of programs that were killed, and leaves those of programs that run", () => {
  const folder = newFolder();
  const [left, used] = [join(tmpdir(), "strata-read-999999999-abc"), join(tmpdir(), `strata-read-${process.ppid}-abc`)];
  for (const one of [left, used]) mkdirSync(one);
  writeFileSync(join(folder, "strata.db"), "");
  const copy = copyAside(join(folder, "strata.db"));
  expect([left, used, copy.file].map((path) => existsSync(path))).toEqual([false, true, true]);
  copy.remove();
  expect(existsSync(copy.file)).toBe(false);
  for (const one of [used, folder]) rmSync(one, { recursive: true });
});
