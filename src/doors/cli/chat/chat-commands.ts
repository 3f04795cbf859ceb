import type { TurnRecord } from "../../../app.ts";
import { APPROVAL_API } from "../../../features/approvals/index.ts";
import { MEMORY_API, memoryLines } from "../../../features/memories/index.ts";
import { SETTING_API } from "../../../features/settings/index.ts";
import { count, number, printable, type Style, table } from "../../../print/index.ts";
import { type Agent, approvalId, type Ledger, type TurnId, untrusted } from "../../../protocol/index.ts";
import type { Context } from "../shell/context.ts";
import { retry, type Saying, type Talk } from "./conversation.ts";

/** What a chat command has access to. */
export interface ChatCommandCall {
  readonly context: Context;
  readonly talk: Talk;
  /** The last turn of this chat. */
  readonly last: TurnId | undefined;
  readonly saying: Saying;
  /** Hides the line about what was sent, or shows it again; returns whether it is hidden now. */
  readonly toggleQuiet: () => boolean;
}

/** Newest memories that `/memory` shows. */
const NEWEST = 10;

/** A line of a chat that is a command: the word after the slash, and the words after it. */
export interface ChatCommand {
  readonly name: string;
  readonly words: readonly string[];
}

type Act = (asked: ChatCommandCall, words: readonly string[]) => Promise<TurnId | undefined>;

/** The commands without arguments, and those with. */
const ALONE: Readonly<Record<string, Act>> = {
  "/help": async ({ context, talk: { agent } }) => void context.note(...helpOf(agent)),
  "/layers": async (asked) => {
    const ledger = (await lastTurn(asked))?.requests.at(-1)?.ledger;
    if (ledger === undefined) asked.context.note(NOTHING);
    else asked.context.say(...layersView(ledger, asked.context.style));
    return undefined;
  },
  "/why": async (asked) => {
    const turn = await lastTurn(asked);
    if (turn === undefined) asked.context.note(NOTHING);
    else {
      const { app } = asked.talk;
      const { turnView } = await import("../../../features/turns/index.ts");
      asked.context.say(...(await turnView({ ...app, actor: app.operator }, turn, asked.context.style)));
    }
    return undefined;
  },
  "/quiet": async ({ context, toggleQuiet }) => {
    context.note(
      toggleQuiet()
        ? "The line about what was sent is hidden: /quiet shows it again, /why still explains a turn."
        : "The line about what was sent is shown again.",
    );
    return undefined;
  },
  "/withdraw": async ({ context, talk: { app, thread: opened } }) => {
    const thread = opened();
    const taken = thread === undefined ? [] : await app.runtime.withdraw(app.operator, thread.id);
    context.note(taken.length === 0 ? "No message waits." : `${count(taken.length, "message")} taken back.`);
    return undefined;
  },
  "/new": async ({ context, talk }) => {
    talk.beginAnew();
    context.note(`Your next message begins a new conversation with ${talk.agent.name}.`);
    return undefined;
  },
  "/retry": ({ context, talk, saying }) => retry(context, talk, saying),
};

