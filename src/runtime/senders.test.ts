import { privateKeyToAccount } from "viem/accounts";
import { expect, it } from "vitest";
import { messageToSign } from "../guard/index.ts";
import { contactId, type EventPart } from "../protocol/index.ts";
import { message, OPERATOR, sampleAgent, stage } from "./stage.contract.ts";

const ADA = privateKeyToAccount(`0x${"11".repeat(32)}`);

/** Posts what Ada signed, on a channel. */
async function posting() {
  const on = await stage([], { agent: sampleAgent({ senders: "ethereum" }) });
  const { runtime, agent, time } = on;
  const text = "Pay 5 to Bob.";
  const signature = await ADA.signMessage({
    message: messageToSign({ to: `${agent.org}/${agent.name}`, id: "m-1", text }),
  });
  const post = async (channel: string, more: readonly EventPart[] = []) => {
    const conversation = { agent: agent.name, contact: contactId(ADA.address), channel, key: "main" };
    const thread = await runtime.open(OPERATOR, conversation);
    const said = message(text, time.at, "m-1");
    const [event] = await runtime.post(OPERATOR, thread, [
      { ...said, channel, signature, content: [...said.content, ...more] },
    ]);
    return { event, waiting: await runtime.pending(OPERATOR, thread), thread };
  };
  return { ...on, post };
}

it("a signed message counts once: on another channel it is the one that is known, and taken back it is refused", async () => {
  const on = await posting();
  const first = await on.post("one");
  expect(first.event).toMatchObject({ proof: "proven", status: "pending" });
  const second = await on.post("two");
  expect(second).toMatchObject({ event: first.event, waiting: [] });
  await on.store.withdraw(first.thread.scope, first.thread.id, { now: 0, at: 0, alive: () => true });
  for (const channel of ["one", "two"])
    await expect(on.post(channel)).rejects.toMatchObject({ message: expect.stringMatching(/m-1.*sign it anew/) });
  await on.store.close();
});

it("a signed message has no part that is not signed", async () => {
  const on = await posting();
  await expect(on.post("one", [{ type: "image", mediaType: "image/png", data: "aGk=" }])).rejects.toMatchObject({
    code: "invalid_input",
    message: expect.stringContaining("a signature is of text alone"),
  });
  await on.store.close();
});
