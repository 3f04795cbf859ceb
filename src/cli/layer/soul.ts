import type { Command } from "commander";
import { layerWith, TEXT_LIMITS } from "../../protocol/index.ts";
import type { Context } from "../shell/context.ts";
import { agentWords, type OfAgent, ofAgent, onAgent } from "../shell/on-agent.ts";
import { printable } from "../shell/style.ts";
import { type Reasoned, reasoned, why } from "../shell/text-options.ts";
import { editedLine } from "../shell/text-view.ts";

/** `strata soul …`: an agent's short name for itself. */
export function declareSoul(program: Command, context: Context): void {
  const soul = program
    .command("soul")
    .description("show and set an agent's short name for itself")
    .addHelpText("after", "\nExample:\n  $ strata soul show");
  declareShow(soul, context);
  declareSet(soul, context);
}

function declareShow(parent: Command, context: Context): void {
  ofAgent(parent.command("show"))
    .description("show the soul that is sent now")
    .addHelpText("after", "\nExample:\n  $ strata soul show sovereign")
    .action((named: string | undefined, options: OfAgent, command: Command) =>
      onAgent(context, { command, named, options }, async ({ app, agent }) => {
        const layer = layerWith(agent, "soul").id;
        const { text, version } = await app.runtime.layer(app.operator, agent.name, layer);
        const from = version === 0 ? "as declared" : `version ${version}`;
        return {
          json: { layer, ...(text !== undefined && { soul: text }), version },
          lines: [text === undefined ? "It has no soul." : `${printable(text)} ${context.style.dim(`(${from})`)}`],
        };
      }),
    );
}

function declareSet(parent: Command, context: Context): void {
  reasoned(parent.command("set").argument("<soul>", `1 to ${TEXT_LIMITS.soul} of a-z, 0-9, ".", "_" and "-"`))
    .description("give an agent another soul, from the next turn on; every version is kept")
    .addHelpText("after", '\nExample:\n  $ strata soul set patient-gardener --reason "it has grown up"')
    .action((text: string, named: string | undefined, options: Reasoned, command: Command) =>
      onAgent(context, { command, named, options }, async ({ app, agent }) => {
        const layer = layerWith(agent, "soul").id;
        const version = await app.runtime.editText(app.operator, agent.name, { layer, text, reason: why(options) });
        const back = `\`strata layer rollback ${layer}${agentWords(app, agent)}\` takes it back.`;
        return { json: version, lines: editedLine(version, { name: "the soul", back, style: context.style }) };
      }),
    );
}
