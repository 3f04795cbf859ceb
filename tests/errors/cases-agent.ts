import { project, strata } from "../cli/strata.ts";
import { type Case, chat, cli } from "./doors.ts";
import { messagesServer } from "./messages-server.ts";

const APPROVAL = "apr_01jd8k3v5x9m2q7r4t6w8y0zab";
const SAVES = { type: "tool_use", id: "toolu_1", name: "memory_save", input: { content: "Tea.", tags: [] } } as const;

/** What an agent is told to keep to: a person's word, a form, an amount of money. */
export const AGENT: readonly Case[] = [
  {
    code: "approval_not_found",
    when: "no approval has that id",
    provoke: async () => {
      const cwd = project();
      await strata(["memory", "save", "Tea."], { cwd });
      return cli(["approval", "show", APPROVAL], { cwd });
    },
    message: [APPROVAL, "strata approval list"],
  },
  {
    code: "approval_decided",
    when: "two people decide about one call",
    provoke: async () => {
      const { cwd, env } = await speaking([SAVES, "It waits for you.", "I was told no."], (yaml) =>
        yaml.replace("memory_save, memory_search, read", "{ name: memory_save, approval: true }, memory_search, read"),
      );
      await chat(cwd, { env });
      const { out } = await strata(["approval", "list", "--json"], { cwd, env });
      const [waiting]: readonly { readonly id: string }[] = JSON.parse(out);
      await strata(["approval", "deny", waiting?.id ?? ""], { cwd, env });
      return cli(["approval", "approve", waiting?.id ?? ""], { cwd, env });
    },
    message: [/apr_\w+/, "denied"],
  },
  {
    code: "output_invalid",
    when: "the model's answer does not have the form that is declared",
    provoke: async () => {
      const output = `    output: { type: object, properties: { mood: { type: string } }, required: [mood] }\n`;
      const { cwd, env } = await speaking(["Fine, thanks.", "As I said: fine."], (yaml) =>
        yaml.replace("    layers:\n", `${output}    layers:\n`),
      );
      return chat(cwd, { env });
    },
    message: ["anthropic:claude-sonnet-4-5", "`output`", "not JSON", "run the turn again"],
  },
  {
    code: "lint_failed",
    when: "a text of the prefix tells the time",
    provoke: async () => {
      const cwd = project((yaml) => yaml.replace("file: layers/conduct.md", "text: The current time is 14:32."));
      await strata(["lock"], { cwd });
      return cli(["lint"], { cwd });
    },
    message: ["lint found 1 error", "each says what to do"],
  },
  {
    code: "spend_limit",
    when: "the agent has reached its spending limit",
    provoke: async () => {
      const { cwd, env } = await speaking(["Hello.", "Hello again."], (yaml) =>
        yaml.replace("  companion:\n", "  companion:\n    budgets: { spend: { dollars: 0.0001, per: ever } }\n"),
      );
      return chat(cwd, { env, input: "hi\nhi\n" });
    },
    message: ["companion has spent $0.", "of the $0.0001 it may spend", "budgets.spend.dollars"],
  },
];

/** A companion whose model says this, one thing for each request. */
async function speaking(message: readonly (string | typeof SAVES)[], edit: (yaml: string) => string) {
  const model = await messagesServer(
    message.map((one) => (typeof one === "string" ? { type: "text", text: one } : one)),
  );
  const yaml = `\nmodel: anthropic:claude-sonnet-4-5\nproviders:\n  anthropic:\n    key: \${SOME_KEY}\n    url: ${model.url}\n`;
  return { cwd: project((text) => edit(text) + yaml), env: { SOME_KEY: "not-a-real-key" } };
}
