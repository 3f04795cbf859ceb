import { z } from "zod";
import {
  type At,
  fieldsOf,
  fromWords,
  type Operation,
  parsed,
  pathFields,
  type RawInput,
} from "../../features/index.ts";
import { StrataError } from "../../protocol/index.ts";
import { type HttpContext, named, type OtherAnswer, type RawCall, type Route } from "./route.ts";
import { RUN_ANSWERS, runAnswer, STREAM, TURN_RUN, turnRun } from "./turn-run.ts";

/** An operation as a route: its fields in the path, and the others in the query or, of what changes something, in the body. */
export function routeOf(operation: Operation, at: At): Route {
  const { takes, does: sentence, may } = operation;
  const { method, path: url } = at;
  const shapes = shapesOf(operation, at);
  const otherwise = othersOf(operation);
  const takesAny = Object.keys(method === "post" ? shapes.body.shape : shapes.query.shape).length > 0;
  return {
    method,
    url,
    message: sentence,
    may,
    otherwise,
    shapes,
    respond: async (doors, call) => {
      if (!takesAny || method === "post") parsed(shapes.query, call.query, named("query"));
      const given = givenOf(at, takes, call);
      const answer = await respond(operation, doors, { call, given });
      await doors.runtime.onDisk();
      return answer;
    },
  };
}

function shapesOf(operation: Operation, at: At): Route["shapes"] {
  const { takes } = operation;
  const { method } = at;
  const inPath = pathFields(at);
  const rest = only(takes, (name) => !inPath.includes(name));
  const none = z.strictObject({});
  const mode = operation.kind === "turn" ? TURN_RUN.query : none;
  const answer = "gives" in operation ? operation.gives : operation.kind === "turn" ? TURN_RUN.answer : z.unknown();
  return {
    path: only(takes, (name) => inPath.includes(name)),
    query: method === "post" ? mode : rest,
    body: method === "post" ? rest : none,
    answer,
  };
}

const only = (takes: z.ZodObject, wanted: (name: string) => boolean): z.ZodObject =>
  z.strictObject(Object.fromEntries(Object.entries(takes.shape).filter(([name]) => wanted(name))));

function othersOf(operation: Operation): readonly OtherAnswer[] {
  if (operation.kind === "turn") return [STREAM];
  if (operation.kind === "run") return RUN_ANSWERS(operation.gives);
  if (operation.kind !== "file") return [];
  return operation.types.map((type) => ({ status: 200, message: "The file.", type, schema: z.string() }));
}

/** The fields of path, query and body together, and where each of them came from. */
function givenOf(at: At, takes: z.ZodObject, { path, query, body }: RawCall): RawInput {
  const place = at.method === "post" ? "body" : "query";
  const inPath = pathFields(at);
  const sent = at.method === "post" ? (body === undefined ? {} : body) : fromWords(fieldsOf(takes), Object(query));
  // Throws for anything but an object.
  if (typeof sent !== "object" || sent === null || Array.isArray(sent)) parsed(z.strictObject({}), sent, named(place));
  const others = Object(sent);
  const doubled = Object.keys(others).find((name) => inPath.includes(name));
  if (doubled !== undefined) {
    const message = `the ${place} has no field ${JSON.stringify(doubled)}: it is part of the path`;
    throw new StrataError("invalid_input", message, { in: place, field: doubled });
  }
  const words = fromWords(fieldsOf(takes), Object(path));
  return {
    values: { ...others, ...words },
    naming: { whole: `the ${place}`, field: (name) => named(inPath.includes(name) ? "path" : place).field(name) },
  };
}

interface OperationCall {
  readonly call: RawCall;
  readonly given: RawInput;
}

async function respond(
  operation: Operation,
  doors: HttpContext,
  { call: raw, given }: OperationCall,
): Promise<Response> {
  const { actor, gone } = raw;
  const callWith = (signal: AbortSignal) => ({ actor, signal, progress: () => {} });
  const { waiting } = doors.runtime.load();
  const queued = (answer: Response): Response => {
    // Of a stream it arrives at once, while the turn waits.
    if (waiting > 0) answer.headers.set("queue-length", String(waiting));
    return answer;
  };
  switch (operation.kind) {
    case "value": {
      const answer = await doors.turns.attend((stop) => operation.run(doors, given, callWith(stop)));
      return Response.json(answer.value);
    }
    case "series": {
      const answer = await doors.turns.attend((stop) =>
        operation.run(doors, given, callWith(AbortSignal.any([stop, gone]))),
      );
      if (answer.failed !== undefined) throw answer.failed;
      return Response.json(answer.value);
    }
    case "turn": {
      const query = parsed(TURN_RUN.query, raw.query, named("query"));
      const ran = await turnRun(doors.turns, {
        begin: (stop) => operation.run(doors, given, callWith(stop)).events,
        query,
        gone,
      });
      return queued(ran instanceof Response ? ran : Response.json(ran));
    }
    case "run":
      return queued(await runAnswer(doors.turns, operation.run(doors, given, callWith(gone)), raw));
    case "file": {
      const { type, text } = await operation.run(doors, given, callWith(gone));
      // JSON is always UTF-8, and its media type has no such parameter.
      const headers = { "content-type": type === "application/json" ? type : `${type}; charset=utf-8` };
      return new Response(ReadableStream.from(await begun(text)).pipeThrough(new TextEncoderStream()), { headers });
    }
  }
}

/** A file's pieces, once the first exists: an error before it gets a separate answer instead of a broken file. */
async function begun(text: Iterable<string> | AsyncIterable<string>): Promise<AsyncIterable<string>> {
  const pieces = (async function* () {
    yield* text;
  })();
  const first = await pieces.next();
  return (async function* () {
    if (first.done !== true) yield first.value;
    yield* pieces;
  })();
}
