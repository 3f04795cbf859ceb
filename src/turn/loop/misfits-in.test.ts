import { expect, it } from "vitest";
import { joinFindings } from "../../protocol/index.ts";
import { misfitsIn } from "./misfits-in.ts";

const SCHEMA = {
  type: "object",
  properties: {
    name: { type: "string", maxLength: 3 },
    tags: { type: "array", maxItems: 1, items: { type: "string" } },
    on: { type: "string", format: "date" },
    mood: { enum: ["warm", "cold"] },
    size: { anyOf: [{ type: "number" }, { type: "null" }] },
    to: {
      anyOf: [
        { type: "object", properties: { kind: { const: "mail" }, at: { type: "string" } }, required: ["kind", "at"] },
        {
          type: "object",
          properties: { kind: { const: "call" }, number: { type: "number" } },
          required: ["kind", "number"],
        },
      ],
    },
  },
  required: ["name", "mood", "size"],
  additionalProperties: false,
};

const said = (value: unknown) => misfitsIn(SCHEMA, value).map(({ path, says }) => `${path.join(".")} ${says}`);

it("names everything in a value that does not match, and what is missing", () => {
  expect(said({ name: "Adam", tags: ["a", 1, 2], size: true, on: "soon", to: { kind: "call" }, more: 1 })).toEqual([
    "name must have at most 3 characters",
    "tags must have at most 1 entry",
    "on must have the format date",
    'mood is missing: it must be one of "warm", "cold"',
    "size must be a number or null",
    "to.number is missing: it must be a number",
    ' may not have "more"',
    "tags.1 must be text",
    "tags.2 must be text",
  ]);
  expect(said({ name: "Ada", mood: "warm" })).toEqual(["size is missing: it must be a number or null"]);
  expect(said({ name: "Ada", mood: "warm", size: null })).toEqual([]);
});

it("looks through lists without end only so far as a sentence can name them", () => {
  const all = misfitsIn(SCHEMA, { name: "", mood: "cold", size: 1, tags: Array.from({ length: 40 }, () => 0) });
  expect(all).toHaveLength(41);
  expect(joinFindings(all.map(({ path }) => path.join(".")))).toBe(
    `tags; ${Array.from({ length: 9 }, (_, i) => `tags.${i}`).join("; ")}; and 31 more`,
  );
});
