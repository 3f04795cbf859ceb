import type { Command } from "commander";
import type { App, TurnRecord } from "../app.ts";
import { StrataError, turnId } from "../protocol/index.ts";
import type { Context } from "./context.ts";
import { wholeNumber } from "./options.ts";
import { inRecord } from "./session.ts";
import { count } from "./style.ts";
import { turnView } from "./turn-view.ts";

interface Options {
  readonly wire?: true;
  readonly request?: number;
}

/** `strata turn ID`: what is recorded of a turn. */
export function declareTurn(program: Command, context: Context): void {
  program
    .command("turn")
    .description("show what is recorded of a turn")
    .argument("<id>", "the turn, trn_…")
    .option("--wire", "print the HTTP body of a request, byte for byte as it was sent")
    .option("--request <n>", "which request of the turn, with --wire (default: 1)", wholeNumber(1))
    .addHelpText("after", "\nExample:\n  $ strata turn trn_01jd8k3v5x9m2q7r4t6w8y0zab --wire")
    .action((text: string, options: Options, command: Command) => {
      const id = turnId(text);
      return inRecord(context, command, async ({ app, json }) => {
        const turn = await app.runtime.turn(app.operator, id);
        if (options.wire === true) await printWire(context, app, turn, options.request);
        else if (json) context.json(turn);
        else context.say(...(await turnView(app, turn, context.style)));
      });
    });
}

async function printWire(context: Context, app: App, turn: TurnRecord, wanted: number | undefined): Promise<void> {
  const { length } = turn.requests;
  const n = wanted ?? 1;
  if (n > length) throw noRequest(turn, n);
  context.terminal.stdout.write(`${await wireOf(app, turn, n)}\n`);
  if (wanted === undefined && length > 1) {
    context.note(`This is request 1 of ${length}; --request N prints another.`);
  }
}

/** The exact HTTP body of a turn's request, rebuilt from the record. */
export async function wireOf({ runtime, operator, bodyOf }: App, { id }: TurnRecord, n: number): Promise<string> {
  const { request, wire } = await runtime.rebuilt(operator, id, n);
  return bodyOf(request, wire);
}

function noRequest({ id, requests: { length } }: TurnRecord, n: number): StrataError {
  const has = length === 0 ? "sent no request" : `has ${count(length, "request")}`;
  return new StrataError("invalid_input", `${id} ${has}, so there is no request ${n}`, { turn: id, request: n });
}
