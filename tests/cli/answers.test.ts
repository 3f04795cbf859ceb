import { describe, expect, it } from "vitest";
import { type Speech, speaking } from "./speech.ts";
import { atTerminal, project, provider, strata } from "./strata.ts";

const OUTPUT = `
    output:
      type: object
      properties: { kind: { type: string } }
      required: [kind]
`;

/** A companion whose model says these things, with an \`output\` or without. */
async function companion(speeches: readonly Speech[], output = "") {
  const { edit, env } = await provider(speaking(...speeches));
  return { cwd: project((yaml) => edit(yaml).replace("  companion:\n", `  companion:${output || "\n"}`)), env };
}

const chat = (around: Awaited<ReturnType<typeof companion>>) =>
  strata(["chat", "companion"], { ...around, input: "hi\n" });

describe("what stands on stdout of a chat over a pipe", () => {
  it("is the whole, valid answer of an agent with an output, and nothing of the attempt before it", async () => {
    const { code, out } = await chat(await companion([{ text: "Well: order" }, { text: '{"kind": "order"}' }], OUTPUT));
    expect({ code, out }).toEqual({ code: 0, out: '{"kind":"order"}\n' });
  });

  it("is nothing where no attempt fits the output", async () => {
    const { code, out } = await chat(await companion([{ text: "Well: order" }], OUTPUT));
    expect({ code, out }).toEqual({ code: 12, out: "" });
  });

  it("is nothing of an answer that broke off", async () => {
    const { code, out } = await chat(await companion([{ text: "The half of", ends: "breaks" }]));
    expect({ code, out }).toEqual({ code: 12, out: "" });
  });
});

describe("what a terminal shows of an answer", () => {
  it("stands apart from the answer that is asked for after it", async () => {
    const around = await companion([{ text: "Well: order" }, { text: '{"kind": "order"}' }], OUTPUT);
    const person = atTerminal(["chat", "companion"], around);
    await person.sees("me › ");
    person.press("hello\r");
    await person.sees(/Well: order\n\{"kind": "order"\}\n/);
    person.press("\u0004");
    await person.ended;
  });

  it("ends its line before the failure is told", async () => {
    const person = atTerminal(["chat", "companion"], await companion([{ text: "The half of", ends: "breaks" }]));
    await person.sees("me › ");
    person.press("hello\r");
    await person.sees(/The half of\n· sent .*\nstrata: /);
    person.press("\u0004");
    await person.ended;
  });
});