const WITH_WORDS: Readonly<Record<string, Act>> = {
  "/memory": async ({ context, talk: { app, agent, contact } }, words) => {
    const scope = { org: agent.org, agent: agent.name, contact };
    const text = words.join(" ");
    const found = await (text === ""
      ? app.runtime.use(MEMORY_API).memories(app.operator, scope, NEWEST)
      : app.runtime
          .use(MEMORY_API)
          .searchMemories(app.operator, scope, { query: text, limit: NEWEST, withoutChatter: true }));
    const none =
      text === ""
        ? `Nothing is remembered about ${contact} yet.`
        : `No memory about ${contact} matches ${JSON.stringify(text)}; try other or fewer words.`;
    context.say(...memoryLines(found, context.style, none));
    return undefined;
  },
  "/think": async (asked, words) => {
    const { talk, context } = asked;
    const name = thinkingOf(talk.agent);
    if (name === undefined)
      context.note(`${talk.agent.name} has no thinking level: none of its \`settings\` sets \`reasoning\`.`);
    else await setSetting(asked, [name, ...words]);
    return undefined;
  },
  "/set": async (asked, words) => {
    await setSetting(asked, words);
    return undefined;
  },
  "/strata": async ({ context, saying }, words) => {
    const argv = [...words.join(" ").matchAll(/"([^"]*)"|'([^']*)'|(\S+)/g)].map(([, a, b, c]) => a ?? b ?? c ?? "");
    await context.runLine(argv, saying.signal);
    return undefined;
  },
  "/approve": (asked, words) => decideCall(asked, "approved", words),
  "/deny": (asked, words) => decideCall(asked, "denied", words),
};

const NOTHING = "Nothing was said yet; say something first.";

const thinkingOf = ({ settings = {} }: Agent): string | undefined =>
  Object.entries(settings).find(([, { sets }]) => sets === "reasoning")?.[0];

/** The commands that are useful with this agent. */
function helpOf(agent: Agent): readonly string[] {
  const lacks = [
    ...(agent.tools.length === 0 ? ["/approve", "/deny"] : []),
    ...(thinkingOf(agent) === undefined ? ["/think"] : []),
    ...(Object.keys(agent.settings ?? {}).length === 0 ? ["/set"] : []),
  ];
  return HELP.filter((line) => !lacks.some((command) => line.startsWith(command)));
}

const HELP = [
  "/layers  what the last request contained: each layer's rank, trust and tokens",
  "/why     explains the last turn: all its requests, what was called and said",
  "/memory  the newest memories about you; followed by words, those that fit them",
  "/approve runs the oldest call that waits for you, or the one whose id follows",
  "/deny    denies it in the same way; a note for the agent may follow the id",
  "/think   shows how much the model thinks before it answers; with off, low, medium or high behind it, sets that",
  "/set     shows what is set of this conversation; with a name and a value behind it, sets that",
  "/retry   runs a turn for messages without an answer; /withdraw drops them",
  "/strata  runs a command of the command line, as it is advised here: /strata approval list",
  "/new     begins a new conversation; memories stay",
  "/quiet   hides the dim line that says what was sent, or shows it again; STRATA_QUIET=1 hides it always",
  "/quit    leaves, like Ctrl-D; Ctrl-C stops a turn that runs",
  "@NAME    before a message sends it to the agent of that name, in your conversation with it",
  'A line that ends in \\ goes on with the next one; """ begins and ends a block, which is sent as it is.',
];

/** Reads a typed line as a command: a slash and a word, with or without more words. A path such as `/etc/hosts` is not a command. */
export function readCommand(line: string): ChatCommand | undefined {
  if (line.includes("\n")) return undefined;
  // A bare slash asks for the list of commands.
  if (line.trim() === "/") return { name: "/help", words: [] };
  const [, name, rest = ""] = /^\/\s*([\p{L}\d_-]+)(?:\s+(.*))?$/u.exec(line.trim()) ?? [];
  if (name === undefined) return undefined;
  return { name: `/${name.toLowerCase()}`, words: rest.split(/\s+/).filter((word) => word !== "") };
}

/** Whether there is a command of that name. */
export const isKnownCommand = ({ name }: ChatCommand): boolean =>
  [ALONE, WITH_WORDS, { [QUIT]: true }].some((some) => Object.hasOwn(some, name));

/** Leaves the chat; who reads the lines does it. */
export const QUIT = "/quit";

