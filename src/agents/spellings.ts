/** How a value may stand in what a tool says: as it is, in JSON, in an address. */
export const spellings = (value: string): readonly string[] => [
  ...new Set([value, JSON.stringify(value).slice(1, -1), encodeURIComponent(value), encodeURI(value)]),
];
