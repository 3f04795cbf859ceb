import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import { describe, expect, it } from "vitest";
import { child, place, ROOT } from "./strata.ts";

/** What a program has loaded when it ends: files of ours below `src/`, and packages. */
interface Loaded {
  readonly files: readonly string[];
  readonly rooms: readonly string[];
  readonly packages: readonly string[];
}

/** Writes down whatever is resolved, and nothing else changes. */
const WATCHING = (file: string): string => `
  import { writeFileSync } from "node:fs";
  import { registerHooks } from "node:module";
  const urls = new Set();
  const resolve = (specifier, context, next) => {
    const found = next(specifier, context);
    urls.add(found.url);
    return found;
  };
  registerHooks({ resolve });
  process.on("exit", () => writeFileSync(${JSON.stringify(file)}, JSON.stringify([...urls])));
`;

/** Runs a command line as a process; where `until` is given, it is ended once it has said so. */
async function loadedBy(argv: readonly string[], until?: string): Promise<Loaded> {
  const cwd = place();
  const [hook, list] = [join(cwd, "watch.mjs"), join(cwd, "loaded.json")];
  writeFileSync(hook, WATCHING(list));
  const running = child(argv, { cwd, env: { NODE_OPTIONS: `--import=${pathToFileURL(hook).href}` } });
  if (until !== undefined) {
    await running.message(until);
    running.process.kill("SIGTERM");
  }
  expect(await running.ended).toMatchObject({ code: 0 });
  const urls: readonly string[] = JSON.parse(readFileSync(list, "utf8"));
  const source = pathToFileURL(join(ROOT, "src/")).href;
  const files = urls.filter((url) => url.startsWith(source)).map((url) => url.slice(source.length));
  const packages = urls.flatMap((url) => /.*\/node_modules\/((?:@[^/]+\/)?[^/]+)/.exec(url)?.[1] ?? []);
  const rooms = files
    .map((file) => /^doors\/\w+|^[\w.-]+/.exec(file)?.[0] ?? "")
    .filter((room) => !room.endsWith(".ts"));
  return { files, rooms: [...new Set(rooms)].sort(), packages: [...new Set(packages)].sort() };
}

/** Commands of which nothing is loaded where another one runs. */
const OTHERS = ["features/memories/index.ts", "doors/cli/chat/chat.ts", "doors/cli/cache/cache.ts"];

/** What is loaded by those alone who use it. */
const RARE = /^(?:@noble\/.*|gpt-tokenizer|@openrouter\/.*|@ai-sdk\/(?!provider$).*)$/;

describe("a command loads what it needs", () => {
  it("and the version needs no command", async () => {
    const { files, rooms, packages } = await loadedBy(["--version"]);
    expect({ rooms, packages }).toEqual({ rooms: ["app", "doors/cli", "print", "protocol"], packages: ["commander"] });
    expect(OTHERS.filter((file) => files.includes(file))).toEqual([]);
  });

  it("and the help of all commands needs no engine", async () => {
    const { files, rooms, packages } = await loadedBy(["--help"]);
    expect(OTHERS.filter((file) => files.includes(file))).toEqual([]);
    expect({ rooms, packages }).toEqual({ rooms: ["app", "doors/cli", "print", "protocol"], packages: ["commander"] });
  });

  it("and the guard needs nothing but the guard", async () => {
    const { files, rooms, packages } = await loadedBy(["guard", "check", "Be brief."]);
    expect({ rooms, packages }).toEqual({
      rooms: ["app", "doors/cli", "guard", "print", "protocol"],
      // The words of recovery phrases, which are secrets.
      packages: ["@scure/bip39", "commander"],
    });
    expect(OTHERS.filter((file) => files.includes(file))).toEqual([]);
  });

  it("and what opens an agent needs no server, no provider's package, no chain and no judge of texts", async () => {
    const { files, rooms, packages } = await loadedBy(["agent", "list"]);
    expect(rooms).toEqual(expect.arrayContaining(["agents", "turn", "store"]));
    expect(rooms).not.toContain("doors/http");
    expect(packages).not.toContain("hono");
    expect(packages.filter((name) => RARE.test(name))).toEqual([]);
    expect(files.filter((file) => file.startsWith("guard/override/"))).toEqual([]);
  });

  it("and the server loads ahead what the first turn would keep everybody waiting for, and no more", async () => {
    const { files, rooms, packages } = await loadedBy(["start", "--port", "0"], "listens on");
    expect(rooms).toContain("doors/http");
    // The vocabulary, and no package of a provider: the only agent here talks to the rehearsal.
    expect(packages.filter((name) => RARE.test(name))).toEqual(["gpt-tokenizer"]);
    expect(files.filter((file) => file.startsWith("guard/override/"))).toEqual([]);
  });
});
