/**
 * The marks by which chat templates tell who speaks. Inside data they are words like any other, but a careless
 * tokenizer reads them as its own. They are found in any width and spacing (delimiters in their compatible forms, the
 * word after NFKC) and shown with other delimiters: `<|im_start|>` becomes `<¦im_start¦>`, `[INST]` becomes `⟦INST⟧`.
 */
const LT = "[<\\ufe64\\uff1c]";
const GT = "[>\\ufe65\\uff1e]";
const BAR = "[|\\uff5c]";
const OPEN = "[[\\uff3b\\ufe47]";
const CLOSE = "[\\]\\uff3d\\ufe48]";
// Bounded, so that a text of nothing but delimiters still takes linear time.
const GAP = "[^\\S\\n]{0,8}";
const WORD = "[^<>|[\\]\\n\\ufe64\\ufe65\\uff1c\\uff1e\\uff5c\\uff3b\\uff3d\\ufe47\\ufe48]{1,48}";

const PIPED = new RegExp(`(${LT}${GAP})${BAR}(${WORD})${BAR}(${GAP}${GT})`, "gu");
const ANGLED = new RegExp(`${LT}(${GAP}${LT}?)(${WORD})(${GT}?${GAP})${GT}`, "gu");
const BRACKETED = new RegExp(`${OPEN}(${WORD})${CLOSE}`, "gu");

/** Keys have no blanks, underscores or case. Between unspaced bars any identifier counts: every vendor adds its own. */
const PIPED_WORDS = new Set(
  (
    "imstart imend imsep system user assistant developer tool tools function observation human bot context start end message " +
    "channel constrain return call endoftext endofprompt beginoftext endoftext startheaderid endheaderid eotid eomid " +
    "beginofsentence endofsentence pythontag fimprefix fimmiddle fimsuffix fimpad pad sep cls mask unk bos eos think " +
    "toolcall toolcalls toolcallbegin toolcallend toolresponse tooloutput prompter startofrole endofrole"
  ).split(" "),
);
const ANGLED_WORDS = new Set(
  "sys startofturn endofturn startofimage endofimage bos eos toolcall toolcalls toolresponse think".split(" "),
);
/** `[ARGS]`, `[IMG]`, `[PREFIX]` are left alone: ordinary in usage texts, and nothing without one of these before them. */
const BRACKETED_WORDS = new Set(
  "inst systemprompt availabletools toolcalls toolresults toolcontent callid imgbreak imgend modelsettings".split(" "),
);

/** Shows provider control tokens so that no template reads them; all other text keeps its bytes. */
export function disarmProviderTokens(text: string): string {
  return text
    .replace(PIPED, (token, open: string, word: string, close: string) =>
      isPiped(word, open + close) ? `${open}¦${word}¦${close}` : token,
    )
    .replace(ANGLED, (token, open: string, word: string, close: string) =>
      isAngled(word) ? `‹${open.replace(/\S/u, "‹")}${word}${close.replace(/\S/u, "›")}›` : token,
    )
    .replace(BRACKETED, (token, word: string) => (BRACKETED_WORDS.has(key(word)) ? `⟦${word}⟧` : token));
}

function isPiped(word: string, around: string): boolean {
  const plain = word.normalize("NFKC");
  // F# and OCaml write `f <| x |> g`: with blanks only the known words count.
  return PIPED_WORDS.has(key(word)) || (!/\s/.test(around + plain) && /^[\p{L}\p{N}_▁.:/-]+$/u.test(plain));
}

function isAngled(word: string): boolean {
  // `<s>` is too short to hunt for its variants: `a < s > b` is arithmetic, and `<S>` a type parameter.
  return /^\/?s$/.test(word.normalize("NFKC")) || ANGLED_WORDS.has(key(word));
}

function key(word: string): string {
  return word
    .normalize("NFKC")
    .toLowerCase()
    .replace(/[\s_▁-]/gu, "")
    .replace(/^\//, "");
}
