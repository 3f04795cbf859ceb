import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { loadYaml, problemsOf, refusalOf, yamlWith } from "./folder.contract.ts";
import { type Environment, type Project, usualModel, vaultOf } from "./index.ts";

const LAYERS = ["id: rules, rank: 1, text: Be kind."];
const REFERENCE = "$" + "{MY_KEY}";
const KEY = "sk-canary-4711";

const load = (top: string, env: Environment = {}): Project => loadYaml(yamlWith(LAYERS, "", `${top}\n`), {}, env);
const providers = (top: string, env: Environment = {}) =>
  [...load(top, env).providers].map(([name, { kind, url, key, package: npm }]) => ({
    name,
    kind,
    ...(url && { url }),
    ...(key && { key: key.reveal() }),
    ...(npm && { npm }),
  }));

describe("providers", () => {
  it("speak what their name says, what is declared, or what a package makes of it", () => {
    const top = `providers:
  openai: {key: "${REFERENCE}"}
  proxy: {kind: anthropic, key: "${REFERENCE}", url: "https://models.example/v1"}
  local: {kind: openai-compatible, url: "http://127.0.0.1:11434/v1"}
  mistral: {package: "@ai-sdk/mistral", key: "${REFERENCE}"}`;
    expect(providers(top, { MY_KEY: KEY })).toEqual([
      { name: "openai", kind: "openai", key: KEY },
      { name: "proxy", kind: "anthropic", key: KEY, url: "https://models.example/v1" },
      { name: "local", kind: "openai-compatible", url: "http://127.0.0.1:11434/v1" },
      { name: "mistral", kind: "package", npm: "@ai-sdk/mistral", key: KEY },
    ]);
  });

  it("of the environment need no word; a declared address goes with the usual key", () => {
    expect(providers("", { ANTHROPIC_API_KEY: "a", OPENAI_API_KEY: "b" })).toEqual([
      { name: "anthropic", kind: "anthropic", key: "a" },
      { name: "openai", kind: "openai", key: "b" },
    ]);
    const there = 'providers: {anthropic: {url: "https://models.example/v1"}}';
    expect(providers(there, { ANTHROPIC_API_KEY: "a" })).toEqual([
      { name: "anthropic", kind: "anthropic", key: "a", url: "https://models.example/v1" },
    ]);
    const server = { OPENAI_BASE_URL: "http://127.0.0.1:8080/v1", OPENAI_API_KEY: "b" };
    expect(providers("", server)).toEqual([
      { name: "compatible", kind: "openai-compatible", url: "http://127.0.0.1:8080/v1", key: "b" },
    ]);
  });

  it("of Anthropic are asked where ANTHROPIC_BASE_URL says, and a password in it is hidden", () => {
    const at = (address: string, top = "") =>
      load(top, { ANTHROPIC_API_KEY: "a", ANTHROPIC_BASE_URL: address }).providers.get("anthropic")?.url;
    expect(at("https://gateway.example/anthropic/v1")).toBe("https://gateway.example/anthropic/v1");
    // As Anthropic's own programs take it: without the version.
    expect(at("https://gateway.example")).toBe("https://gateway.example/v1");
    expect(at("https://gateway.example/")).toBe("https://gateway.example/v1");
    const keyed = load(`providers: {anthropic: {key: "${REFERENCE}"}}`, {
      MY_KEY: KEY,
      ANTHROPIC_BASE_URL: "https://gateway.example",
    });
    expect(keyed.providers.get("anthropic")?.url).toBe("https://gateway.example/v1");
    const own = 'providers: {anthropic: {url: "https://models.example/v1"}}';
    expect(at("https://gateway.example", own)).toBe("https://models.example/v1");
    const env = { ANTHROPIC_API_KEY: "a", ANTHROPIC_BASE_URL: "https://me:tern-canary-4711@gateway.example/v1" };
    expect(vaultOf([load("", env)]).hide("asked tern-canary-4711")).not.toContain("canary");
  });

  it("of OpenRouter and Bedrock are found by their usual variables, Bedrock with its region", () => {
    expect(providers("", { OPENROUTER_API_KEY: "c" })).toEqual([{ name: "openrouter", kind: "openrouter", key: "c" }]);
    const bedrock = (env: Environment, top = "") => load(top, env).providers.get("bedrock");
    const token = { AWS_BEARER_TOKEN_BEDROCK: "token-0123456789" };
    const pair = { AWS_ACCESS_KEY_ID: "AKIDEXAMPLE", AWS_SECRET_ACCESS_KEY: "half-0123456789" };
    expect(bedrock(token)).toBeUndefined();
    expect(bedrock({ ...token, AWS_REGION: "eu-central-1" })).toMatchObject({
      kind: "bedrock",
      region: "eu-central-1",
    });
    const declared = bedrock({ ...pair, AWS_REGION: "us-west-2" }, "providers: {bedrock: {region: eu-central-1}}");
    expect(declared).toMatchObject({ region: "eu-central-1", signing: { id: "AKIDEXAMPLE" } });
    expect(declared?.key?.reveal()).toBe("half-0123456789");
    const session = bedrock({ ...pair, AWS_SESSION_TOKEN: "s-0123456789", AWS_DEFAULT_REGION: "us-west-2" });
    expect(session?.region).toBe("us-west-2");
    expect(session?.signing?.session?.reveal()).toBe("s-0123456789");
    // A key of Bedrock's own comes first, and a declared one before all.
    expect(bedrock({ ...token, ...pair, AWS_REGION: "us-west-2" })?.signing).toBeUndefined();
    const named = load(`providers: {aws: {kind: bedrock, region: eu-central-1, key: "${REFERENCE}"}}`, {
      MY_KEY: KEY,
      ...pair,
    }).providers.get("aws");
    expect(named?.key?.reveal()).toBe(KEY);
    expect(named?.signing).toBeUndefined();
    const nameless = load("providers: {aws: {kind: bedrock, region: eu-central-1}}", pair).providers.get("aws");
    expect(nameless?.signing?.id).toBe("AKIDEXAMPLE");
  });

  it.each<[Environment, string | undefined]>([
    [{}, undefined],
    [{ OPENAI_BASE_URL: "http://127.0.0.1:8080/v1" }, "compatible:default"],
    [{ OPENAI_BASE_URL: "http://127.0.0.1:8080/v1", OPENAI_MODEL: "llama3.1" }, "compatible:llama3.1"],
    [{ OPENAI_API_KEY: "b" }, "openai:gpt-6.2-sol"],
    [{ OPENROUTER_API_KEY: "c" }, "openrouter:anthropic/claude-sonnet-5.5"],
    [{ OPENROUTER_API_KEY: "c", OPENAI_API_KEY: "b" }, "openai:gpt-6.2-sol"],
    [{ AWS_BEARER_TOKEN_BEDROCK: "d", AWS_REGION: "eu-central-1" }, undefined],
    [
      { OPENAI_API_KEY: "b", OPENAI_BASE_URL: "http://127.0.0.1:8080/v1", ANTHROPIC_API_KEY: "a" },
      "anthropic:claude-sonnet-5-5",
    ],
  ])("of %j answer for agents without a model with %s", (env, model) => {
    const usual = usualModel(load("", env).providers);
    expect(usual?.ref).toBe(model);
    expect(usual?.because).toEqual(model && expect.stringMatching(/^[A-Z_]+ is set$/));
  });

  it.each([
    [
      "of an unknown kind",
      "providers: {anthropc: {}}",
      "providers.anthropc — needs a `kind`",
      "did you mean `anthropic`?",
    ],
    [
      "without an address",
      "providers: {local: {kind: openai-compatible}}",
      "providers.local — needs the server's `url`",
    ],
    [
      "of two kinds",
      'providers: {local: {kind: openai, package: "@ai-sdk/openai"}}',
      "`package` already says which API it is",
    ],
    ["named like the built-in model", "providers: {rehearsal: {kind: openai}}", "another name"],
    ["in a region that is none", "providers: {bedrock: {region: Frankfurt}}", "a region of AWS, as in `eu-central-1`"],
    ["whose package is none", 'providers: {local: {package: "../here"}}', "the name of an npm package"],
  ])("%s are refused", (_, top, ...message) => {
    const error = refusalOf(() => load(top));
    expect(error.code).toBe("config_invalid");
    for (const words of message) expect(error.message).toContain(words);
  });
});

