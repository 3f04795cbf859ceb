import { type ContactId, contactId, StrataError } from "../protocol/index.ts";

/** A sender's signed content: the text, bound to its recipient and to an id, so that it is valid nowhere else and only once. */
export interface SignedMessage {
  /** `organization/agent`. */
  readonly to: string;
  /** The message's id of its channel (`externalId`): the same id is taken once. */
  readonly id: string;
  readonly text: string;
}

/**
 * The text that a sender's wallet signs as a personal message (EIP-191): two lines with the recipient and the id, an empty one, and then
 * the message as it is posted.
 */
export function messageToSign({ to, id, text }: SignedMessage): string {
  return `Strata message to ${to}\nid: ${id}\n\n${text}`;
}

const FORM = /^0x[0-9a-fA-F]{40}$/;

/** Loaded where an address is looked at and not before: it takes a moment. */
const keccak = async () => (await import("@noble/hashes/sha3.js")).keccak_256;
const curve = async () => (await import("@noble/curves/secp256k1.js")).secp256k1;

/**
 * The contact that an Ethereum address is: in lower case, so that one sender is one contact. Upper and lower case mixed are its
 * checksum (EIP-55).
 * @throws StrataError `invalid_id`
 */
export async function senderAddress(text: string): Promise<ContactId> {
  if (!FORM.test(text)) throw notAddress(text, "it must be 0x and 40 hexadecimal digits");
  const digits = text.slice(2);
  const isMixed = digits !== digits.toLowerCase() && digits !== digits.toUpperCase();
  const right = isMixed ? await checksummed(digits) : text;
  if (right !== text) throw wrongChecksum(text, right);
  return contactId(text.toLowerCase());
}

/** The address with its checksum (EIP-55): a letter is upper case where the digit at its place in the hash is 8 or more. */
async function checksummed(digits: string): Promise<string> {
  const lower = digits.toLowerCase();
  const hash = Buffer.from((await keccak())(Buffer.from(lower))).toString("hex");
  return `0x${Array.from(lower, (digit, at) => (hash.charAt(at) >= "8" ? digit.toUpperCase() : digit)).join("")}`;
}

function notAddress(text: string, form: string): StrataError {
  return new StrataError("invalid_id", `${JSON.stringify(text)} is not an Ethereum address: ${form}`, { text });
}

/** A digit that was mistyped shows as other letters than those of the address that was meant. */
function wrongChecksum(text: string, right: string): StrataError {
  const sentence = `its upper and lower case do not match its checksum, which for these digits is ${right}`;
  return notAddress(text, `${sentence}; copy it once more from where it is known`);
}

/**
 * Makes sure that the sender's key signed the message.
 * @param signature 0x and hexadecimal digits, as wallets give it
 * @throws StrataError `signature_invalid`
 */
export async function checkSignature(sender: ContactId, message: SignedMessage, signature: string): Promise<void> {
  if (!HEX.test(signature)) throw notSigned(sender, "it must be 0x and hexadecimal digits, as a wallet gives it");
  if (!FORM.test(sender)) throw notSigned(sender, "the sender is no address");
  const text = messageToSign(message);
  if ((await signerOf(text, Buffer.from(signature.slice(2), "hex"))) === sender.toLowerCase()) return;
  const sentence = `sign exactly this text as a personal message (EIP-191): ${JSON.stringify(text.slice(0, 200))}`;
  throw notSigned(sender, sentence);
}

const HEX = /^0x[0-9a-fA-F]*$/;

/**
 * The address, in lower case, whose key signed the text as a personal message (EIP-191); undefined if the signature is invalid. It holds
 * two numbers of 32 bytes and one of which of two keys it is: 0 or 1, or with 27 added as wallets write it.
 */
async function signerOf(text: string, signature: Uint8Array): Promise<string | undefined> {
  const last = signature[64] ?? Number.NaN;
  const recovery = last >= 27 ? last - 27 : last;
  if (signature.length !== 65 || (recovery !== 0 && recovery !== 1)) return undefined;
  const [hash, { Signature }] = [await keccak(), await curve()];
  const bytes = Buffer.from(text);
  const personal = Buffer.concat([Buffer.from(`\x19Ethereum Signed Message:\n${bytes.length}`), bytes]);
  try {
    const numbers = Signature.fromBytes(signature.subarray(0, 64), "compact");
    const key = numbers.addRecoveryBit(recovery).recoverPublicKey(hash(personal)).toBytes(false);
    return `0x${Buffer.from(hash(key.subarray(1)).subarray(-20)).toString("hex")}`;
  } catch {
    // Numbers that are on no curve: as good as a wrong signature.
    return undefined;
  }
}

function notSigned(sender: ContactId, why: string): StrataError {
  return new StrataError("signature_invalid", `the signature is not that of ${sender} for this message: ${why}`, {
    sender,
  });
}
