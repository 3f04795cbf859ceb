import { type AgentName, declaredText, diffLines, StrataError, type TextKey, textName } from "../../protocol/index.ts";
import type { Desk } from "../../turn/index.ts";
import { versionOf } from "./check-text.ts";
import type { TextComparison, TextPair } from "./door-types.ts";
import { checkPart, layerOf } from "./editable-text.ts";

/** Two versions of a text and how they differ; version 0 is the declared text. @throws StrataError `text_not_found` */
export async function compareTexts(desk: Desk, { from, to, ...key }: TextPair): Promise<TextComparison> {
  const before = { n: from, text: await textOf(desk, key, from) };
  const after = { n: to, text: await textOf(desk, key, to) };
  return { ...key, before, after, lines: diffLines(before.text.split("\n"), after.text.split("\n")) };
}

async function textOf(desk: Desk, key: TextKey, n: number): Promise<string> {
  if (n > 0) return (await versionOf(desk, key, n)).text;
  const layer = layerOf(desk.agent, key.layer);
  checkPart(desk.agent, layer, key.part);
  const text = declaredText(desk.agent, layer, key.part);
  if (text === undefined) throw undeclared(desk.agent.name, key);
  return text;
}

function undeclared(agent: AgentName, key: TextKey): StrataError {
  const says = `${textName(key)} of ${agent} has no version 0, because no text is declared for it; compare versions from 1`;
  return new StrataError("text_not_found", says, { ...key, n: 0 });
}
