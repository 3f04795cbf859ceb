import { withoutHidden } from "./clean.ts";
import { isBareKey, isCardNumber, isOfCode, isPasswordLike, isRandom, recoveryPhrases } from "./secret-values.ts";
import { removed, secret } from "./wording.ts";

/** The name of a finding in a sentence: "it holds what looks like …". */
export const SECRET_KINDS = {
  "private key": "a private key",
  "recovery phrase": "a wallet's recovery phrase",
  "API key": "a provider's API key",
  "AWS key": "an AWS access key",
  "GitHub token": "a GitHub token",
  "Slack token": "a Slack token",
  "Stripe key": "a Stripe key",
  "web token": "a signed web token (JWT)",
  password: "a password",
  "card number": "a payment card's number",
  "secret value": "the value of a secret",
} as const;
export type SecretKind = keyof typeof SECRET_KINDS;

/** Something in a text that looks like a secret: its kind and its place. Never the value itself: findings are reported and logged. */
export interface FoundSecret {
  readonly kind: SecretKind;
  readonly start: number;
  readonly end: number;
}

interface SecretRule {
  readonly kind: SecretKind;
  /** Global; the group `value`, if there is one, is the secret, otherwise the whole match. */
  readonly pattern: RegExp;
  /** Whether a match is one, by its value and the text before it. */
  readonly fits?: (value: string, before: string) => boolean;
  /** For keys with their maker's own form: the beginning of one at the end of a text. */
  readonly begun?: string;
}

/** Letters that begin a key must not be inside a longer word. */
const NOT_INSIDE = "(?<![\\w-])";

/** Keys that begin with one of some texts, with more characters of one kind behind it. */
function key(kind: SecretKind, begins: readonly string[], more: string, least: number, most = least): SecretRule {
  const escaped = begins.map((begin) => begin.replace(/[.]/g, "\\."));
  return {
    kind,
    pattern: new RegExp(`${NOT_INSIDE}(?:${escaped.join("|")})${more}{${least},${most}}(?!\\w)`, "g"),
    begun: begins.map((begin) => beginningsOf(begin, `${more}{0,${most}}`)).join("|"),
  };
}

/** `xoxo-with-all-my-love` ends a letter: a token has numbers. */
const withNumber = (rule: SecretRule): SecretRule => ({
  ...rule,
  pattern: new RegExp(`${NOT_INSIDE}(?=[A-Za-z-]{1,40}[0-9]{2})${rule.pattern.source}`, "g"),
});

/** Finds every beginning of a text, and all of it with what may follow. */
const beginningsOf = (text: string, more: string): string =>
  [...text].reduceRight((rest, sign) => `${sign === "." ? "\\." : sign}(?:${rest})?`, more);

/** The lines of a key's file, literal or as JSON writes them; and its last line. */
const PEM_BREAK = "(?:\\s|\\\\[rn])";
const PEM_LINE = `${PEM_BREAK}{1,4}(?:[A-Za-z0-9+/=]{16,100}|[A-Z][A-Za-z-]{3,20}: [^\\n]{0,100})`;
const PEM_LINES = `(?:${PEM_LINE}){0,120}`;
const PEM_NAME = "(?:[A-Z0-9]+ ){0,3}PRIVATE KEY(?: BLOCK)?-----";
const PEM_END = `(?:${PEM_BREAK}{1,4}[A-Za-z0-9+/=]{1,100})?${PEM_BREAK}{0,4}-----END ${PEM_NAME}`;

const PASSWORD =
  "pass(?:word|wd|phrase|code)?|pwd|passwort|kennwort|mot de passe|contraseña|senha|пароль|密码|密碼|パスワード";
const SECRET =
  "(?:api|access|secret|private|signing|encryption|account|master|session)[ _-]?(?:key|token|secret)|client[ _-]?secret|auth(?:orization)?[ _-]?(?:key|token)|secret|token|credentials?|webhook|bearer";

