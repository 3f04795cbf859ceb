import { writeFileSync } from "node:fs";
import { createServer } from "node:http";
import { join } from "node:path";
import { onTestFinished, vi } from "vitest";
import { RETRY } from "../../src/models/index.ts";
import { place, project, strata } from "../cli/strata.ts";
import { answeredBy, type Case, chat, cli, refuse, type Seen, site } from "./doors.ts";

/** What a turn meets on its way: the model, its provider, its sources, its own end. */
export const TURN: readonly Case[] = [
  {
    code: "model_failed",
    when: "nobody answers at the provider's address",
    shown: "A model that is down",
    provoke: down,
    message: ["anthropic did not answer for claude-sonnet-4-5", "ECONNREFUSED 127.0.0.1:4611", "check the network"],
  },
  {
    code: "key_refused",
    when: "the provider does not know the key",
    shown: "A key that is refused",
    provoke: async () => {
      const { cwd, env } = await answeredBy((_, response) =>
        refuse(response, 401, { type: "authentication_error", message: "invalid x-api-key" }),
      );
      return chat(cwd, { env });
    },
    message: ["status 401", "invalid x-api-key", "key"],
  },
  {
    code: "rate_limited",
    when: "the provider is asked too often",
    shown: "A rate limit",
    provoke: async () => {
      const { cwd, env } = await answeredBy((_, response) =>
        refuse(response, 429, {
          type: "rate_limit_error",
          message: "This request would exceed your organization's rate limit of 50 requests per minute.",
          headers: { "retry-after": "3600" },
        }),
      );
      return chat(cwd, { env });
    },
    message: ["status 429", "50 requests per minute", "run the turn"],
  },
  {
    code: "model_refused",
    when: "the provider does not take the request",
    provoke: async () => {
      const { cwd, env } = await answeredBy((_, response) =>
        refuse(response, 404, { type: "not_found_error", message: "model: claude-sonnet-4-5" }),
      );
      return chat(cwd, { env });
    },
    message: ["status 404", "model: claude-sonnet-4-5", "check the model's name"],
  },
  {
    code: "reasoning_refused",
    when: "the provider says that the model's earlier reasoning came back changed",
    provoke: async () => {
      const { cwd, env } = await answeredBy((_, response) =>
        refuse(response, 400, {
          type: "invalid_request_error",
          message: "messages.1.content.0: Invalid `signature` in `thinking` block",
        }),
      );
      return chat(cwd, { env });
    },
    message: ["rejected its own earlier reasoning", "status 400", "a bug in Strata", "continue in a new thread"],
  },
  {
    code: "turn_timeout",
    when: "the turn takes longer than it may",
    provoke: async () => {
      const { cwd, env } = await answeredBy(
        () => {},
        (yaml) => yaml.replace("  companion:", "  companion:\n    budgets: { turn: { seconds: 1 } }"),
      );
      return chat(cwd, { env });
    },
    message: ["longer than its 1 s;", "budgets.turn.seconds"],
  },
  {
    code: "turn_cancelled",
    when: "somebody presses Ctrl-C",
    provoke: async () => {
      const ending = new AbortController();
      const { cwd, env } = await answeredBy(() => ending.abort());
      return chat(cwd, { env, signal: ending.signal });
    },
    message: ["the turn was cancelled", "keep waiting"],
  },
  {
    code: "source_failed",
    when: "a required layer's source throws",
    provoke: () => {
      const source = `import { defineSource } from "strata";
export const stock = defineSource({ name: "stock", trust: "operator", load: () => { throw new Error("the till is off"); } });`;
      const layer = "      - id: stock\n        rank: 55\n        source: stock\n        required: true\n";
      return chat(withModule(source, layer));
    },
    message: ["stock", "the till is off"],
  },
  {
    code: "call_answered",
    when: "a call that waits is answered twice, and differently",
    provoke: async () => {
      const source = `import { answersLater, defineTool, z } from "strata";
export const ask = defineTool({ name: "ask", description: "Asks.", input: z.strictObject({}), effect: "none",
  trust: "contact", run: (_, context) => answersLater(context, { waitsFor: "client" }) });`;
      const cwd = withModule(source, "", (yaml) => yaml.replace("tools: [", "tools: [ask, "));
      const { out } = await strata(["ask", "Use ask {}", "--json"], { cwd });
      const [call] = out.match(/cal_[0-9a-z]{26}/) ?? [];
      await strata(["ask", "--answer", `${call}=12:00`], { cwd });
      return cli(["ask", "--answer", `${call}=13:00`], { cwd });
    },
    message: [/cal_\w+ was answered differently/, "send what is new as a message"],
  },
  {
    code: "module_failed",
    when: "a module cannot be loaded",
    provoke: () => chat(withModule("export const = 1;")),
    message: ["own.ts cannot be used", "fix the file"],
  },
  {
    code: "server_stopping",
    when: "a server that is being stopped gets a request",
    provoke: async () => {
      const asked = Promise.withResolvers<void>();
      const { cwd, env } = await answeredBy(() => asked.resolve());
      const { ask, refused, thread, close } = await site(cwd, env);
      const running = ask("POST /v1/agents/companion/messages", { thread: await thread(), text: "hi" });
      await asked.promise;
      const closed = close(1_000);
      const seen = await refused("GET /v1/agents");
      await Promise.all([running, closed]);
      return seen;
    },
    message: ["is being stopped", "send this again"],
  },
  {
    code: "port_taken",
    when: "another program serves there",
    provoke: taken,
    message: ["another program already uses port", "--port"],
  },
];

/** A project with a module of its own, and a layer. */
function withModule(source: string, layer = "", edit = (yaml: string): string => yaml): string {
  const cwd = project((yaml) => `${edit(yaml).replace("    layers:\n", `    layers:\n${layer}`)}\nmodules: [own.ts]\n`);
  writeFileSync(join(cwd, "own.ts"), source);
  return cwd;
}

/** A model at an address where nobody listens any more. */
async function down(): Promise<Seen> {
  // It is asked again as often as ever, and at once.
  const pauses = vi.spyOn(RETRY, "sleep").mockResolvedValue(undefined);
  onTestFinished(() => pauses.mockRestore());
  const { server, port } = await listening();
  await new Promise((closed) => server.close(closed));
  const yaml = `\nmodel: anthropic:claude-sonnet-4-5\nproviders:\n  anthropic:\n    key: \${SOME_KEY}\n    url: http://127.0.0.1:${port}/v1\n`;
  return chat(
    project((text) => text + yaml),
    { env: { SOME_KEY: "not-a-real-key" } },
  );
}

async function taken(): Promise<Seen> {
  const { server, port } = await listening();
  onTestFinished(() => void server.close());
  return cli(["start", "--port", String(port)], { cwd: place() });
}

async function listening() {
  const server = createServer();
  await new Promise<void>((listens) => server.listen(0, "127.0.0.1", listens));
  const address = server.address();
  return { server, port: typeof address === "object" ? address?.port : undefined };
}
