/** Accents and strokes away, where a script can be read without them. */
export const withoutMarks = (text: string): string =>
  text
    .normalize("NFD")
    .replaceAll(/(?<=[\p{Script=Latin}\p{Script=Cyrillic}\p{Script=Greek}\p{N}\p{P}\s])\p{M}+/gu, "")
    .normalize("NFC");
