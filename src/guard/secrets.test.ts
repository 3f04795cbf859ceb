import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { growsLinearly } from "../protocol/index.contract.ts";
import { findSecrets, KEY_FILTERS, type KeyFilter, secretProblem } from "./index.ts";

// Put together here, so that no scanner takes this file for a leak.
const A36 = "a1B2c3D4e5F6g7H8i9J0k1L2m3N4o5P6q7R8";
const AWS = `AKIA${"IOSFODNN7EXAMPLE"}`;
const JWT = [`ey${"JhbGciOiJIUzI1NiJ9"}`, `ey${"JzdWIiOiIxMjM0NTY3ODkwIn0"}`, "dozjgNryP4J3jVmNHl0w5N_XgL0n3I9P"].join(
  ".",
);

const HEX = ["4c0883a69102937d6231471b5dbb6204", "fe5129617082792ae468d01a3f362318"].join("");
const PHRASE = ["legal winner thank year wave sausage", "worth useful legal winner thank yellow"].join(" ");

const SECRETS: readonly (readonly [string, string])[] = [
  ["private key", `-----BEGIN ${"RSA PRIVATE"} KEY-----\nMIIE`],
  ["private key", `-----BEGIN ${"OPENSSH PRIVATE"} KEY-----`],
  ["private key", `-----BEGIN ${"PGP PRIVATE"} KEY BLOCK-----`],
  ["private key", `0x${HEX}`],
  ["private key", `I lost it: ${HEX}`],
  ["private key", `My key is ${`5HueCGU8rMjxEXxiPuD5BDku4MkFqeZyd4dZ1jvhTVqvbTLvyTJ`}.`],
  ["private key", `nsec1${"qpzry9x8gf2tvdw0s3jn54khce6mua7lqpzry9x8gf2tvdw0s3jn54khce"}`],
  ["recovery phrase", PHRASE],
  ["recovery phrase", `Please keep: ${PHRASE.toUpperCase()}`],
  [
    "recovery phrase",
    PHRASE.split(" ")
      .map((word, n) => `${n + 1}. ${word}`)
      .join("\n"),
  ],
  ["recovery phrase", PHRASE.split(" ").join(", ")],
  ["AWS key", `The key is ${AWS}.`],
  ["AWS key", `aws_access_key_id=${AWS}`],
  ["GitHub token", `ghp_${A36}`],
  ["GitHub token", `use github_pat_${A36}${A36} for it`],
  ["Slack token", `xoxb-${"123456789012-abcdefGHIJKL"}`],
  ["Slack token", `https://hooks.slack.com/services/T00000000/B00000000/${"XXXXabcdXXXX1234"}`],
  ["Stripe key", `sk_live_${"4eC39HqLyjWDarjtT1zdp7dc"}`],
  ["API key", `sk-ant-api03-${A36}`],
  ["API key", `sk-proj-${A36}`],
  ["API key", `My key: sk-${A36}`],
  ["API key", `AIza${"SyD-abcdefghijklmnopqrstuvwxyz12345"}`],
  ["API key", `gsk_${A36}abcdefgh1234`],
  ["API key", `sk_strata_${A36}`],
  ["API key", `sk-strata-${A36}`],
  ["web token", `Authorization: Bearer ${JWT}`],
  ["password", "The wifi password is hunter2-garden!"],
  ["password", "Passwort: Sommer2026"],
  ["password", "password='correct1horse'"],
  ["password", "Le mot de passe est Chat!noir"],
  ["password", "The password is Sommer(2026)"],
  ["password", "db_password = 'Tr0ub4dor&3'"],
  ["password", "пароль: Котик2026"],
  ["password", "postgres://ann:s3cr3t@db.example.org/shop"],
  ["secret value", "api_key = 9f86d081884c7d659a2feaa0c55ad015"],
  ["secret value", "client secret: Zm9vYmFyMTIzNDU2Nzg5MGFiY2RlZg=="],
  ["secret value", '"access_token": "b7Kq9ZxT2mWv5RnY8pLs"'],
  ["card number", "My card is 4111 1111 1111 1111."],
  ["card number", "5555-5555-5555-4444"],
  ["card number", "Amex 378282246310005, exp 12/28"],
  ["card number", "on the credit card no. 6011111111111117"],
  ["card number", "My card is ４１１１ １１１１ １１１１ １１１１."],
  ["card number", "41\u200b11 1111\u2060 1111 1\u200c111"],
  ["card number", "5555\u20115555\u20115555\u20114444"],
  ["API key", `s\u200bk-\u2060ant-api03-${A36}`],
  ["password", "pass\u00adword： hunter2-garden!"],
];

