import { type Compilation, requestOf } from "../compiler/index.ts";
import {
  NO_USAGE,
  never,
  type Parameters,
  type Reply,
  type Request,
  StrataError,
  type TranscriptMessage,
  type TurnEvent,
} from "../protocol/index.ts";
import { dollars, planMarks } from "../wire/index.ts";
import { parametersOf } from "./cast.ts";
import { add, type Work } from "./work.ts";

/** What a call of the model gave, and its message where it said anything. */
export interface Answer {
  readonly reply: Reply;
  readonly message: TranscriptMessage | undefined;
}

/**
 * Sends one request of the turn and passes on the words as they come.
 * @throws StrataError as `ask`
 */
export async function* send(work: Work, compilation: Compilation): AsyncGenerator<TurnEvent, Answer> {
  work.sent = compilation;
  yield { type: "compiled", round: work.requests.length + 1, ledger: compilation.ledger };
  const reply = yield* ask(work, compilation, parametersOf(work.cast));
  const { parts } = reply;
  const message = parts.length === 0 ? undefined : add(work, { role: "assistant", parts }, compilation.taint);
  return { reply, message };
}

/**
 * Asks the model. The request is recorded whatever happens to it.
 * @throws StrataError `model_failed`, `rate_limited`, `key_refused`, `model_refused`, `turn_cancelled`
 */
export async function* ask(
  work: Work,
  compilation: Compilation,
  parameters: Parameters,
): AsyncGenerator<TurnEvent, Reply> {
  const bare = requestOf(compilation, parameters);
  const request: Request = { ...bare, marks: planMarks(bare, work.cast) };
  const began = { at: work.parts.clock(), wall: work.parts.wall() };
  let reply: Reply | null = null;
  try {
    reply = yield* listen(work, request);
    // A rehearsal or a recording reports what it made up; only a provider knows how its model counts.
    const { ref, wire } = work.cast.model;
    if (ref === wire) work.parts.observe(wire, request, reply.usage.input);
    return reply;
  } finally {
    record(work, compilation, request, reply, began);
  }
}

async function* listen({ cast, lease }: Work, request: Request): AsyncGenerator<TurnEvent, Reply> {
  for await (const event of cast.model.send(request, { signal: lease.signal })) {
    switch (event.type) {
      case "retry":
      case "text-delta":
      case "reasoning-delta":
        yield event;
        break;
      case "call":
        break;
      case "reply":
        return event.reply;
      default:
        return never(event);
    }
  }
  throw new StrataError("model_failed", `${cast.model.ref} ended its stream without an answer; try again`);
}

function record(
  work: Work,
  { epoch, own, ledger, taint }: Compilation,
  { tail, marks, parameters }: Request,
  reply: Reply | null,
  began: { readonly at: number; readonly wall: number },
): void {
  work.requests.push({
    n: work.requests.length + 1,
    epoch: epoch.n,
    base: epoch.transcript.length,
    own: own.length,
    tail,
    marks,
    parameters,
    ledger,
    taint,
    reply,
    dollars: dollars(reply?.usage ?? NO_USAGE, work.cast.prices),
    at: began.at,
    milliseconds: work.parts.wall() - began.wall,
  });
}
