import { mkdirSync, mkdtempSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { expect } from "vitest";
import { loadProject } from "../app/entry/agents.ts";
import { StrataError } from "../protocol/index.ts";
import type { Environment, Problem, Project } from "./index.ts";

/** A new folder with these files. */
export function folderWith(files: Readonly<Record<string, string | Uint8Array>>): string {
  const folder = mkdtempSync(join(tmpdir(), "strata-agents-"));
  for (const [name, content] of Object.entries(files)) {
    mkdirSync(dirname(join(folder, name)), { recursive: true });
    writeFileSync(join(folder, name), content);
  }
  return folder;
}

/** A strata.yaml with one agent: the given layers (flow maps, one a line), and further lines of the agent. */
export function yamlWith(layers: readonly string[], agent = "", top = ""): string {
  const list = layers.map((layer) => `      - {${layer}}\n`).join("");
  return `organization: home\n${top}agents:\n  helper:\n    description: It helps.\n${agent}    layers:\n${list}`;
}

/** Loads a folder that holds only this strata.yaml and these files. */
export function loadYaml(yaml: string, files: Readonly<Record<string, string>> = {}, env: Environment = {}): Project {
  return loadProject(folderWith({ "strata.yaml": yaml, ...files }), { env });
}

/** What the work throws, which must be a StrataError with a sentence. */
export function refusalOf(work: () => unknown): StrataError {
  try {
    work();
  } catch (error) {
    expect(error).toBeInstanceOf(StrataError);
    if (error instanceof StrataError) return error;
  }
  throw new Error("nothing was refused");
}

/** The structured problems of an error. */
export function problemsOf(error: StrataError): readonly Problem[] {
  const { problems } = error.details;
  return Array.isArray(problems) ? problems : [];
}

/** The only agent of a project. */
export function onlyAgent(project: Project) {
  const [agent] = project.agents.values();
  if (agent === undefined) throw new Error("the project has no agent");
  return agent;
}
