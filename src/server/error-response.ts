import { asStrataError } from "../protocol/index.ts";

/** Any thrown value as an HTTP answer: status and retry from the error table, the sentence for people, the details for programs. */
export function errorResponse(thrown: unknown): Response {
  const { code, message, details, traits } = asStrataError(thrown);
  const { status, retry, says } = traits;
  // What nobody foresaw may hold anything: it is told in general only.
  const error = code === "unexpected" ? { code, message: says, retry } : { code, message, details, retry };
  return Response.json({ error }, { status });
}
