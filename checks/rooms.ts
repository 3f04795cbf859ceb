import { posix } from "node:path";
import { isTestFile, readFiles, type SourceFile } from "./files.ts";
import { type Import, importsOf } from "./imports.ts";
import { impureUses, readsEnvironment } from "./purity.ts";

interface Room {
  readonly mayImport: readonly string[];
  /** Only with `import type`: the room knows the words of these, and is given the parts. */
  readonly mayImportTypes: readonly string[];
  /** The same input gives the same bytes: no clock, no chance, no input or output. */
  readonly isPure?: true;
}

/** Who may import whom. Nothing imports upward, siblings do not meet. */
export const ROOMS: Readonly<Record<string, Room>> = {
  protocol: { mayImport: [], mayImportTypes: [] },
  wire: { mayImport: ["protocol"], mayImportTypes: [], isPure: true },
  guard: { mayImport: ["protocol"], mayImportTypes: [], isPure: true },
  compiler: { mayImport: ["protocol", "guard"], mayImportTypes: [], isPure: true },
  agents: { mayImport: ["protocol", "guard"], mayImportTypes: [] },
  memory: { mayImport: ["protocol"], mayImportTypes: [], isPure: true },
  store: { mayImport: ["protocol", "memory"], mayImportTypes: [] },
  models: { mayImport: ["protocol"], mayImportTypes: [] },
  sandbox: { mayImport: ["protocol"], mayImportTypes: [] },
  print: { mayImport: ["protocol"], mayImportTypes: [] },
  "turn/sources": { mayImport: ["protocol", "guard", "memory"], mayImportTypes: ["store", "agents"] },
  "turn/tools": { mayImport: ["protocol", "guard", "memory", "sandbox"], mayImportTypes: ["store", "agents"] },
  turn: {
    mayImport: ["protocol", "compiler", "wire", "guard", "turn/sources", "turn/tools"],
    mayImportTypes: ["store", "models", "agents"],
  },
  work: { mayImport: ["protocol"], mayImportTypes: ["turn"] },
  features: {
    mayImport: [
      "protocol",
      "print",
      "agents",
      "guard",
      "compiler",
      "memory",
      "store",
      "wire",
      "turn",
      "turn/sources",
      "turn/tools",
      "sandbox",
    ],
    mayImportTypes: ["work"],
  },
  "doors/http": { mayImport: ["protocol", "features", "turn"], mayImportTypes: [] },
  "doors/cli": { mayImport: ["protocol", "print", "features", "app"], mayImportTypes: [] },
};

const ROOM_NAMES = Object.keys(ROOMS);
const ALL_BUT_CLI = ROOM_NAMES.filter((name) => name !== "doors/cli");

/** The files directly under `src/`: `app.ts` makes and joins the parts, `index.ts` is what the package shows. */
const TOP_FILES: Readonly<Record<string, Room>> = {
  app: { mayImport: ALL_BUT_CLI, mayImportTypes: [] },
  index: { mayImport: [...ALL_BUT_CLI, "app"], mayImportTypes: [] },
  testing: { mayImport: ["features"], mayImportTypes: [] },
};

/** Packages that only some rooms may know: a provider's shapes, a database's rows, a web framework's requests stay where they enter. */
const PACKAGES: Readonly<Record<string, readonly string[]>> = {
  "@ai-sdk/": ["models"],
  "@openrouter/": ["models"],
  "@scure/bip39": ["guard"],
  "@noble/": ["guard"],
  "gpt-tokenizer": ["models"],
  "better-sqlite3": ["store"],
  "sqlite-vec": ["store"],
  pg: ["store"],
  stemmer: ["memory"],
  "ipaddr.js": ["features"],
  croner: ["features"],
  kysely: ["store"],
  "@hono/": ["doors/http", "app", "doors/cli"],
  hono: ["doors/http", "app"],
  commander: ["doors/cli"],
  "quickjs-wasi": ["sandbox"],
  esbuild: ["sandbox"],
  "libxml2-wasm": ["features"],
};

/** Where the environment may be read: it is an input, and inputs are parsed at the edges. */
const KNOWS_ENVIRONMENT = ["app", "doors/cli", "agents"];

interface ParsedFile {
  readonly path: string;
  /** The room, or `app` or `index` for the files directly under `src/`; `undefined` outside `src/`. */
  readonly room: string | undefined;
  readonly isTest: boolean;
  readonly text: string;
  readonly imports: readonly Import[];
}

/** The rule breaks in these files, one sentence each. */
export function checkRooms(files: readonly SourceFile[]): readonly string[] {
  const parsed = files.map(parse);
  return [
    ...parsed.flatMap(unknownRoom),
    ...parsed.flatMap((file) => file.imports.flatMap((one) => forbiddenImport(file, one))),
    ...parsed.flatMap(impurities),
    ...parsed.flatMap(environmentReads),
    ...ROOM_NAMES.flatMap((room) => cycles(parsed.filter((file) => file.room === room))),
  ];
}

export function checkProjectRooms(): readonly string[] {
  return checkRooms(readFiles((path) => /^(src|tests|examples)\/.*\.ts$/.test(path)));
}

function parse({ path, text }: SourceFile): ParsedFile {
  return { path, text, room: roomOf(path), isTest: isTestFile(path), imports: importsOf(text) };
}

function roomOf(path: string): string | undefined {
  const [top, second = "", third = ""] = path.split("/");
  if (top !== "src") return undefined;
  const inner = `${second}/${third}`;
  return second === "doors" || Object.hasOwn(ROOMS, inner) ? inner : second.replace(/\.ts$/, "");
}

