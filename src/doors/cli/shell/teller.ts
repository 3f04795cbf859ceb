import type { TextWarning } from "../../../app/entry/texts.ts";
import { count, goesOnSays, oneLine, printable, styleOf, unansweredSays, waitingSays } from "../../../print/index.ts";
import { type CoreStop, type Ledger, never, type TurnEvent, type TurnTotals } from "../../../protocol/index.ts";
import type { Context } from "./context.ts";
import { showWaiting } from "./progress.ts";
import { sentLine } from "./sent-line.ts";
import type { Terminal } from "./terminal.ts";

/** Shows a turn as it runs. The caller reports a failed turn's error. */
export type Teller = (event: TurnEvent) => void;

/** For programs: every event of a turn, one JSON object on a line. */
export function jsonTeller({ json }: Context): Teller {
  return (event) => {
    if (event.type !== "failed") return json(event);
    const { code, message, details } = event.error;
    json({ ...event, error: { code, message, details } });
  };
}

/** Whether the environment hides the line about what was sent. */
export const isQuietIn = ({ env }: Pick<Terminal, "env">): boolean => env["STRATA_QUIET"] === "1";

/**
 * For people: tool calls and what was sent as dim lines beside the words. A terminal gets the words as they come; anything else gets the
 * whole answer once it is committed, and nothing of one that failed or was requested again.
 * @param isQuiet asked after each turn: whether to hide the line about what was sent
 */
export function plainTeller(context: Context, isQuiet = (): boolean => isQuietIn(context.terminal)): Teller {
  const { terminal } = context;
  const { stdout } = terminal;
  const isTerminal = stdout.isTTY === true;
  let streams = isTerminal;
  let ledger: Ledger | undefined;
  let model = "no model";
  /** Whether nothing has come since the model was asked. */
  let silent = false;
  let inLine = false;
  let shown = "";
  let answered = (): void => undefined;
  const endLine = (): void => {
    if (inLine) stdout.write("\n");
    inLine = false;
  };
  const aside = (text: string): void => {
    endLine();
    context.note(text);
  };
  const end = (totals: TurnTotals | undefined): void => {
    const { width } = styleOf(terminal.stderr, terminal);
    if (totals !== undefined && !isQuiet()) context.note(sentLine(ledger, { totals, model, width }));
    ledger = undefined;
  };
  return (event) => {
    const waited = silent && event.type === "failed" && event.error.code === "turn_timeout";
    silent = event.type === "compiled";
    // Thoughts are not shown, but the display shows activity.
    if (event.type !== "reasoning-delta") answered();
    switch (event.type) {
      case "turn-start":
        model = event.model ?? model;
        // Text that may still be changed or withheld is shown once it has been sent.
        streams = isTerminal && event.held !== true;
        return;
      case "reasoning-delta":
        return;
      case "note":
        return aside(`${event.layer} is left out: ${printable(event.message)}`);
      case "cut":
        return aside(
          `the first ${event.messages} messages of the conversation are left out from now on${event.because === undefined ? "; a summary replaces them" : ` (no summary: ${printable(event.because)})`}`,
        );
      case "compiled":
        endLine();
        ledger = event.ledger;
        answered = showWaiting(context, model);
        return;
      case "retry": {
        const seconds = Math.ceil(event.milliseconds / 100) / 10;
        aside(`no answer yet: ${printable(event.because)}; trying again in ${seconds} s`);
        answered = showWaiting(context, model);
        return;
      }
      case "refused":
        return aside(refusedNote(event.changed, event.because));
      case "text-delta":
        if (!streams) return;
        stdout.write(printable(event.text));
        shown += event.text;
        inLine = !event.text.endsWith("\n");
        return;
      case "withheld":
        return aside(withheldNote(event));
      case "report":
        return aside(printable(event.message));
      case "unanswered":
        return aside(unansweredSays(event));
      case "tool-start":
        return aside(`→ ${event.tool}`);
      case "tool-progress":
        return aside(`→ ${event.tool}: ${oneLine(event.message, SHOWN_ANSWER)}`);
      case "tool-end":
        return event.failed ? aside(failedNote(event)) : undefined;
      case "done":
        endLine();
        // A reply given by a call, or changed before it was sent, is not what was streamed.
        if (event.text !== "" && (!streams || !letters(shown).includes(letters(event.text))))
          context.say(printable(event.text));
        shown = "";
        context.note(...endingNote(event));
        return end(event.totals);
      case "waiting":
        endLine();
        if (!streams && event.text !== "") context.say(printable(event.text));
        context.note(`${waitingSays(event.calls)}; ${goesOnSays(event.calls)}`);
        return end(event.totals);
      case "failed":
        endLine();
        end(event.totals);
        if (waited) context.note(`${model} was called, but its provider stayed silent until the turn's time was up.`);
        return;
      default:
        return never(event);
    }
  };
}

const letters = (text: string): string => text.replaceAll(/\s+/g, "");

/** Characters of a failed tool's answer that are shown. */
const SHOWN_ANSWER = 300;

function failedNote({ tool, skipped, message: sentence }: Extract<TurnEvent, { type: "tool-end" }>): string {
  if (skipped) return `→ ${tool} was not run: the turn ended`;
  const answer = sentence === undefined ? "" : `: ${oneLine(sentence, SHOWN_ANSWER)}`;
  return `→ ${tool} failed${answer}`;
}

const withheldNote = ({ layer, words = 0 }: Extract<TurnEvent, { type: "withheld" }>): string =>
  layer === undefined
    ? "the value of a secret was left out of the reply"
    : `${count(words, "word")} in a row of the layer ${layer} were left out of the reply; \`private: false\` there allows quoting it`;

/** A mistake of ours is reported as such, with everything that a bug report needs. */
const refusedNote = (changed: string | null, because: string): string =>
  `the provider rejected the model's earlier reasoning (${printable(because)}). This is a bug in Strata, please report it: compared with the record, ${changed === null ? "nothing" : printable(changed)} is changed; called again without that reasoning`;

function endingNote(event: Extract<TurnEvent, { type: "done" }>): readonly string[] {
  const { because, message: sentence, text, unanswered, withheld } = event;
  const nothing = withheld === undefined ? "(the agent said nothing)" : `(not sent: ${withheld})`;
  const silent = text === "" && unanswered === undefined ? [nothing] : [];
  const early = Object.entries(EARLY).find(([reason]) => reason === because);
  return because === "answered" ? silent : [...silent, `(the turn ended early: ${sentence ?? early?.[1] ?? because})`];
}

/** Why a turn ended early, and the key of strata.yaml that says how far it may go. */
const EARLY: Readonly<Record<Exclude<CoreStop, "answered">, string>> = {
  length: "the reply reached its limit, which is set by budgets.reply",
  refused: "the model, or its provider's filter, refused to answer; no setting in strata.yaml changes that",
  modelCalls:
    "the model was called as often as budgets.turn.modelCalls allows, sub-agents and earlier turns of the run included",
  toolCalls:
    "the tools were called as often as budgets.turn.toolCalls allows, sub-agents and earlier turns of the run included",
  maxCost: "the spending limit is reached, which is set by budgets.turn.maxCost and budgets.spend",
  "recording ended": "the recording ended",
};

/** A warning about a declared text, on its own line. */
export const textWarning = ({ agent, section, message: sentence }: TextWarning): string =>
  `${agent}, ${section}: ${printable(sentence)}`;
