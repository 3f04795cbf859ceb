/** Handlers: code that answers for an agent, in a cage. */
import type { RunningTurn } from "../../turn/index.ts";
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

/** The turns whose handler has run. */
const answered = new WeakSet<RunningTurn>();

export const FEATURE: Feature = {
  name: "handlers",
  needs: ["peers"],
  keys: KEYS,
  errors: [HANDLER_FAILED, CAGE_MISSING],
  operations: [],
  steps: {
    // A handler gets one payload: what else waits is the next turn's.
    setup: async (_parts, setup) => (setup.agent.handler === undefined ? setup : { ...setup, messages: 1 }),
    answer: {
      by: "handler",
      // An agent without layers has no prompt that a model could be asked with.
      alone: ({ handler, layers }) => handler !== undefined && layers.length === 0,
      // What it asks is journaled answer by answer, and all else of it is done again.
      effect: "none",
      answer: async (turn, call) => {
        const { handler } = turn.setup.agent;
        if (handler === undefined) return undefined;
        // A forward that was refused comes back in the same turn. It has its result, and the handler has answered.
        if (answered.has(turn)) return { text: "" };
        answered.add(turn);
        return await handle(turn, call, handler);
      },
    },
  },
};