const DIGITS = Array.from({ length: 10 }, (_, digit) => String(digit));

/** The more precise first: of two findings at one place the first is reported. */
const RULES: readonly SecretRule[] = [
  {
    kind: "private key",
    pattern: new RegExp(`-----BEGIN ${PEM_NAME}${PEM_LINES}(?:${PEM_END})?`, "g"),
    begun: beginningsOf(
      "-----BEGIN ",
      `[A-Z0-9 ]{0,60}-{0,5}|${PEM_NAME}${PEM_LINES}(?:${PEM_BREAK}{1,4}[^\\s-]{0,100})?${PEM_BREAK}{0,4}(?:-{1,5}|-----[A-Z0-9 ]{0,60}-{0,5})?`,
    ),
  },
  // Of wallets in their own writing, of Nostr and of age.
  key("private key", ["xprv", "yprv", "zprv"], "[1-9A-HJ-NP-Za-km-z]", 107),
  key("private key", ["5", "K", "L"], "[1-9A-HJ-NP-Za-km-z]", 50, 51),
  key("private key", ["nsec1"], "[02-9ac-hj-np-z]", 58),
  key("private key", ["AGE-SECRET-KEY-1"], "[02-9AC-HJ-NP-Z]", 58),
  { kind: "private key", pattern: /(?<![\w/@:=+.-])(?:0x)?[0-9a-fA-F]{64}(?![\w/+=.-]*[\w/+=-])/g, fits: isBareKey },
  key("AWS key", ["AKIA", "ASIA", "ABIA", "ACCA"], "[A-Z2-7]", 16),
  key("GitHub token", ["ghp_", "gho_", "ghu_", "ghs_", "ghr_"], "[A-Za-z0-9]", 36, 255),
  key("GitHub token", ["github_pat_"], "[A-Za-z0-9_]", 60, 255),
  withNumber(
    key("Slack token", ["xoxa-", "xoxb-", "xoxe-", "xoxo-", "xoxp-", "xoxr-", "xoxs-"], "[A-Za-z0-9-]", 10, 255),
  ),
  key(
    "Slack token",
    DIGITS.map((digit) => `xapp-${digit}-`),
    "[A-Za-z0-9-]",
    10,
    255,
  ),
  { kind: "Slack token", pattern: /hooks\.slack\.com\/(?:services|workflows)\/[A-Za-z0-9]{8,}\/[A-Za-z0-9/]{8,}/g },
  key("Stripe key", ["sk_live_", "sk_test_", "rk_live_", "rk_test_"], "[A-Za-z0-9]", 16, 255),
  key("Stripe key", ["whsec_"], "[A-Za-z0-9+/]", 24, 255),
  key("API key", ["sk-ant-", "sk-proj-", "sk-or-", "sk-svcacct-", "sk-admin-"], "[A-Za-z0-9_-]", 16, 255),
  key("API key", ["sk-"], "[A-Za-z0-9]", 32, 255),
  key("API key", ["sk_strata_", "sk-strata-"], "[\\w-]", 16, 255),
  key("API key", ["AIza"], "[\\w-]", 35),
  key("API key", ["gsk_", "pplx-"], "[A-Za-z0-9]", 40, 255),
  key("API key", ["xai-"], "[A-Za-z0-9]", 60, 255),
  key("API key", ["hf_"], "[A-Za-z]", 30, 255),
  key("API key", ["r8_"], "[A-Za-z0-9]", 36, 40),
  key("API key", ["npm_"], "[A-Za-z0-9]", 36),
  key("API key", ["glpat-"], "[\\w-]", 20, 255),
  key("API key", ["dop_v1_"], "[0-9a-f]", 64),
  key("API key", ["shpat_", "shpca_", "shppa_", "shpss_"], "[0-9a-fA-F]", 32),
  key("API key", ["lin_api_"], "[A-Za-z0-9]", 40),
  {
    kind: "API key",
    pattern: new RegExp(`${NOT_INSIDE}SG\\.[\\w-]{22}\\.[\\w-]{43}(?!\\w)`, "g"),
    begun: beginningsOf("SG.", "[\\w-]{0,22}|[\\w-]{22}\\.[\\w-]{0,43}"),
  },
  // Of a bot in Telegram.
  {
    kind: "API key",
    pattern: new RegExp(`${NOT_INSIDE}\\d{8,10}:AA[\\w-]{33}(?!\\w)`, "g"),
    begun: "\\d{1,10}|\\d{8,10}:A?|\\d{8,10}:AA[\\w-]{0,33}",
  },
  {
    kind: "web token",
    pattern: new RegExp(`${NOT_INSIDE}eyJ[\\w-]{8,4096}\\.eyJ[\\w-]{8,8192}\\.[\\w-]{8,4096}(?!\\w)`, "g"),
    begun: beginningsOf(
      "eyJ",
      `[\\w-]{0,4096}|[\\w-]{8,4096}\\.(?:${beginningsOf("eyJ", "[\\w-]{0,8192}|[\\w-]{8,8192}\\.[\\w-]{0,4096}")})?`,
    ),
  },
  {
    kind: "password",
    pattern: /\b[a-z][a-z0-9+.-]{1,20}:\/\/[^\s/:@]{1,100}:(?<value>[^\s/@]{3,200})@/gi,
    fits: isNoPlaceholder,
  },
  {
    kind: "password",
    pattern: new RegExp(
      `(?<![\\p{L}])(?:${PASSWORD})["'\`]?\\s{0,3}(?:is|ist|es|est|[:=：]|-?>)\\s{0,3}["'\`]?(?<value>[^\\s"'\`]{6,200})`,
      "giu",
    ),
    fits: (value, before) => isNoPlaceholder(value) && isPasswordLike(value) && !isOfCode(value, before),
  },
  {
    kind: "secret value",
    pattern: new RegExp(
      `(?<![A-Za-z])(?:${SECRET})["'\`]?\\s{0,3}(?:is|[:=]|-?>)?\\s{0,3}["'\`]?(?<value>[A-Za-z0-9+/_.=-]{16,512})`,
      "gi",
    ),
    fits: (value) => isNoPlaceholder(value) && isRandom(value),
  },
  { kind: "card number", pattern: /(?<![\w.-])\d(?:[ -]?\d){13,18}(?![\w-]|[.,]\d)/g, fits: isCardNumber },
];