const ORDINARY: readonly string[] = [
  `The checksum is sha256:${HEX}`,
  `Transaction 0x${HEX} was mined in block 12.`,
  `https://etherscan.io/tx/0x${HEX}`,
  `image@sha256:${HEX}`,
  "A cat will arrive today; the dog can travel with us, only ask before you leave the garden.",
  "legal winner thank year wave sausage worth useful",
  "xoxo-with-all-my-love",
  // 25.11: a row of thirteen words of wallets is prose, unless some of them are a phrase.
  "People always believe adult friend help because people never make real trouble today",
  "Ann's bicycle is green and her sister Ida lives in Oslo.",
  `A ${"long ".repeat(20)}time ago, ${"word ".repeat(60)}`,
  "The password is stored in the vault, ask Bob for it.",
  "She forgot her password: it must be reset tomorrow.",
  "Password required for the guest network",
  "password: ********",
  "password = db.Column(db.String(120), nullable=False)",
  "password = fields.Str(required=True)",
  "hashed_password = argon2.hash_password(password)",
  "const password = getpass();",
  "provided_password = 'secure_password123'",
  `Hashed password: pbkdf2:sha256:260000$zL6yRjZt$${HEX.slice(0, 40)}`,
  ["Set API_KEY=$", "{OPENAI_KEY} and password=<your password>"].join(""),
  "The token bucket refills every second; the secret is good bread.",
  "The secret ingredient is cinnamon-and-cardamom-and-nutmeg.",
  "Order number 4929 1234 5678 9012 was delivered",
  "order no. 4111111111111111 has not come",
  "Tracking: 1Z999AA10123456784, parcel 00340434292135100186",
  "The commit e4ea9663a5169dba25fa2905ff9c60aa88583f45 broke it; 754b4ee did not.",
  "sha256: e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855",
  "thread 3f2504e0-4f89-11d3-9a0c-0305e82c3301 is done",
  "token: 3f2504e0-4f89-11d3-9a0c-0305e82c3301",
  "Remembered as mem_01jd8k3v5x9m2q7r4t6w8y0zab in trn_01jd8k3v5x9m2q7r4t6w8y0zab",
  "The password is apr_01jd8k3v5x9m2q7r4t6w8y0zab, it waits for you.",
  "credentials: apr_01jd8k3v5x9m2q7r4t6w8y0zab",
  "The gate's code is 4711, the alarm's PIN 2026.",
  "ISBN 9783161484100, EAN 4006381333931, IMEI 356938035643809",
  "Call +49 30 1234 5678 90 12 or 0800 1234567890",
  "Meet on 2026-11-21T09:30:00Z at 52.5200066, 13.4049540",
  "1700000000000 milliseconds, 4000000000000000 bytes",
  "data:image/png;base64,iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJ",
  "See https://example.org/a/b?session=1&ref=ann@example.org",
  "The sk-learn library, the ghp_ prefix and AKIA keys are explained in the docs.",
  "Das Kennwort ist geheim, und das bleibt es.",
  "密码是秘密。",
  "His token of appreciation: a hand-made-wooden-box-with-12-roses",
  "secret santa: src/guard/secrets.test.ts line 12",
];

describe("findSecrets", () => {
  it.each(SECRETS)("finds %s in %j, and says where", (kind, text) => {
    const found = findSecrets(text);
    expect(found.map((one) => one.kind)).toContain(kind);
    for (const { start, end } of found) expect(start >= 0 && end > start && end <= text.length).toBe(true);
  });

  it.each(ORDINARY)("lets %j pass", (text) => {
    expect(findSecrets(text)).toEqual([]);
  });

  it("gives each once, in the order of the text", () => {
    const text = `card 4111111111111111\nkey ${AWS}, again ${AWS}`;
    expect(findSecrets(text).map(({ kind, start }) => [kind, start])).toEqual([
      ["card number", 5],
      ["AWS key", 26],
      ["AWS key", 54],
    ]);
  });

  it("ends on texts that are made to slow it", () => {
    for (const piece of ["password is ", "a://b:", "1 ", "eyJ", "token ", "sk-ant-", "-----BEGIN "]) {
      expect(Array.isArray(findSecrets(piece.repeat(20_000)))).toBe(true);
    }
  });
});

