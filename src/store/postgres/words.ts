/**
 * Store functions are written in the SQL that SQLite and PostgreSQL share, and a few expressions of SQLite that PostgreSQL has under
 * another name: these. If something has no counterpart, the store function has one text for each.
 */
const WORDS: readonly (readonly [RegExp, string])[] = [
  // A hint about the best index. PostgreSQL decides by itself.
  [/ indexed by \w+/g, ""],
  // In SQLite also a hint: read the left table first.
  [/\bcross join(?! lateral)\b/g, "join"],
  [/\bifnull\(/g, "coalesce("],
  [/\blast_insert_rowid\(\)/g, "lastval()"],
  // Lists are passed as one JSON value. Their elements are looked up in an array, which can use an index for each. As a table, the list
  // would be joined, and the server reads a whole scope for that if it underestimates its size.
  [
    /\bin \(select cast\(value as bigint\) from json_each\(\?\)\)/g,
    "= any (array(select json_array_elements_text(?::json)::bigint))",
  ],
  [/\bin \(select value from json_each\(\?\)\)/g, "= any (array(select json_array_elements_text(?::json)))"],
  [/\?, key, value from json_each\(\?\)/g, "?::bigint, key, value::bigint from json_each_text(?::json)"],
  [/\bjson_each\((\?|[\w.]+)\) as (\w+)/g, "json_array_elements_text($1::json) as $2(value)"],
  [/\bjson_each\(\?\)/g, "json_array_elements_text(?::json) as listed(value)"],
];

/** The same text for PostgreSQL, with numbered parameters. */
export function postgresText(text: string): string {
  return numbered(WORDS.reduce((said, [word, other]) => said.replace(word, other), text));
}

function numbered(text: string): string {
  let n = 0;
  // A question mark inside quotes or comments is not a parameter.
  return text.replace(/'[^']*'|"[^"]*"|--[^\n]*|\/\*[\s\S]*?\*\/|\?/g, (part) => (part === "?" ? `$${++n}` : part));
}
