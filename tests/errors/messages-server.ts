import { text } from "node:stream/consumers";
import { anthropicEvents, blockEvents, localServer, sendEvents, textEvents } from "../local-server.ts";

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
  const port = await localServer(async (request, response) => {
    const content = contents[received.length];
    received.push({ key: request.headers["x-api-key"], body: await text(request) });
    if (content === undefined) response.writeHead(500).end();
    else sendEvents(response, eventsOf(content));
  });
  return { received, url: `http://127.0.0.1:${port}/v1` };
}

function eventsOf(content: Content): readonly object[] {
  if (content.type === "text") return anthropicEvents(textEvents(content.text));
  const delta = { type: "input_json_delta", partial_json: JSON.stringify(content.input) };
  return anthropicEvents(blockEvents(0, { ...content, input: {} }, delta), { stop: "tool_use" });
}
