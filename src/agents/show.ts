/** A value as a reader of an error sees it. */
export function show(value: unknown): string {
  if (value === undefined) return "missing";
  if (value === null) return "empty";
  if (Array.isArray(value)) return "a list";
  if (typeof value === "object") return "a map";
  if (typeof value !== "string") return String(value);
  return visible(JSON.stringify(value.length > 60 ? `${value.slice(0, 60)}…` : value));
}

/** Control and invisible characters spelled out, so that an error or a diff cannot deceive a terminal or a reader. */
export function visible(text: string): string {
  return text.replace(/[\p{C}\u2028\u2029]/gu, (one) => `\\u{${(one.codePointAt(0) ?? 0).toString(16)}}`);
}
