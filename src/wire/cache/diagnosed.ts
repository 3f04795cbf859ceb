import type { Diagnosis } from "../../protocol/index.ts";
import type { AttributedRequest } from "./attribute.ts";
import type { SeenRequest } from "./seen.ts";

/** A provider's names for a change, by its place in the request. */
const PLACES: readonly (readonly [Place, RegExp])[] = [
  ["tools", /^tools_/],
  ["system", /^system_/],
  ["reasoning", /^reasoning_/],
  ["messages", /^(?:messages|input|context)_/],
];

type Place = "tools" | "system" | "messages" | "reasoning";

/**
 * Whether a provider's finding agrees with the record: that the request continues the earlier one, or where it differs from it. Undefined
 * if one of them cannot tell. OpenAI sends the system text as part of its input.
 */
export function confirms(
  { found, reason = "" }: Diagnosis,
  request: Pick<AttributedRequest, "differs" | "causes">,
  { blocks }: Pick<SeenRequest, "blocks">,
): boolean | undefined {
  const ours = changedPlace(request, blocks);
  if (found === "same") return ours === undefined;
  const theirs = PLACES.find(([, named]) => named.test(reason))?.[0];
  if (found !== "changed" || theirs === undefined) return undefined;
  return ours === theirs || (ours === "system" && reason.startsWith("input_"));
}

function changedPlace(
  { differs, causes }: Pick<AttributedRequest, "differs" | "causes">,
  blocks: SeenRequest["blocks"],
): Place | undefined {
  if (differs === undefined) return undefined;
  const named = causes.find(({ cause }) => cause === "tools" || cause === "reasoning")?.cause;
  if (named === "tools" || named === "reasoning") return named;
  const kind = blocks[differs.block]?.kind;
  if (kind === "tool") return "tools";
  return kind === "system" ? "system" : "messages";
}
