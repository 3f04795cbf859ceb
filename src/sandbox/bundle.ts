import { readFileSync } from "node:fs";
// A namespace import: an older Node, which gets an error with the next step when it needs a handler, has no `SourceMap` export.
import * as nodeModule from "node:module";
import { isAbsolute, relative } from "node:path";

/** A handler with all that it imports, as one script. */
export interface Bundle {
  readonly code: string;
  /** Its source map as JSON, without the sources' texts. Paths are relative to the project's folder. */
  readonly map: string;
}

/** Why a handler cannot be bundled: sentences, with file and line if there are any. */
export interface BundleFailure {
  readonly problems: readonly string[];
}

type Esbuild = typeof import("esbuild");

/** How many problems of a handler are reported. */
const MOST_PROBLEMS = 5;

/**
 * Bundles a module in TypeScript or JavaScript for the cage. Modules from outside the language, such as `node:fs`, are refused with the
 * line that imports them.
 * @param file absolute
 * @param folder the project's, absolute
 */
export function bundle(file: string, folder: string): Bundle | BundleFailure {
  const esbuild = loadEsbuild();
  if (esbuild === undefined)
    return { problems: ["handlers are bundled by esbuild, which is not installed: run `npm install esbuild`"] };
  try {
    const options: import("esbuild").BuildOptions & { readonly write: false } = {
      entryPoints: [file],
      absWorkingDir: folder,
      outfile: "handler.js",
      bundle: true,
      write: false,
      target: "es2023",
      platform: "neutral",
      mainFields: ["module", "main"],
      // Nothing of the machine decides what a handler is.
      tsconfigRaw: "{}",
      charset: "utf8",
      legalComments: "none",
      logLevel: "silent",
    };
    const unused = nodeImports(esbuild, options);
    if (unused.length > 0) return { problems: unused };
    const { outputFiles } = esbuild.buildSync({
      ...options,
      format: "iife",
      globalName: "__handler",
      footer: { js: "globalThis.__handler = __handler;" },
      sourcemap: "external",
      sourcesContent: false,
    });
    // Only as a module does the bundle show what it exports.
    const [module] = esbuild.buildSync({ ...options, write: false, format: "esm" }).outputFiles;
    const problem = module && defaultProblem(module.text, file, folder);
    if (problem !== undefined) return { problems: [problem] };
    const textOf = (end: string): string => outputFiles.find(({ path }) => path.endsWith(end))?.text ?? "";
    return { code: textOf(".js"), map: textOf(".map") };
  } catch (thrown) {
    return { problems: problemsIn(thrown) };
  }
}

/** Imports of Node's modules, also those that nothing uses: the bundler takes these for types and leaves them out. */
function nodeImports(esbuild: Esbuild, options: import("esbuild").BuildOptions): readonly string[] {
  try {
    const kept = { compilerOptions: { verbatimModuleSyntax: true } };
    esbuild.buildSync({ ...options, write: false, format: "esm", tsconfigRaw: kept });
    return [];
  } catch (thrown) {
    // Types that are imported like values are allowed.
    return problemsIn(thrown, (module) => nodeModule.isBuiltin(module));
  }
}

