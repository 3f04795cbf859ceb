/** Handlers: code that answers for an agent, in a cage. */
import { z } from "zod";
import type { Agent } from "../../protocol/index.ts";
import { turnColumn } from "../column.ts";
import type { Feature } from "../feature.ts";
import { KEYS } from "./config.ts";
import { CAGE_MISSING, HANDLER_FAILED } from "./errors.ts";
import { handle, RAN_IN } from "./run.ts";
import { HANDLER_STORE } from "./store.ts";

export { cageMissing } from "../../sandbox/index.ts";
export {
  type CompleteRequest,
  type HandlerFunction,
  type HandlerPorts,
  type HandlerResponse,
  type HandlerRun,
  type HandlerTry,
  runHandler,
} from "./harness.ts";
export type { HandlerInput, HandlerSlot } from "./shape.ts";

const LOG = turnColumn({
  name: "log",
  schema: z
    .string()
    .describe("the last lines that its handler logged; absent if it logged none, or failed: its error has them then"),
  read: async ({ runtime, actor }, scope, turns) => {
    const { log } = runtime.keeps(actor, scope, HANDLER_STORE);
    const found = await Promise.all(turns.map(async (turn) => [turn.id, await log(turn.scope, turn.id)] as const));
    return new Map(found.flatMap(([id, lines]) => (lines === undefined ? [] : [[id, lines]])));
  },
  show: (lines) => lines.replaceAll("\n", "\n         "),
});

/** A conversation keeps the code that it began with; but if `level: process` is declared now or was then, it runs there. */
function atStrictest(declared: readonly Agent[], agent: Agent): Agent {
  const now = declared.find(({ org, name }) => org === agent.org && name === agent.name);
  if (agent.handler === undefined || now?.handler?.level !== "process") return agent;
  return { ...agent, handler: { ...agent.handler, level: "process" } };
}

export const FEATURE: Feature = {
  name: "handlers",
  needs: ["peers"],
  keys: KEYS,
  errors: [HANDLER_FAILED, CAGE_MISSING],
  operations: [],
  store: HANDLER_STORE,
  columns: { turns: [LOG] },
  steps: {
    // A handler gets one payload: the rest waits for the next turn.
    setup: async ({ agents }, setup) =>
      setup.agent.handler === undefined
        ? setup
        : { ...setup, agent: atStrictest(agents.all, setup.agent), messages: 1 },
    answer: {
      by: "handler",
      byFor: ({ handler }) => RAN_IN[handler?.level ?? "thread"],
      // An agent without layers has no prompt that a model could be asked with.
      alone: ({ handler, layers }) => handler !== undefined && layers.length === 0,
      // Each answer to its requests is journaled, and everything else is executed again.
      effect: "none",
      answer: async (turn, call) => {
        const { handler } = turn.setup.agent;
        return handler && (await handle(turn, call, handler));
      },
    },
  },
};
