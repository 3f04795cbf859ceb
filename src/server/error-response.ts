import { asStrataError } from "../protocol/index.ts";

/** Any thrown value as an HTTP answer: status and retry from the error table, the sentence for people, the details for programs. */
export function errorResponse(thrown: unknown): Response {
  const { code, message, details, traits } = asStrataError(thrown);
  return Response.json(
    // What nobody foresaw may hold anything: it is told in general only.
    { error: code === "unexpected" ? { code, message: traits.says } : { code, message, details, retry: traits.retry } },
    { status: traits.status },
  );
}
