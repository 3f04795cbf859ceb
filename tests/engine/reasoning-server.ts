import type { ServerResponse } from "node:http";
import { text } from "node:stream/consumers";
import { anthropicEvents, blockEvents, localServer, sendEvents, textEvents } from "../local-server.ts";

/** What is answered to one request after the other; the last continues. */
export type Answers = readonly (
  | "reasons"
  | "calls"
  | { readonly refuses: string /** Words that come before. */; readonly after?: string }
)[];

/** A server in Anthropic's place whose model thinks before it says yes, or calls; and that may refuse. */
export async function reasoningServer(answers: Answers) {
  const received: string[] = [];
  const port = await localServer(async (request, response) => {
    received.push(await text(request));
    answer(response, received.length, answers[received.length - 1] ?? answers.at(-1));
  });
  return { received, url: `http://127.0.0.1:${port}/v1` };
}

function answer(response: ServerResponse, n: number, how: Answers[number] | undefined): void {
  if (typeof how !== "object") {
    stream(response, n, how === "calls" ? CALL : textEvents("Yes.", 1));
    return;
  }
  const refusal = { type: "error", error: { type: "invalid_request_error", message: how.refuses } };
  if (how.after !== undefined) {
    stream(response, n, [...textEvents(how.after, 1).slice(0, 2), refusal]);
    return;
  }
  response.writeHead(400, { "content-type": "application/json" });
  response.end(JSON.stringify(refusal));
}

const CALL = blockEvents(
  1,
  { type: "tool_use", id: "toolu_1", name: "memory_search", input: {} },
  { type: "input_json_delta", partial_json: '{"query":"tea"}' },
);

const THINKING = blockEvents(
  0,
  { type: "thinking", thinking: "", signature: "" },
  { type: "thinking_delta", thinking: "They want a yes." },
  { type: "signature_delta", signature: "c2lnbmVk" },
);

function stream(response: ServerResponse, n: number, content: readonly object[]): void {
  const stop = content === CALL ? "tool_use" : "end_turn";
  const framed = { id: `msg_${n}`, model: "claude-opus-5-5", stop };
  sendEvents(response, anthropicEvents([...THINKING, ...content], framed));
}
