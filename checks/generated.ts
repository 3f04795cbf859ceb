import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import { ROOT } from "./files.ts";

/** A tracked file that a program writes. `npm run fix` writes it again, `npm test` fails when it is stale. */
export interface Generated {
  readonly path: string;
  /** What the file must hold; `undefined` while the code that tells it does not exist. */
  readonly text: () => Promise<string | undefined>;
}

/** To add one: its path, and the function that gives its text. */
export const GENERATED: readonly Generated[] = [
  { path: "schema/strata.schema.json", text: () => textFrom("src/app/entry/agents.ts", "schemaText") },
  { path: "docs/cli.md", text: () => textFrom("src/doors/cli/index.ts", "commandsPage") },
  { path: "docs/configuration.md", text: () => textFrom("checks/configuration-page.ts", "configurationPage") },
  { path: "docs/schema.md", text: () => textFrom("checks/schema-page.ts", "schemaPage") },
  { path: "docs/lint.md", text: () => textFrom("checks/lint-page.ts", "lintPage") },
  { path: "docs/http.md", text: () => textFrom("checks/routes-page.ts", "routesPage") },
  { path: "docs/errors.md", text: () => textFrom("checks/errors-page.ts", "errorsPage") },
  { path: "tests/house/golden/wording.txt", text: () => textFrom("checks/wording.ts", "wordingText") },
];

export async function checkGenerated(): Promise<readonly string[]> {
  const found = await Promise.all(GENERATED.map(staleness));
  return found.flat();
}

async function staleness({ path, text }: Generated): Promise<readonly string[]> {
  const wanted = await text();
  const file = join(ROOT, path);
  if (wanted === undefined || (existsSync(file) && readFileSync(file, "utf8") === wanted)) return [];
  return [`${path} is ${existsSync(file) ? "stale" : "missing"}; run "npm run fix" and commit it`];
}

/** A page with other lines between two marks: `<!-- NAME: written by npm run fix -->` and `<!-- /NAME -->`. */
export function between(page: string, name: string, lines: readonly string[]): string {
  const [begin, end] = [`<!-- ${name}: written by npm run fix -->\n`, `<!-- /${name} -->`];
  const [from, to] = [page.indexOf(begin), page.indexOf(end)];
  if (from < 0 || to < from) throw new Error(`the page has no ${begin.trim()} … ${end}`);
  return `${page.slice(0, from + begin.length)}\n${lines.join("\n")}\n\n${page.slice(to)}`;
}

/** What an exported function of a source file gives. */
async function textFrom(source: string, name: string): Promise<string | undefined> {
  if (!existsSync(join(ROOT, source))) return undefined;
  const module: unknown = await import(pathToFileURL(join(ROOT, source)).href);
  const tell = module !== null && typeof module === "object" ? Reflect.get(module, name) : undefined;
  if (typeof tell !== "function") return undefined;
  const text: unknown = await tell();
  if (typeof text !== "string") throw new TypeError(`${name}() of ${source} gave ${typeof text}, not a text`);
  return text;
}
