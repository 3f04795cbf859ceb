/** No pattern finds anything in it, or looks long. */
const LONG = "x.".repeat(500);

/**
 * A large pattern, ready for use. Other than for its first use on a short text, V8 makes machine code of it at once where the first
 * text is long; the bytecode that it makes else would take several times as long, and be thrown away at the second use.
 */
export function pattern(source: string, flags = "u"): RegExp {
  const made = new RegExp(source, flags);
  made.test(LONG);
  made.lastIndex = 0;
  return made;
}
