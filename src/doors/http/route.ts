import type { z } from "zod";
import { type Naming, type OperationContext, parsed } from "../../features/index.ts";
import { type Action, type Actor, type Allowed, allow, asStrataError, type StrataError } from "../../protocol/index.ts";
import type { Turns } from "./turns.ts";

/** What the routes are given to answer with. */
export interface HttpContext extends OperationContext {
  readonly turns: Turns;
}

/** One request in the protocol's types. */
export interface Call<Path, Query, Body, May extends Action> {
  /** Who asks, and may do it. */
  readonly actor: Allowed<May>;
  readonly path: Path;
  readonly query: Query;
  readonly body: Body;
  /** Aborted when the client has gone. */
  readonly gone: AbortSignal;
}

/** A route as it is written down: what it takes, what it answers, and how. */
export interface RouteSpec<
  Path extends z.ZodObject,
  Query extends z.ZodObject,
  Body extends z.ZodObject,
  Answer extends z.ZodType,
  May extends Action,
> {
  readonly method: "get" | "post" | "delete";
  /** As OpenAPI has it: `/v1/threads/{id}`. */
  readonly url: string;
  /** One line for the reader of the OpenAPI document. */
  readonly says: string;
  /** What the actor's role must be allowed. */
  readonly may: May;
  readonly path: Path;
  readonly query: Query;
  readonly body: Body;
  readonly answer: Answer;
  /** Where the answer is not `200` with JSON. */
  readonly otherwise?: readonly OtherAnswer[];
  /** A value is sent as JSON with 200; a `Response` as it is. */
  readonly handle: (
    doors: HttpContext,
    call: Call<z.output<Path>, z.output<Query>, z.output<Body>, May>,
  ) => Promise<z.input<Answer> | Response>;
}

/** An answer beside the usual one. */
export interface OtherAnswer {
  readonly status: number;
  readonly says: string;
  readonly type?: string;
  readonly schema?: z.ZodType;
}

/** A request before it was parsed. */
export interface RawCall {
  readonly actor: Actor;
  readonly path: unknown;
  readonly query: unknown;
  readonly body: unknown;
  readonly gone: AbortSignal;
}

/** A route as the server holds it: its shapes to be told, and one function over a raw request. */
export interface Route
  extends Pick<
    RouteSpec<z.ZodObject, z.ZodObject, z.ZodObject, z.ZodType, Action>,
    "method" | "url" | "says" | "may" | "otherwise"
  > {
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

/** Makes a route: parse once, ask the runtime, answer. */
export function route<
  Path extends z.ZodObject,
  Query extends z.ZodObject,
  Body extends z.ZodObject,
  Answer extends z.ZodType,
  const May extends Action,
>(spec: RouteSpec<Path, Query, Body, Answer, May>): Route {
  const { method, url, says, may, path, query, body, answer, otherwise = [] } = spec;
  return {
    method,
    url,
    says,
    may,
    otherwise,
    shapes: { path, query, body, answer },
    respond: async (doors, { gone, ...raw }) => {
      const actor = allow(raw.actor, may);
      const given = await spec.handle(doors, {
        actor,
        gone,
        path: parsed(path, raw.path, named("path")),
        query: parsed(query, raw.query, named("query")),
        body: parsed(body, raw.body === undefined ? {} : raw.body, named("body")),
      });
      return given instanceof Response ? given : Response.json(given);
    },
  };
}

/** Seconds after which a server that was stopped may be back, or a database unlocked. */
const AGAIN = "5";

/** Any thrown value as an HTTP answer: status and retry from the error table, the sentence for people, the details for programs. */
export function errorResponse(thrown: unknown): Response {
  const error = asStrataError(thrown);
  const { status } = error.traits;
  const headers = {
    ...(status === 401 && { "www-authenticate": "Bearer" }),
    ...(status === 503 && { "retry-after": AGAIN }),
  };
  return Response.json(errorBody(error), { status, headers });
}

/** An error as programs get it. */
export function errorBody({ code, message, details, traits: { retry, says } }: StrataError) {
  // What nobody foresaw may hold anything: it is told in general only.
  return { error: code === "unexpected" ? { code, message: says, retry } : { code, message, details, retry } };
}
