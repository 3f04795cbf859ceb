/**
 * Lines for people: tables, amounts, times and foreign text, coloured in a terminal and plain elsewhere. What an operation, a command
 * and a page print looks the same everywhere. It writes nothing by itself and knows nothing but the text it is given.
 */
export { type Margin, setIn } from "./set-in.ts";
export {
  ago,
  count,
  dollars,
  duration,
  minute,
  number,
  oneLine,
  printable,
  type Style,
  shortVersion,
  styleOf,
} from "./style.ts";
export { type Column, table } from "./table.ts";
export { type Unanswered, unansweredLine, unansweredSays } from "./unanswered.ts";
