import { appendFileSync, mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { beforeAll, describe, expect, it } from "vitest";
import { place, project, recording, strata } from "./strata.ts";

const OK = { thread: "ann", from: "contact", text: "Hello." };

/** A folder with a conversation in its data, and recordings with something wrong in each. */
async function preparedFolder(): Promise<string> {
  const cwd = place();
  await strata(["chat", "companion"], { cwd, input: "hi\n" });
  recording(cwd, [OK], "ok.jsonl");
  recording(cwd, [OK, "not json"], "no-json.jsonl");
  recording(cwd, [OK, { thread: "ann", from: "robot", text: "" }], "no-sender.jsonl");
  recording(cwd, [OK, { thread: "bob\nann", from: "contact", text: "Hello." }], "no-name.jsonl");
  recording(cwd, [OK, { thread: "ann", from: "tool", id: "c1", text: "late" }], "no-call.jsonl");
  recording(cwd, [], "empty.jsonl");
  writeFileSync(join(cwd, "binary.jsonl"), Buffer.from([0xff, 0xfe, 0x00]));
  writeFileSync(join(cwd, "no-tools.json"), '{"name": 1}');
  writeFileSync(join(cwd, "broken.json"), "{");
  writeFileSync(join(cwd, "no-anchor.json"), '[{"org": "home"}]');
  return cwd;
}

const replay = (file: string, ...more: readonly string[]) => [
  "replay",
  file,
  "--agent",
  "companion",
  "--replies",
  "recorded",
  ...more,
];

/** What is typed, the exit code, and what the sentence must hold. */
const CASES: readonly (readonly [readonly string[], number, readonly string[]])[] = [
  [["chta", "companion"], 2, ["unknown command 'chta'", "Did you mean chat?"]],
  [["chat", "companion", "--nwe"], 2, ["unknown option '--nwe'", "Did you mean --new?"]],
  [
    ["chat"],
    2,
    ["there are 3 agents", "`strata chat companion`", "`strata chat sovereign`", "`strata chat workbench`"],
  ],
  [["compose", "companion"], 2, ["a message is needed", "--message TEXT"]],
  [["start", "--port", "99999"], 2, ["'99999' is invalid", "from 0 to 65535"]],
  [["chat", "nobody"], 3, ['no agent "nobody"', "companion"]],
  [["chat", "No Body"], 2, ['"No Body" is not an agent name']],
  [["chat", "companion", "--as", " ann"], 2, ['" ann" is not a contact']],
  [["chat", "companion", "--folder", "."], 3, ["no strata.yaml"]],
  [["chat", "companion", "--folder", "nowhere"], 3, ["nowhere does not exist", "--folder"]],
  [["compose", "nobody", "--message", "hi"], 3, ['no agent "nobody"']],
  [["explain", "ann"], 2, ['"ann" is neither a thread nor a turn']],
  [["explain", "thr_1"], 2, ['"thr_1" is not a thread id']],
  [["explain", "thr_01jd8k3v5x9m2q7r4t6w8y0zab"], 3, ["no thread thr_01jd8k3v5x9m2q7r4t6w8y0zab"]],
  [["turn", "trn_01jd8k3v5x9m2q7r4t6w8y0zab"], 3, ["no turn trn_01jd8k3v5x9m2q7r4t6w8y0zab"]],
  [["turn", "trn_01jd8k3v5x9m2q7r4t6w8y0zab", "--request", "0"], 2, ["--request", "add --wire"]],
  [
    ["turn", "trn_01jd8k3v5x9m2q7r4t6w8y0zab", "--wire", "--request", "0"],
    2,
    ["`--request` must be", "from 1 to", "not 0"],
  ],
  [["verify", "--data", "nowhere"], 3, ["no data in", "nowhere", "--data"]],
  [["verify", "--anchor", "nowhere.json"], 3, ["nowhere.json", "no such file"]],
  [["verify", "--anchor", "no-anchor.json"], 2, ["no-anchor.json is not an anchor", "`seq`"]],
  [["anchor", "--out", "nowhere/anchor.json"], 3, ["nowhere/anchor.json cannot be written"]],
  [["lock"], 3, ["no strata.yaml in", "nothing to lock"]],
  [["replay", "ok.jsonl"], 2, ["required option '--agent <name>'"]],
  [replay("nowhere.jsonl"), 3, ["nowhere.jsonl cannot be read", "no such file"]],
  [replay("."), 3, ["it is a folder"]],
  [replay("no-json.jsonl"), 2, ["no-json.jsonl:2:", '"not json" is not JSON']],
  [replay("no-sender.jsonl"), 2, ["no-sender.jsonl:2:", "from"]],
  [replay("no-name.jsonl"), 2, ["no-name.jsonl", '"bob\\nann" is not a contact']],
  [replay("no-call.jsonl"), 2, ["no-call.jsonl:2:", '"c1"']],
  [replay("empty.jsonl"), 2, ["empty.jsonl holds no message"]],
  [replay("binary.jsonl"), 2, ["binary.jsonl is not a text in UTF-8"]],
  [["replay", "ok.jsonl", "--agent", "companion", "--replies", "guessed"], 2, ['--replies "guessed"', "recorded"]],
  [["replay", "ok.jsonl", "--agent", "nobody", "--replies", "recorded"], 3, ['no agent "nobody"']],
  [replay("ok.jsonl", "--tools", "nowhere.json"), 3, ["nowhere.json cannot be read"]],
  [replay("ok.jsonl", "--tools", "broken.json"), 2, ["broken.json is not JSON"]],
  [replay("ok.jsonl", "--tools", "no-tools.json"), 2, ["list of tools"]],
  [replay("ok.jsonl", "--model", "mystery:one"), 12, ['"mystery:one"', "anthropic:NAME"]],
  [replay("ok.jsonl", "--gap", "soon"), 2, ["'soon' is invalid", "number of seconds"]],
  [
    replay("ok.jsonl", "--dump", "nowhere/requests.jsonl"),
    3,
    ["nowhere/requests.jsonl cannot be written", "/nowhere; create it"],
  ],
  [replay("ok.jsonl", "--dump", "./ok.jsonl"), 2, ["would overwrite ./ok.jsonl"]],
];

describe("bad input", () => {
  let cwd = "";
  let before: readonly string[] = [];
  // One folder for all cases: none may change it.
  beforeAll(async () => {
    cwd = await preparedFolder();
    before = await state(cwd);
  });

  it.each(CASES)("strata %j exits with %i and says why, and leaves the data as it was", async (argv, exit, message) => {
    const { code, out, err } = await strata(argv, { cwd });
    // Whose agents these are may stand before it.
    expect(err.replace(/^There is no strata\.yaml in .*\n/, "")).toMatch(/^strata: /);
    for (const part of message) expect(err).toContain(part);
    expect(err).not.toMatch(/^\s+at /m);
    expect({ code, out }).toEqual({ code: exit, out: "" });
    expect(await state(cwd)).toEqual(before);
    expect(readFileSync(join(cwd, "ok.jsonl"), "utf8")).toBe(JSON.stringify(OK));
  });
});

async function state(cwd: string): Promise<readonly string[]> {
  const [anchor, threads] = await Promise.all([strata(["anchor"], { cwd }), strata(["explain", "--json"], { cwd })]);
  return [anchor.out, threads.out];
}

describe("a folder whose strata.yaml is wrong", () => {
  const compose = (cwd: string) => strata(["compose", "companion", "--message", "hi"], { cwd });

  it("is refused with file and line when it is no YAML", async () => {
    const { code, err } = await compose(project((yaml) => `${yaml}\n  - [`));
    expect(code).toBe(4);
    expect(err).toMatch(/strata\.yaml:\d+:\d+ not YAML/);
  });

  it("is refused with the nearest known key when a key is unknown", async () => {
    const { code, err } = await compose(project((yaml) => yaml.replace("rank: 20", "rnak: 20")));
    expect(code).toBe(4);
    expect(err).toMatch(/rnak.*rank/);
  });

  it("is refused with file and agent when a tool does not exist", async () => {
    const { code, err } = await compose(project((yaml) => yaml.replace("memory_search, read", "memory_serch, read")));
    expect(code).toBe(3);
    expect(err).toMatch(
      /strata\.yaml:\d+:\d+ agents\.companion\.tools\[3\]: .*memory_serch.*did you mean `memory_search`/,
    );
  });

  it("is refused when a layer's file is missing", async () => {
    const { code, err } = await compose(project((yaml) => yaml.replace("layers/safety.md", "layers/nowhere.md")));
    expect([3, 4]).toContain(code);
    expect(err).toContain("layers/nowhere.md");
  });

  it("does not start with a changed immutable layer, shows the change, and starts once it is locked", async () => {
    const cwd = project();
    appendFileSync(join(cwd, "layers/safety.md"), "Be careful with knives.\n");
    const refused = await compose(cwd);
    expect(refused.code).toBe(5);
    expect(refused.err).toContain("+ Be careful with knives.");
    expect((await strata(["lock", "--check"], { cwd })).code).toBe(5);

    const locked = await strata(["lock"], { cwd });
    expect(locked.code).toBe(0);
    expect(locked.err).toContain("+ Be careful with knives.");
    expect(locked.out).toMatch(/strata\.lock is written\.\ncompanion: \d+ immutable layers\n$/);
    expect((await strata(["lock"], { cwd })).out).toContain("is up to date");
    expect((await compose(cwd)).code).toBe(0);
  });

  it("does not start without a lock", async () => {
    const cwd = place();
    mkdirSync(join(cwd, "layers"));
    writeFileSync(join(cwd, "strata.yaml"), readFileSync(join(project(), "strata.yaml")));
    for (const name of ["precedence", "safety", "identity", "conduct", "abilities", "tools", "memory", "workspace"])
      writeFileSync(join(cwd, `layers/${name}.md`), `${name}.\n`);
    const { code, err } = await compose(cwd);
    expect(code).toBe(5);
    expect(err).toContain("`strata lock`");
  });

  it("is reported before the call if not even the minimum fits", async () => {
    const cwd = project((yaml) =>
      yaml.replace("  companion:", "  companion:\n    budgets: { total: 1500, reply: 500 }"),
    );
    const composed = await compose(cwd);
    expect(composed.code).toBe(10);
    expect(composed.err).toContain("budgets.total");
    const chat = await strata(["chat", "companion"], { cwd, input: "hi\n" });
    expect(chat.code).toBe(10);
    expect(chat.err).toContain("· nothing was sent");
  });
});

it("names the place inside of a JSON value, and what may stand there", async () => {
  const refusal = async (content: string) =>
    (await strata(["message", "send", "--as", "ann", "--content", content], { cwd: project() })).err;
  expect(await refusal('{"type": "payload", "payload": 1, "payload_type": "Note"}')).toBe(
    'strata: 2 problems: `payloadType` of `--content` is missing: it must be of type string; `--content` has no field "payload_type"\n',
  );
  expect(await refusal('{"type": "json"}')).toBe(
    "strata: `type` of `--content` must be one of 'text' | 'payload' | 'image' | 'file', not \"json\"\n",
  );
});
