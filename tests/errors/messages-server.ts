import { createServer, type ServerResponse } from "node:http";
import { onTestFinished } from "vitest";

/** What was asked: the key in its header, and the body. */
interface Received {
  readonly key: unknown;
  readonly body: string;
}

/** What is answered to one request. */
type Content =
  | { readonly type: "text"; readonly text: string }
  | { readonly type: "tool_use"; readonly id: string; readonly name: string; readonly input: object };

/** A server on this machine that speaks Anthropic's Messages API, streaming: one content for each request. */
export async function messagesServer(contents: readonly Content[]) {
  const received: Received[] = [];
  const server = createServer(async (request, response) => {
    const pieces: Buffer[] = [];
    for await (const piece of request) pieces.push(piece);
    const content = contents[received.length];
    received.push({ key: request.headers["x-api-key"], body: Buffer.concat(pieces).toString("utf8") });
    if (content === undefined) response.writeHead(500).end();
    else answer(response, content);
  });
  await new Promise<void>((listens) => server.listen(0, "127.0.0.1", listens));
  onTestFinished(() => {
    server.closeAllConnections();
    server.close();
  });
  const address = server.address();
  return { received, url: `http://127.0.0.1:${typeof address === "object" ? address?.port : ""}/v1` };
}

function answer(response: ServerResponse, content: Content): void {
  const { block, delta, stop } = wireOf(content);
  const usage = { input_tokens: 10, output_tokens: 1 };
  const message = { id: "msg_1", type: "message", role: "assistant", model: "claude-sonnet-4-5", content: [], usage };
  response.writeHead(200, { "content-type": "text/event-stream" });
  for (const event of [
    { type: "message_start", message: { ...message, stop_reason: null, stop_sequence: null } },
    { type: "content_block_start", index: 0, content_block: block },
    { type: "content_block_delta", index: 0, delta },
    { type: "content_block_stop", index: 0 },
    { type: "message_delta", delta: { stop_reason: stop, stop_sequence: null }, usage: { output_tokens: 9 } },
    { type: "message_stop" },
  ])
    response.write(`event: ${event.type}\ndata: ${JSON.stringify(event)}\n\n`);
  response.end();
}

function wireOf(content: Content) {
  if (content.type === "text") {
    return { block: { type: "text", text: "" }, delta: { type: "text_delta", text: content.text }, stop: "end_turn" };
  }
  const delta = { type: "input_json_delta", partial_json: JSON.stringify(content.input) };
  return { block: { ...content, input: {} }, delta, stop: "tool_use" };
}
