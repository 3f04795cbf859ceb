import { spawnSync } from "node:child_process";
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { place, strata } from "./strata.ts";

const hasBash = spawnSync("bash", ["--version"]).status === 0;

/** What bash would offer for a line, as its completion asks for it. */
async function offered(...typed: readonly string[]): Promise<readonly string[]> {
  const cwd = place();
  writeFileSync(join(cwd, "strata.bash"), (await strata(["completion", "bash"], { cwd })).out);
  const ask = `source ./strata.bash; COMP_WORDS=(strata "$@"); COMP_CWORD=$#; _strata; echo "\${COMPREPLY[@]}"`;
  const { stdout, stderr } = spawnSync("bash", ["-c", ask, "bash", ...typed], { cwd, encoding: "utf8" });
  expect(stderr).toBe("");
  return stdout.trim().split(" ");
}

describe("strata completion", () => {
  it.skipIf(!hasBash)("completes commands, verbs and options in bash", async () => {
    expect(await offered("me")).toEqual(["message", "memory", "member"]);
    expect(await offered("memory", "")).toEqual([
      "list",
      "show",
      "save",
      "search",
      "explain",
      "forget",
      "stats",
      "import",
      "export",
      "vectors",
      "embed",
      "consolidate",
    ]);
    expect(await offered("memory", "save", "--t")).toEqual(["--tag"]);
    expect(await offered("--data", "x", "turn", "d")).toEqual(["diff"]);
    expect(await offered("chat", "companion", "--n")).toEqual(["--new"]);
    expect(await offered("completion", "")).toEqual(["bash", "zsh", "fish"]);
    expect(await offered("replay", "talk")).toEqual([""]);
  });

  it.each([
    ["zsh", /^#compdef strata\n[\s\S]*'save:save a memory yourself[\s\S]*\ncompdef _strata strata\n$/],
    ["fish", /^complete -c strata -f -n 'test \(__strata_path\) = "memory"' -a forget -d '.+'$/m],
    ["fish", /^complete -c strata -n 'test \(__strata_path\) = "memory list"' -l limit -r -d '.+'$/m],
  ])("knows all commands in %s", async (shell, holds) => {
    const { code, out } = await strata(["completion", shell], { cwd: place() });
    expect(code).toBe(0);
    expect(out).toMatch(holds);
  });

  it("says which shells there are", async () => {
    const { code, out, err } = await strata(["completion", "tcsh"], { cwd: place() });
    expect({ code, out }).toEqual({ code: 2, out: "" });
    expect(err).toContain("bash, zsh, fish");
  });
});
