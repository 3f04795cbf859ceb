import { OpenAPIHono } from "@hono/zod-openapi";
import { errorShape } from "../../features/index.ts";
import type { OtherAnswer, Route } from "./route.ts";

/** The OpenAPI 3.1 document of routes, made from the shapes that they parse with. */
export function openApiOf(
  routes: readonly Route[],
  { version, codes }: { readonly version: string; readonly codes: readonly string[] },
): object {
  const error = { ...ERROR_ANSWER, schema: errorShape(codes) };
  const host = new OpenAPIHono();
  const { openAPIRegistry: registry } = host;
  registry.registerComponent("securitySchemes", "bearer", { type: "http", scheme: "bearer" });
  registry.registerComponent("securitySchemes", "apiKey", { type: "apiKey", in: "header", name: "x-api-key" });
  for (const route of routes) registry.registerPath(described(route, error));
  const info = {
    title: "Strata",
    version,
    description: "Every path needs a key: one that `strata key create` made, or the operator's token.",
  };
  return host.getOpenAPI31Document({ openapi: "3.1.0", info });
}

function described(
  { method, url, message, shapes: { path, query, body, answer }, otherwise = [] }: Route,
  error: OtherAnswer,
) {
  const takesBody = Object.keys(body.shape).length > 0;
  const usual: OtherAnswer = { status: 200, message, schema: answer };
  return {
    method,
    path: url,
    summary: message,
    security: [{ bearer: [] }, { apiKey: [] }],
    request: {
      params: path,
      query,
      ...(takesBody && { body: { required: true, content: { "application/json": { schema: body } } } }),
    },
    responses: { ...responses([usual, ...otherwise]), default: { ...content(error) } },
  };
}

const ERROR_ANSWER: OtherAnswer = { status: 0, message: "What went wrong, and what to do next." };

/** Answers of one status are grouped, one type of content each. */
function responses(answers: readonly OtherAnswer[]) {
  const byStatus = Map.groupBy(answers, ({ status }) => status);
  return Object.fromEntries(
    [...byStatus].map(([status, same]) => {
      const [first, ...more] = same.map(content);
      const contents = Object.assign({}, first?.content, ...more.map((one) => one.content));
      return [status, { description: same.map(({ message }) => message).join(" "), content: contents }];
    }),
  );
}

function content({ message, type = "application/json", schema }: OtherAnswer) {
  return { description: message, content: { [type]: schema === undefined ? {} : { schema } } };
}
