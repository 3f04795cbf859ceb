import type { TurnRecord } from "../app.ts";
import type { Ledger, TurnId } from "../protocol/index.ts";
import type { Context } from "./context.ts";
import { retry, type Saying, type Talk } from "./conversation.ts";
import { memoryLines } from "./memory.ts";
import { count, number, printable, type Style } from "./style.ts";
import { table } from "./table.ts";
import { turnView } from "./turn-view.ts";

/** What a command of the chat may look at. */
export interface Asked {
  readonly context: Context;
  readonly talk: Talk;
  /** The last turn of this chat. */
  readonly last: TurnId | undefined;
  readonly saying: Saying;
}

/** Newest memories that `/memory` shows. */
const NEWEST = 10;

const COMMANDS: Readonly<Record<string, (asked: Asked) => Promise<TurnId | undefined>>> = {
  "/help": async ({ context }) => void context.note(...HELP),
  "/layers": async (asked) => {
    const ledger = (await lastTurn(asked))?.requests.at(-1)?.ledger;
    if (ledger === undefined) asked.context.note(NOTHING);
    else asked.context.say(...layersView(ledger, asked.context.style));
    return undefined;
  },
  "/why": async (asked) => {
    const turn = await lastTurn(asked);
    if (turn === undefined) asked.context.note(NOTHING);
    else asked.context.say(...(await turnView(asked.talk.app, turn, asked.context.style)));
    return undefined;
  },
  "/memory": async ({ context, talk: { app, agent, contact } }) => {
    const scope = { org: agent.org, agent: agent.name, contact };
    const found = await app.runtime.memories(app.operator, scope, NEWEST);
    context.say(...memoryLines(found, context.style, `Nothing is remembered about ${contact} yet.`));
    return undefined;
  },
  "/approve": (asked) => decideNext(asked, "approved"),
  "/deny": (asked) => decideNext(asked, "denied"),
  "/withdraw": async ({ context, talk: { app, thread } }) => {
    const taken = await app.runtime.withdraw(app.operator, thread.id);
    context.note(taken.length === 0 ? "No message waits." : `${count(taken.length, "message")} taken back.`);
    return undefined;
  },
  "/retry": ({ context, talk, saying }) => retry(context, talk, saying),
};

const NOTHING = "Nothing was said yet; say something first.";

const HELP = [
  "/layers  what the last request held: each layer's rank, trust and tokens",
  "/why     explains the last turn: all its requests, what was called and said",
  "/memory  the newest memories about you",
  "/approve runs the oldest call that waits for you; /deny refuses it",
  "/retry   runs messages again that got no answer; /withdraw takes them back",
  "/quit    leaves, like Ctrl-D; Ctrl-C stops a turn that runs",
  'A line that ends in \\ goes on with the next one; """ begins and ends a block.',
  "The dim line after each reply says what was sent to the model.",
];

/** Whether a typed message is a command: one word behind a slash. */
export const isCommand = (text: string): boolean => /^\/\S*$/.test(text);

/** Does what a command of the chat asks for. Gives the turn that it ran, where it ran one. */
export async function answerCommand(text: string, asked: Asked): Promise<TurnId | undefined> {
  const command = Object.hasOwn(COMMANDS, text) ? COMMANDS[text] : undefined;
  if (command !== undefined) return command(asked);
  asked.context.note(`There is no command ${text}; /help lists them.`);
  return undefined;
}

async function lastTurn({ talk: { app, thread }, last }: Asked): Promise<TurnRecord | undefined> {
  const { runtime, operator } = app;
  return last === undefined ? (await runtime.turns(operator, thread.id)).at(-1) : runtime.turn(operator, last);
}

/** Decides about the oldest waiting call of this conversation, and lets the agent tell what came of it. */
async function decideNext(asked: Asked, verdict: "approved" | "denied"): Promise<TurnId | undefined> {
  const { context, talk, saying } = asked;
  const { runtime, operator } = talk.app;
  const waiting = { status: "waiting", thread: talk.thread.id } as const;
  const oldest = (await runtime.approvals(operator, talk.thread.scope, waiting, 1_000)).at(-1);
  if (oldest === undefined) {
    context.note("No call waits for a person here.");
    return undefined;
  }
  context.note(`→ ${oldest.tool} ${printable(JSON.stringify(oldest.input))} is ${verdict}`);
  await runtime.decide(operator, oldest.id, { verdict, signal: saying.signal });
  return retry(context, talk, saying);
}

const COLUMNS = [
  { head: "piece" },
  { head: "rank", right: true },
  { head: "trust" },
  { head: "tokens", right: true },
  { head: "fate" },
] as const;

function layersView({ entries, tokens, limit }: Ledger, style: Style): readonly string[] {
  const rows = entries.map(({ piece, rank, trust, tokens: cost, fate }) => [
    piece,
    rank === undefined ? "" : number(rank),
    trust,
    number(cost),
    fate,
  ]);
  const [head = "", ...lines] = table(COLUMNS, rows);
  return [style.dim(head), ...lines, `${number(tokens)} tokens of ${number(limit)} that may be sent`];
}
