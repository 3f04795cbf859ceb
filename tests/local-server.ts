import { createServer, type RequestListener, type ServerResponse } from "node:http";
import { onTestFinished } from "vitest";

/** A server on this machine, gone when the test is; gives its port. */
export async function localServer(listener: RequestListener): Promise<number> {
  const server = createServer(listener);
  await new Promise<void>((listens) => server.listen(0, "127.0.0.1", listens));
  onTestFinished(() => {
    server.closeAllConnections();
    server.close();
  });
  const address = server.address();
  if (typeof address !== "object" || address === null) throw new Error("the server has no port");
  return address.port;
}

/** How Anthropic's stream frames what the model says. */
export interface Framed {
  readonly id?: string;
  readonly model?: string;
  readonly stop?: string;
  /** The tokens that are told at the beginning, and how many of output at the end. */
  readonly usage?: object;
  readonly output?: number;
}

/** What Anthropic's Messages API streams of an answer: the events of its blocks, within those of the message. */
export function anthropicEvents(blocks: readonly object[], framed: Framed = {}): readonly object[] {
  const { id = "msg_1", model = "claude-sonnet-4-5", stop = "end_turn", output = 9 } = framed;
  const usage = framed.usage ?? { input_tokens: 10, output_tokens: 1 };
  const message = { id, type: "message", role: "assistant", model, content: [], usage };
  return [
    { type: "message_start", message: { ...message, stop_reason: null, stop_sequence: null } },
    ...blocks,
    { type: "message_delta", delta: { stop_reason: stop, stop_sequence: null }, usage: { output_tokens: output } },
    { type: "message_stop" },
  ];
}

/** The events of one block: how it begins, and all that is added to it. */
export const blockEvents = (index: number, block: object, ...deltas: readonly object[]): readonly object[] => [
  { type: "content_block_start", index, content_block: block },
  ...deltas.map((delta) => ({ type: "content_block_delta", index, delta })),
  { type: "content_block_stop", index },
];

export const textEvents = (text: string, index = 0): readonly object[] =>
  blockEvents(index, { type: "text", text: "" }, { type: "text_delta", text });

/** Streams these events, each under its own name where it has one. */
export function sendEvents(response: ServerResponse, events: readonly object[]): void {
  response.writeHead(200, { "content-type": "text/event-stream" });
  const named = (event: object) => ("type" in event ? `event: ${event.type}\n` : "");
  response.end(events.map((event) => `${named(event)}data: ${JSON.stringify(event)}\n\n`).join(""));
}
