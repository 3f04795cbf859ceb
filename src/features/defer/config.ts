import { z } from "zod";
import { agentKey, type StoredKeys } from "../../agents/index.ts";
import { suggestion } from "../../protocol/index.ts";

/** The tool that finds and calls the deferred ones. */
export const MORE_TOOLS = "more_tools";

const DEFER = z
  .array(z.string().min(1).max(64))
  .min(1)
  .max(500)
  .refine((names) => new Set(names).size === names.length, "each tool once")
  .optional()
  .describe(
    "Tools of the agent whose schemas are not sent until the agent looks for them with `more_tools`, which comes with this key. Good for tools that few conversations need. Everything else about them stays as it is. Default: none.",
  );

/** Which tools are hidden behind one that finds them. */
export const KEYS = {
  defer: {
    ...agentKey(DEFER, {
      tools: (value) => (value === undefined ? [] : [MORE_TOOLS]),
      check: (value = [], { agent, refuse }) => {
        const names = agent.tools.map((tool) => (typeof tool === "string" ? tool : tool.name));
        for (const [i, name] of value.entries()) {
          if (name === MORE_TOOLS) refuse([i], `cannot be \`${MORE_TOOLS}\`, which finds the others`);
          else if (!names.includes(name))
            refuse([i], `names a tool that the agent does not have under \`tools\`: ${name}${suggestion(name, names)}`);
        }
      },
    }),
    locks: (names: readonly string[]): Readonly<Record<string, string>> => ({ defer: names.join("\n") }),
  },
};

declare module "../../protocol/agent.ts" {
  interface Agent extends StoredKeys<typeof KEYS> {}
}
