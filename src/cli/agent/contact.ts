import type { Command } from "commander";
import { agentName, contactId, StrataError } from "../../protocol/index.ts";
import type { Context } from "../shell/context.ts";
import { nameGiven, type OfAgent, ofAgent } from "../shell/on-agent.ts";
import { inRecord } from "../shell/session.ts";

interface Options extends OfAgent {
  readonly yes?: true;
}

/** `strata contact`: what is done about a person outside. */
export function declareContact(program: Command, context: Context): void {
  const contact = program
    .command("contact")
    .description("erase all that is kept of a contact")
    .addHelpText("after", "\nExample:\n  $ strata contact erase ann --yes");
  ofAgent(contact.command("erase").argument("<name>", "the contact, as the channel names them"), "every agent")
    .description("erase a contact: texts, memories, files and the name itself; nothing brings them back")
    .option("--yes", "do it: without this nothing is erased")
    .addHelpText("after", "\nExample:\n  $ strata contact erase ann --yes")
    .action((name: string, named: string | undefined, options: Options, command: Command) => {
      const contactOf = contactId(name);
      const agent = nameGiven(named, options);
      if (!options.yes) throw unconfirmed(name);
      return inRecord(context, command, async ({ app, json }) => {
        const whose = { contact: contactOf, agent: agent === undefined ? undefined : agentName(agent) };
        const erased = await app.runtime.erase(app.operator, whose);
        if (json) context.json({ contact: contactOf, erased });
        else context.say(told(name, erased));
      });
    });
}

function unconfirmed(name: string): StrataError {
  const says = `all that is kept of ${JSON.stringify(name)} would be gone for good, and nothing was erased yet`;
  return new StrataError("invalid_input", `${says}: say it with --yes, after \`strata backup\` if it may be wanted`);
}

function told(name: string, erased: readonly string[]): string {
  if (erased.length === 0) return `Nothing was known of ${JSON.stringify(name)}; nothing was erased.`;
  return `Erased ${JSON.stringify(name)}, whom ${erased.join(", ")} knew: texts, memories, files and name are gone; counts and costs stay under a pseudonym.`;
}
