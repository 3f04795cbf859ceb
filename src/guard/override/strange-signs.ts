/** Scripts that no language of today is written in or few people read, and Braille, which nobody reads by eye. */
const DEAD_SCRIPTS =
  /[\u2801-\u28ff\p{Script=Runic}\p{Script=Ogham}\p{Script=Deseret}\p{Script=Shavian}\p{Script=Gothic}\p{Script=Old_Italic}\p{Script=Phoenician}\p{Script=Ugaritic}\p{Script=Cuneiform}\p{Script=Egyptian_Hieroglyphs}\p{Script=Linear_B}\p{Script=Old_Persian}\p{Script=Glagolitic}\p{Script=Osmanya}\p{Script=Old_Turkic}\p{Script=Anatolian_Hieroglyphs}\p{Script=Osage}\p{Script=Coptic}\p{Script=Lisu}\p{Script=Vai}\p{Script=Bamum}\p{Script=Nko}\p{Script=Tifinagh}\p{Script=Cherokee}\p{Script=Canadian_Aboriginal}\u{1d800}-\u{1daaf}\ue000-\uf8ff]/gu;
const FEWEST_DEAD = 5;

/** Letters for phonetics and like signs, which stand in no spelling; those of African languages are none. */
const PHONETIC =
  /[\u0363-\u036f\u0460-\u0481\u0180-\u0182\u0186-\u018f\u0195\u0196\u019a-\u019f\u01bf-\u01c3\u0221-\u0225\u0234-\u024f\u0250\u0252\u0255\u0258\u025a\u025c-\u0262\u0264-\u0268\u026a-\u0271\u0273-\u027f\u0281\u0282\u0284-\u0287\u0289\u028c-\u0291\u0293-\u02af\u1d00-\u1dbf\u2c60-\u2c7f\ua722-\ua7ff\uab30-\uab6f]/gu;
const FEWEST_PHONETIC = 6;

/** A word of two alphabets whose letters look alike, such as `lаyеr`. */
const MIXED =
  /(?<!\p{L})(?=\p{L}*\p{Script=Latin})(?=\p{L}*[\p{Script=Cyrillic}\p{Script=Greek}\p{Script=Armenian}\p{Script=Cherokee}\p{Script=Canadian_Aboriginal}\p{Script=Lisu}\p{Script=Georgian}\p{Script=Coptic}])\p{L}{3,}(?!\p{L})/gu;
const FEWEST_MIXED = 3;

/** Signs of money and the like, and figures of other scripts, inside words. */
const SIGNED = /(?<=\p{Script=Latin})(?:(?![$^`])[\p{Sc}†‡§©®¤°¶¬]|(?![0-9])\p{Nd})+(?=\p{Script=Latin})/gu;
const FEWEST_SIGNED = 3;

/** Han signs that stand in nearly every sentence of Chinese or Japanese. */
const COMMON_HAN =
  /[的一是不了在人有我他这這个個们們中来來上大为為和国國地到以说說时時要就出会會可也你对對生能子那得于於之年过過发發后後作里用所家事成方多经經去法学學同现現当當没面起看定天分还進进好部其些主理心本前开開但因只从從想实實日者意无無与與全三关關点點业業外两高间間由问問最重手文体見见被等或新信息回表内给給位次如更请請何件語語言本用時分行]/gu;
const HAN = /\p{Script=Han}/gu;
const FEWEST_HAN = 10;
const COMMON_SHARE = 0.05;

/** Letters that a reader cannot take for a word of any language: dead scripts, phonetic signs, words of two alphabets. */
export function rareLettersIn(text: string): string | undefined {
  const dead = text.match(DEAD_SCRIPTS) ?? [];
  if (dead.length >= FEWEST_DEAD) return dead.join("");
  const phonetic = text.match(PHONETIC) ?? [];
  if (phonetic.length >= FEWEST_PHONETIC) return phonetic.join("");
  const signed = text.match(SIGNED) ?? [];
  if (signed.length >= FEWEST_SIGNED) return signed.join("");
  const han = text.match(HAN) ?? [];
  if (han.length >= FEWEST_HAN && (text.match(COMMON_HAN)?.length ?? 0) < han.length * COMMON_SHARE)
    return han.join("");
  const mixed = text.match(MIXED) ?? [];
  return mixed.length >= FEWEST_MIXED ? mixed.join(" ") : undefined;
}

/** `-.- --- ...`: dots and strokes in groups, of both kinds. */
const MORSE = /(?:(?<![^\s/|([{"'`:,])[.\-–—−·•_*]{1,6}(?:\s*[/|]\s*|[ \t\n]+|$)){8,}/g;
/** Two groups or letters that make up everything, as in `ABBAB AABBA`. */
const TWO_LETTERS = /(?:\b(?:([ab]{5}|[AB]{5}|[01]{5,9})\b)[\s,]*){4,}/g;
/** Figures in a row, parted alike. */
const FIGURES = /(?<![\w.])\d{1,3}(?:(?:[ \t]*[,;:/|.-][ \t]*|\s{1,3})\d{1,3}){13,}(?![\w.])/g;
/** Pictures in a row, more than anybody shows for fun. */
const PICTURES = /(?:(?![\u2500-\u259f\u2800-\u28ff])[\p{Extended_Pictographic}\p{So}]\ufe0f?[\s.,]{0,3}){12,}/gu;

/** Series of signs that stand for letters: dots and strokes, two letters by turns, figures, pictures. */
export function signsIn(text: string): string | undefined {
  const strokes = text.match(MORSE)?.find((run) => /[.·•*]/.test(run) && /[-–—−_]/.test(run));
  const two = text.match(TWO_LETTERS)?.find((run) => new Set(run.match(/\w+/g)).size > 2);
  const figures = text.match(FIGURES)?.find((run) => isCode((run.match(/\d+/g) ?? []).map(Number)));
  const pictures = text
    .match(PICTURES)
    ?.find((run) => new Set(run.match(/[\p{Extended_Pictographic}\p{So}]/gu)).size > 7);
  return strokes ?? two ?? figures ?? pictures;
}

/** Figures up and down, with some coming back: neither a count nor a list of different things. */
function isCode(figures: readonly number[]): boolean {
  const falls = figures.filter((figure, i) => i > 0 && figure < (figures[i - 1] ?? 0)).length;
  const share = falls / figures.length;
  return share > 0.25 && share < 0.75 && new Set(figures).size > 5 && new Set(figures).size < figures.length * 0.95;
}
