import { existsSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { place, strata } from "../../../tests/cli/strata.ts";
import { blueprintFolder } from "../../agents/index.ts";
import { loadProject } from "../../app/entry/agents.ts";
import { agentName, untrusted } from "../../protocol/index.ts";
import { endOf } from "../../turn/index.contract.ts";
import { asks, organism } from "./index.contract.ts";

/** The configuration in the seed, word for word. */
const SEED = `organism:
  name: hello-world

# Platform settings
platform:
  context_buffer:
    max_slots_per_thread: 1000
    max_threads: 10000
    ttl_hours: 24              # Auto-GC idle threads

  prompt_registry:
    allow_runtime_update: false  # Immutable after startup

  llm:
    rate_limit_per_agent: 100    # Requests per minute
    cache_ttl_seconds: 3600      # Cache identical prompts
    max_tokens_per_request: 4096

listeners:
  - name: greeter
    prompt: |
      You are a friendly greeter.
      Keep responses short and enthusiastic.
    peers: [shouter]

  - name: shouter
    # No prompt — not an LLM agent
    # Just transforms messages
`;

describe("the blueprint organism", () => {
  const project = loadProject(blueprintFolder("organism"), { env: {} });

  it("003.14 003.50 greets through the shouter, whom nobody else can reach", async () => {
    const greeting = { name: "Ada", message: "Welcome, Ada" };
    const { open, say, sentTo } = await organism(project, {
      greeter: [asks("shouter", greeting), "WELCOME, ADA!"],
      shouter: ['{"said": "WELCOME, ADA!"}'],
    });
    const content = [{ type: "text", text: untrusted("Hello, I am Ada.") }] as const;
    expect(endOf(await say(await open(), { content }))).toMatchObject({ text: "WELCOME, ADA!" });
    expect(JSON.stringify(sentTo("greeter")[1]?.messages.at(-1))).toContain("WELCOME, ADA!");
    const system = sentTo("shouter")[0]
      ?.prefix.system.map(({ text }) => text)
      .join("\n");
    expect(system).toContain("A frame of the kind `peer` holds what another agent wants of you");
    await expect(open("shouter")).rejects.toMatchObject({ code: "not_an_entry" });
  });

  it("S20 has the numbers of the seed", () => {
    const { buffer, budgets } = project.agents.get(agentName("greeter")) ?? {};
    expect(buffer).toEqual({ slots: 1_000, threads: 10_000, ttlHours: 24, graceMinutes: 10 });
    expect(budgets?.reply).toBe(4_096);
  });
});

describe("strata init organism --from", () => {
  const init = async (text: string) => {
    const cwd = place();
    writeFileSync(join(cwd, "organism.yaml"), text);
    const ran = await strata(["init", "organism", "--from", "organism.yaml", "--folder", "own"], { cwd });
    const file = join(cwd, "own/strata.yaml");
    return { ...ran, yaml: existsSync(file) ? readFileSync(file, "utf8") : "", folder: join(cwd, "own") };
  };

  it("003.14 003.42 003.43 003.44 003.45 003.48 003.49 translates the seed's file, and names what has no counterpart with its line", async () => {
    const { code, out, err, folder } = await init(SEED);
    expect([code, err]).toEqual([0, ""]);
    const made = loadProject(folder, { env: {} });
    expect(made.org).toBe("hello-world");
    const [greeter, shouter] = [made.agents.get(agentName("greeter")), made.agents.get(agentName("shouter"))];
    expect(greeter).toMatchObject({
      entry: true,
      buffer: { slots: 1_000, threads: 10_000, ttlHours: 24 },
      budgets: { reply: 4_096 },
      peers: [{ name: "shouter" }],
    });
    expect(greeter?.layers.find(({ id }) => id === "prompt")?.source).toMatchObject({
      text: expect.stringContaining("Keep responses short and enthusiastic."),
    });
    expect(shouter).toMatchObject({ entry: false, layers: [] });
    expect(out).toMatch(/platform\.context_buffer\.ttl_hours +buffer\.ttlHours: 24/);
    expect(out).toMatch(/allow_runtime_update +immutable layers/);
    expect(out).toMatch(/platform\.llm\.cache_ttl_seconds \(line 16\)/);
    expect(out).toMatch(/listeners\.1 \(line 26\) +shouter has no prompt/);
  });

  it("says what is wrong in the file, and makes nothing", async () => {
    const wrong = async (from: string, to: string) => {
      const { code, err, yaml } = await init(SEED.replace(from, to));
      expect([code, yaml]).toEqual([4, ""]);
      return err;
    };
    expect(await wrong("ttl_hours: 24", "ttl_hours: soon")).toMatch(/organism\.yaml:9:/);
    expect(await wrong("peers: [shouter]", "peers: [shoutr]")).toContain("no listener is called so");
    expect(await wrong("name: shouter", "name: greeter")).toContain("the name of another listener");
  });
});
