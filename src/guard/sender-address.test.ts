import { privateKeyToAccount } from "viem/accounts";
import { describe, expect, it } from "vitest";
import { contactId } from "../protocol/index.ts";
import { checkSignature, messageToSign, senderAddress } from "./index.ts";

const ALICE = privateKeyToAccount(`0x${"11".repeat(32)}`);
const MALLORY = privateKeyToAccount(`0x${"22".repeat(32)}`);
const LOWER = contactId(ALICE.address.toLowerCase());

describe("an Ethereum address", () => {
  it("000.28 is one contact in lower case, however it is written", async () => {
    expect(await senderAddress(ALICE.address)).toBe(LOWER);
    expect(await senderAddress(ALICE.address.toLowerCase())).toBe(LOWER);
    expect(await senderAddress(`0x${ALICE.address.slice(2).toUpperCase()}`)).toBe(LOWER);
  });

  it("is refused where upper and lower case do not match its checksum, and says which those are", async () => {
    const swapped = ALICE.address.replace(/[a-f]/, (letter) => letter.toUpperCase());
    const wrong = swapped === ALICE.address ? ALICE.address.replace(/[A-F]/, (one) => one.toLowerCase()) : swapped;
    const refused = { code: "invalid_id", message: expect.stringMatching(`${wrong}.*checksum.*${ALICE.address}`) };
    await expect(senderAddress(wrong)).rejects.toMatchObject(refused);
  });

  it.each(["me", "0x12", `0x${"g".repeat(40)}`, `${ALICE.address}0`, ` ${ALICE.address}`])(
    "is refused: %j",
    async (text) => {
      await expect(senderAddress(text)).rejects.toMatchObject({ code: "invalid_id" });
    },
  );
});

describe("a signed message", () => {
  const message = { to: "home/sovereign", id: "m-1", text: "Two loaves, please.\nBy noon." };

  it("is taken where the sender's key signed it", async () => {
    const signature = await ALICE.signMessage({ message: messageToSign(message) });
    await expect(checkSignature(LOWER, message, signature)).resolves.toBeUndefined();
  });

  it("is taken whichever way its wallet writes which of two keys it is, and refused for the other", async () => {
    const signature = await ALICE.signMessage({ message: messageToSign(message) });
    const key = Number.parseInt(signature.slice(-2), 16) - 27;
    const checked = (last: number) =>
      checkSignature(LOWER, message, signature.slice(0, -2) + last.toString(16).padStart(2, "0"));
    await expect(checked(key)).resolves.toBeUndefined();
    await expect(checked(key + 27)).resolves.toBeUndefined();
    for (const last of [1 - key, 28 - key, 2, 26, 29, 255])
      await expect(checked(last)).rejects.toMatchObject({ code: "signature_invalid" });
  });

  it("is taken in every script, as wallets count its bytes", async () => {
    const other = { ...message, text: "Dva bochníky, prosím. 🥖 \u0000" };
    const signature = await ALICE.signMessage({ message: messageToSign(other) });
    await expect(checkSignature(LOWER, other, signature)).resolves.toBeUndefined();
  });

  it.each([
    ["another text", { ...message, text: "Two loaves, please.\nBy nine." }],
    ["another id: what was said once is not said again", { ...message, id: "m-2" }],
    ["another agent", { ...message, to: "home/other" }],
  ])("is refused for %s", async (_, other) => {
    const signature = await ALICE.signMessage({ message: messageToSign(message) });
    await expect(checkSignature(LOWER, other, signature)).rejects.toMatchObject({ code: "signature_invalid" });
  });

  it("is refused where somebody else signed it", async () => {
    const signature = await MALLORY.signMessage({ message: messageToSign(message) });
    await expect(checkSignature(LOWER, message, signature)).rejects.toMatchObject({ code: "signature_invalid" });
  });

  it.each(["", "0x", "0x1234", "nonsense", `0x${"00".repeat(65)}`])(
    "is refused with the signature %j",
    async (signature) => {
      await expect(checkSignature(LOWER, message, signature)).rejects.toMatchObject({ code: "signature_invalid" });
    },
  );
});
