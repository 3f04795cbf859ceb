import { count, number, printable, type Style } from "../../print/index.ts";
import { type AssistantPart, never, type Request, type ResultPart, type UserPart } from "../../protocol/index.ts";

/** A request's texts for reading, in the order they are sent. The exact bytes are what `--wire` prints. */
export function requestText({ prefix, messages, tail }: Request, style: Style): readonly string[] {
  const { tools, system } = prefix;
  return [
    style.bold(`tools (${number(tools.length)})`),
    ...tools.map(({ name, description }) => `${name}: ${printable(description)}`),
    ...system.flatMap(({ scope, layers, text }) => [
      "",
      style.bold(`system, scope ${scope} (${count(layers.length, "layer")})`),
      printable(text),
    ]),
    ...messages.flatMap(({ role, parts }, i) => [
      "",
      style.bold(`message ${number(i + 1)}, ${role}`),
      ...parts.map(partText),
    ]),
    ...tail.flatMap(({ layer, text }) => ["", style.bold(`tail, ${layer}`), printable(text)]),
  ];
}

/** One part of a message for reading. */
export function partText(part: UserPart | AssistantPart | ResultPart): string {
  switch (part.type) {
    case "text":
      return printable(part.text);
    case "reasoning":
      return `(reasoning) ${printable(part.text)}`;
    case "call":
      return `(calls ${part.tool}, id ${printable(part.id)}) ${printable(JSON.stringify(part.input))}`;
    case "result":
      return `(${part.failed ? "failure" : "result"} of ${part.tool}, id ${printable(part.id)})\n${[printable(part.text), ...(part.media ?? []).map(partText)].join("\n")}`;
    case "image":
    case "file":
      return `(${part.type} ${printable(part.mediaType)}, ${count(part.data.length, "character")} of base64)`;
    default:
      return never(part);
  }
}
