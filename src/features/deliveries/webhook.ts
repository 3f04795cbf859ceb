import type { Delivery, SendDelivery } from "./deliver.ts";
import { signedHeaders } from "./signature.ts";

/**
 * Posts a reply as JSON. It counts as delivered if the server answers 2xx, or 409 because it has it already.
 * @throws Error a sentence that names the answer
 */
export const sendDelivery: SendDelivery = async (delivery, { url, token, signing, signal }) => {
  const body = JSON.stringify(deliveryBody(delivery));
  const response = await fetch(url, {
    method: "POST",
    headers: {
      "content-type": "application/json",
      "idempotency-key": delivery.id,
      ...(token !== undefined && { authorization: `Bearer ${token}` }),
      ...(signing &&
        signedHeaders(signing.secret, { id: delivery.id, timestamp: Math.floor(signing.at / 1_000), body })),
    },
    body,
    redirect: "error",
    signal,
  }).catch((thrown: unknown) => {
    throw new Error(describeFailure(thrown), { cause: thrown });
  });
  // The answer's body is not read: nothing from outside may get in here.
  await response.body?.cancel();
  if (!response.ok && response.status !== 409) throw new Error(`the server answered ${response.status}`);
};

/** Node's fetch only says that it failed; why is in the cause. */
function describeFailure(thrown: unknown): string {
  if (!(thrown instanceof Error)) return String(thrown);
  if (thrown.name === "TimeoutError") return "the server did not answer in time";
  const cause = thrown.cause instanceof Error ? thrown.cause : thrown;
  return `the request to the server failed (${cause.message === "" && "code" in cause ? cause.code : cause.message})`;
}

const deliveryBody = ({ id, agent, contact, thread, turn, channel, line, inReplyTo, text, at }: Delivery) => ({
  id,
  agent,
  contact,
  thread,
  turn,
  channel,
  ...(line !== undefined && { line }),
  inReplyTo,
  text,
  at: new Date(at).toISOString(),
});
