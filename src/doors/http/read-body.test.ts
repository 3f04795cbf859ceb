import { describe, expect, it } from "vitest";
import { httpFixture } from "./index.contract.ts";
import { DEEPEST_BODY, isShallow, LARGEST_BODY } from "./read-body.ts";

const { ask, json } = await httpFixture();
const LINE = "POST /v1/threads";
const GOOD = { agent: "companion", contact: "ann" };

/** A valid body's beginning, so that only the rest can be the reason for a refusal. */
const text = JSON.stringify(GOOD).slice(0, -1);

describe("a body", () => {
  it("is read as JSON in UTF-8", async () => {
    for (const type of ["application/json", "application/json; charset=utf-8", 'Application/JSON;charset="UTF-8"']) {
      expect((await ask(LINE, { body: GOOD, headers: { "content-type": type } })).status, type).toBe(200);
    }
  });

  it.each([
    ["text/plain", {}],
    ["application/x-www-form-urlencoded", {}],
    ["multipart/form-data; boundary=x", {}],
    ["application/json; charset=utf-16", {}],
    ["application/jsonx", {}],
    ["application/json", { "content-encoding": "gzip" }],
  ])("of type %s %j is refused", async (type, headers) => {
    const { status, body } = await json(LINE, { body: GOOD, headers: { "content-type": type, ...headers } });
    expect(status).toBe(415);
    expect(body).toMatchObject({
      error: { code: "body_not_json", message: expect.stringContaining(type.slice(0, 9)) },
    });
  });

  it("larger than is read is refused, also where it says a smaller length", async () => {
    const raw = `${text},"key":"${"x".repeat(LARGEST_BODY)}"}`;
    for (const headers of [{}, { "content-length": "10" }, { "content-length": `${raw.length}` }]) {
      const { status, body } = await json(LINE, { raw, headers });
      expect(status).toBe(413);
      expect(body).toMatchObject({ error: { code: "body_too_large" } });
    }
  });

  it.each([
    ["no JSON", `${text},}`, "it is not JSON"],
    ["cut short", text, "it is not JSON"],
    ["nested deep", `${text},"key":${"[".repeat(100_000)}`, "nested deeper than 32 levels"],
    ["nested deep by objects", `${text},"key":${'{"a":'.repeat(40)}1${"}".repeat(40)}}`, "nested deeper"],
    ["a prototype", `${text},"__proto__":{"key":"x"}}`, '"__proto__"'],
    ["a prototype, escaped", `${text},"__pr\\u006fto__":{"key":"x"}}`, '"__proto__"'],
    ["a constructor below", `${text},"key":[{"constructor":1}]}`, '"constructor"'],
    ["half a character", `${text},"key":"\\ud800"}`, "half a character"],
    ["bytes that are no text", Uint8Array.of(0x22, 0xff, 0x22), "it is not UTF-8"],
  ])("is refused with %s", async (_, raw, why) => {
    const { status, body } = await json(LINE, { raw });
    expect(status).toBe(400);
    expect(body).toMatchObject({ error: { code: "invalid_input", message: expect.stringContaining(why) } });
  });

  it.each([
    ["", "`agent` in the body is missing: it must be of type string; `contact` in the body is missing"],
    ["[]", "the body must be a JSON object, not []"],
    ["null", "the body must be a JSON object, not null"],
    ['{"agent":7,"contact":"ann"}', "`agent` in the body must be of type string, not 7"],
    [`${text},"chanel":"x"}`, 'the body has no field "chanel"; did you mean `channel`?'],
    [`${text},"key":" x"}`, "`key` in the body must be 1 to 200 visible characters"],
    [`${text},"key":"a\\nb"}`, "without a line break"],
  ])("%s is told what is wrong", async (raw, why) => {
    const { status, body } = await json(LINE, { raw });
    expect(status).toBe(400);
    expect(body).toMatchObject({ error: { code: "invalid_input", message: expect.stringContaining(why) } });
  });

  it("is refused where a route takes none", async () => {
    const { status, body } = await json(`POST /v1/threads/thr_${"0".repeat(26)}/cancel`, { body: { mode: "stream" } });
    expect(status).toBe(400);
    expect(body).toMatchObject({ error: { message: expect.stringContaining('no field "mode"') } });
  });
});

describe("the depth of a text", () => {
  it("counts brackets, but not those inside strings", () => {
    expect(isShallow("[".repeat(DEEPEST_BODY))).toBe(true);
    expect(isShallow("[".repeat(DEEPEST_BODY + 1))).toBe(false);
    expect(isShallow(`"${"[".repeat(99)}"`)).toBe(true);
    expect(isShallow(`"\\"${"[".repeat(99)}"`)).toBe(true);
    expect(isShallow(`"\\\\"${"[".repeat(99)}`)).toBe(false);
  });
});
