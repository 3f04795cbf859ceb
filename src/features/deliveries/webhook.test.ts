import { createServer, type RequestListener } from "node:http";
import type { AddressInfo } from "node:net";
import { expect, it, onTestFinished } from "vitest";
import { agentName, contactId, eventId, outboxId, spoken, threadId, turnId } from "../../protocol/index.ts";
import { sendDelivery } from "./webhook.ts";

const DELIVERY = {
  id: outboxId(`out_${"0".repeat(26)}`),
  thread: threadId(`thr_${"0".repeat(26)}`),
  turn: turnId(`trn_${"0".repeat(26)}`),
  agent: agentName("companion"),
  contact: contactId("ann"),
  channel: "mail",
  inReplyTo: [],
  text: spoken("Hello."),
  at: 0,
};

/** A server that answers so; gives its address and the way to close it. */
async function receiver(answer: RequestListener) {
  const server = createServer(answer);
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const { port } = server.address() as AddressInfo;
  const close = async (): Promise<void> => {
    server.closeAllConnections();
    await new Promise((resolve) => server.close(resolve));
  };
  onTestFinished(close);
  return { url: `http://127.0.0.1:${port}/`, close };
}

const sent = (url: string, signal = new AbortController().signal): Promise<string> =>
  sendDelivery(DELIVERY, { url, token: undefined, signal }).then(
    () => "taken",
    (thrown: Error) => thrown.message,
  );

it.each([
  [204, {}, "taken"],
  [409, {}, "taken"],
  [503, {}, "the server answered 503"],
  [302, { location: "http://127.0.0.1:1/" }, "the request to the server failed (unexpected redirect)"],
])("a delivery that is answered with %i", async (status, headers, came) => {
  const { url } = await receiver((_, response) => void response.writeHead(status, headers).end());
  expect(await sent(url)).toBe(came);
});

it("25.25 the body of a delivery names the messages that it answers", async () => {
  const bodies: string[] = [];
  const { url } = await receiver(async (request, response) => {
    for await (const chunk of request) bodies.push(String(chunk));
    response.writeHead(204).end();
  });
  const inReplyTo = [{ id: eventId(`evt_${"0".repeat(26)}`), externalId: "mail-7" }];
  await sendDelivery({ ...DELIVERY, inReplyTo }, { url, token: undefined, signal: new AbortController().signal });
  expect(JSON.parse(bodies.join(""))).toMatchObject({ id: DELIVERY.id, inReplyTo });
});

it("a delivery says why the request to a server failed, and that one did not answer in time", async () => {
  const { url, close } = await receiver(() => undefined);
  expect(await sent(url, AbortSignal.timeout(50))).toBe("the server did not answer in time");
  await close();
  expect(await sent(url)).toMatch(/^the request to the server failed \(.*ECONNREFUSED.*\)$/);
});
