import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { allOperations } from "../../app/entry/features.ts";
import { at, httpFixture, to } from "./index.contract.ts";
import { routesOf } from "./routes.ts";

const ROUTES = routesOf(await allOperations());

const { ask, json, open } = await httpFixture();
const thread = await open();

/** What a route may be given: the right form, nearly the right form, or anything. */
const word = fc.oneof(
  fc.constantFrom(
    thread,
    `trn_${"0".repeat(26)}`,
    "companion",
    "ann",
    "1",
    "0",
    "-1",
    "1e9",
    "..",
    "%2e%2e",
    "%E0%A4%A",
  ),
  fc.string({ unit: "binary", maxLength: 40 }).map(encodeURIComponent),
);
const field = fc.constantFrom(
  "agent",
  "contact",
  "text",
  "key",
  "limit",
  "query",
  "mode",
  "tags",
  "content",
  "toString",
);
const body = fc.oneof(
  fc.json(),
  fc.string({ unit: "binary" }),
  fc.dictionary(field, fc.oneof(fc.constantFrom("companion", "ann"), fc.anything())).map((one) => written(one)),
);
const called = fc.record({
  route: fc.constantFrom(...ROUTES),
  path: fc.array(word, { minLength: 2, maxLength: 2 }),
  query: fc.array(fc.tuple(field, word), { maxLength: 3 }),
  raw: body,
});

function written(value: unknown): string {
  try {
    return JSON.stringify(value);
  } catch {
    return "{";
  }
}

describe("whatever is asked", () => {
  it("gets an answer with a reason, and never a failure of the server", async () => {
    await fc.assert(
      fc.asyncProperty(called, async ({ route: { method, url }, path, query, raw }) => {
        const filled = url.replace("{id}", path[0] ?? "").replace("{n}", path[1] ?? "");
        const search = query.map(([name, value]) => `${name}=${value}`).join("&");
        const line = `${method.toUpperCase()} ${filled}?${search}`;
        const response = await ask(line, method === "get" ? {} : { raw });
        const text = await response.text();
        // A file may have any form; errors are always JSON.
        const isFile = response.status < 400 && response.headers.get("content-type") !== "application/json";
        const answer: unknown = isFile ? text : JSON.parse(text);
        expect(response.status, `${line} ${raw} ${JSON.stringify(answer)}`).toBeLessThan(500);
        if (response.status < 400) return;
        expect(at(answer, "error", "message")).toMatch(/\S/);
        expect(JSON.stringify(answer)).not.toMatch(/\.ts:\d|node_modules/);
      }),
      { numRuns: 600 },
    );
  });

  it("any text comes back as it was sent", async () => {
    const text = fc.string({ unit: "binary", minLength: 1, maxLength: 200 }).filter((one) => one.trim() !== "");
    await fc.assert(
      fc.asyncProperty(text, async (said) => {
        const { body: answer } = await json(...to(thread, { text: said, follow: "queue" }));
        expect(at(answer, "event", "content")).toEqual([{ type: "text", text: said }]);
      }),
      { numRuns: 100 },
    );
  });
});