describe("secrets of modules", () => {
  const top = `secrets: {shop: "${REFERENCE}"}`;

  it("are held back from a text that is still coming, however it is cut, also where one value begins another", () => {
    const two = `secrets: {shop: "${REFERENCE}", bank: "${REFERENCE.replace("MY", "BANK")}"}`;
    const vault = vaultOf([load(two, { MY_KEY: KEY, BANK_KEY: `${KEY}-and-more` })]);
    const pieces = [KEY, `${KEY}-and-more`, `${KEY}-and-mor`, btoa(KEY), "sk-", "hello ", "\n", "-and"];
    pieces.push([...KEY].join("\u200b"), KEY.replace("-", "-\u001b[0m"), "\u001b", "\u200b");
    const texts = fc.array(fc.constantFrom(...pieces), { maxLength: 6 }).map((some) => some.join(""));
    fc.assert(
      fc.property(texts, fc.array(fc.nat(60), { maxLength: 20 }), (text, steps) => {
        let [at, waiting, out] = [0, "", ""];
        for (const step of [...steps, text.length]) {
          waiting += text.slice(at, at + step);
          at += step;
          const settled = at >= text.length ? waiting.length : vault.settled(waiting);
          out += vault.hide(waiting.slice(0, settled));
          waiting = waiting.slice(settled);
        }
        expect(out).toBe(vault.hide(text));
      }),
    );
    expect(vault.settled("all of this may go")).toBe(18);
  });

  it("are given by name, and hidden wherever they stand in a text", () => {
    const vault = vaultOf([load(top, { MY_KEY: KEY })]);
    expect(vault.secret("shop")).toBe(KEY);
    expect(vault.hide(`a ${KEY} b ${KEY}`)).toBe("a [secret MY_KEY] b [secret MY_KEY]");
    expect(() => vault.secret("shpo")).toThrow('strata.yaml names no secret "shpo"; did you mean `shop`?');
    expect(() => vaultOf([]).secret("shop")).toThrow('names no secret "shop", nor any other');
  });

  it("are hidden as JSON and addresses spell them, too, and no text of an agent may hold them so", () => {
    const odd = 'key "with" \\\\ signs';
    const vault = vaultOf([load(top, { MY_KEY: odd })]);
    for (const said of [odd, JSON.stringify({ a: odd }), encodeURIComponent(odd)]) {
      expect(vault.hide(said), said).toContain("[secret MY_KEY]");
    }
    const text = yamlWith([`id: rules, rank: 1, text: ${JSON.stringify(`Use ${odd} now.`)}`], "", `${top}\n`);
    expect(refusalOf(() => loadYaml(text, {}, { MY_KEY: odd })).message).toContain("contains the value of MY_KEY");
  });

  it("are hidden in base64 and hexadecimal digits, also in the midst of other bytes, and where something unseen stands in them", () => {
    const value = "k3y/with+signs?&more";
    const vault = vaultOf([load(top, { MY_KEY: value })]);
    const bytes = Buffer.from(value);
    const said = [
      bytes.toString("base64"),
      bytes.toString("base64url"),
      ...["", "a", "ab", "abc"].map((before) => Buffer.from(`${before}:${value}:x`).toString("base64")),
      bytes.toString("hex"),
      bytes.toString("hex").toUpperCase(),
      encodeURIComponent(value).toLowerCase(),
      `${value.slice(0, 5)}\u200b${value.slice(5)}`,
      [...value].join("\u2060"),
      `${value.slice(0, 5)}\u001b[0m${value.slice(5)}`,
    ];
    for (const text of said) expect(vault.hide(`It says ${text} here.`), text).toContain("[secret MY_KEY]");
    const plain = "Nothing \u200b here\r\nis hidden.";
    expect(vault.hide(plain)).toBe(plain);
  });

  it("hide the password in a provider's address", () => {
    const vault = vaultOf([
      load(
        "providers: {local: {kind: openai-compatible, url: 'http://ann:correct%20horse@localhost:1/v1?api_key=0123456789'}}",
      ),
    ]);
    for (const said of ["correct horse", "correct%20horse", "0123456789"])
      expect(vault.hide(`It was ${said}.`), said).toBe("It was [secret in the address of local].");
  });

  it("hide the keys of providers, too, and the longer of two values", () => {
    const two = `${top}\nproviders: {anthropic: {key: "${"$" + "{OTHER}"}"}}`;
    const vault = vaultOf([load(two, { MY_KEY: KEY, OTHER: `${KEY}-and-more` })]);
    expect(vault.hide(`${KEY}-and-more`)).toBe("[secret OTHER]");
  });

  it("hide the session of a signed provider, too", () => {
    const env = {
      AWS_ACCESS_KEY_ID: "AKIA0123456789",
      AWS_SECRET_ACCESS_KEY: "aws-secret-0123",
      AWS_SESSION_TOKEN: "session-0123456789",
    };
    const vault = vaultOf([load("providers: {bedrock: {region: eu-central-1}}", env)]);
    expect(vault.hide("a session-0123456789 and aws-secret-0123")).toBe(
      "a [secret AWS_SESSION_TOKEN] and [secret AWS_SECRET_ACCESS_KEY]",
    );
  });

  it("are refused when they are too short to be looked for, missing, or written out", () => {
    expect(refusalOf(() => load(top, { MY_KEY: "short" })).message).toContain("fewer than 8 characters");
    expect(refusalOf(() => load(top)).code).toBe("secret_missing");
    const error = refusalOf(() => load(`secrets: {shop: ${KEY}}`));
    expect(error.message).not.toContain(KEY);
    expect(problemsOf(error)).toMatchObject([{ path: "secrets.shop", value: "(hidden)" }]);
  });
});

describe("rules of tools", () => {
  it("stand beside the names, and an agent without them keeps its version", () => {
    const tools = (list: string) => [...loadYaml(yamlWith(LAYERS, `    tools: [${list}]\n`)).agents.values()][0];
    const plain = tools("list, read");
    expect(plain).not.toHaveProperty("rules");
    expect(tools("{name: read}, list")?.version).toBe(plain?.version);
    const ruled = tools("list, {name: read, approval: true, calls: 2}");
    expect(ruled?.tools).toEqual(["list", "read"]);
    expect(ruled?.rules).toEqual([{ tool: "read", approval: true, calls: 2 }]);
    expect(ruled?.version).not.toBe(plain?.version);
  });
});
