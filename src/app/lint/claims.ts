import { type Agent, toolName } from "../../protocol/index.ts";
import type { Toolset } from "../../turn/tools/index.ts";
import type { TextWarning } from "../entry/texts.ts";

/**
 * False claims in the agent's texts: a tool or a layer that it does not have, or what such a tool or layer would do. Its model would
 * promise it, or call it in vain.
 */
export function claimWarnings(agent: Agent, tools: Toolset): readonly TextWarning[] {
  const texts = [
    ...agent.layers.flatMap(({ id, source, line }) => [
      ...(source.kind === "text" ? [{ section: `layer ${id}`, text: source.text }] : []),
      ...(line === undefined ? [] : [{ section: `layer ${id}, line`, text: line }]),
    ]),
    ...(agent.skills ?? []).map(({ name, text }) => ({ section: `skill ${name}`, text })),
  ];
  const said = texts.flatMap(({ section, text }) =>
    [...namedTools(agent, tools, text), ...namedLayers(agent, text)].map((message) => ({ section, message })),
  );
  return [...said, ...needed(agent)].map((one) => ({ agent: agent.name, ...one }));
}

/** `memory_search` if the agent does not have that tool. A word in backticks that is not a tool's name may be anything. */
function namedTools(agent: Agent, tools: Toolset, text: string): readonly string[] {
  const named = new Set([...text.matchAll(/`([a-z][a-z0-9_]{1,63})`/g)].map(([, name = ""]) => name));
  return [...named]
    .filter((name) => !agent.tools.includes(toolName(name)) && tools.get(toolName(name)) !== undefined)
    .map(
      (name) =>
        `it names the tool \`${name}\`, which ${agent.name} does not have: add it to \`tools\`, or say it without the tool`,
    );
}

/** "layer 10", "layers 6 to 9" and "layers 1 and 2", as the headings in the prompt number them. */
function namedLayers(agent: Agent, text: string): readonly string[] {
  const ranks = new Set(agent.layers.map(({ rank }) => rank));
  const named = [...text.matchAll(/\blayers? (\d{1,4})(?:(?: to | and |, |-)(\d{1,4}))?/gi)].flatMap(([, ...of]) =>
    of.flatMap((number) => (number === undefined ? [] : [Number(number)])),
  );
  return [...new Set(named)]
    .filter((rank) => !ranks.has(rank))
    .map((rank) => `it speaks of layer ${rank}, and no layer of ${agent.name} has this rank`);
}

/** What a layer `needs`. */
function needed(agent: Agent): readonly Pick<TextWarning, "section" | "message">[] {
  const there = new Set<string>([...agent.tools, ...agent.layers.map(({ id }) => id)]);
  return agent.layers.flatMap(({ id, needs = [] }) =>
    needs
      .filter((name) => name === id || !there.has(name))
      .map((name) => ({
        section: `layer ${id}`,
        message: `it needs \`${name}\`, and ${agent.name} has no tool and no other layer of this name: add it, or take what relies on it out of the text`,
      })),
  );
}
