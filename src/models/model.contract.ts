import { expect, it } from "vitest";
import {
  type Message,
  type Model,
  type ModelEvent,
  type Reply,
  type Request,
  StrataError,
  spoken,
  toolName,
  trusted,
  writeFrame,
} from "../protocol/index.ts";

const AT = Date.UTC(2026, 10, 21, 9, 30);

/** A contact's message as it appears in a request. */
export const contactText = (text: string, name?: string, at = AT) =>
  ({ type: "text", text: trusted(writeFrame({ kind: "message", trust: "contact", at }, name, text)) }) as const;

/** A request of one contact message, and whatever the test wants otherwise. */
export const sampleRequest = (text: string, changes: Partial<Request> = {}): Request => ({
  prefix: {
    tools: [{ name: toolName("look_up"), description: "Looks a word up.", input: { type: "object" } }],
    system: [{ scope: "agent", text: trusted("Be brief."), layers: [] }],
  },
  messages: [{ role: "user", parts: [contactText(text)] }],
  tail: [],
  breakpoints: [],
  parameters: { maxTokens: 1_000 },
  ...changes,
});

/** The messages of such a request, then a call and what it came to. */
export function messagesWithCall({ messages, prefix }: Request): readonly Message[] {
  const [user] = messages;
  const tool = prefix.tools[0]?.name;
  if (user === undefined || tool === undefined) throw new Error("the sample has a message and a tool");
  const looking: Message["parts"] = [
    { type: "text", text: spoken("Looking.") },
    { type: "call", id: "c1", tool, input: {} },
  ];
  return [
    user,
    { role: "assistant", parts: looking },
    { role: "tool", parts: [{ type: "result", id: "c1", tool, text: trusted("A star."), failed: true }] },
  ];
}

/** All that a send tells. */
export async function eventsOf(model: Model, request: Request, signal: AbortSignal = new AbortController().signal) {
  const events: ModelEvent[] = [];
  for await (const event of model.send(request, { signal })) events.push(event);
  return events;
}

export async function replyOf(model: Model, request: Request): Promise<Reply> {
  const last = (await eventsOf(model, request)).at(-1);
  if (last?.type !== "reply") throw new Error("the last event is not the reply");
  return last.reply;
}

/** The error a send ends in. */
export async function failureOf(model: Model, request: Request, signal?: AbortSignal): Promise<StrataError> {
  try {
    await eventsOf(model, request, signal);
  } catch (thrown) {
    if (thrown instanceof StrataError) return thrown;
    throw thrown;
  }
  throw new Error("the send did not fail");
}

/** What every model keeps. `open` gives a fresh one each time, whose first reply says something. */
export function modelContract(open: () => Model | Promise<Model>): void {
  const request = sampleRequest("Hello there, how are you today?");

  it("ends in exactly one reply", async () => {
    const events = await eventsOf(await open(), request);
    expect(events.filter((event) => event.type === "reply")).toHaveLength(1);
    expect(events.at(-1)?.type).toBe("reply");
  });

  it("streams exactly the words and calls of its reply", async () => {
    const events = await eventsOf(await open(), request);
    const parts = events.flatMap((event) => (event.type === "reply" ? event.reply.parts : []));
    const told = events.map((event) => (event.type === "text-delta" ? event.text : "")).join("");
    expect(told).not.toBe("");
    expect(parts.map((part) => (part.type === "text" ? part.text : "")).join("")).toBe(told);
    const calls = events.flatMap((event) => (event.type === "call" ? [event.call] : []));
    expect(parts.filter((part) => part.type === "call")).toEqual(calls);
  });

  it("says the same to the same request", async () => {
    expect(await eventsOf(await open(), request)).toEqual(await eventsOf(await open(), request));
  });

  it("leaves the request as it was", async () => {
    const before = structuredClone(request);
    await eventsOf(await open(), request);
    expect(request).toEqual(before);
  });

  it("does not begin when it is stopped already", async () => {
    const failure = await failureOf(await open(), request, AbortSignal.abort());
    expect(failure.code).toBe("turn_cancelled");
  });

  it("stops between two words", async () => {
    const stop = new AbortController();
    const events: ModelEvent[] = [];
    const reading = async (model: Model) => {
      for await (const event of model.send(request, { signal: stop.signal })) {
        events.push(event);
        stop.abort();
      }
    };
    await expect(reading(await open())).rejects.toMatchObject({ code: "turn_cancelled" });
    expect(events).toHaveLength(1);
  });

  it("lets go when nobody listens any more", async () => {
    const model = await open();
    for await (const event of model.send(request, { signal: new AbortController().signal })) {
      expect(event.type).toBeDefined();
      break;
    }
  });
}