/** Placeholders: `<password>`, `${KEY}`, `****`, `[secret BANK_KEY]`. */
function isNoPlaceholder(value: string): boolean {
  return !/^(?:[<[{($%].*|(.)\1+|x+|\.{3}.*|your[-_ ].*|example.*|redacted.*|changeme.*)$/i.test(value);
}

/**
 * The parts of a text that look like secrets, in the order of the text, without duplicates. Made for precision: ordinary prose, order
 * numbers, commit hashes and UUIDs pass. Sees through full-width and invisible characters; if there are any, the places are approximate.
 * Pure and linear in the length of the text.
 */
export function findSecrets(text: string): readonly FoundSecret[] {
  return findPlain(plainForm(text)).flatMap(({ kind, start, end }) => {
    const within = { kind, start: Math.min(start, text.length - 1), end: Math.min(end, text.length) };
    return within.start < within.end ? [within] : [];
  });
}

/** What `withoutSecrets` puts in the place of a secret. */
export const REMOVED = new RegExp(`\\((?:${Object.keys(SECRET_KINDS).join("|")}) removed\\)`);

/** The text with `(private key removed)` and similar things in the place of what looks like a secret, of these kinds alone where some are left out. */
export function withoutSecrets(text: string, except: readonly SecretKind[] = []): string {
  let end = text.length;
  let kept = "";
  const found = findSecrets(text).filter(({ kind }) => !except.includes(kind));
  for (const { kind, start, end: after } of found.toSorted((a, b) => b.start - a.start)) {
    if (after > end) continue;
    kept = `${removed(kind)}${text.slice(after, end)}${kept}`;
    end = start;
  }
  return text.slice(0, end) + kept;
}

/** Removes keys of some forms from a text that is still arriving. `before` is the character before the text, if there is one. */
export interface KeyFilter {
  /** How many characters of it belong to no such key, whatever comes next. */
  settled(text: string, before: string): number;
  hide(text: string, before: string): string;
}

function keyFilter(keys: readonly SecretRule[]): KeyFilter {
  const key = new RegExp(keys.map(({ pattern }) => `(${pattern.source})`).join("|"), "g");
  const starts = keys.map(
    ({ begun, pattern }) => `${pattern.source.startsWith(NOT_INSIDE) ? NOT_INSIDE : ""}(?:${begun})`,
  );
  const atEnd = new RegExp(`(?:${starts.join("|")})$`);
  const hide = (before: string, value: string, groups: readonly unknown[]): string => {
    const rule = keys[groups.findIndex((group) => group !== undefined)];
    return groups[keys.length] === 0 && before !== "" ? value : `(${rule?.kind} removed)`;
  };
  return {
    settled: (text, before) => {
      const all = before + text;
      const begun = atEnd.exec(all)?.index ?? all.length;
      // A key that is whole is not cut where the next one may begin.
      const cut =
        begun === all.length
          ? undefined
          : [...all.matchAll(key)].find((match) => match.index + match[0].length > begun);
      return Math.max(0, Math.min(begun, cut?.index ?? begun) - before.length);
    },
    hide: (text, before) =>
      (before + text).replace(key, (value, ...groups) => hide(before, value, groups)).slice(before.length),
  };
}

const isFile = ({ pattern }: SecretRule): boolean => pattern.source.startsWith("-----");
const KEYS = RULES.filter(({ begun }) => begun !== undefined);

/** For keys whose form alone says what they are, such as `ghp_…`. One after the other, first those in files: a key may end where a file begins. */
export const KEY_FILTERS: readonly KeyFilter[] = [
  keyFilter(KEYS.filter(isFile)),
  keyFilter(KEYS.filter((rule) => !isFile(rule))),
];

/** As a reader and a machine that is given the value would take it: one form of each digit and dash, nothing hidden. */
const plainForm = (text: string): string =>
  withoutHidden(text.normalize("NFKC")).replace(/[\u2010-\u2015\u2212]/g, "-");

function findPlain(text: string): readonly FoundSecret[] {
  const found: FoundSecret[] = recoveryPhrases(text).map((range) => ({ kind: "recovery phrase", ...range }));
  for (const { kind, pattern, fits } of RULES) {
    for (const match of text.matchAll(pattern)) {
      const value = match.groups?.["value"] ?? match[0];
      const start = match.index + match[0].lastIndexOf(value);
      if (fits !== undefined && !fits(value, text.slice(Math.max(0, start - 40), start))) continue;
      const end = start + value.length;
      if (found.every((one) => one.end <= start || one.start >= end)) found.push({ kind, start, end });
    }
  }
  return found.sort((a, b) => a.start - b.start);
}

/**
 * The first finding as the end of a sentence that begins with the text: "holds what looks like a GitHub token, at character 12".
 * Of a text that has a name, such as "a tag", that is the place.
 */
export function secretProblem(text: string, name?: string): string | undefined {
  const [first, ...more] = findSecrets(text);
  if (first === undefined) return undefined;
  const where = name === undefined ? `at ${placeInText(text, first.start)}` : `in ${name}`;
  return secret(SECRET_KINDS[first.kind], where, more.length);
}

function placeInText(text: string, start: number): string {
  const before = text.slice(0, start).split("\n");
  const character = `character ${(before.at(-1)?.length ?? 0) + 1}`;
  return before.length === 1 ? character : `line ${before.length}, ${character}`;
}
