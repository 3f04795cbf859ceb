/**
 * Store functions are written in the words that SQLite and PostgreSQL share, and a few of SQLite's that PostgreSQL has under another
 * name: these. What has no counterpart stands in the store function as one text for each.
 */
const WORDS: readonly (readonly [RegExp, string])[] = [
  // A hint which index serves best. PostgreSQL decides by itself.
  [/ indexed by \w+/g, ""],
  // In SQLite also a hint: the left table first.
  [/\bcross join(?! lateral)\b/g, "join"],
  [/\bifnull\(/g, "coalesce("],
  [/\blast_insert_rowid\(\)/g, "lastval()"],
  // Lists are one value, as JSON. What shall be in one is looked up in it as an array, which an index serves for each of its values: as a table
  // it would be joined, and all of a scope read for that wherever the server takes it to be small.
  [
    /\bin \(select cast\(value as bigint\) from json_each\(\?\)\)/g,
    "= any (array(select json_array_elements_text(?::json)::bigint))",
  ],
  [/\bin \(select value from json_each\(\?\)\)/g, "= any (array(select json_array_elements_text(?::json)))"],
  [/\?, key, value from json_each\(\?\)/g, "?::bigint, key, value::bigint from json_each_text(?::json)"],
  [/\bjson_each\((\?|[\w.]+)\) as (\w+)/g, "json_array_elements_text($1::json) as $2(value)"],
  [/\bjson_each\(\?\)/g, "json_array_elements_text(?::json) as listed(value)"],
];

/** A text as PostgreSQL says it, with numbers for its values. */
export function postgresText(text: string): string {
  return numbered(WORDS.reduce((said, [word, other]) => said.replace(word, other), text));
}

function numbered(text: string): string {
  let n = 0;
  // What stands in quotes or comments is no place for a value.
  return text.replace(/'[^']*'|"[^"]*"|--[^\n]*|\/\*[\s\S]*?\*\/|\?/g, (part) => (part === "?" ? `$${++n}` : part));
}
