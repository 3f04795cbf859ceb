import type { Command } from "commander";
import type { App } from "../app.ts";
import { type Agent, declaredText, StrataError, type TextKey, type TextMove } from "../protocol/index.ts";
import type { Context } from "./context.ts";
import { wholeNumber } from "./options.ts";
import { inSession, type Session } from "./session.ts";
import { count } from "./style.ts";
import { type Chosen, choosing, nameOf, textAt, why } from "./text-options.ts";
import { moveLines, textDiff, versionLines } from "./text-view.ts";

/** What a command is about: the text of an agent that was named. */
interface About {
  readonly agent: Agent;
  readonly key: TextKey;
}

/** Work on a text that was named. No module is needed for it. */
export const onText = (
  context: Context,
  command: Command,
  { word, options }: { readonly word: string; readonly options: Chosen },
  work: (session: Session, about: About) => Promise<void>,
): Promise<void> =>
  inSession(context, command, (session) => work(session, textAt(session.app, word, options)), { recordOnly: true });

const LAYER = ["<layer>", "the layer, by its id or its rank"] as const;
const version = wholeNumber(0);

export function declareHistory(parent: Command, context: Context): void {
  choosing(parent.command("history"))
    .description("show every version of a layer's text, and what was done with them, the newest first")
    .argument(...LAYER)
    .addHelpText("after", "\nExample:\n  $ strata layer history 6")
    .action((word: string, options: Chosen, command: Command) =>
      onText(context, command, { word, options }, async ({ app, json }, { agent, key }) => {
        const versions = await app.runtime.textVersions(app.operator, agent.name, key);
        const moves = await app.runtime.textMoves(app.operator, agent.name, key);
        if (json) return context.json({ versions, moves });
        if (moves.length === 0) return context.say(`${nameOf(key)} is as it was declared; nobody has edited it.`);
        context.say(
          ...versions.flatMap((one) => versionLines(one, context.style)),
          ...(versions.length === 0 ? [] : [""]),
          ...moveLines(moves, context.style),
          "",
          context.style.dim(`${count(versions.length, "version")}; version 0 is the declared text`),
        );
      }),
    );
}

export function declareDiff(parent: Command, context: Context): void {
  choosing(parent.command("diff"))
    .description("show how two versions of a layer's text differ, line by line")
    .argument(...LAYER)
    .argument("<old>", "a version; 0 is the declared text", version)
    .argument("<new>", "another version", version)
    .addHelpText("after", "\nExample:\n  $ strata layer diff 6 0 2")
    .action((word: string, before: number, after: number, options: Chosen, command: Command) =>
      onText(context, command, { word, options }, async ({ app, json }, about) => {
        const [old, fresh] = [await textOfVersion(app, about, before), await textOfVersion(app, about, after)];
        if (json) context.json({ ...about.key, before: { n: before, text: old }, after: { n: after, text: fresh } });
        else context.say(...textDiff(old, fresh, context.style));
      }),
    );
}

async function textOfVersion(app: App, { agent, key }: About, n: number): Promise<string> {
  const versions = await app.runtime.textVersions(app.operator, agent.name, key);
  const found = n === 0 ? declared(agent, key) : versions.find((one) => one.n === n)?.text;
  if (found !== undefined) return found;
  const message = `${nameOf(key)} of ${agent.name} has no version ${n}; \`strata layer history ${key.layer}\` shows them`;
  throw new StrataError("text_not_found", message, { ...key, n });
}

function declared(agent: Agent, { layer: id, part }: TextKey): string | undefined {
  const layer = agent.layers.find((one) => one.id === id);
  return layer && declaredText(agent, layer, part);
}

export function declareActivate(parent: Command, context: Context): void {
  choosing(parent.command("activate"))
    .description("make a version active that is there already, from the next turn on; 0 is the declared text")
    .argument(...LAYER)
    .argument("<version>", "which version", version)
    .addHelpText("after", "\nExample:\n  $ strata layer activate 6 2")
    .action((word: string, n: number, options: Chosen, command: Command) =>
      onText(context, command, { word, options }, async ({ app, json }, { agent, key }) => {
        const move = await app.runtime.activateText(app.operator, agent.name, { ...key, n, reason: why(options) });
        if (json) context.json(move);
        else context.say(movedLine(move, nameOf(key)));
      }),
    );
}

export function declareRollback(parent: Command, context: Context): void {
  choosing(parent.command("rollback"))
    .description("go back to what stood there before the active version was made active")
    .argument(...LAYER)
    .addHelpText("after", '\nExample:\n  $ strata layer rollback 6 --reason "it forgot to pay"')
    .action((word: string, options: Chosen, command: Command) =>
      onText(context, command, { word, options }, async ({ app, json }, { agent, key }) => {
        const move = await app.runtime.rollbackText(app.operator, agent.name, { ...key, reason: why(options) });
        if (json) context.json(move);
        else context.say(movedLine(move, nameOf(key)));
      }),
    );
}

/** What came of a move, for a person. */
function movedLine({ kind, from, to }: TextMove, name: string): string {
  const did = kind === "rolled back" ? "was rolled back from" : "goes on from";
  return `${name} ${did} ${pointed(from)} to ${pointed(to)}: the next turn uses it.`;
}

const pointed = (to: number | null): string =>
  to === null ? "nothing" : to === 0 ? "the declared text" : `version ${to}`;
