import { cpSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { type PrivateKeyAccount, privateKeyToAccount } from "viem/accounts";
import { onTestFinished } from "vitest";
import { type App, openApp } from "../../src/app.ts";
import { INBOX_API } from "../../src/features/inbox/index.ts";
import { LIFE_API } from "../../src/features/life/index.ts";
import { messageToSign } from "../../src/guard/index.ts";
import { type Script, scripted } from "../../src/models/index.ts";
import {
  agentName,
  type ContactId,
  contactId,
  type Model,
  type Request,
  type TurnEvent,
  type TurnId,
  untrusted,
} from "../../src/protocol/index.ts";

/** The folder of the blueprint. */
export const BLUEPRINT = join(import.meta.dirname, "../../blueprints/sovereign");

/** What the scripted model costs: three dollars for a million tokens in, fifteen for a million out. */
const PRICED = `
models:
  "scripted:sovereign": { contextWindow: 200000, price: { input: 3, output: 15 } }
  "scripted:small": { contextWindow: 4096, price: { input: 3, output: 15 } }
`;

/** A model with a window of 4,096 tokens. */
const SMALL = "scripted:small";

export const SOVEREIGN = agentName("sovereign");
export const START = Date.parse("2026-11-21T08:00:00Z");
const MINUTE = 60_000;

/** Someone with a key. */
export const sender = (digit: number): PrivateKeyAccount => privateKeyToAccount(`0x${String(digit).repeat(64)}`);

/** A turn that was run: what was sent, and how it ended. */
export interface Lived {
  readonly sent: readonly Request[];
  readonly events: readonly TurnEvent[];
  readonly turn: TurnId;
  /** Whose turn it was; none of its own. */
  readonly contact: ContactId | undefined;
}

/** What somebody writes, and how. */
export interface Writing {
  readonly id?: string;
  /** Signed by this account, whoever it says it is from. */
  readonly by?: PrivateKeyAccount;
  readonly small?: true;
}

/** The automaton of the blueprint in a folder of its own, with a clock and a purse in the test's hand. */
export interface Automaton {
  readonly app: App;
  /** Its data folder. */
  readonly data: string;
  readonly lived: Lived[];
  readonly wait: (minutes: number) => void;
  readonly pay: (dollars: number) => Promise<unknown>;
  readonly post: (from: PrivateKeyAccount, text: string, writing?: Writing) => Promise<void>;
  /** Posts a message and runs the turn that answers it. */
  readonly say: (from: PrivateKeyAccount, text: string, ...script: Script<Request>[]) => Promise<Lived>;
  /** Runs the turn over what waits of this sender. */
  readonly answer: (from: PrivateKeyAccount, script: readonly Script<Request>[], small?: true) => Promise<Lived>;
  /** Runs a turn over what waits for longest. */
  readonly inbox: (...script: Script<Request>[]) => Promise<Lived>;
  /** A turn of its own. */
  readonly tick: (...script: Script<Request>[]) => Promise<Lived>;
}

export async function automaton(inbox: "each" | "batch" = "each"): Promise<Automaton> {
  const folder = mkdtempSync(join(tmpdir(), "strata-sovereign-"));
  cpSync(BLUEPRINT, folder, { recursive: true });
  const file = join(folder, "strata.yaml");
  const declared = readFileSync(file, "utf8").replace("history: log", `history: log\n    inbox: ${inbox}`);
  writeFileSync(file, `${declared}${PRICED}`);
  const data = join(folder, ".strata");
  const app = await openApp({ folder, data, env: {} });
  onTestFinished(async () => {
    await app.close();
    rmSync(folder, { recursive: true, force: true });
  });
  const { runtime, operator } = app;
  const lived: Lived[] = [];
  let now = START;
  let messages = 0;
  app.setClock(now);
  const wait = (minutes: number): void => {
    now += minutes * MINUTE;
    app.setClock(now);
  };
  const opened = (from: PrivateKeyAccount) =>
    runtime.open(operator, { agent: SOVEREIGN, contact: contactId(from.address), channel: "inbox", key: "main" });
  const live = async (
    script: readonly Script<Request>[],
    turn: (model: Model) => AsyncIterable<TurnEvent>,
    { contact, small }: { readonly contact?: ContactId; readonly small?: true },
  ): Promise<Lived> => {
    const { model, sent } = small ? scripted(script, SMALL) : scripted(script);
    const events: TurnEvent[] = [];
    for await (const event of turn({ ...model, ref: small ? SMALL : "scripted:sovereign" })) events.push(event);
    const id = events.flatMap((event) => (event.type === "turn-start" ? [event.turn] : []))[0];
    if (id === undefined) throw new Error("no turn was run");
    const one = { sent, events, turn: id, contact };
    lived.push(one);
    wait(1);
    return one;
  };
  const self: Automaton = {
    app,
    data,
    lived,
    wait,
    pay: (dollars) => runtime.use(LIFE_API).topUp(operator, SOVEREIGN, { dollars, note: untrusted("for bread") }),
    post: async (from, text, { id = `m-${++messages}`, by } = {}) => {
      const signed = { to: `${operator.org}/${SOVEREIGN}`, id, text };
      const signature = await by?.signMessage({ message: messageToSign(signed) });
      const content = [{ type: "text", text: untrusted(text) }] as const;
      const event = { kind: "message", trust: "contact", channel: "inbox", externalId: id, content, at: now } as const;
      await runtime.post(operator, await opened(from), [{ ...event, ...(signature && { signature }) }]);
    },
    answer: async (from, script, small) => {
      const thread = await opened(from);
      const { contact } = thread.scope;
      return live(script, (model) => runtime.run(operator, thread, { model }), { contact, ...(small && { small }) });
    },
    say: async (from, text, ...script) => {
      await self.post(from, text);
      return self.answer(from, script);
    },
    inbox: (...script) => live(script, (model) => runtime.use(INBOX_API).runInbox(operator, SOVEREIGN, { model }), {}),
    tick: (...script) => live(script, (model) => runtime.use(LIFE_API).tick(operator, SOVEREIGN, { model }), {}),
  };
  return self;
}

/** All that a request shows to the model, as one text. */
export const shown = ({ prefix, messages, tail }: Request): string => JSON.stringify([prefix, messages, tail]);

/** What its prefix says. */
export const prefixOf = (request: Request | undefined): string =>
  request?.prefix.system.map(({ text }) => text).join("\n\n") ?? "";

/** What it says of one live layer. */
/** What a live layer says, in the tail or, as what was said before does, in the turn's own message. */
export const liveLayer = (request: Request | undefined, layer: string): string =>
  (request === undefined ? [] : liveTexts(request)).find((part) => part.layer === layer)?.text ?? "";

/** The live layers of a request, in its order. */
export function liveTexts({ messages, tail }: Request): readonly { readonly layer: string; readonly text: string }[] {
  const parts = messages.flatMap((message) => (message.role === "user" ? message.parts : []));
  const before = parts.flatMap((part) =>
    part.type === "text" && part.told !== undefined ? [{ layer: part.told.layer, text: part.text }] : [],
  );
  return [...before, ...tail];
}

export const call = (name: string, input: Record<string, string | number>): Script<Request> => ({
  parts: [{ call: name, input }],
});

export const edit = (layer_id: number, content: string): Script<Request> =>
  call("update_prompt_layer", { layer_id, content });

/** A reply that costs so many dollars. */
export const dear = (text: string, dollars: number): Script<Request> => ({
  parts: [{ text }],
  usage: { input: Math.round((dollars / 3) * 1_000_000) },
});
