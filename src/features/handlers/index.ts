/** Handlers: code that answers for an agent, in a cage. */
import type { Feature } from "../feature.ts";
import { KEYS } from "./config.ts";
import { CAGE_MISSING, HANDLER_FAILED } from "./errors.ts";
import { handle } from "./run.ts";

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

export const FEATURE: Feature = {
  name: "handlers",
  keys: KEYS,
  errors: [HANDLER_FAILED, CAGE_MISSING],
  operations: [],
  steps: {
    answer: {
      by: "handler",
      // An agent without layers has no prompt that a model could be asked with.
      alone: ({ handler, layers }) => handler !== undefined && layers.length === 0,
      // What it asks is journaled answer by answer, and all else of it is done again.
      effect: "none",
      answer: async (turn, call) => {
        const { handler } = turn.setup.agent;
        return handler === undefined ? undefined : await handle(turn, call, handler);
      },
    },
  },
};
