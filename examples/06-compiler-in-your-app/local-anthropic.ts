import { createServer, type Server, type ServerResponse } from "node:http";

/** The server's answer to one request. */
type Content =
  | { readonly type: "text"; readonly text: string }
  | { readonly type: "tool_use"; readonly id: string; readonly name: string; readonly input: object };

/** A local stand-in for Anthropic's server, so that the example needs no key: it streams one content for each request. */
export async function localAnthropic(contents: readonly Content[]) {
  const waiting = [...contents];
  const server = createServer((request, response) => {
    request.resume().on("end", () => {
      const next = waiting.shift();
      if (next === undefined) response.writeHead(500).end();
      else stream(response, next);
    });
  });
  return { url: await listens(server), close: () => server.close().closeAllConnections() };
}

function listens(server: Server): Promise<string> {
  return new Promise((resolve) => {
    server.listen(0, "127.0.0.1", () => {
      const address = server.address();
      resolve(`http://127.0.0.1:${typeof address === "object" ? address?.port : ""}/v1`);
    });
  });
}

function stream(response: ServerResponse, content: Content): void {
  const isCall = content.type === "tool_use";
  const block = isCall ? { ...content, input: {} } : { ...content, text: "" };
  const delta = isCall
    ? { type: "input_json_delta", partial_json: JSON.stringify(content.input) }
    : { type: "text_delta", text: content.text };
  const usage = { input_tokens: 400, output_tokens: 1 };
  const message = { id: "msg_1", type: "message", role: "assistant", model: "claude-sonnet-5-5", content: [], usage };
  response.writeHead(200, { "content-type": "text/event-stream" });
  for (const event of [
    { type: "message_start", message: { ...message, stop_reason: null, stop_sequence: null } },
    { type: "content_block_start", index: 0, content_block: block },
    { type: "content_block_delta", index: 0, delta },
    { type: "content_block_stop", index: 0 },
    {
      type: "message_delta",
      delta: { stop_reason: isCall ? "tool_use" : "end_turn", stop_sequence: null },
      usage: { output_tokens: 20 },
    },
    { type: "message_stop" },
  ])
    response.write(`event: ${event.type}\ndata: ${JSON.stringify(event)}\n\n`);
  response.end();
}