/** Expressions that cannot be functions, as the bundler writes them. All others are checked when the handler runs. */
const NO_FUNCTION = /^(?:[{[\d"'`-]|(?:true|false|null|void|class|undefined)\b)/;

/** Why the bundle has no default export that could be called. */
function defaultProblem(module: string, file: string, folder: string): string | undefined {
  const name = /^ {2}(?:([\w$]+) as )?default,?$/m.exec(module)?.[1];
  const value = name && module.split(`\nvar ${name} = `)[1];
  if (name !== undefined && !(value !== undefined && NO_FUNCTION.test(value))) return undefined;
  const lines = readFileSync(file, "utf8").split("\n");
  const line = lines.findIndex((one) => /^\s*(?:export\b.*\bdefault\b|module\.exports\b)/.test(one)) + 1;
  const message = name === undefined ? "the module has no default export" : "its default export is not a function";
  return `${relative(folder, file)}:${line || 1}: ${message}; write \`export default (payload, metadata, ports) => …\``;
}

/** @returns undefined if it is not installed: few need it */
function loadEsbuild(): Esbuild | undefined {
  try {
    const esbuild: Esbuild = nodeModule.createRequire(import.meta.url)("esbuild");
    return esbuild;
  } catch {
    return undefined;
  }
}

/** `only`: which of the modules that are not found are reported. */
function problemsIn(thrown: unknown, only?: (module: string) => boolean): readonly string[] {
  const all = thrown instanceof Error && "errors" in thrown && Array.isArray(thrown.errors) ? thrown.errors : [];
  const missing = (text: string): string | undefined => /^Could not resolve "(.+)"$/.exec(text)?.[1];
  const errors = only === undefined ? all : all.filter(({ text }) => only(missing(text) ?? ""));
  if (all.length === 0) return only ? [] : [thrown instanceof Error ? thrown.message : String(thrown)];
  return errors.slice(0, MOST_PROBLEMS).map(({ text, location }) => {
    const place = location ? `${location.file}:${location.line}: ` : "";
    const module = missing(text);
    if (module === undefined) return `${place}${text}`;
    if (module.startsWith(".") || isAbsolute(module)) return `${place}there is no file ${module}`;
    return `${place}a handler cannot import ${JSON.stringify(module)}: it runs without Node, files and network; import only your own files and packages that need none of these`;
  });
}

/** Statements that the engine may fail in without noting a place: it evaluates their patterns first, or their values are literals. */
const STATEMENT = /^(\s*)(?:(return|throw)(?= \S)|(const|let|var)(?= ))/;

/**
 * The same code, which notes a place at the beginning of each such statement. Lines stay what they are, and columns do not. Errors for
 * which the engine knows no place name the last one that it noted, which may be far away: so a run that failed is repeated with this.
 */
export function withPlaces({ code, map }: Bundle): string {
  let read: nodeModule.SourceMap;
  try {
    read = new nodeModule.SourceMap(JSON.parse(map));
  } catch {
    return code;
  }
  const noted = code.split("\n").map((line, n) => {
    const [begin = "", indent = "", ends, declares] = STATEMENT.exec(line) ?? [];
    if (begin === "") return line;
    // The map has what follows the word. Lines inside a text have no entry of their own.
    const at = read.findEntry(n, begin.length + 1);
    const isOwn = "generatedColumn" in at && at.generatedLine === n && at.generatedColumn === begin.length + 1;
    if (!isOwn) return line;
    const rest = line.slice(begin.length);
    return ends === undefined ? `${indent}${declares} __p${n} = __at(),${rest}` : `${indent}${ends} __at(),${rest}`;
  });
  return `const __at = () => {};${noted.join("\n")}`;
}

/** The line of the bundle that a stack begins at. */
export const lineIn = (stack: string): string | undefined => /handler\.js:(\d+)/.exec(stack)?.[1];

/** A stack of the guest's with the lines of the author's files; lines of the cage's own are left out. */
export function mappedStack(stack: string, map: string): string {
  const lines = stack.split("\n").filter((line) => !line.includes("prelude.js"));
  let read: nodeModule.SourceMap;
  try {
    read = new nodeModule.SourceMap(JSON.parse(map));
  } catch {
    return lines.join("\n");
  }
  const place = (all: string, line: string, column: string): string => {
    const found = read.findEntry(Number(line) - 1, Number(column) - 1);
    return "originalSource" in found
      ? `${found.originalSource}:${found.originalLine + 1}:${found.originalColumn + 1}`
      : all;
  };
  return lines.map((line) => line.replace(/handler\.js:(\d+):(\d+)/g, place)).join("\n");
}
