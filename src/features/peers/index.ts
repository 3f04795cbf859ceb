/** Peers: agents of one project that ask each other, over the edges that strata.yaml declares and no others. */
import { type JsonObject, StrataError, type Tool, type ToolReader, toolName } from "../../protocol/index.ts";
import { callerOf, type Outside, type Parts } from "../../turn/index.ts";
import type { ToolFamily } from "../../turn/tools/index.ts";
import type { Feature } from "../feature.ts";
import { PEER_API } from "./api.ts";
import { askPeer, saidToCaller } from "./ask.ts";
import { CLOSED } from "./columns.ts";
import { ASK, KEYS } from "./config.ts";
import { admitOutside, NOT_AN_ENTRY } from "./entry.ts";
import { admitToBuffer, BUFFER_FULL, bufferApi, idleThreads, THREAD_FULL, THREAD_PRUNED } from "./lifecycle.ts";
import { OPERATIONS } from "./operations.ts";
import { JSON_OBJECT } from "./payload.ts";
import { NO_LISTENER, routeApi, send } from "./route.ts";
import { ASK_UNKNOWN, askTool } from "./wording.ts";

/** Any payload, if the agent is not known: its own schema is checked in the turn. */
const ANY_PAYLOAD: JsonObject = { type: "object", properties: {} };

function askToolFor(name: string): Tool {
  const tool = toolName(`${ASK}${name}`);
  return {
    schema: { name: tool, description: ASK_UNKNOWN, input: ANY_PAYLOAD },
    schemaFor: ({ peers = [] }: ToolReader) => {
      const edge = peers.find((one) => one.name === name);
      if (edge !== undefined)
        return { name: tool, description: askTool(name, edge.payload.type), input: edge.payload.schema };
      const message = `no tool is named ${tool}: ${name} is not a peer of the agent; name it under \`peers\``;
      throw new StrataError("tool_not_found", message, { name: tool });
    },
    // It begins with the commit of the turn that asks, or not at all.
    effect: "store",
    trust: "agent",
    states: ["executing actions"],
    check: (input) => (JSON_OBJECT.safeParse(input).success ? undefined : `${tool} takes a JSON object`),
    run: (input, context) => askPeer(name, JSON_OBJECT.parse(input), { turn: callerOf(context), context }),
  };
}

async function admitted(parts: Parts, said: Outside): Promise<void> {
  await admitOutside(said);
  await admitToBuffer(parts, said);
}

const ASK_FAMILY: ToolFamily = { prefix: ASK, tool: askToolFor };

export { PEER_API, type PeerApi } from "./api.ts";
export { answerIn, type HandlerOutput, payloadIn, peerAnswer, peerOf } from "./handler.ts";
export { payloadContent } from "./route.ts";

export const FEATURE: Feature = {
  name: "peers",
  needs: ["messages", "subagents"],
  keys: KEYS,
  toolFamilies: [ASK_FAMILY],
  errors: [NOT_AN_ENTRY, NO_LISTENER, BUFFER_FULL, THREAD_FULL, THREAD_PRUNED],
  steps: { saidToCaller, admit: admitted },
  columns: { threads: [CLOSED] },
  jobs: [idleThreads],
  operations: [...OPERATIONS, send],
  open: () => ({ api: ({ parts }) => PEER_API.open({ ...bufferApi(parts), ...routeApi(parts) }) }),
};
