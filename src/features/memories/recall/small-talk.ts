import type { Memory } from "../../../protocol/index.ts";

/** More words or characters than this are never only small talk. */
const LONGEST = 12;
/** With the phrases that are taken out. */
const LONGEST_WHOLE = 30;
const LONGEST_TEXT = 1_000;

/** Words that open, close and keep a conversation going: alone or together they ask for nothing that could be recalled. */
const SMALL_TALK = new Set(
  `hi hii hiya hello hey heya yo there howdy greetings sup everyone all
  thanks thank thx ty you u so very much lot lots many a again
  ok okay okey k kk alright right sure yes yeah yep yup no nope nah fine good great nice cool awesome perfect wonderful
  excellent amazing lovely super got it understood sounds
  morning afternoon evening night day bye goodbye cya see later soon take care
  that s it is i m am are re
  lol haha hahaha hehe wow oh ah aha hm hmm um uh please sorry welcome
  hallo servus moin guten tag morgen abend nacht danke schön dankeschön vielen dank bitte tschüss ja nein gut super
  hola buenos buenas días dias tardes noches gracias muchas adiós adios sí vale
  bonjour bonsoir salut merci beaucoup oui non au revoir
  ciao buongiorno buonasera grazie mille prego
  olá ola oi bom dia boa tarde noite obrigado obrigada tchau
  привет здравствуйте спасибо пока да нет хорошо
  مرحبا شكرا سلام نعم لا नमस्ते धन्यवाद 안녕 안녕하세요 감사합니다 고마워요 네 merhaba teşekkürler selam
  你好 您好 嗨 谢谢 谢谢你 多谢 好 好的 是 是的 嗯 再见 晚安 早上好 早安 拜拜 哈哈 你好啊 哈哈哈
  こんにちは おはよう ありがとう はい いいえ さようなら`.split(/\s+/),
);

const GREETINGS = "hi|hey|hello|hallo|hola|salut|ciao";

/** Phrases of small talk whose single words could be part of a question. Longer phrases first: the first match wins. */
const PHRASES = [
  "how are you doing today|how are you doing|how are you today|how are you|how have you been|how do you do",
  `(?:${GREETINGS}) (?!hi|hey|hello|what|who|where|when|which|how|why|can|could|did|do)\\S+`,
  "how s it going|how is it going|how are things|what s (?:up|new)|long time no (?:see|chat|talk)|no problem|my pleasure",
  "what (?:have you|s) been (?:up to|up|going on|happening)(?: lately| since we (?:last )?(?:talked|chatted|spoke))?",
  "(?:is there )?anything new(?: happening| going on)?(?: with you| lately)?|what about you|what happened|let me know",
  "(?:nice|good|great) to (?:meet|see|hear from|chat with) you|have a (?:good|great|nice) (?:one|day|night|evening|weekend)",
  "wie geht es dir|wie geht es ihnen|wie geht s|comment ça va|ça va|qué tal|cómo estás|come stai|tudo bem",
].join("|");
const WHOLE_PHRASES = new RegExp(`(?<!\\S)(?:${PHRASES})(?!\\S)`, "gu");

/** Words that a phrase may take out; behind a greeting it takes out any. */
const PHRASE_WORDS = new Set(PHRASES.match(/\p{L}+/gu));
const GREETS = new Set(GREETINGS.split("|"));

// Begins with a letter or digit: the selector after an emoji is a mark and no word.
const WORD = /[\p{L}\p{N}][\p{L}\p{N}\p{M}]*/gu;
const HAS_WORD = /[\p{L}\p{N}]/u;

const NO_WORDS = "no words: the message has nothing to search for";

/**
 * Why a message has nothing to search memories for: no word at all (an emoji, a dot), or only greetings, thanks and other
 * small talk. Nothing for a message that should be searched for. Pure, and the same for the same text.
 */
export function smallTalk(text: string): string | undefined {
  if (text.length > LONGEST_TEXT) return HAS_WORD.test(text) ? undefined : NO_WORDS;
  const words: string[] = [];
  for (const [found] of text.matchAll(WORD)) {
    const word = found.toLowerCase();
    // Most messages say something within a few words, so they are not read further.
    if (!SMALL_TALK.has(word) && !PHRASE_WORDS.has(word) && !GREETS.has(words.at(-1) ?? "")) return undefined;
    if (words.push(word) > LONGEST_WHOLE) return undefined;
  }
  if (words.length === 0) return NO_WORDS;
  const rest = words.join(" ").replace(WHOLE_PHRASES, " ").split(" ").filter(Boolean);
  if (rest.length <= LONGEST && rest.every((word) => SMALL_TALK.has(word)))
    return "small talk: the message has nothing to search for";
  return undefined;
}

/** Whether a memory is only a greeting, thanks or a yes: it carries no information, and is neither shown nor counted. */
export const isChatter = ({ kind, content }: Pick<Memory, "kind" | "content">): boolean =>
  kind === "message" && smallTalk(content) !== undefined;
