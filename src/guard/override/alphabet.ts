export const LETTERS = "abcdefghijklmnopqrstuvwxyz";

/** Morse by its signs, a to z and 0 to 9. */
export const MORSE: ReadonlyMap<string, string> = new Map(
  ".- -... -.-. -.. . ..-. --. .... .. .--- -.- .-.. -- -. --- .--. --.- .-. ... - ..- ...- .-- -..- -.-- --.. ----- .---- ..--- ...-- ....- ..... -.... --... ---.. ----."
    .split(" ")
    .map((code, i) => [code, `${LETTERS}0123456789`[i] ?? ""]),
);

/** The sign that a number stands for in ASCII; NUL where nothing can be read there. */
export const signOf = (code: number): string => (code > 31 && code < 127 ? String.fromCharCode(code) : "\0");
