import { describe, expect, it } from "vitest";
import { contactId, type Request } from "../../protocol/index.ts";
import { OPERATOR, sampleAgent, testRuntime } from "../../turn/index.contract.ts";

const tail = (request: Request | undefined): string => request?.tail.map(({ text }) => text).join("\n") ?? "";

describe("what was said", () => {
  it("is recalled in another conversation, question and answer as one, and not in its own while it stands there", async () => {
    const agent = sampleAgent({ recall: "search" });
    const answers = ["Under the blue pot in the garden.", "As I said.", "Under the pot, you told me."];
    const { say, open, sent, runtime } = await testRuntime(answers, { agent });
    const first = await open("ann");
    await say(first, "Where did we hide the key of the boat house?");
    await say(first, "Tell me where the key of the boat house is");
    const conversation = { agent: agent.name, contact: contactId("ann"), channel: "test", key: "another" };
    const second = await runtime.open(OPERATOR, conversation);
    await say(second, "Where is the key of the boat house?");

    expect(tail(sent[1])).not.toContain("[memory");
    expect(tail(sent[2])).toMatch(
      /^\[memory contact [^\]]+\]\n\| ann: Where did we hide the key of the boat house\?\n\| helper: Under the blue pot in the garden\.$/m,
    );
  });
});
