import { clean, frame, truncateText } from "../guard/index.ts";
import {
  type ContactId,
  type ContentItem,
  type CountTokens,
  isoSecond,
  type LayerContent,
  type Source,
  trusted,
  untrusted,
} from "../protocol/index.ts";
import type { Exchange } from "../stores/index.ts";
import type { GatherContext } from "./context.ts";
import { sendersOf } from "./senders.ts";

/** Tokens that an exchange may take on average, and to how many characters of each side it is shortened for that. */
const TOKENS_EACH = 50;
const LENGTHS = [500, 400, 320, 260, 200, 170, 140, 120, 100, 85, 70, 60, 50, 40, 30] as const;

const SAYS = "What was said before with whoever writes now, oldest first and shortened; `you` are you";
const INTRO = trusted(`${SAYS}:`);
const SIGNED_INTRO = trusted(`${SAYS}, \`proven\` is what they signed:`);

/** The last exchanges with each sender of the turn, and with nobody else. */
export async function conversation(
  { entries, compact }: Extract<Source, { kind: "conversation" }>,
  context: GatherContext,
): Promise<LayerContent> {
  const { undone } = context;
  const most = (context.mode ?? "full") === "full" ? entries : compact;
  const senders = sendersOf(context);
  if (senders.length === 0) return { kind: "empty", because: "nobody writes in this turn" };
  const logs = await Promise.all(senders.map((contact) => context.store.conversation({ ...context.scope, contact })));
  const said = senders.flatMap((contact, i) => {
    const entries = logs[i]?.entries.filter(({ turn }) => !undone?.has(turn)) ?? [];
    const last = entries.slice(-most).filter(({ body, reply }) => body !== "" || reply !== "");
    return last.length === 0 ? [] : [{ contact, last }];
  });
  if (said.length === 0) return { kind: "empty", because: "nothing was said with the sender before" };
  const intro = said.some(({ last }) => last.some(({ proof }) => proof !== undefined)) ? SIGNED_INTRO : INTRO;
  const room = most * TOKENS_EACH - Math.ceil(context.count(intro) / senders.length);
  return {
    kind: "items",
    intro,
    items: said.map(({ contact, last }) => itemOf(contact, last, { room, count: context.count })),
  };
}

interface Room {
  readonly room: number;
  readonly count: CountTokens;
}

/** All of one sender in one frame. What the agent said is in it with what it was an answer to, so it is trusted as that is. */
function itemOf(contact: ContactId, exchanges: readonly Exchange[], { room, count }: Room): ContentItem {
  const at = exchanges.at(-1)?.at ?? 0;
  const name = untrusted(contact);
  const header = { kind: "data", trust: "contact", at } as const;
  const texts = LENGTHS.map((most) => untrusted(linesOf(exchanges, most)));
  const fitting = texts.find((text) => count(frame(header, text, name)) <= room);
  return { ...header, name, text: fitting ?? texts.at(-1) ?? untrusted("") };
}

/**
 * Each side on a line of its own, under its day, that begins with the platform's words: nothing that was said can look as if the
 * other had said it, or as if it were signed.
 */
function linesOf(exchanges: readonly Exchange[], most: number): string {
  const lines: string[] = [];
  let day = "";
  for (const [i, { body, reply, turn, at, proof }] of exchanges.entries()) {
    const today = isoSecond(at).slice(0, 10);
    if (today !== day) lines.push(today);
    day = today;
    if (body !== "") lines.push(`them${proof === undefined ? "" : ` (${proof})`}: ${shortened(body, most)}`);
    // One answer may have been to several messages.
    if (reply !== "" && exchanges[i + 1]?.turn !== turn) lines.push(`you: ${shortened(reply, most)}`);
  }
  return lines.join("\n");
}

const shortened = (text: string, most: number): string =>
  truncateText(clean(untrusted(text)).replace(/\s+/gu, " ").trim(), most, "…");
