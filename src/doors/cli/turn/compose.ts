import { type Command, Option } from "commander";
import type { Composed } from "../../../app.ts";
import { ledgerTable, requestText } from "../../../features/turns/index.ts";
import { MODES, type Mode, StrataError, untrusted } from "../../../protocol/index.ts";
import { chatConversation, newestChat, senderOf, versionLines } from "../chat/conversation.ts";
import type { Context } from "../shell/context.ts";
import { agentNamed, inSession, shortVersion } from "../shell/session.ts";
import { continuesLine, explainSizes } from "./compose-sizes.ts";

interface ComposeCommandOptions {
  readonly message?: string;
  readonly mode?: Mode;
  readonly explain?: true;
  readonly as?: string;
  readonly wire?: true;
}

/** `strata compose AGENT`: the request that would be sent. */
export function declareCompose(program: Command, context: Context): void {
  program
    .command("compose")
    .description("show the request that a message would cause; nothing is sent or stored")
    .argument("<agent>", "the agent's name")
    .option("--message <text>", "the message; required without --explain")
    .option("--as <contact>", "who writes it (default: you)")
    .addOption(new Option("--mode <mode>", "compose in this mode: how much of the prompt is sent").choices(MODES))
    .option("--explain", "instead, show how large each layer is in full and in compact mode, and what is sent of it")
    .option("--wire", "print the exact HTTP body instead")
    .addHelpText(
      "after",
      "\nExamples:\n  $ strata compose companion --message 'What do you know about my cat?'\n  $ strata compose companion --explain",
    )
    .action((name: string, options: ComposeCommandOptions, command: Command) =>
      inSession(context, command, async ({ app, json }) => {
        const agent = agentNamed(app, name);
        const talkers = { app, agent, contact: await senderOf(app, agent, options.as) };
        const conversation = await chatConversation(talkers);
        const thread = await newestChat(talkers);
        if (thread !== undefined)
          context.note(...(await versionLines(app, agent, { thread, anew: `\`strata chat ${name} --new\`` })));
        if (options.explain === true)
          return explainSizes(context, { app, conversation, json, message: options.message, mode: options.mode });
        const message = untrusted(requireMessage(options.message));
        const composed = await app.runtime.compose(app.operator, conversation, message, { mode: options.mode });
        if (options.wire === true) context.exact(await app.bodyOf(composed.request, composed.wire));
        else if (json) context.json(forPrograms(composed));
        else context.say(...forPeople(composed, context));
      }),
    );
}

function requireMessage(message: string | undefined): string {
  if (message !== undefined) return message;
  throw new StrataError(
    "invalid_input",
    "a message is needed: give it with --message TEXT, or use --explain for the sizes alone",
  );
}

function forPrograms({ agent: { name, version }, ledger, ...rest }: Composed) {
  return { agent: { name, version }, ...rest, ledger, tokens: ledger.tokens };
}

function forPeople(composed: Composed, { style }: Context): readonly string[] {
  const { agent, model, wire, request, ledger, taint } = composed;
  const shape = model === wire ? "" : ` (in the request format of ${wire})`;
  const { epoch, mode } = ledger;
  return [
    `${style.bold(agent.name)}, version ${shortVersion(agent.version)} · ${model}${shape} · mode ${mode} · epoch ${epoch.n} · taint ${taint}`,
    ...continuesLine(composed),
    "",
    ...ledgerTable(ledger, style, request),
    "",
    ...requestText(request, style),
  ];
}
