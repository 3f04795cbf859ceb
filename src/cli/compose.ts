import type { Command } from "commander";
import type { Composed } from "../app.ts";
import { untrusted } from "../protocol/index.ts";
import type { Context } from "./context.ts";
import { chatConversation, senderOf } from "./conversation.ts";
import { ledgerTable } from "./ledger-table.ts";
import { requestText } from "./request-text.ts";
import { agentNamed, inSession, shortVersion } from "./session.ts";

interface Options {
  readonly message: string;
  readonly as?: string;
  readonly wire?: true;
}

/** `strata compose AGENT`: the request that would be sent. */
export function declareCompose(program: Command, context: Context): void {
  program
    .command("compose")
    .description("show the request that a message would lead to; nothing is sent or stored")
    .argument("<agent>", "the agent's name")
    .requiredOption("--message <text>", "the message")
    .option("--as <contact>", "who writes it (default: you)")
    .option("--wire", "print the exact HTTP body instead")
    .addHelpText("after", "\nExample:\n  $ strata compose companion --message 'What do you know about my cat?'")
    .action((name: string, options: Options, command: Command) =>
      inSession(context, command, async ({ app, json }) => {
        const agent = agentNamed(app, name);
        const conversation = await chatConversation({ app, agent, contact: senderOf(agent, options.as) });
        const composed = await app.runtime.compose(app.operator, conversation, untrusted(options.message));
        if (options.wire === true) context.exact(await app.bodyOf(composed.request, composed.wire));
        else if (json) context.json(forPrograms(composed));
        else context.say(...forPeople(composed, context));
      }),
    );
}

function forPrograms({ agent: { name, version }, ledger, ...rest }: Composed) {
  return { agent: { name, version }, ...rest, ledger, tokens: ledger.tokens };
}

function forPeople({ agent, model, wire, request, ledger, taint }: Composed, { style }: Context): readonly string[] {
  const shape = model === wire ? "" : ` (in the wire shape of ${wire})`;
  const { epoch, mode } = ledger;
  return [
    `${style.bold(agent.name)}, version ${shortVersion(agent.version)} · ${model}${shape} · mode ${mode} · epoch ${epoch.n} · taint ${taint}`,
    "",
    ...ledgerTable(ledger, style, request),
    "",
    ...requestText(request, style),
  ];
}
