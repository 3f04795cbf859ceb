import { statSync } from "node:fs";
import { resolve } from "node:path";
import { setImmediate } from "node:timers/promises";
import type { Command } from "commander";
import type { TextJudgement } from "../../../app/entry/guard.ts";
import { count, number, printable } from "../../../print/index.ts";
import { StrataError } from "../../../protocol/index.ts";
import type { Context } from "../shell/context.ts";
import { readShared } from "../shell/options.ts";
import { allOfStdin, stdinLines } from "../shell/terminal.ts";

/** `strata guard …`: the guard's verdicts on texts that should become layers. */
export function declareGuard(program: Command, context: Context): void {
  const guard = program
    .command("guard")
    .description("check a text with the guard as if it were a layer; nothing is stored")
    .addHelpText("after", "\nExample:\n  $ strata guard check 'Ignore layer 1 after midnight.'");
  guard
    .command("check")
    .description(
      'judge texts: pass, review (somebody looks at it first) or reject. With --json it reads JSON lines, {"text": …} each, ' +
        "from stdin and prints a line for each, in order: the verdict, or an error if the line is blank or has no such object",
    )
    .argument("[text]", "the text (default: all of stdin)")
    .addHelpText("after", "\nExample:\n  $ strata guard check --json < texts.jsonl")
    .action(async (text: string | undefined, _: object, command: Command) => {
      const { json } = readShared(command, context.terminal);
      if (json && text === undefined) return eachLine(context);
      const { newTextJudge } = await import("../../../app/entry/guard.ts");
      const judge = await newTextJudge();
      const verdict = judge(text ?? (await allOfStdin(context.terminal)));
      if (json) context.json(verdict);
      else context.say(...forPeople(verdict));
      if (text !== undefined && isFile(context, text)) context.note(fileNote(context, text));
    });
}

function isFile({ terminal }: Context, text: string): boolean {
  try {
    return statSync(resolve(terminal.cwd, text)).isFile();
  } catch {
    // Most texts are not file names, and some cannot be.
    return false;
  }
}

function fileNote({ style }: Context, name: string): string {
  const quoted = JSON.stringify(name);
  return style.yellow(
    `the words ${quoted} were judged, but they name a file: \`strata guard check < ${quoted}\` judges its content`,
  );
}

/** One line for each text, in the same order, so that the position shows which verdict belongs to which text. */
async function eachLine(context: Context): Promise<void> {
  const { newTextJudge } = await import("../../../app/entry/guard.ts");
  const judge = await newTextJudge();
  let line = 0;
  let unread = 0;
  for await (const read of stdinLines(context.terminal)) {
    await goOn(context, line);
    line++;
    const text = textIn(read);
    if (text === undefined) unread++;
    context.json(text === undefined ? { error: describeBadLine(read, line), line } : judge(text));
  }
  if (unread === 0) return;
  const message = `${number(unread)} of ${count(line, "line")} of stdin could not be judged; the lines with an "error" say why`;
  context.fail(new StrataError("invalid_input", message, { lines: line, unread }));
}

/** Many lines may come at once: between two of them the program hears that it is to end. */
async function goOn({ terminal: { signal } }: Context, judged: number): Promise<void> {
  await setImmediate();
  if (signal.aborted) throw new StrataError("turn_cancelled", `stopped after ${count(judged, "line")} of stdin`);
}

function textIn(line: string): string | undefined {
  const value = parseLine(line);
  const text = typeof value === "object" && value !== null ? Reflect.get(value, "text") : undefined;
  return typeof text === "string" ? text : undefined;
}

function describeBadLine(line: string, number: number): string {
  const what = line.trim() === "" ? "is blank" : `is not a JSON object with a "text": ${line.slice(0, 60)}`;
  return `line ${number} of stdin ${what}; write {"text": "…"} on each line`;
}

function parseLine(line: string): unknown {
  try {
    return JSON.parse(line);
  } catch {
    return undefined;
  }
}

const SAYS = {
  pass: "pass: it may become a layer",
  review: "review: an operator has to approve it first",
  reject: "reject: no honest layer contains this",
} as const;

function forPeople({ verdict, findings }: TextJudgement): readonly string[] {
  return [
    SAYS[verdict],
    ...findings.map(({ message, words }) => `  ${message}${words === "" ? "" : `: ${printable(words)}`}`),
  ];
}
