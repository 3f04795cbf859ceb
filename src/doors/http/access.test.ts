import { describe, expect, it } from "vitest";
import { allOperations } from "../../app/entry/features.ts";
import { HERE, httpFixture, TOKEN } from "./index.contract.ts";
import { siteOf } from "./index.ts";
import { routesOf } from "./routes.ts";

const ROUTES = routesOf(await allOperations());

const LINES = [
  ...ROUTES.map(({ method, url }) => `${method.toUpperCase()} ${url.replaceAll(/\{\w+\}/g, "1")}`),
  "GET /v1/openapi.json",
];
const { ask, json, server } = await httpFixture();

describe.each(LINES)("%s", (line) => {
  it.each([
    ["without a token", null],
    ["with another token", `sk_strata_${"b".repeat(43)}`],
    ["with half a token", TOKEN.slice(0, -1)],
    ["with an empty token", ""],
  ])("is refused %s", async (_, token) => {
    const response = await ask(line, { token });
    expect(response.status).toBe(401);
    expect(response.headers.get("www-authenticate")).toBe("Bearer");
    expect(await response.json()).toMatchObject({ error: { code: "unauthenticated", retry: false } });
  });

  it.each([
    ["host", "evil.example:4600"],
    ["host", "127.0.0.1:4601"],
    ["host", "127.0.0.1"],
    ["host", "localhost.:4600"],
    ["host", ""],
    ["origin", "http://evil.example"],
    ["origin", "http://127.0.0.1:3000"],
    ["origin", "https://127.0.0.1:4600"],
    ["origin", "null"],
  ])("is refused with the %s %j", async (header, value) => {
    const { status, body } = await json(line, { headers: { [header]: value } });
    expect(status).toBe(403);
    expect(body).toMatchObject({ error: { code: "not_allowed", message: expect.stringContaining(value) } });
  });

  it("answers to no other method, and says to which", async () => {
    const [, path] = line.split(" ");
    const response = await ask(`PATCH ${path}`);
    expect(response.status).toBe(405);
    expect(response.headers.get("allow")).toContain(line.split(" ")[0]);
    expect(await response.json()).toMatchObject({ error: { code: "method_not_allowed" } });
  });
});

describe("the door", () => {
  it("opens to the token, in each spelling of the header", async () => {
    for (const headers of [{}, { host: "LOCALHOST:4600" }, { host: "[::1]:4600" }, { origin: `http://${HERE}` }]) {
      expect((await ask("GET /v1/agents", { headers })).status).toBe(200);
    }
    const authorization = `bearer  ${TOKEN}`;
    expect((await ask("GET /v1/agents", { token: null, headers: { authorization } })).status).toBe(200);
    const basic = { authorization: `Basic ${TOKEN}` };
    expect((await ask("GET /v1/agents", { token: null, headers: basic })).status).toBe(401);
  });

  it("takes no token from the address, where logs would keep it", async () => {
    expect((await ask(`GET /v1/agents?token=${TOKEN}`, { token: null })).status).toBe(401);
  });

  it("asks for the token before it tells what exists", async () => {
    for (const line of [
      "GET /nowhere",
      "GET /v1",
      "GET /v1/",
      "POST /health",
      "GET /%76%31/agents",
      "GET //v1/agents",
    ]) {
      const { status } = await ask(line, { token: null });
      expect([401, 405], line).toContain(status);
    }
    const { status, body } = await json("POST /nowhere");
    expect(status).toBe(404);
    expect(body).toMatchObject({
      error: { code: "route_not_found", message: expect.stringContaining("POST /nowhere") },
    });
  });

  it("refuses a request that names no host at all", async () => {
    const response = await server.request("/health");
    expect(response.status).toBe(403);
  });

  it("opens nothing without the token where other machines reach it", async () => {
    const wide = await httpFixture([], { site: siteOf({ host: "0.0.0.0", port: 4600 }) });
    for (const line of ["GET /", "GET /health", "HEAD /health", ...LINES]) {
      expect((await wide.ask(line, { token: null })).status, line).toBe(401);
    }
    expect((await wide.ask("GET /health")).status).toBe(200);
  });
});
