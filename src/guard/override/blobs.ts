import { flowOf, isCommonWord } from "./language.ts";

/** A run without blanks that long is no word, and has to be a name, an address or a digest. */
const LONG = /\S{24,}/g;
const ADDRESS = /^[^\w]*(?:https?|file|ssh|git|wss?|ftp|mailto|data:image|sha\d+-)\b/i;
const DIGEST = /^(?:0x)?[0-9a-f]+$/i;
const DIGEST_LENGTHS: ReadonlySet<number> = new Set([24, 32, 40, 56, 64, 96, 128]);
/** `owner/name`, and a row of a table. */
const REPOSITORY = /^@?[\w.-]{1,30}\/[\w.-]{1,30}$|\|/;
const UUID = /^[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}$/i;
/** How much of a run has to be words for it to be a name. */
const NAMED = 0.4;

/** A block of letters, figures and signs that is neither made of words nor a digest, an address or a path; or many short ones in a row. */
export function blobIn(text: string): string | undefined {
  const runs = text.match(LONG) ?? [];
  return runs.map(bare).find(isBlob) ?? piecesIn(text);
}

/** Without quotes and brackets around it, and without what names it. */
const bare = (run: string): string =>
  run.replace(/^[\w-]{1,20}[:=](?=[^/\s]\S{15})/, "").replaceAll(/^[^\w<]+|(?<![^\w=>~])[^\w=>~]+$/g, "");

function isBlob(run: string): boolean {
  if (run.length < 20 || REPOSITORY.test(run) || ADDRESS.test(run) || UUID.test(run) || !/^[\x21-\x7e]+$/.test(run))
    return false;
  const digest = run.replace(/^0x/i, "");
  if (DIGEST.test(run)) return digest.length > 20 && !DIGEST_LENGTHS.has(digest.length) && /[a-f]/i.test(digest);
  if (new Set(run).size < 10) return false;
  return letters(run) > run.length * 0.4 && inWords(run) < letters(run) * NAMED;
}

const letters = (run: string): number => run.match(/[a-z]/gi)?.length ?? 0;

/** How many letters of it belong to parts that are words, or could be. */
const inWords = (run: string): number =>
  run
    .replaceAll(/(?<=\p{Ll})(?=\p{Lu})|(?<=\p{Lu})(?=\p{Lu}\p{Ll})/gu, " ")
    .toLowerCase()
    .split(/[^a-z]+/)
    .filter((part) => part.length > 2 && (isCommonWord(part) || (part.length > 3 && flowOf(part) > -4.2)))
    .reduce((sum, part) => sum + part.length, 0);

/** Short pieces in a row, of capitals, small letters and figures by turns. */
const PIECES =
  /(?:(?<!\S)(?=\S*[a-z][A-Z]|\S*[A-Z][a-z]\S*[A-Z]|\S*\d[A-Za-z]|\S*[A-Za-z]\d)[\w+/=-]{3,16}(?:[ \t]+|\n[-*\s]{0,4}|$)){4,}/g;

const piecesIn = (text: string): string | undefined =>
  text
    .match(PIECES)
    ?.find((run) => isBlob(run.replaceAll(/\n[-*\s]*|\s+/g, "")) && inWords(run) < letters(run) * NAMED);
