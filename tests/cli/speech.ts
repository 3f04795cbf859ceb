import type { RequestListener, ServerResponse } from "node:http";

/** One answer of a provider: its words, and how it ends; `breaks` is a connection that ends in the middle. */
export interface Speech {
  readonly text: string;
  readonly ends?: "end_turn" | "max_tokens" | "refusal" | "breaks" | "error";
}

/** A provider of Anthropic's kind that gives these answers in turn, the last one again and again. */
export function speaking(...speeches: readonly Speech[]): RequestListener {
  let asked = 0;
  return (request, response) => {
    request.resume();
    request.on("end", () => {
      const speech = speeches[Math.min(asked++, speeches.length - 1)];
      if (speech !== undefined) speak(response, speech);
    });
  };
}

function speak(response: ServerResponse, { text, ends = "end_turn" }: Speech): void {
  const usage = { input_tokens: 10, output_tokens: 1 };
  const message = { id: "msg_1", type: "message", role: "assistant", model: "claude-sonnet-4-5", content: [], usage };
  const write = (event: { readonly type: string } & Readonly<Record<string, unknown>>): void =>
    void response.write(`event: ${event.type}\ndata: ${JSON.stringify(event)}\n\n`);
  response.writeHead(200, { "content-type": "text/event-stream" });
  write({ type: "message_start", message: { ...message, stop_reason: null, stop_sequence: null } });
  write({ type: "content_block_start", index: 0, content_block: { type: "text", text: "" } });
  write({ type: "content_block_delta", index: 0, delta: { type: "text_delta", text } });
  if (ends === "breaks") return void setImmediate(() => response.destroy());
  if (ends === "error") {
    write({ type: "error", error: "this is no error of Anthropic's" });
    return void response.end();
  }
  write({ type: "content_block_stop", index: 0 });
  write({ type: "message_delta", delta: { stop_reason: ends, stop_sequence: null }, usage: { output_tokens: 9 } });
  write({ type: "message_stop" });
  response.end();
}
