import type { z } from "zod";
import type { Naming, OperationContext } from "../../features/index.ts";
import { type Action, type Actor, asStrataError, type StrataError } from "../../protocol/index.ts";
import type { Turns } from "./turns.ts";

/** What the routes answer with. */
export interface HttpContext extends OperationContext {
  readonly turns: Turns;
}

/** An answer beside the usual one. */
export interface OtherAnswer {
  readonly status: number;
  readonly message: string;
  readonly type?: string;
  readonly schema?: z.ZodType;
}

/** A request before it was parsed. */
export interface RawCall {
  readonly actor: Actor;
  readonly path: unknown;
  readonly query: unknown;
  readonly body: unknown;
  /** The type that the client wants, from its `Accept` header. */
  readonly accept: string | undefined;
  readonly gone: AbortSignal;
}

/** A route as the server holds it: its shapes for the description, and one function over a raw request. */
export interface Route {
  readonly method: "get" | "post" | "delete";
  /** As OpenAPI has it: `/v1/threads/{id}`. */
  readonly url: string;
  /** One line for the reader of the OpenAPI document. */
  readonly message: string;
  /** What the actor's role must allow. */
  readonly may: Action;
  /** Set if the answer is not `200` with JSON. */
  readonly otherwise?: readonly OtherAnswer[];
  readonly shapes: {
    readonly path: z.ZodObject;
    readonly query: z.ZodObject;
    readonly body: z.ZodObject;
    readonly answer: z.ZodType;
  };
  readonly respond: (doors: HttpContext, call: RawCall) => Promise<Response>;
}

/** The names of fields in one place of a request. */
export function named(place: "path" | "query" | "body"): Naming {
  return { whole: `the ${place}`, field: (name) => `\`${name}\` in the ${place}` };
}

/** Seconds after which a server that was stopped may be back, a database unlocked, or a turn has taken what waits. */
const AGAIN = "5";

/** Any thrown value as an HTTP answer: status and retry from the error table, the sentence for people, the details for programs. */
export function errorResponse(thrown: unknown): Response {
  const error = asStrataError(thrown);
  const { status } = error.traits;
  const headers = {
    ...(status === 401 && { "www-authenticate": "Bearer" }),
    // The rest of its body may still come, so a next request could not be separated from it.
    ...(status === 408 && { connection: "close" }),
    ...((status === 503 || status === 429) && { "retry-after": String(error.details.retryAfter ?? AGAIN) }),
  };
  return Response.json(errorBody(error), { status, headers });
}

/** An error as programs get it. */
export function errorBody({ code, message, details, traits: { retry, message: sentence } }: StrataError) {
  // An unforeseen error may contain anything: only a general message is shown.
  return { error: code === "unexpected" ? { code, message: sentence, retry } : { code, message, details, retry } };
}