function rulesOf(room: string): Room | undefined {
  if (Object.hasOwn(ROOMS, room)) return ROOMS[room];
  return Object.hasOwn(TOP_FILES, room) ? TOP_FILES[room] : undefined;
}

function unknownRoom({ path, room }: ParsedFile): readonly string[] {
  if (room === undefined || rulesOf(room) !== undefined) return [];
  return [`${path}: "${room}" is no room; add it to the table in checks/rooms.ts or move the file into a room`];
}

function forbiddenImport(file: ParsedFile, one: Import): readonly string[] {
  const because = reasonAgainst(file, one);
  return because === undefined ? [] : [`${file.path}:${one.line}: ${because}`];
}

/** The one file that imports by a path from outside: the modules of the operator's own. */
const LOADS_MODULES = "src/agents/modules.ts";

function reasonAgainst(file: ParsedFile, one: Import): string | undefined {
  if (one.from === undefined) {
    const mayCompute = file.room === undefined || file.isTest || file.path === LOADS_MODULES;
    return mayCompute ? undefined : "imports a computed path; the rooms' table cannot be kept for it";
  }
  if (!one.from.startsWith(".")) return reasonAgainstPackage(file, one.from);
  const target = posix.join(posix.dirname(file.path), one.from);
  const room = roomOf(target);
  if (room === file.room) return undefined;
  if (room === undefined) return file.isTest ? undefined : `imports ${target} from outside src/, which is not built`;
  // What every implementation of a room's port keeps: those who implement it run it.
  if (file.isTest && isContract(target, room)) return undefined;
  if (!isDoor(target, room))
    return `imports ${target} past the door of ${room}; import src/${room}/index.ts, or list the name there`;
  return reasonAgainstRoom(file, one, room);
}

/** Who needs one part of the app, and not the whole, enters by one of these. */
const ENTRIES_OF_THE_APP = "src/app/entry";

/**
 * `config.ts` of a feature holds its keys of agents: they are read before anything runs, and the rest of it is loaded when it is needed.
 * `api.ts` says what it adds to a runtime, and `store.ts` what it keeps.
 */
function isDoor(target: string, room: string): boolean {
  if (posix.dirname(target) === ENTRIES_OF_THE_APP) return true;
  if (Object.hasOwn(TOP_FILES, room)) return target === `src/${room}.ts`;
  if (/^src\/features\/[\w-]+\/(?:config|api|store)\.ts$/.test(target)) return true;
  // Each feature is a room of its own inside the frame.
  return target === `src/${room}/index.ts` || /^src\/features\/[\w-]+\/index\.ts$/.test(target);
}

const isContract = (target: string, room: string): boolean =>
  target === `src/${room}/index.contract.ts` || /^src\/features\/[\w-]+\/index\.contract\.ts$/.test(target);

function reasonAgainstRoom(
  { room: own, isTest }: ParsedFile,
  { use, onlyInlineTypes }: Import,
  room: string,
): string | undefined {
  const rules = own === undefined ? undefined : rulesOf(own);
  if (rules === undefined || rules.mayImport.includes(room)) return undefined;
  if (isTest && rulesOf(room) !== undefined) return undefined;
  const typesAllowed = rules.mayImportTypes.includes(room);
  if (typesAllowed && use === "type") return undefined;
  if (typesAllowed && onlyInlineTypes)
    return `loads ${room} for its types; write "import type { … }" so that nothing is loaded`;
  if (typesAllowed)
    return `imports a value of ${room}, of which ${own} may import types only; take the part as an argument`;
  return `imports ${room}, but ${own} may import ${rules.mayImport.join(", ") || "no room"} only (the table in checks/rooms.ts)`;
}

function reasonAgainstPackage({ room, isTest }: ParsedFile, from: string): string | undefined {
  if (room === undefined || isTest) return undefined;
  const known = Object.entries(PACKAGES).find(
    ([name]) => from === name || from.startsWith(name.endsWith("/") ? name : `${name}/`),
  );
  if (known === undefined || known[1].includes(room)) return undefined;
  return `imports the package ${from}, which only ${known[1].join(", ")} may know`;
}

function impurities({ path, room, isTest, text, imports }: ParsedFile): readonly string[] {
  if (room === undefined || isTest || rulesOf(room)?.isPure !== true) return [];
  return impureUses(text, imports).map(
    ({ line, what }) => `${path}:${line}: uses ${what}, but ${room} is pure; take it as an argument`,
  );
}

function environmentReads({ path, room, isTest, text, imports }: ParsedFile): readonly string[] {
  if (room === undefined || isTest || KNOWS_ENVIRONMENT.includes(room)) return [];
  return readsEnvironment(text, imports).map(
    (line) =>
      `${path}:${line}: reads the environment, which only ${KNOWS_ENVIRONMENT.join(", ")} may; take the value as an argument`,
  );
}

/** Files of one room that import each other in a circle, types included: a circle of types is a word in the wrong file. */
function cycles(files: readonly ParsedFile[]): readonly string[] {
  const byPath = new Map(files.map((file) => [file.path, file]));
  const done = new Set<string>();
  const found: string[] = [];
  const visit = (path: string, trail: readonly string[]): void => {
    const start = trail.indexOf(path);
    if (start >= 0)
      found.push(`import cycle: ${[...trail.slice(start), path].join(" → ")}; move what both need into a third file`);
    const file = byPath.get(path);
    if (start >= 0 || done.has(path) || file === undefined) return;
    for (const { from } of file.imports) {
      if (from?.startsWith(".")) visit(posix.join(posix.dirname(path), from), [...trail, path]);
    }
    done.add(path);
  };
  for (const { path } of files) visit(path, []);
  return found;
}
