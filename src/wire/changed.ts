import type { Request } from "../protocol/index.ts";

/** The part of a request before its tail. */
type BeforeTail = Pick<Request, "prefix" | "messages">;

/**
 * The first section that a later request of a thread does not send as an earlier one did: a tool, a layer, a message, counted from 1.
 * Undefined if it continues from all that the earlier one sent before its tail. Pure.
 */
export function changedSection(before: BeforeTail, now: BeforeTail): string | undefined {
  return changedTool(before, now) ?? changedLayer(before, now) ?? changedMessage(before, now);
}

function changedTool({ prefix: was }: BeforeTail, { prefix: is }: BeforeTail): string | undefined {
  const at = firstOther(was.tools, is.tools) ?? (is.tools.length > was.tools.length ? was.tools.length : undefined);
  return at === undefined ? undefined : `the tool ${(was.tools[at] ?? is.tools[at])?.name}`;
}

function changedLayer({ prefix: was }: BeforeTail, { prefix: is }: BeforeTail): string | undefined {
  const layers = ({ system }: BeforeTail["prefix"]) => system.flatMap((block) => block.layers);
  const [old, fresh] = [layers(was), layers(is)];
  const at = firstOther(old, fresh) ?? (fresh.length > old.length ? old.length : undefined);
  if (at !== undefined) return `the layer ${(old[at] ?? fresh[at])?.layer}`;
  const texts = ({ system }: BeforeTail["prefix"]) => system.map(({ text }) => text);
  return firstOther(texts(was), texts(is)) === undefined ? undefined : "the system prompt";
}

function changedMessage({ messages: was }: BeforeTail, { messages: is }: BeforeTail): string | undefined {
  const at = firstOther(was, is);
  return at === undefined ? undefined : `message ${at + 1} (${was[at]?.role})`;
}

/** The first position at which the two lists differ. */
function firstOther(was: readonly unknown[], is: readonly unknown[]): number | undefined {
  const at = was.findIndex((one, index) => JSON.stringify(one) !== JSON.stringify(is[index]));
  return at < 0 ? undefined : at;
}
