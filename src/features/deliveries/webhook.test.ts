import { createHmac } from "node:crypto";
import { createServer, type IncomingHttpHeaders, type RequestListener } from "node:http";
import type { AddressInfo } from "node:net";
import { expect, it, onTestFinished } from "vitest";
import { agentName, contactId, eventId, outboxId, spoken, threadId, turnId } from "../../protocol/index.ts";
import { isSigned, signedHeaders } from "./signature.ts";
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

it("a delivery is signed as Standard Webhooks has it, over the very bytes that are sent", async () => {
  const seen: { headers: IncomingHttpHeaders; body: string }[] = [];
  const { url } = await receiver(async (request, response) => {
    let body = "";
    for await (const chunk of request) body += String(chunk);
    seen.push({ headers: request.headers, body });
    response.writeHead(204).end();
  });
  const signing = { secret: "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw", at: 1_614_265_330_999 };
  const { signal } = new AbortController();
  await sendDelivery(DELIVERY, { url, token: undefined, signing, signal });
  await sendDelivery(DELIVERY, { url, token: undefined, signal });
  const [{ headers, body } = { headers: {}, body: "" }, unsigned] = seen;
  const key = Buffer.from("MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw", "base64");
  const mac = createHmac("sha256", key).update(`${DELIVERY.id}.1614265330.${body}`).digest("base64");
  expect(headers).toMatchObject({
    "webhook-id": DELIVERY.id,
    "webhook-timestamp": "1614265330",
    "webhook-signature": `v1,${mac}`,
  });
  expect(unsigned?.headers).not.toHaveProperty("webhook-signature");
});

it("signatures are those of the standard's own example", () => {
  const message = { id: "msg_p5jXN8AQM9LWM0D4loKWxJek", timestamp: 1_614_265_330, body: '{"test": 2432232314}' };
  const secret = "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw";
  const signature = "v1,g0hM9SsE+OTPJTGt/tmIKtSyZlE3uFJELVlNIOLJ1OE=";
  expect(signedHeaders(secret, message)["webhook-signature"]).toBe(signature);
  const near = { ...message, now: message.timestamp + 300 };
  expect(isSigned(secret, { ...near, signature })).toBe(true);
  expect(isSigned(secret, { ...near, signature: `v1,AAAA v1a,x ${signature}` })).toBe(true);
  expect(isSigned(secret, { ...near, signature: signature.replace("v1,", "v2,") })).toBe(false);
  expect(isSigned(secret, { ...near, signature, body: '{"test": 2432232315}' })).toBe(false);
  expect(isSigned(secret, { ...near, signature, id: "msg_other" })).toBe(false);
  for (const off of [301, -301, Number.NaN]) {
    const late = { ...message, now: message.timestamp + off };
    expect(isSigned(secret, { ...late, signature })).toBe(false);
  }
});

it("a delivery says why the request to a server failed, and that one did not answer in time", async () => {
  const { url, close } = await receiver(() => undefined);
  expect(await sent(url, AbortSignal.timeout(50))).toBe("the server did not answer in time");
  await close();
  expect(await sent(url)).toMatch(/^the request to the server failed \(.*ECONNREFUSED.*\)$/);
});
