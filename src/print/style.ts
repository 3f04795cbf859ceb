import { styleText } from "node:util";

/** A stream that lines are written to. */
interface Output {
  readonly isTTY?: boolean | undefined;
  /** The terminal's width in characters. */
  readonly columns?: number | undefined;
}

type Paint = (text: string) => string;

/** How to write to a stream: in colours and lines of its width on a terminal, plain and uncut elsewhere. */
export interface Style {
  /** Characters per line of the terminal; unlimited without a terminal. */
  readonly width: number;
  readonly bold: Paint;
  readonly dim: Paint;
  readonly red: Paint;
  readonly yellow: Paint;
  readonly cyan: Paint;
}

/** The style of one stream: colours only on a terminal, and not if `NO_COLOR` is set. */
export function styleOf(
  stream: Output,
  { env }: { readonly env: Readonly<Record<string, string | undefined>> },
): Style {
  const colours = stream.isTTY === true && !env["NO_COLOR"] && env["TERM"] !== "dumb";
  const paint =
    (format: Exclude<keyof Style, "width">): Paint =>
    (text) =>
      colours && text !== "" ? styleText(format, text, { validateStream: false }) : text;
  return {
    // A terminal that does not tell its width gets a common one.
    width: stream.isTTY === true ? stream.columns || 80 : Number.POSITIVE_INFINITY,
    bold: paint("bold"),
    dim: paint("dim"),
    red: paint("red"),
    yellow: paint("yellow"),
    cyan: paint("cyan"),
  };
}

/** `1,182`, `3.4`. Whole numbers avoid `Intl`, which takes a while to load. */
export function number(value: number): string {
  if (Number.isSafeInteger(value)) return String(value).replaceAll(/\B(?=(?:\d{3})+$)/g, ",");
  return value.toLocaleString("en-US", { maximumFractionDigits: 1 });
}

/** `1 request`, `2 requests` */
export const count = (value: number, noun: string, plural = `${noun}s`): string =>
  `${number(value)} ${value === 1 ? noun : plural}`;

/** `$0.0021`; a sum too small for this is shown as more than zero. */
export function dollars(sum: number): string {
  if (sum > 0 && sum < 0.00005) return "<$0.0001";
  const digits = Math.abs(sum).toFixed(4);
  return sum < 0 && Number(digits) > 0 ? `-$${digits}` : `$${digits}`;
}

/** `12 ms`, `3.4 s`, `2 min 5 s`, `3 h 20 min`, `20 days 1 h` */
export function duration(milliseconds: number): string {
  if (milliseconds < 1_000) return `${Math.round(milliseconds)} ms`;
  if (milliseconds < 60_000) return `${number(milliseconds / 1_000)} s`;
  const seconds = Math.round(milliseconds / 1_000);
  const minutes = Math.floor(seconds / 60);
  if (minutes < 120) return `${minutes} min ${seconds % 60} s`;
  const hours = Math.floor(minutes / 60);
  if (hours < 48) return `${hours} h ${minutes % 60} min`;
  return `${number(Math.floor(hours / 24))} days ${hours % 24} h`;
}

/** The first characters of a version, enough for people to tell versions apart. */
export const shortVersion = (version: string): string => version.slice(0, 12);

/** `2026-11-21 09:30`, in UTC, without seconds, for lists. */
export const minute = (at: number): string => new Date(at).toISOString().slice(0, 16).replace("T", " ");

/** `just now`, `5 min ago`, `3 h ago`, `12 days ago` */
export function ago(milliseconds: number): string {
  const minutes = Math.floor(milliseconds / 60_000);
  if (minutes < 1) return "just now";
  if (minutes < 60) return `${minutes} min ago`;
  if (minutes < 60 * 48) return `${Math.floor(minutes / 60)} h ago`;
  return `${number(Math.floor(minutes / 60 / 24))} days ago`;
}

/**
 * Text of a model or a contact, made safe to show: characters that control the terminal (escape sequences, reordering marks)
 * are replaced by visible signs. `--json` has the exact text.
 */
export function printable(text: string): string {
  return text.replace(/[\u0000-\u0008\u000b-\u001f\u007f-\u009f\u202a-\u202e\u2066-\u2069]/g, (sign) =>
    sign < " " ? String.fromCharCode(0x2400 + sign.charCodeAt(0)) : "\ufffd",
  );
}

/** A text on one line, or its beginning. */
export function oneLine(text: string, length = Number.POSITIVE_INFINITY): string {
  const line = printable(text.replace(/\s+/g, " ").trim());
  const signs = [...line];
  return signs.length <= length ? line : `${signs.slice(0, length - 1).join("")}…`;
}

/** Who did something, in a sentence; rows from before ids were kept have only the role. */
export const whoDid = ({ by, byId }: { readonly by: string; readonly byId?: string | undefined }): string =>
  byId === undefined ? `the ${by}` : `the ${by} (${printable(byId)})`;

/** A word of a command as a shell reads it, in quotes where it must be. */
export const shellWord = (word: string): string =>
  /^[\w.:@/-]+$/.test(word) ? word : `'${word.replaceAll("'", `'\\''`)}'`;
