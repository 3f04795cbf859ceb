import { inspect } from "node:util";
import { describe, expect, it } from "vitest";
import { loadProject } from "../app/entry/agents.ts";
import { folderWith, loadYaml, onlyAgent, problemsOf, refusalOf, yamlWith } from "./folder.contract.ts";
import { agentSpec, type Environment, lockText, type Project, Secret } from "./index.ts";

const CANARY = "sk-canary-do-not-show-4711";
const REFERENCE = "$" + "{MY_KEY}";
const LAYERS = ["id: rules, rank: 1, text: Be kind."];
const yaml = yamlWith(LAYERS, "", `providers: {anthropic: {key: "${REFERENCE}", url: "https://models.example/v1"}}\n`);

const keyOf = (project: Project): string | undefined => project.providers.get("anthropic")?.key?.reveal();

describe("a secret", () => {
  it("comes from the environment", () => {
    const project = loadYaml(yaml, {}, { MY_KEY: CANARY });
    expect(keyOf(project)).toBe(CANARY);
    expect(project.providers.get("anthropic")?.url).toBe("https://models.example/v1");
  });

  it("comes from .env beside strata.yaml, where the environment does not set it", () => {
    const env = `# keys\nexport MY_KEY="${CANARY}"\nOTHER=1\n`;
    expect(keyOf(loadYaml(yaml, { ".env": env }))).toBe(CANARY);
    expect(keyOf(loadYaml(yaml, { ".env": env }, { MY_KEY: "" }))).toBe(CANARY);
    expect(keyOf(loadYaml(yaml, { ".env": env }, { MY_KEY: "stronger" }))).toBe("stronger");
  });

  it("of Anthropic needs no word in strata.yaml", () => {
    expect(keyOf(loadYaml(yamlWith(LAYERS), {}, { ANTHROPIC_API_KEY: CANARY }))).toBe(CANARY);
    expect(keyOf(loadYaml(yamlWith(LAYERS), { ".env": `ANTHROPIC_API_KEY=${CANARY}\n` }))).toBe(CANARY);
    expect(loadYaml(yamlWith(LAYERS), {}, { ANTHROPIC_API_KEY: "" }).providers.size).toBe(0);
  });

  it.each<[string, Environment, string, string]>([
    ["is not set", {}, "", "not set"],
    ["is empty", { MY_KEY: "" }, "", "set to nothing"],
    ["is empty in .env", {}, "MY_KEY=\n", "set to nothing"],
  ])("that %s is named, with where to put it", (_, env, dotenv, is) => {
    const error = refusalOf(() => loadYaml(yaml, { ".env": dotenv }, env));
    expect(error.code).toBe("secret_missing");
    expect(error.message).toContain(`providers.anthropic.key: ${REFERENCE} — MY_KEY is ${is}; export it`);
    expect(problemsOf(error)).toMatchObject([{ line: 2, path: "providers.anthropic.key" }]);
  });

  it.each(["toString", "constructor", "__proto__"])("is not taken from JavaScript itself: %s", (name) => {
    const odd = yaml.replace("MY_KEY", name);
    expect(refusalOf(() => loadYaml(odd)).code).toBe("secret_missing");
  });
});

describe("a secret's value is in no", () => {
  const project = loadYaml(yaml, {}, { MY_KEY: CANARY });

  it("print, log, JSON or inspection of the project", () => {
    const providers = [...project.providers.values()];
    const shown = [
      JSON.stringify(project),
      JSON.stringify(providers),
      inspect(project, { depth: 20, showHidden: true }),
      inspect(providers, { depth: 20, showHidden: true, customInspect: false }),
      `${providers[0]?.key}`,
      JSON.stringify(structuredClone(JSON.parse(JSON.stringify(providers)))),
      Object.values(providers[0]?.key ?? {}).join(),
    ];
    for (const text of shown) expect(text).not.toContain(CANARY);
    expect(shown[1]).toContain("[secret MY_KEY]");
    expect(new Secret("A", CANARY).reveal()).toBe(CANARY);
  });

  it("agent, spec, version or lock", () => {
    expect(agentSpec(onlyAgent(project)) + lockText(project)).not.toContain(CANARY);
    expect(onlyAgent(project).version).toBe(onlyAgent(loadYaml(yaml, {}, { MY_KEY: "another" })).version);
  });

  it.each([
    ["pasted as the key", `providers: {anthropic: {key: ${CANARY}}}\n`],
    ["pasted as the provider", `providers: {anthropic: ${CANARY}}\n`],
    ["pasted as the providers", `providers: ${CANARY}\n`],
    ["pasted as the address", `providers: {anthropic: {key: "${REFERENCE}", url: ${CANARY}}}\n`],
    ["pasted as the kind", `providers: {anthropic: {kind: ${CANARY}}}\n`],
    ["pasted as the region", `providers: {bedrock: {region: 9${CANARY}}}\n`],
    ["in the address", `providers: {anthropic: {url: "ftp://models.example/v1?key=${CANARY}"}}\n`],
    ["under an unknown key", `providers: {anthropic: {apikey: ${CANARY}}}\n`],
    ["under an unknown key at the top", `api_key: ${CANARY}\n`],
    ["in broken YAML", `providers: "${CANARY}" "${CANARY}"\n`],
    ["in other broken YAML", `providers: [${CANARY}\n`],
    ["behind a reference", `providers: {anthropic: {key: "${REFERENCE}${CANARY}"}}\n`],
  ])("error: %s", (_, top) => {
    const error = refusalOf(() => loadYaml(yamlWith(LAYERS, "", top), {}, { MY_KEY: CANARY }));
    expect(error.code).toBe("config_invalid");
    expect(inspect(error, { depth: 20, showHidden: true })).not.toContain(CANARY);
  });

  it.each([
    ["kind: antropic", '"antropic"'],
    ["kind: bedrock, region: Frankfurt", '"Frankfurt"'],
    ["kind: openai-compatible, url: localhost:11434/v1", '"localhost:11434/v1"'],
    ["kind: openai-compatible, url: ftp://models.example/v1", '"ftp://models.example/v1"'],
  ])("error, and what cannot be one is shown: %s", (provider, shown) => {
    const error = refusalOf(() => loadYaml(yamlWith(LAYERS, "", `providers: {own: {${provider}}}\n`)));
    expect(error.message).toContain(`: ${shown} — `);
  });

  it("prompt: a text that holds it is refused without showing it", () => {
    const folder = folderWith({
      "strata.yaml": yaml.replace("text: Be kind.", "file: a.md"),
      "a.md": `Use ${CANARY}.`,
    });
    const error = refusalOf(() => loadProject(folder, { env: { MY_KEY: CANARY } }));
    expect(error.message).toContain("agents.helper: (hidden) — a text of this agent contains the value of MY_KEY");
    expect(inspect(error, { depth: 20 })).not.toContain(CANARY);
  });
});
