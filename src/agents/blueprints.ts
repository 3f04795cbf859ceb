import { existsSync, readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { StrataError, suggestion } from "../protocol/index.ts";
import { visible } from "./path.ts";

/** `blueprints/` of the package: two folders above this file, in `src/agents` as in the built `dist/agents`. */
const BLUEPRINTS = fileURLToPath(new URL("../../blueprints/", import.meta.url));

/** The shipped blueprints, sorted. */
export function blueprintNames(): readonly string[] {
  return readdirSync(BLUEPRINTS)
    .filter((name) => existsSync(join(BLUEPRINTS, name, "strata.yaml")))
    .sort();
}

/**
 * Blueprints with an agent of the same name, which answers if no agent is declared. The others are not even read: they may need packages
 * that are not installed.
 */
export function standInNames(): readonly string[] {
  const yamlOf = (name: string): string => readFileSync(join(BLUEPRINTS, name, "strata.yaml"), "utf8");
  return blueprintNames().filter((name) => new RegExp(`^ {2}${name}:`, "m").test(yamlOf(name)));
}

/**
 * The folder of a shipped blueprint: what `strata init NAME` copies.
 * @throws StrataError `file_not_found`
 */
export function blueprintFolder(name: string): string {
  const names = blueprintNames();
  if (names.includes(name)) return join(BLUEPRINTS, name);
  throw new StrataError("file_not_found", `no blueprint is called \`${visible(name)}\`${suggestion(name, names)}`, {
    name,
    names,
  });
}
