import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, it } from "vitest";
import { home, say, strata, systemText, tailText, thread } from "./home.ts";

it("law 1 a running thread is answered as its version was declared: what is sent, how long a reply may be, its live layers", async () => {
  const folder = home();
  const before = await strata(folder);
  const [first] = (await say(before, await thread(before, "ann", "old"), "Hello.", ["Hi."])).sent;
  await before.close();

  const file = join(folder, "strata.yaml");
  const text = readFileSync(file, "utf8")
    .replace("    recall: auto\n", "    recall: auto\n    budgets: { reply: 333 }\n")
    .replace(/\n {6}- id: clock\n[\s\S]*?(?=\n {6}- id:|\n {4}\w|\n\w|$)/, "\n");
  writeFileSync(file, text);
  const after = await strata(folder);
  const [old] = (await say(after, await thread(after, "ann", "old"), "And now?", ["Now."])).sent;
  const [fresh] = (await say(after, await thread(after, "ann", "new"), "Hello.", ["Hi."])).sent;

  if (first === undefined || old === undefined || fresh === undefined) throw new Error("a turn sent no request");
  expect(systemText(old)).toBe(systemText(first));
  expect(old.parameters).toEqual(first.parameters);
  expect(old.tail.map(({ layer }) => layer)).toEqual(first.tail.map(({ layer }) => layer));
  expect(tailText(old)).toContain("UTC");
  // The new declaration holds for threads that begin now.
  expect(fresh.parameters.maxTokens).toBe(333);
  expect(fresh.tail.map(({ layer }) => String(layer))).not.toContain("clock");
});
