import type { Command } from "commander";
import { count, printable, type Style } from "../../../print/index.ts";
import { never, StrataError } from "../../../protocol/index.ts";
import type { Context } from "../shell/context.ts";
import { readPlaces, unreadEnvFile } from "../shell/options.ts";
import type { Check } from "./doctor-checks.ts";

/** `strata doctor`: what works here, what is missing, and how to get it. */
export function declareDoctor(program: Command, context: Context): void {
  program
    .command("doctor")
    .description("check this machine, folder and data: what works, what is missing, and how to get it")
    .addHelpText("after", "\nExample:\n  $ strata doctor --folder my-agents")
    .action(async (_options: unknown, command: Command) => {
      const shared = readPlaces(command, context.terminal);
      const { examine } = await import("./doctor-checks.ts");
      const checks = await examine(
        { folder: shared.folder, data: shared.data, env: context.terminal.env },
        unreadEnvFile(shared, context.terminal),
      );
      const failed = checks.filter(({ state }) => state === "fail");
      if (shared.json) context.json({ healthy: failed.length === 0, checks });
      else context.say(...checks.flatMap((check) => checkLines(check, context)));
      const [first] = failed;
      if (first !== undefined) context.fail(unhealthy(failed.length, first));
    });
}

/** The program leaves with the code of the first thing that fails. */
function unhealthy(failed: number, { what, code }: Check): StrataError {
  const message = `${count(failed, "check")} failed, first ${what}; fix it as its line says, and run \`strata doctor\` again`;
  return new StrataError(code ?? "unexpected", message, { failed, first: what });
}

/** The column where the text begins, after the state and the name. */
const INDENT = 16;

function checkLines({ what, state, message: sentence }: Check, { style, terminal }: Context): readonly string[] {
  const [first = "", ...more] = sentence
    .split("\n")
    .flatMap((line) => wrap(printable(line), (terminal.stdout.columns ?? 80) - INDENT));
  return [
    `${stateMark(state, style)}  ${what.padEnd(INDENT - 6)}${first}`,
    ...more.map((line) => " ".repeat(INDENT) + line),
  ];
}

function stateMark(state: Check["state"], style: Style): string {
  switch (state) {
    case "ok":
      return style.dim("ok  ");
    case "warn":
      return style.yellow("warn");
    case "fail":
      return style.red("fail");
    default:
      return never(state);
  }
}

/** Breaks between words; a longer word gets its own line. */
function wrap(text: string, width: number): readonly string[] {
  const wrapped: string[] = [];
  let line = "";
  for (const word of text.split(" ")) {
    if (line !== "" && line.length + word.length >= width) {
      wrapped.push(line);
      line = word;
    } else line = line === "" ? word : `${line} ${word}`;
  }
  return [...wrapped, line];
}
