/**
 * Output for people: tables, amounts, times and untrusted text, coloured in a terminal and plain elsewhere. Operations, commands
 * and pages all print with it, so their output looks the same. It writes nothing itself and only formats the text that it gets.
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
  shellWord,
  shortVersion,
  styleOf,
  whoDid,
} from "./style.ts";
export { type Column, table } from "./table.ts";
export {
  type AwaitedCall,
  goesOnSays,
  type Unanswered,
  unansweredLine,
  unansweredSays,
  waitingMessagesSays,
  waitingSays,
} from "./unanswered.ts";