/** Runs a command of the chat. Returns the turn that it ran, if any. */
export async function answerCommand({ name, words }: ChatCommand, asked: ChatCommandCall): Promise<TurnId | undefined> {
  const { note } = asked.context;
  const act = Object.hasOwn(WITH_WORDS, name) ? WITH_WORDS[name] : undefined;
  if (act !== undefined) return act(asked, words);
  const alone = Object.hasOwn(ALONE, name) ? ALONE[name] : undefined;
  if (alone !== undefined && words.length === 0) return alone(asked, []);
  if (alone !== undefined)
    note(`${name} takes nothing after it, so nothing was done; /help lists what may follow a command.`);
  else
    note(
      `There is no command ${printable(name)}, so nothing was sent; /help lists them. Between """ and """ it is sent to the agent.`,
    );
  return undefined;
}

async function lastTurn({ talk: { app, thread: opened }, last }: ChatCommandCall): Promise<TurnRecord | undefined> {
  const { runtime, operator } = app;
  if (last !== undefined) return runtime.turn(operator, last);
  const thread = opened();
  return thread === undefined ? undefined : (await runtime.turns(operator, thread.id)).at(-1);
}

/** Decides about a call of this conversation (by default the oldest that waits), and runs a turn so that the agent reports the result. */
async function decideCall(
  { context, talk, saying }: ChatCommandCall,
  verdict: "approved" | "denied",
  [id, ...words]: readonly string[],
): Promise<TurnId | undefined> {
  const { runtime, operator } = talk.app;
  const here = talk.thread()?.id;
  const call =
    id === undefined ? await oldestWaiting(talk) : await runtime.use(APPROVAL_API).approval(operator, approvalId(id));
  if (call === undefined) context.note("No call waits for a person here.");
  else if (call.thread !== here)
    context.note(`${call.id} belongs to another conversation; \`strata approval show ${call.id}\` shows it.`);
  if (call === undefined || call.thread !== here) return undefined;
  const note = words.length === 0 ? {} : { note: untrusted(words.join(" ")) };
  context.note(`→ ${call.tool} ${printable(JSON.stringify(call.input))} is ${verdict}`);
  await runtime.use(APPROVAL_API).decide(operator, call.id, { verdict, signal: saying.signal, ...note });
  return retry(context, talk, saying);
}

/** Sets a setting of this conversation; without a value, shows the current one. */
async function setSetting({ context, talk }: ChatCommandCall, [name, ...words]: readonly string[]): Promise<void> {
  const { runtime, operator } = talk.app;
  if (name !== undefined && words.length > 0) {
    const { id } = await talk.open();
    const { value } = await runtime.use(SETTING_API).setSetting(operator, id, { name, value: words.join(" ") });
    context.note(`${name} is ${printable(value ?? "not set")} from your next message on.`);
    return;
  }
  const { declaredSettings, settingLines } = await import("../../../features/settings/index.ts");
  const thread = talk.thread();
  const settings =
    thread === undefined ? declaredSettings(talk.agent) : await runtime.use(SETTING_API).settings(operator, thread.id);
  context.say(
    ...settingLines(
      name === undefined ? settings : settings.filter((one) => one.name === name),
      talk.app.clock.real(),
      context.style,
    ),
  );
}

async function oldestWaiting({ app: { runtime, operator }, thread: opened }: Talk) {
  const thread = opened();
  if (thread === undefined) return undefined;
  const { id, scope } = thread;
  return (await runtime.use(APPROVAL_API).approvals(operator, scope, { status: "waiting", thread: id }, 1_000)).at(-1);
}

const COLUMNS = [
  { head: "section" },
  { head: "rank", right: true },
  { head: "trust" },
  { head: "tokens", right: true },
  { head: "fate" },
] as const;

function layersView({ entries, tokens, limit }: Ledger, style: Style): readonly string[] {
  const rows = entries.map(({ section, rank, trust, tokens: cost, fate }) => [
    section,
    rank === undefined ? "" : number(rank),
    trust,
    number(cost),
    fate,
  ]);
  return [...table(COLUMNS, rows, style), `${number(tokens)} tokens of ${number(limit)} that may be sent`];
}
