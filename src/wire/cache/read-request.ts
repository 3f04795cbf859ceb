import {
  type Breakpoint,
  type CountTokens,
  digestOf,
  type Message,
  never,
  type Parameters,
  type Request,
  shownTools,
  type TailPart,
} from "../../protocol/index.ts";
import type { ModelCard } from "../cards.ts";
import { rulesOf } from "./rules.ts";
import type { Lifetime, SeenBlock, SeenRequest } from "./seen.ts";

/** A provider cannot be asked in advance for the size of pictures and files: they count as this many tokens. */
export const ATTACHMENT = 1_600;

type Part = Message["parts"][number];

/** When and to whom a request was sent, and how to distinguish its blocks: by default, by their bytes. */
export interface Seeing extends Pick<SeenRequest, "at" | "model"> {
  readonly keyOf?: (bytes: () => string) => string;
  /** Of the model, whose cache may keep more apart than bytes. */
  readonly card?: ModelCard;
}

const byBytes = (bytes: () => string): string => digestOf(bytes());

/** Claude's messages are kept apart by how much is reasoned; tools and system are found again. Of others nothing is known. */
export const reasoningSetting = (
  { reasoning }: Pick<Parameters, "reasoning">,
  card: ModelCard,
): Pick<SeenRequest, "setting"> =>
  rulesOf(card).kind === "lookback" ? { setting: JSON.stringify(reasoning ?? null) } : {};

/** A request as the cache of its model will see it: each part a block, the tail last. */
export function seenOf(
  request: Request,
  count: CountTokens,
  { at, model, keyOf = byBytes, card }: Seeing,
): SeenRequest {
  const { prefix, messages, tail, breakpoints } = request;
  const tools = shownTools(prefix.tools).map((tool): SeenBlock => {
    const text = JSON.stringify(tool);
    return { key: keyOf(() => text), tokens: count(text), kind: "tool", section: tool.name };
  });
  const system = prefix.system.map(
    ({ text, layers }, block): SeenBlock => ({
      key: keyOf(() => `system ${text}`),
      tokens: count(text),
      kind: "system",
      section: layers.map(({ layer }) => layer).join(" + "),
      ...marked(lifetimeAt(breakpoints, ({ after }) => after.zone === "system" && after.block === block)),
    }),
  );
  const said = messages.map((message, index) => {
    // Parts that the provider has cleared are neither billed nor cached.
    if (message.role === "system") return [];
    const lifetime = lifetimeAt(breakpoints, ({ after }) => after.zone === "message" && after.index === index);
    return blocksOf(message, { count, keyOf, lifetime });
  });
  const live = (parts: readonly TailPart[]): readonly SeenBlock[] =>
    parts.map(({ layer, text }) => ({
      key: keyOf(() => `tail ${text}`),
      tokens: count(text),
      kind: "text",
      role: "user",
      section: layer,
      tail: true,
    }));
  const early = messages.at(-1)?.role === "user" ? tail.filter(({ way }) => way === "before-events") : [];
  const late = tail.filter((part) => !early.includes(part));
  const whole = [...said.slice(0, -1), live(early), ...said.slice(-1), live(late)].flat();
  // With our breakpoints a provider is told to set none itself; one that never does ignores this.
  const mode = breakpoints.length === 0 ? {} : ({ mode: "explicit" } as const);
  const setting = card === undefined ? {} : reasoningSetting(request.parameters, card);
  return { at, model, ...mode, ...setting, blocks: [...tools, ...system, ...whole] };
}

/** Two breakpoints on one place are one, with the longer lifetime. */
function lifetimeAt(
  breakpoints: readonly Breakpoint[],
  here: (breakpoint: Breakpoint) => boolean,
): Lifetime | undefined {
  const lifetimes = breakpoints.filter(here).map(({ lifetime }) => lifetime);
  return lifetimes.includes("1h") ? "1h" : lifetimes[0];
}

const marked = (lifetime: Lifetime | undefined): { readonly breakpoint?: Lifetime } =>
  lifetime === undefined ? {} : { breakpoint: lifetime };

/** A breakpoint is placed on the last part that can have one. */
export function carrierOf({ parts }: Pick<Message, "parts">): number {
  const all: readonly Part[] = parts;
  return all.findLastIndex(({ type }) => type !== "reasoning");
}

interface Telling extends Required<Pick<Seeing, "keyOf">> {
  readonly count: CountTokens;
  readonly lifetime: Lifetime | undefined;
}

function blocksOf(message: Message, { count, keyOf, lifetime }: Telling): readonly SeenBlock[] {
  const parts: readonly Part[] = message.parts;
  const carrier = carrierOf(message);
  const role = message.role === "assistant" ? "assistant" : "user";
  return parts.map(
    (part, index): SeenBlock => ({
      key: keyOf(() => `${role} ${JSON.stringify(part)}`),
      ...measured(part, count),
      role,
      section: part.type === "text" && part.told !== undefined ? part.told.layer : "transcript",
      ...marked(index === carrier ? lifetime : undefined),
    }),
  );
}

function measured(part: Part, count: CountTokens): Pick<SeenBlock, "kind" | "tokens"> {
  switch (part.type) {
    case "text":
    case "reasoning":
      return { kind: part.type, tokens: count(part.text) };
    case "call":
      return { kind: "tool-use", tokens: count(part.tool) + count(JSON.stringify(part.input)) };
    case "result":
      return { kind: "tool-result", tokens: count(part.text) + ATTACHMENT * (part.media?.length ?? 0) };
    case "image":
    case "file":
      return { kind: part.type, tokens: ATTACHMENT };
    default:
      return never(part);
  }
}
