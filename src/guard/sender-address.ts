import { type ContactId, contactId, StrataError } from "../protocol/index.ts";

/** What a sender signs: the text, bound to whom it is for and to an id, so that it says nothing anywhere else and nothing twice. */
export interface SignedMessage {
  /** `organization/agent`. */
  readonly to: string;
  /** The message's id of its channel (`externalId`): the same id is taken once. */
  readonly id: string;
  readonly text: string;
}

/**
 * The text that a sender's wallet signs as a personal message (EIP-191): two lines of whom and which, an empty one, and then the
 * message as it is posted.
 */
export function messageToSign({ to, id, text }: SignedMessage): string {
  return `Strata message to ${to}\nid: ${id}\n\n${text}`;
}

const FORM = /^0x[0-9a-fA-F]{40}$/;

/** Loaded where an address is looked at and not before: it takes a moment. */
const ethereum = () => import("viem/utils");

/**
 * The contact that an Ethereum address is: in lower case, so that one sender is one contact. Upper and lower case mixed are its
 * checksum (EIP-55).
 * @throws StrataError `invalid_id`
 */
export async function senderAddress(text: string): Promise<ContactId> {
  if (!FORM.test(text)) throw notAddress(text, "it must be 0x and 40 hexadecimal digits");
  const digits = text.slice(2);
  const isMixed = digits !== digits.toLowerCase() && digits !== digits.toUpperCase();
  const { isAddress, getAddress } = await ethereum();
  if (isMixed && !isAddress(text, { strict: true })) throw wrongChecksum(text, getAddress(text.toLowerCase()));
  return contactId(text.toLowerCase());
}

function notAddress(text: string, form: string): StrataError {
  return new StrataError("invalid_id", `${JSON.stringify(text)} is not an Ethereum address: ${form}`, { text });
}

/** A digit that was mistyped shows as other letters than those of the address that was meant. */
function wrongChecksum(text: string, right: string): StrataError {
  const says = `its upper and lower case do not match its checksum, which for these digits is ${right}`;
  return notAddress(text, `${says}; copy it once more from where it is known`);
}

/**
 * Makes sure that the sender's key signed the message.
 * @param signature 0x and hexadecimal digits, as wallets give it
 * @throws StrataError `signature_invalid`
 */
export async function checkSignature(sender: ContactId, message: SignedMessage, signature: string): Promise<void> {
  const { isHex, isAddress, verifyMessage } = await ethereum();
  if (!isHex(signature)) throw notSigned(sender, "it must be 0x and hexadecimal digits, as a wallet gives it");
  if (!isAddress(sender, { strict: false })) throw notSigned(sender, "the sender is no address");
  const signed = messageToSign(message);
  // What is no signature at all throws there, and is as good as a wrong one.
  const isTheirs = await verifyMessage({ address: sender, message: signed, signature }).catch(() => false);
  if (isTheirs) return;
  const says = `sign exactly this text as a personal message (EIP-191): ${JSON.stringify(signed.slice(0, 200))}`;
  throw notSigned(sender, says);
}

function notSigned(sender: ContactId, why: string): StrataError {
  return new StrataError("signature_invalid", `the signature is not that of ${sender} for this message: ${why}`, {
    sender,
  });
}
