import { existsSync } from "node:fs";
import { join } from "node:path";
import { expect, it } from "vitest";
import { ROOT } from "../../checks/files.ts";
import SECONDS from "../../checks/seconds.json" with { type: "json" };
import { slowestFirst } from "../../checks/slowest-first.ts";

it("each file of tests that is said to take long is there", () => {
  expect(Object.keys(SECONDS).filter((path) => !existsSync(join(ROOT, path)))).toEqual([]);
});

it("the slowest files are run first, all others in the order that they had", () => {
  const [slow = "", slower = ""] = Object.entries(SECONDS)
    .sort(([, one], [, other]) => one - other)
    .map(([path]) => path)
    .slice(-2);
  const files = ["b.test.ts", slow, "a.test.ts", slower].map((path) => ({ moduleId: join(ROOT, path) }));
  expect(slowestFirst(files)).toEqual([files[3], files[1], files[0], files[2]]);
});