const withoutKeys = (text: string): string => KEY_FILTERS.reduce((rest, { hide }) => hide(rest, ""), text);

/** A filter's output for each piece, and at the end. */
function arriving(pieces: readonly string[], { settled, hide }: KeyFilter): readonly string[] {
  let [waiting, before] = ["", ""];
  const release = (to: number): string => {
    const said = waiting.slice(0, to);
    waiting = waiting.slice(to);
    const out = hide(said, before);
    before = said.at(-1) ?? before;
    return out;
  };
  const out = pieces.map((piece) => {
    waiting += piece;
    return release(settled(waiting, before));
  });
  return [...out, release(waiting.length)];
}

describe("keys of well-known forms", () => {
  const KEYS = SECRETS.flatMap(([, text]) => (withoutKeys(text) === text ? [] : [text]));
  const PEM = [
    "-----BEGIN ",
    "RSA PRIVATE",
    " KEY-----\n",
    `${"MIIEabcd+/0123456789".repeat(3)}\n`.repeat(5),
    "QUJD=\n",
  ];
  const FILE = `${PEM.join("")}-----END ${"RSA PRIVATE"} KEY-----`;

  it("are taken out of a text that arrives in pieces as out of the whole text, however it is cut", () => {
    expect(KEYS.length).toBeGreaterThan(15);
    expect(withoutKeys(`a ${FILE} b`)).toBe("a (private key removed) b");
    expect(withoutKeys(JSON.stringify(FILE))).toBe('"(private key removed)"');
    const pieces = fc.constantFrom(
      ...KEYS,
      FILE,
      ...PEM,
      "sk-",
      "xox",
      "eyJhbGciOiJI.",
      "5Kab",
      " ",
      "a",
      "-----",
      "AKIA",
    );
    const texts = fc.array(pieces, { maxLength: 6 }).map((some) => some.join(""));
    fc.assert(
      fc.property(texts, fc.array(fc.integer({ min: 1, max: 40 }), { minLength: 1, maxLength: 20 }), (text, steps) => {
        const pieces: string[] = [];
        for (let at = 0, i = 0; at < text.length; i++) {
          const step = steps[i % steps.length] ?? 1;
          pieces.push(text.slice(at, at + step));
          at += step;
        }
        const out = KEY_FILTERS.reduce(arriving, pieces).join("");
        expect(out).toBe(withoutKeys(text));
      }),
      { numRuns: 500 },
    );
  });

  it.each(ORDINARY)("leave %j as it is", (text) => {
    expect(withoutKeys(text)).toBe(text);
  });

  it.each(["eyJabcdefgh.", "sk-ant-", "-----BEGIN RSA PRIVATE KEY-----", "5K", "\n ABCDEFGHIJKLMNOPQR"])(
    "are found in time that grows with a text of many %j",
    async (piece) => {
      await growsLinearly(
        (n) => KEY_FILTERS.map(({ hide, settled }) => [hide(piece.repeat(n), ""), settled(piece.repeat(n), "")]),
        10_000,
      );
    },
  );
});

describe("secretProblem", () => {
  it("names the kind and the place, and never the value", () => {
    expect(secretProblem(`Note:\nthe key ${AWS}`)).toBe(
      "contains what looks like an AWS access key, at line 2, character 9",
    );
    expect(secretProblem(`${AWS} ${AWS}`)).toBe(
      "contains what looks like an AWS access key, at character 1, and 1 more",
    );
    for (const [, text] of SECRETS) {
      const value = findSecrets(text).map(({ start, end }) => text.slice(start, end))[0] ?? "nothing";
      expect(secretProblem(text)).not.toContain(value);
    }
    expect(secretProblem(AWS, "a tag")).toBe("contains what looks like an AWS access key, in a tag");
    expect(secretProblem("Ann likes tea.")).toBeUndefined();
  });
});
