import type { Command } from "commander";
import type { App } from "../../app.ts";
import { type StoredEvent, StrataError, untrusted } from "../../protocol/index.ts";
import { chatConversation, senderOf } from "../chat/conversation.ts";
import type { Context } from "../shell/context.ts";
import { agentWords, nameGiven, type OfAgent, ofAgent } from "../shell/on-agent.ts";
import { chosenAgent, inSession } from "../shell/session.ts";
import { allOfStdin } from "../shell/stdin-lines.ts";

interface Options extends OfAgent {
  readonly as?: string;
  readonly id?: string;
}

/** `strata inbox post`: a message waits for the agent, and nothing runs yet. */
export function declarePost(inbox: Command, context: Context): void {
  ofAgent(inbox.command("post").argument("[text]", "the message (default, and with -: all of stdin)"))
    .description("let a message wait for the agent, in the sender's conversation of `strata chat`; nothing runs yet")
    .option("--as <contact>", "who writes (default: me)")
    .option("--id <id>", "the message's own id: posted again with the same text, it is stored once")
    .addHelpText(
      "after",
      "\nExamples:\n  $ strata inbox post 'Please deliver the bread.' --as ann --id m-1\n  $ strata inbox post - sovereign < letter.txt",
    )
    .action(async (text: string | undefined, named: string | undefined, options: Options, command: Command) => {
      const says = await textOf(context, text);
      await inSession(context, command, async ({ app, json }) => {
        const isAlone = named === undefined && options.agent === undefined;
        if (isAlone && text !== undefined) checkNoAgent(context, app, text);
        const { runtime, operator } = app;
        const agent = chosenAgent(app, nameGiven(named, options));
        const talkers = { app, agent, contact: await senderOf(app, agent, options.as) };
        const thread = await runtime.open(operator, await chatConversation(talkers));
        const message = {
          kind: "message",
          trust: "contact",
          channel: thread.channel,
          content: [{ type: "text", text: untrusted(says) }],
          at: Date.now(),
          ...(options.id !== undefined && { externalId: options.id }),
        } as const;
        const [event] = await runtime.post(operator, thread, [message]);
        if (event === undefined) throw new StrataError("store_failed", "the store gave back no message; post it again");
        if (json) return context.json(event);
        context.say(...told(event, agent.name));
        if (event.status === "pending")
          context.note(`\`strata inbox run${agentWords(app, agent)}\` handles what waits for longest.`);
      });
    });
}

async function textOf({ terminal }: Context, text: string | undefined): Promise<string> {
  const given = text === undefined || text === "-" ? (await allOfStdin(terminal)).replace(/\r?\n$/, "") : text;
  if (given.trim() !== "") return given;
  throw new StrataError("invalid_input", "the message says nothing: write it behind the command, or give it on stdin");
}

/** One word that names an agent, with something on stdin, would be posted as the message, and the letter lost without a word. */
function checkNoAgent({ terminal }: Context, { runtime, operator }: App, text: string): void {
  if (terminal.stdin.isTTY === true || !runtime.agents(operator).some(({ name }) => name === text)) return;
  const says = `${text} is an agent's name, and stood where the message stands`;
  const next = `\`strata inbox post - ${text}\` posts what is on stdin to ${text}; to post the word itself, name the agent, too, as with \`--agent ${text}\``;
  throw new StrataError("invalid_input", `${says}: ${next}`, { agent: text });
}

function told({ id, thread, status, turn }: StoredEvent, agent: string): readonly string[] {
  if (status === "pending") return [`${id} waits for ${agent} on ${thread}.`];
  const where = turn === undefined ? "" : `: \`strata explain ${turn}\` shows how`;
  return [`${id} came before and was handled${where}.`];
}
