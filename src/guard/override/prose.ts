/** What stands in honest texts beside their prose, and is no prose: tags, link targets, addresses, short names in code. */
const ASIDE: readonly RegExp[] = [
  /<\/?[a-z][^<>]*>/gi,
  /^[^\S\n\r\u2028\u2029]*\[[^\]\n]+\]:.*$/gm,
  /(?<=\])(?:\([^()\s]*(?:\s"[^"\n]*")?\)|\[[^\]\n]*\])/g,
  /\b(?:https?|git|ssh|wss?|ftp|mailto|jsr|npm):\S+|\bsha\d+-\S+|(?<![\w.+-])[\w.+-]+@[\w-]+(?:\.[\w-]+)+|&[a-z]{2,6};/gi,
  // A longer piece of code may hide a message.
  /`[^`\n]{1,60}`/g,
];

/** The prose of a text, for what asks whether people can read it. What is encoded in the rest is decoded all the same. */
export const proseOf = (text: string): string => ASIDE.reduce((prose, aside) => prose.replaceAll(aside, " "), text);
