import { readFileSync } from "node:fs";
import { describe, expect, it } from "vitest";
import { allErrors, allOperations } from "../../app/entry/features.ts";
import { at, httpFixture } from "./index.contract.ts";
import { routesOf } from "./routes.ts";

const ROUTES = routesOf(await allOperations());

const page = readFileSync(new URL("../../../docs/http.md", import.meta.url), "utf8");
const { ask } = await httpFixture();
const response = await ask("GET /v1/openapi.json");
const served: unknown = await response.json();

const LINES = ROUTES.map(({ method, url, message: sentence }) => ({
  line: `${method.toUpperCase()} ${url}`,
  method,
  url,
  message: sentence,
}));

const ERRORS = new Map(await allErrors());

describe("the OpenAPI document", () => {
  it("is OpenAPI 3.1 and asks for a key", () => {
    expect(response.status).toBe(200);
    expect(served).toMatchObject({
      openapi: "3.1.0",
      info: { title: "Strata", version: "1.2.3" },
      components: {
        securitySchemes: { bearer: { type: "http", scheme: "bearer" }, apiKey: { in: "header", name: "x-api-key" } },
      },
    });
  });

  it("has every route and no other", () => {
    const paths = Object.entries(Object(at(served, "paths")));
    const found = paths.flatMap(([url, methods]) =>
      Object.keys(Object(methods)).map((method) => `${method.toUpperCase()} ${url}`),
    );
    expect(found.sort()).toEqual(LINES.map(({ line }) => line).sort());
  });

  it.each(LINES)("tells of $line what it takes, answers and may refuse", ({ method, url, message: sentence }) => {
    expect(at(served, "paths", url, method)).toMatchObject({
      summary: sentence,
      security: [{ bearer: [] }, { apiKey: [] }],
      responses: { 200: { content: expect.anything() }, default: { content: expect.anything() } },
    });
  });

  it("refuses in its body what the server refuses", () => {
    const body = at(
      served,
      "paths",
      "/v1/agents/{agent}/messages",
      "post",
      "requestBody",
      "content",
      "application/json",
    );
    expect(body).toMatchObject({
      schema: {
        additionalProperties: false,
        // How long a text may be is the agent's to say.
        properties: {
          text: expect.not.objectContaining({ maxLength: expect.anything() }),
          kind: { default: "message" },
          trust: { type: "string" },
          externalId: { type: "string" },
        },
      },
    });
  });

  it("says of each version of a text what it was written for", () => {
    expect(at(served, "components", "schemas", "TextVersion", "required")).toContain("place");
  });

  it("knows every error code", () => {
    const codes = at(served, "components", "schemas", "Error", "properties", "error", "properties", "code", "enum");
    expect(codes).toEqual([...ERRORS.keys()]);
  });

  it("has no reference that leads nowhere", () => {
    const references = [...JSON.stringify(served).matchAll(/"\$ref":"#\/components\/schemas\/(\w+)"/g)];
    const known = Object.keys(Object(at(served, "components", "schemas")));
    expect(references.length).toBeGreaterThan(5);
    for (const [, name] of references) expect(known).toContain(name);
  });
});

describe("docs/http.md", () => {
  it("lists every route with its line, and no other", () => {
    const rows = [...page.matchAll(/^\| `(GET|POST|DELETE) (\/v1[^`]*)` \| (.*) \|$/gm)];
    const told = rows.map(([, method, url, sentence]) => `${method} ${url}: ${sentence}`);
    expect(told).toEqual(LINES.map(({ line, message: sentence }) => `${line}: ${sentence}`));
  });

  it("names no status that the error table does not give, and the errors of the door", () => {
    for (const code of ["unauthenticated", "not_allowed", "route_not_found", "method_not_allowed", "body_too_large"]) {
      expect(page).toContain(`\`${code}\``);
    }
    const pairs = [...page.matchAll(/^\| (\d{3}) \| (`.*`) \|/gm)];
    expect(pairs.length).toBeGreaterThan(5);
    for (const [, status, codes = ""] of pairs) {
      for (const [, code = ""] of codes.matchAll(/`(\w+)`/g)) {
        expect(ERRORS.get(code)?.status, code).toBe(Number(status));
      }
    }
  });

  it("tells nothing of a field that is not there", () => {
    const text = JSON.stringify(served);
    const fields = [...page.matchAll(/"(\w+)":/g)].map(([, field = ""]) => field);
    expect(fields.length).toBeGreaterThan(5);
    for (const field of fields) expect(text, field).toContain(`"${field}"`);
  });
});
