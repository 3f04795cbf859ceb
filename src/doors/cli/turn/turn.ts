import type { Command } from "commander";
import type { App, TurnRecord } from "../../../app.ts";
import { StrataError, type TurnId, turnId } from "../../../protocol/index.ts";
import type { Context } from "../shell/context.ts";
import { wholeNumber } from "../shell/options.ts";
import { inRecord, onRecord } from "../shell/session.ts";
import { count } from "../shell/style.ts";
import { type Regenerating, regenerate } from "./regenerate.ts";
import { diffView, type Sent, turnDiff } from "./turn-diff.ts";
import { turnView } from "./turn-view.ts";

interface Options {
  readonly wire?: true;
  readonly request?: number;
}

/** `strata turn …`: what is recorded of a turn, and how two differ. `turn ID` is `turn show ID`. */
export function declareTurn(program: Command, context: Context): void {
  const turn = program
    .command("turn")
    .description("show what is recorded of a turn, how two turns differ, or answer one again")
    .addHelpText("after", "\nExample:\n  $ strata turn trn_01jd8k3v5x9m2q7r4t6w8y0zab --wire");
  declareShow(turn, context);
  declareDiff(turn, context);
  declareRegenerate(turn, context);
}

function declareShow(parent: Command, context: Context): void {
  parent
    .command("show", { isDefault: true })
    .description("show what is recorded of a turn; the word `show` may be left out")
    .argument("<id>", "the turn, trn_…")
    .option("--wire", "print the HTTP body of a request, byte for byte as it was sent")
    .option("--request <n>", "which request of the turn, with --wire (default: 1)", wholeNumber(1))
    .addHelpText("after", "\nExample:\n  $ strata turn show trn_01jd8k3v5x9m2q7r4t6w8y0zab")
    .action((text: string, options: Options, command: Command) => {
      const id = turnId(text);
      if (options.request !== undefined && options.wire !== true)
        throw new StrataError(
          "invalid_input",
          "--request chooses which body --wire prints; add --wire, or leave it out",
        );
      return inRecord(context, command, async ({ app, json }) => {
        const turn = await app.runtime.turn(app.operator, id);
        if (options.wire === true) await printWire(context, app, turn, options.request);
        else if (json) context.json(turn);
        else context.say(...(await turnView(app, turn, context.style)));
      });
    });
}

function declareDiff(parent: Command, context: Context): void {
  parent
    .command("diff")
    .description("show what changed between the first requests of two turns: pieces, tokens, and texts line by line")
    .argument("<before>", "a turn, trn_…")
    .argument("<after>", "another turn")
    .addHelpText(
      "after",
      "\nExample:\n  $ strata turn diff trn_01jd8k3v5x9m2q7r4t6w8y0zab trn_01jd8k4c2n7p9s1v3x5z7b9d1f",
    )
    .action((before: string, after: string, _options: unknown, command: Command) => {
      const ids = [turnId(before), turnId(after)] as const;
      return inRecord(context, command, async ({ app, json }) => {
        const [old, fresh] = await Promise.all([firstSent(app, ids[0]), firstSent(app, ids[1])]);
        const difference = turnDiff(old, fresh);
        if (json) context.json(difference);
        else context.say(...diffView(difference, context.style));
      });
    });
}

function declareRegenerate(parent: Command, context: Context): void {
  parent
    .command("regenerate")
    .description("answer a turn's messages once more, on a fork from before it; the turn itself stays")
    .argument("<id>", "the turn, trn_…")
    .option("--model <ref>", "who answers this time, provider:name (default: the agent's model)")
    .option("--again", "also where the turn called tools that act outside, or a second reply would be sent")
    .addHelpText(
      "after",
      "\nExample:\n  $ strata turn regenerate trn_01jd8k3v5x9m2q7r4t6w8y0zab --model anthropic:claude-sonnet-4-5",
    )
    .action((text: string, options: Regenerating, command: Command) => {
      const id = turnId(text);
      return onRecord(context, command, (session) => regenerate(context, session, id, options));
    });
}

async function firstSent({ runtime, operator }: App, id: TurnId): Promise<Sent> {
  const turn = await runtime.turn(operator, id);
  const ledger = turn.requests[0]?.ledger;
  if (ledger === undefined) throw noRequest(turn, 1);
  return { turn: id, ledger, request: (await runtime.rebuilt(operator, id, 1)).request };
}

async function printWire(context: Context, app: App, turn: TurnRecord, wanted: number | undefined): Promise<void> {
  const { length } = turn.requests;
  const n = wanted ?? 1;
  if (n > length) throw noRequest(turn, n);
  context.exact(await wireOf(app, turn, n));
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
