import { createHmac, timingSafeEqual } from "node:crypto";

/** Webhooks signed as Standard Webhooks has it: HMAC-SHA256 over the id, the time and the body. */

/** What is signed. */
interface SignedMessage {
  readonly id: string;
  /** In whole seconds since 1970. */
  readonly timestamp: number;
  readonly body: string;
}

/** Seconds by which a webhook's time may differ from ours. */
export const TOLERANCE = 300;

/** The headers of a webhook. A secret that begins with `whsec_` is base64, as the standard writes them. */
export const signedHeaders = (secret: string, message: SignedMessage): Readonly<Record<string, string>> => ({
  "webhook-id": message.id,
  "webhook-timestamp": `${message.timestamp}`,
  "webhook-signature": `v1,${macOf(secret, message).toString("base64")}`,
});

/** Whether one of the signatures in the header matches, and the time is current: a captured webhook cannot be replayed later. */
export function isSigned(
  secret: string,
  { signature, now, ...message }: SignedMessage & { readonly signature: string; readonly now: number },
): boolean {
  if (!(Math.abs(now - message.timestamp) <= TOLERANCE)) return false;
  const wanted = macOf(secret, message);
  return signature.split(" ").some((one) => {
    const [version, mac = ""] = one.split(",", 2);
    const given = Buffer.from(mac, "base64");
    return version === "v1" && given.length === wanted.length && timingSafeEqual(given, wanted);
  });
}

function macOf(secret: string, { id, timestamp, body }: SignedMessage): Buffer {
  const key = secret.startsWith("whsec_") ? Buffer.from(secret.slice(6), "base64") : Buffer.from(secret, "utf8");
  return createHmac("sha256", key).update(`${id}.${timestamp}.${body}`, "utf8").digest();
}
