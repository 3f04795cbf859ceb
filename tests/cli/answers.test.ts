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

describe("a sentence about a turn that did not end well", () => {
  it.each([
    ["max_tokens", "budgets.reply"],
    ["refusal", "refused to answer"],
  ] as const)("that ended with %s says %s", async (ends, message) => {
    const { code, out, err } = await chat(await companion([{ text: "The half of", ends }]));
    expect({ code, out }).toEqual({ code: 0, out: "The half of\n" });
    expect(err).toContain("(the turn ended early: ");
    expect(err).toContain(message);
  });

  const limited = (limit: string) => {
    const edit = (yaml: string) =>
      yaml.replace("  companion:\n", `  companion:\n    budgets: { turn: { ${limit} } }\n`);
    return strata(["chat", "companion"], { cwd: project(edit), input: "Remember that my cat is called Miso.\n" });
  };

  it("that ended for its model calls names the key, and claims of no call that the agent heard of it", async () => {
    const { err } = await limited("modelCalls: 1");
    expect(err).toContain("the model was called as often as budgets.turn.modelCalls allows");
    expect(err).toContain("→ memory_save was not run: the turn ended");
    expect(err).not.toContain("the agent was told why");
  });

  it("is none where it may call no more tools: the agent answers what it could not do", async () => {
    const { out, err } = await limited("toolCalls: 0");
    expect(out).toContain('That did not work (memory_save): "Not run: this turn has reached its limit of tool calls');
    expect(err).toContain("→ memory_save failed: Not run: this turn has reached its limit of tool calls.");
    expect(err).not.toContain("the turn ended early");
  });

  it("says that the provider went silent, and what happens to the message", async () => {
    const { edit, env } = await provider(() => {});
    const cwd = project((yaml) =>
      edit(yaml).replace("  companion:\n", "  companion:\n    budgets: { turn: { seconds: 1 } }\n"),
    );
    const { code, err } = await strata(["chat", "companion"], { cwd, env, input: "hi\n" });
    expect(code).toBe(13);
    expect(err).toContain("anthropic:claude-sonnet-4-5 was called, but its provider stayed silent");
    expect(err).toMatch(/1 message without an answer will be sent .*`strata thread withdraw thr_\w+` drops what waits/);
    const asked = await strata(["ask", "hi", "--key", "other"], { cwd, env });
    expect(asked.err).toMatch(/1 message without an answer .*`strata thread withdraw thr_\w+` drops what waits/);
    const again = await strata(["chat", "companion"], { cwd, env });
    const [id = ""] = /thr_\w+/.exec(err) ?? [];
    expect((await strata(["thread", "show", id], { cwd, env })).out).toContain(`\`strata thread withdraw ${id}\``);
    expect(again.err).toMatch(/1 earlier message .*`strata thread withdraw thr_\w+` drops what waits/);
  });

  it("is plain where the first event of an answer cannot be read", async () => {
    const { edit, env } = await provider((_request, response) => {
      response.writeHead(200, { "content-type": "text/event-stream" }).end('data: {"half\n\n');
    });
    const { err } = await strata(["chat", "companion"], { cwd: project(edit), env, input: "hi\n" });
    expect(err).toContain("(its answer could not be read)");
    expect(err).not.toContain("normalized");
  });

  it("names what can be done in the chat with a message that was refused", async () => {
    const { edit, env } = await provider((_request, response) => response.writeHead(400).end("{}"));
    const person = atTerminal(["chat", "companion"], { cwd: project(edit), env });
    await person.sees("me › ");
    person.press("hello\r");
    await person.sees(
      /strata: [\s\S]*1 message without an answer: \/retry runs the turn again, \/withdraw drops what waits/,
    );
    person.press("\u0004");
    await person.ended;
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

  it("ends its line before the failure is printed", async () => {
    const person = atTerminal(["chat", "companion"], await companion([{ text: "The half of", ends: "breaks" }]));
    await person.sees("me › ");
    person.press("hello\r");
    await person.sees(/The half\s*\n· sent .*\nstrata: /);
    person.press("\u0004");
    await person.ended;
  });
});
