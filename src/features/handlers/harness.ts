import { dirname, resolve } from "node:path";
import { StrataError } from "../../protocol/index.ts";
import { type Answer, bundle, type Level, type Outcome } from "../../sandbox/index.ts";
import type { Handler } from "./config.ts";
import { failed, located, requestIn, runSlice, sliceLimits } from "./run.ts";
import { type HandlerInput, type HandlerSlot, outputIn } from "./shape.ts";

/** A handler's request to the agent's model. */
export interface CompleteRequest {
  readonly message: string;
  /** Omitted from the request if the model's API does not support it. */
  readonly temperature?: number;
  /** Default: 4,096. */
  readonly maxTokens?: number;
}

/** What a handler can do. */
export interface HandlerPorts {
  /** The agent's model, with the agent's prompt and its thread's conversation, neither of which the handler sees. */
  readonly complete: (request: CompleteRequest) => Promise<{ readonly text: string }>;
  readonly log: (...words: readonly unknown[]) => void;
  readonly history: readonly HandlerSlot[];
}

/** What a handler returns: the reply, or with `to` what it forwards to one of its agent's peers; nothing ends the turn without a reply. */
export type HandlerResponse<Payload = unknown> = { readonly payload: Payload; readonly to?: string } | null | undefined;

/** The default export of a handler's module. */
export type HandlerFunction<Payload = unknown, Reply = unknown> = (
  payload: Payload,
  metadata: HandlerInput["metadata"],
  ports: HandlerPorts,
) => HandlerResponse<Reply> | Promise<HandlerResponse<Reply>>;

/** The input for trying a handler. */
export interface HandlerTry extends Partial<Omit<HandlerInput, "payload" | "metadata">> {
  readonly payload: HandlerInput["payload"];
  readonly metadata?: Partial<HandlerInput["metadata"]>;
  /** The results of `complete`, in the order of calls; an error is thrown. */
  readonly answers?: readonly (string | Error)[];
  /** Default: `thread`. */
  readonly level?: Level;
  /** As in strata.yaml. */
  readonly limits?: Partial<Handler["limits"]>;
  /** The time of its clock: milliseconds since 1970. Default: 0. */
  readonly now?: number;
}

/** The result. */
export interface HandlerRun {
  /** What it returned, converted through JSON; null for nothing. */
  readonly returned: unknown;
  readonly asked: readonly CompleteRequest[];
  readonly logs: readonly string[];
  /** CPU milliseconds of its last slice. */
  readonly cpuMs: number;
}

/**
 * Runs a handler to its end, in the cage.
 * @param file its module, absolute or relative to the working folder
 * @throws StrataError `handler_failed` with the author's line, `config_invalid` for what cannot be bundled, `cage_missing`
 */
export async function runHandler(file: string, given: HandlerTry): Promise<HandlerRun> {
  const { answers: scripted = [], level = "thread", limits = {}, now = 0 } = given;
  const path = resolve(file);
  const made = bundle(path, dirname(path));
  if ("problems" in made) throw new StrataError("config_invalid", made.problems.join("\n"), { file });
  const { payload, metadata, history = [] } = given;
  const who = {
    thread_id: "thr_test",
    from_id: "somebody",
    own_name: "handler",
    kind: "message",
    payload_type: "Text",
    ...metadata,
  };
  const input = JSON.stringify({ payload, metadata: who, history });
  const task = { code: made.code, input, seed: 1, now, limits: sliceLimits(limits) };
  const answers: Answer[] = [];
  const asked: CompleteRequest[] = [];
  for (;;) {
    const outcome: Outcome = await runSlice(level, { ...task, answers });
    if (outcome.kind === "failed")
      throw failed(
        metadata?.own_name,
        { file, map: made.map },
        await located({ ...task, answers }, { ...made, level }, outcome),
      );
    if (outcome.kind === "returned")
      return { returned: outputIn(metadata?.own_name, outcome.value), asked, logs: outcome.logs, cpuMs: outcome.cpuMs };
    for (const ask of outcome.asks) {
      const request = requestIn(ask);
      if ("error" in request) {
        answers.push(request);
        continue;
      }
      const answer = scripted[asked.length];
      if (answer === undefined)
        throw new StrataError(
          "invalid_input",
          `the handler asks ${ask}, and only ${scripted.length} answers are given; add one to \`answers\``,
        );
      asked.push(request);
      answers.push(
        typeof answer === "string" ? { value: JSON.stringify({ text: answer }) } : { error: answer.message },
      );
    }
  }
}
