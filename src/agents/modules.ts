import { z } from "zod";
import { type OwnSource, StrataError, type Tool, TRUSTS } from "../protocol/index.ts";
import { addressesOf } from "./module-graph.ts";
import type { Project } from "./project.ts";

/** The modules' exports, each with its file. */
export interface Modules {
  readonly tools: readonly Tool[];
  readonly sources: readonly OwnSource[];
}

/** What a project's modules exported, and which of them are newly loaded in this state. */
export interface LoadedModules extends Modules {
  readonly anew: readonly string[];
}

/**
 * Loads the modules that a project names and picks up the tools and sources among their exports. `import "strata"` in them and in what they
 * import from the project's folder gives this very Strata, whether it is installed beside them or not. If one of these files changed since,
 * all are loaded again.
 * @param strata the address of the module that `import "strata"` resolves to
 * @throws StrataError `module_failed` naming the file, and the line if it is known
 */
export async function loadModules({ modules, folder, sourceNames }: Project, strata: URL): Promise<LoadedModules> {
  if (modules.length === 0) return { tools: [], sources: [], anew: [] };
  const { of, anew, forget } = addressesOf(modules, folder, strata);
  try {
    const loaded = await Promise.all(modules.map((file) => loadModule(file, of(file), folder)));
    for (const [i, { sources }] of loaded.entries())
      for (const { name } of sources)
        if (sourceNames.includes(name))
          throw moduleFailed(
            modules[i] ?? "",
            `one of its sources has the name of a built-in one, ${name}; give it another name`,
          );
    return {
      tools: loaded.flatMap(({ tools }) => tools),
      sources: loaded.flatMap(({ sources }) => sources),
      anew,
    };
  } catch (thrown) {
    forget();
    throw thrown;
  }
}

async function loadModule(file: string, address: string, folder: string): Promise<Modules> {
  const exported = Object.entries(await namespaceOf(file, address, folder)).flatMap(([name, value]) =>
    Array.isArray(value) ? value.map((one: unknown) => ({ name, value: one })) : [{ name, value }],
  );
  const tools = exported.flatMap(({ name, value }) => (isTool(value) ? [checkedTool(value, name, file)] : []));
  const sources = exported.flatMap(({ name, value }) => (isSource(value) ? [checkedSource(value, name, file)] : []));
  if (tools.length + sources.length > 0) return { tools, sources };
  throw moduleFailed(file, "it exports no tool and no source; export what `defineTool` or `defineSource` returns");
}

async function namespaceOf(file: string, address: string, folder: string): Promise<object> {
  try {
    const namespace: unknown = await import(address);
    return typeof namespace === "object" && namespace !== null ? namespace : {};
  } catch (thrown) {
    const { message, code } = describeThrown(thrown);
    const missing = code === "ERR_MODULE_NOT_FOUND" || code === "MODULE_NOT_FOUND";
    const next = missing
      ? `run \`npm install\` in ${folder} for the packages that it imports`
      : "fix the file and start again";
    throw moduleFailed(file, `it cannot be loaded (${message}); ${next}`, thrown);
  }
}

function describeThrown(thrown: unknown): { readonly message: string; readonly code: unknown } {
  if (!(thrown instanceof Error)) return { message: String(thrown), code: undefined };
  // Node gives the place of a syntax error in the first line of its stack, as `file:line`.
  const line = thrown instanceof SyntaxError ? /^[^\n]*?:(\d+)\n/.exec(thrown.stack ?? "")?.[1] : undefined;
  const [message = ""] = thrown.message.split("\n");
  return { message: line === undefined ? message : `line ${line}: ${message}`, code: "code" in thrown && thrown.code };
}

const moduleFailed = (file: string, why: string, cause?: unknown): StrataError =>
  new StrataError("module_failed", `the module ${file} cannot be used: ${why}`, { file }, cause);

// Node strips a module's types without checking them: what they promise is checked here.
const TOOL = z.looseObject({
  schema: z.object({ name: z.string(), description: z.string() }),
  effect: z.enum(["none", "store", "external"]),
  trust: z.enum(TRUSTS),
  limits: z.strictObject({ calls: z.int().min(1).optional(), seconds: z.number().positive().optional() }).optional(),
});
const SOURCE = z.looseObject({
  name: z.string().regex(/^[a-z0-9](?:[a-z0-9._-]{0,62}[a-z0-9])?$/, "it must be a slug: a-z, 0-9, `.`, `_` and `-`"),
  trust: z.enum(TRUSTS),
});

const isTool = (value: unknown): value is Tool => hasAll(value, ["schema", "check", "run"]);
const isSource = (value: unknown): value is OwnSource => hasAll(value, ["name", "load"]);

const hasAll = (value: unknown, names: readonly string[]): boolean =>
  typeof value === "object" && value !== null && names.every((name) => name in value);

function checkedTool(tool: Tool, name: string, file: string): Tool {
  const { error } = TOOL.safeParse(tool);
  if (error === undefined) return tool;
  throw moduleFailed(file, `its tool ${name} is not valid: ${z.prettifyError(error).replaceAll("\n", " ")}`);
}

function checkedSource(source: OwnSource, name: string, file: string): OwnSource {
  const { error } = SOURCE.safeParse(source);
  if (error !== undefined) {
    throw moduleFailed(file, `its source ${name} is not valid: ${z.prettifyError(error).replaceAll("\n", " ")}`);
  }
  return source;
}
