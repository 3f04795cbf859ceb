import type { Command } from "commander";
import { type Agent, type LayerId, StrataError, TEXT_LIMITS } from "../protocol/index.ts";
import type { Context } from "./context.ts";
import { layerView } from "./layer.ts";
import { chosenAgent, inSession } from "./session.ts";
import { printable } from "./style.ts";
import { agentWords, type OfAgent, ofAgent, reasoned, why } from "./text-options.ts";
import { editedLine } from "./text-view.ts";

const RECORD = { recordOnly: true } as const;

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
    .addHelpText("after", "\nExample:\n  $ strata soul show --agent sovereign")
    .action((options: OfAgent, command: Command) =>
      inSession(
        context,
        command,
        async ({ app, json }) => {
          const layer = soulLayer(chosenAgent(app, options.agent));
          const { text, version } = await layerView(app, layer, options);
          if (json) return context.json({ layer, ...(text !== undefined && { soul: text }), version });
          const from = version === 0 ? "as declared" : `version ${version}`;
          context.say(text === undefined ? "It has no soul." : `${printable(text)} ${context.style.dim(`(${from})`)}`);
        },
        RECORD,
      ),
    );
}

interface Setting extends OfAgent {
  readonly reason: string;
}

function declareSet(parent: Command, context: Context): void {
  reasoned(parent.command("set"))
    .description("give an agent another soul, from the next turn on; every version is kept")
    .argument("<soul>", `1 to ${TEXT_LIMITS.soul} of a-z, 0-9, ".", "_" and "-"`)
    .addHelpText("after", '\nExample:\n  $ strata soul set patient-gardener --reason "it has grown up"')
    .action((text: string, options: Setting, command: Command) =>
      inSession(
        context,
        command,
        async ({ app, json }) => {
          const agent = chosenAgent(app, options.agent);
          const layer = soulLayer(agent);
          const version = await app.runtime.editText(app.operator, agent.name, { layer, text, reason: why(options) });
          if (json) return context.json(version);
          const back = `\`strata layer rollback ${layer}${agentWords(app, agent)}\` takes it back.`;
          context.say(...editedLine(version, "the soul", back));
        },
        RECORD,
      ),
    );
}

/** @throws StrataError `text_not_found` */
function soulLayer({ name, layers }: Agent): LayerId {
  const layer = layers.find(({ source }) => source.kind === "soul");
  if (layer !== undefined) return layer.id;
  const message = `${name} has no soul: no layer of it in strata.yaml says \`source: soul\``;
  throw new StrataError("text_not_found", message, { agent: name });
}
