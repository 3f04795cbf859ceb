import type { Conversation, Remembered } from "../conversations.ts";
import type { Noise } from "./noise.ts";

/** Memories by whose they are, and the conversations that are asked about. */
export interface Setting {
  readonly scopes: ReadonlyMap<string, readonly Remembered[]>;
  readonly asked: readonly Conversation[];
}

/** Each conversation alone. */
export function alone(conversations: readonly Conversation[]): Setting {
  return { scopes: new Map(conversations.map(({ name, memories }) => [name, memories])), asked: conversations };
}

/** One conversation among so many memories of the same two people, in the same months: whole dialogues between its sessions. */
export function amongNoise(conversation: Conversation, size: number, noise: Noise): Setting {
  const lines = noise.take(Math.max(0, size - conversation.memories.length));
  const strangers = dialogues(lines, conversation.memories, conversation.name);
  const all = [...conversation.memories, ...strangers].toSorted((a, b) => a.at - b.at || a.session - b.session);
  return { scopes: new Map([[conversation.name, all]]), asked: [conversation] };
}

/** The conversations, each in a scope of its own, among so many scopes of others. */
export function amongScopes(
  conversations: readonly Conversation[],
  { scopes, size }: { readonly scopes: number; readonly size: number },
  noise: Noise,
): Setting {
  const [like] = conversations;
  const each = Math.ceil(size / scopes);
  const others = Array.from({ length: scopes - conversations.length }, (_, i): [string, readonly Remembered[]] => {
    const name = `other-${i}`;
    return [name, dialogues(noise.take(each), like?.memories ?? [], name)];
  });
  const own = conversations.map(({ name, memories }): [string, readonly Remembered[]] => [name, memories]);
  // Those that are asked about stand in the middle, as anybody would.
  const half = Math.floor(others.length / 2);
  return { scopes: new Map([...others.slice(0, half), ...own, ...others.slice(half)]), asked: conversations };
}

/** Lines a dialogue. */
const LENGTH = 18;

/** Lines as dialogues of the two who speak in `like`, spread over the same time, half a minute between two lines. */
function dialogues(lines: readonly string[], like: readonly Remembered[], name: string): readonly Remembered[] {
  const speakers = [...new Set(like.map(({ speaker }) => speaker))];
  const start = like[0]?.at ?? 0;
  const count = Math.ceil(lines.length / LENGTH);
  const step = ((like.at(-1)?.at ?? 0) - start) / count;
  return lines.map((text, i) => ({
    id: `${name}/noise-${i}`,
    at: Math.round(start + step * Math.floor(i / LENGTH)) + 30_000 * (i % LENGTH),
    speaker: speakers[i % speakers.length] ?? "",
    session: 1_000_000 + Math.floor(i / LENGTH),
    text,
  }));
}
