/** What models read of deferred tools. `tests/house/golden/wording.txt` lists it all. */

export const WORDING = {
  find: "What you need, in a few words, or the names of tools.",
  call: "The tool to call, once its schema was found.",
  input: "The input that its schema asks for.",
  /** Where a call says neither what to find nor what to call, or both. */
  either: "Give either `find`, or `call` with `input`.",
  none: "There are no further tools.",
} as const;

/** Where the provider loads what was found, so that it is called like any other tool. */
export const describedNative = (names: readonly string[]): string =>
  `Finds your further tools. First \`find\` one: from then on you can call it by its name in this conversation. Your further tools: ${names.join(", ")}.`;

export const described = (names: readonly string[]): string =>
  `Finds and calls your further tools. First \`find\` one: you get its schema, which stays valid in this conversation. Then \`call\` it with \`input\`. Your further tools: ${names.join(", ")}.`;

/** Above the schemas, each in a line. */
export const found = (count: number): string =>
  count === 1
    ? "Found 1 tool. Call it with `call` and `input`:"
    : `Found ${count} tools. Call them with \`call\` and \`input\`:`;

export const nothingFound = (names: readonly string[]): string =>
  `Nothing fits. Your further tools: ${names.join(", ")}.`;
