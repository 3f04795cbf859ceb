const NAMED: Readonly<Record<string, string>> = { lt: "<", gt: ">", amp: "&", quot: '"', apos: "'", nbsp: " " };

/** What encodings inside a text stand for. */
export function* decodings(text: string): Iterable<readonly [string, string]> {
  const entities = text
    .replaceAll(/&#x([0-9a-f]{1,6});?/gi, (_, hex: string) => codePoint(Number.parseInt(hex, 16)))
    .replaceAll(/&#(\d{1,7});?/g, (_, digits: string) => codePoint(Number(digits)))
    .replaceAll(/&([a-z]{2,4});/gi, (whole, name: string) => NAMED[name.toLowerCase()] ?? whole);
  if (entities !== text) yield ["entities", entities];
  const percent = text.replaceAll(/(?:%[0-9a-f]{2})+/gi, (run) =>
    Buffer.from(run.replaceAll("%", ""), "hex").toString(),
  );
  if (percent !== text) yield [/(?:%[0-9a-f]{2}){4}/i.test(text) ? "percent signs" : "a percent sign", percent];
  const escaped = text
    .replaceAll(/\\u\{?([0-9a-f]{4,6})\}?|(?:\\x|0x)([0-9a-f]{2}) ?/gi, (_, long?: string, short?: string) =>
      codePoint(Number.parseInt(long ?? short ?? "", 16)),
    )
    .replaceAll(/\\([0-3]?[0-7]{2})/g, (_, octal: string) => codePoint(Number.parseInt(octal, 8)));
  if (escaped !== text) yield ["escapes", escaped];
  if (/\\[nrt]/.test(text)) yield ["line breaks written out", text.replaceAll(/\\[nrt]/g, "\n")];
  for (const [run] of text.matchAll(/(?:[A-Za-z0-9+/_-]{4,}\n?){4,}={0,2}/g))
    yield* decoded("base64", run.replaceAll("\n", ""), "base64");
  for (const [run] of text.matchAll(/(?:[0-9a-f]{2}[\s:]?){7,}[0-9a-f]{2}(?![0-9a-z])/gi))
    yield* decoded("hex", run.replaceAll(/[\s:]/g, ""), "hex");
  for (const [run] of text.matchAll(/(?:[01]{8}[\s,]*){6,}/g))
    yield ["bits", bytes((run.match(/[01]{8}/g) ?? []).map((bits) => Number.parseInt(bits, 2)))];
  for (const [run] of text.matchAll(/(?:\b\d{2,3}\b[\s,;]{1,3}){7,}\d{2,3}/g)) {
    const codes = (run.match(/\d+/g) ?? []).map(Number);
    if (codes.every((code) => code > 31 && code < 127)) yield ["numbers", bytes(codes)];
  }
}

const codePoint = (code: number): string => (code > 0 && code <= 0x10_ff_ff ? String.fromCodePoint(code) : "");

const bytes = (codes: readonly number[]): string => Buffer.from(codes).toString("utf8");

/** Only what is text again. */
function* decoded(by: string, run: string, encoding: "base64" | "hex"): Iterable<readonly [string, string]> {
  const once = Buffer.from(run, encoding)
    .toString("utf8")
    .replaceAll(/^\ufffd+|\ufffd+$/g, "");
  const text = /^[A-Za-z0-9+/_-]{16,}={0,2}$/.test(once) ? Buffer.from(once, "base64").toString("utf8") : once;
  if (text.length >= 6 && /^[\p{L}\p{N}\p{P}\p{Zs}\n]+$/u.test(text) && / /.test(text)) yield [by, text];
}
