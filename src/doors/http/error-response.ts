import { asStrataError, type StrataError } from "../../protocol/index.ts";

/** Any thrown value as an HTTP answer: status and retry from the error table, the sentence for people, the details for programs. */
export function errorResponse(thrown: unknown): Response {
  const error = asStrataError(thrown);
  const { status } = error.traits;
  const headers = status === 401 ? { "www-authenticate": "Bearer" } : {};
  return Response.json(errorBody(error), { status, headers });
}

/** An error as programs get it. */
export function errorBody({ code, message, details, traits: { retry, says } }: StrataError) {
  // What nobody foresaw may hold anything: it is told in general only.
  return { error: code === "unexpected" ? { code, message: says, retry } : { code, message, details, retry } };
}
