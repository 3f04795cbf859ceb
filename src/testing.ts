/** For authors of handlers: their types, and a harness that runs a handler in the cage that it will run in. */
export {
  type CompleteRequest,
  type HandlerFunction,
  type HandlerInput,
  type HandlerPorts,
  type HandlerResponse,
  type HandlerRun,
  type HandlerSlot,
  type HandlerTry,
  runHandler,
} from "./features/handlers/index.ts";
